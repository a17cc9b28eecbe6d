/* The addressing modes and operations of the 6502, as macros over the local variables of Cpu::execute(); only cpu.cpp
 * includes this header. `at` points to the bytes of the instruction. The registers a, x, y, sp and pc and the flags c, v,
 * d and i have variables of these names; flags are 0 or 1. `nz` is the last result, which determines the flags N and Z;
 * `cycles` is the clock; `number` is the number of instructions that remain. An operation works on `operand`; an
 * operation that modifies memory stores its value in `result`. */
#ifndef ENVPOOL_ATARI_INSTRUCTIONS_H
#define ENVPOOL_ATARI_INSTRUCTIONS_H

/* The operand of the instruction at `at`. */
#define OPERAND8 (at[1])
#define OPERAND16 (static_cast<uint16_t>(at[1] | at[2] << 8))

/* Advances the program counter. */
#define LENGTH(bytes) pc = static_cast<uint16_t>(pc + (bytes))

#define READ(address, bus) read(static_cast<uint16_t>(address), cycles, bus)
#define WRITE(address, value)                                                            \
  do {                                                                                   \
    cycles = write(static_cast<uint16_t>(address), static_cast<uint8_t>(value), cycles); \
    if (myExecutionStatus) IR = at[0], number = 1;                                       \
  } while (0)

/* The zero page: its upper half is RAM; its lower half is the television chip, unless a cartridge replaces it. */
#define READ_ZERO(address) ((address) & 0x80 ? ram_[(address) & 0x7f] : READ(address, at[1]))
#define WRITE_ZERO(address, value)                                    \
  do {                                                                \
    const uint8_t zero = (address);                                   \
    if (zero & 0x80) ram_[zero & 0x7f] = static_cast<uint8_t>(value); \
    else WRITE(zero, value);                                          \
  } while (0)

/* A pointer in the zero page. As in ALE, the byte after 0xff is at 0x100. */
#define POINTER(zero)                                                                        \
  do {                                                                                       \
    const uint8_t low_at = static_cast<uint8_t>(zero);                                       \
    if (low_at & 0x80 && low_at != 0xff) {                                                   \
      address = static_cast<uint16_t>(ram_[low_at & 0x7f] | ram_[(low_at & 0x7f) + 1] << 8); \
    } else {                                                                                 \
      const uint8_t low = READ(low_at, at[1]);                                               \
      address = static_cast<uint16_t>(low | READ(low_at + 1, low) << 8);                     \
    }                                                                                        \
  } while (0)

/* Indexing an address takes one more cycle if the page changes, except in writes. */
#define INDEX(base, by)                               \
  do {                                                \
    const uint16_t from = (base);                     \
    address = static_cast<uint16_t>(from + (by));     \
    cycles += ((from ^ (from + (by))) & 0xff00) != 0; \
  } while (0)

/* The flags N and Z of a result: Z is set if the low byte is zero, N if bit 7 or bit 8 is set. */
#define NZ(value) nz = static_cast<uint8_t>(value)
#define IS_NEGATIVE ((nz & 0x180) != 0)
#define IS_ZERO (static_cast<uint8_t>(nz) == 0)
#define SET_NZ(negative, nonzero) nz = static_cast<unsigned>((nonzero) != 0) | ((negative) ? 0x100 : 0)

/* Reads, which store the byte in `operand`. */
#define IMMEDIATE LENGTH(2), operand = OPERAND8
#define ZERO LENGTH(2), operand = READ_ZERO(OPERAND8)
#define ZERO_INDEXED(by) LENGTH(2), address = static_cast<uint8_t>(OPERAND8 + (by)), operand = READ_ZERO(address)
#define ABSOLUTE LENGTH(3), operand = READ(OPERAND16, at[2])
#define ABSOLUTE_POLL                                       \
  do {                                                      \
    if (is_timer(OPERAND16)) {                              \
      const Wait after = skip_wait(at, pc, cycles, number); \
      cycles = after.cycles, number = after.number;         \
    }                                                       \
    ABSOLUTE;                                               \
  } while (0)
#define ABSOLUTE_INDEXED(by) do { LENGTH(3); INDEX(OPERAND16, by); operand = READ(address, at[2]); } while (0)
#define INDIRECT_X do { LENGTH(2); POINTER(OPERAND8 + x); operand = READ(address, address >> 8); } while (0)
#define INDIRECT_Y                                           \
  do {                                                       \
    LENGTH(2);                                               \
    POINTER(OPERAND8);                                       \
    const uint8_t high = static_cast<uint8_t>(address >> 8); \
    INDEX(address, y);                                       \
    operand = READ(address, high);                           \
  } while (0)

/* Operations on `operand`. */
#define LOAD(reg) NZ(reg = operand)
#define LOGIC(op) NZ(a = a op operand)
#define COMPARE(reg)      \
  do {                    \
    c = (reg) >= operand; \
    NZ((reg) - operand);  \
  } while (0)
#define ADD(value)                              \
  do {                                          \
    const unsigned term = (value) & 0xff;       \
    const unsigned sum = a + term + c;          \
    v = ((a ^ sum) & (term ^ sum) & 0x80) != 0; \
    c = sum > 0xff;                             \
    NZ(a = sum & 0xff);                         \
  } while (0)
#define BIT_TEST SET_NZ(operand & 0x80, a & operand), v = operand >> 6 & 1

/* Operations that compute `result` from `operand`, and instructions that modify memory or the accumulator with them. */
#define SHIFT_LEFT c = operand >> 7, result = operand << 1 & 0xff
#define SHIFT_RIGHT c = operand & 1, result = operand >> 1
#define ROTATE_LEFT result = (operand << 1 | c) & 0xff, c = operand >> 7
#define ROTATE_RIGHT result = operand >> 1 | c << 7, c = operand & 1
#define INCREMENT result = (operand + 1) & 0xff
#define DECREMENT result = (operand - 1) & 0xff
#define MODIFY_ZERO(op) ZERO, op, NZ(result); WRITE_ZERO(OPERAND8, result)
#define MODIFY_ZERO_X(op)          \
  ZERO_INDEXED(x), op, NZ(result); \
  WRITE_ZERO(static_cast<uint8_t>(address), result)
#define MODIFY(target, op)                                                                            \
  LENGTH(3), address = static_cast<uint16_t>(target), operand = READ(address, at[2]), op, NZ(result); \
  WRITE(address, result)
#define MODIFY_A(op) LENGTH(1), operand = a, op, NZ(a = result)

#define BRANCH(condition)                                                                \
  do {                                                                                   \
    LENGTH(2);                                                                           \
    if (condition) {                                                                     \
      const uint16_t target = static_cast<uint16_t>(pc + static_cast<int8_t>(OPERAND8)); \
      cycles += 1 + (((pc ^ target) & 0xff00) != 0);                                     \
      pc = target;                                                                       \
    }                                                                                    \
  } while (0)

/* The stack is in RAM, unless the stack pointer refers to the television chip. */
#define IN_RAM(pointer) ((pointer) & 0x80)
#define STACK(pointer) ram_[(pointer) & 0x7f]

/* The processor also reads the stack before it increments the stack pointer. */
#define PULL(into)                                   \
  do {                                               \
    if (IN_RAM(sp) && IN_RAM(sp + 1)) {              \
      into = STACK(++sp);                            \
    } else {                                         \
      const uint8_t below = READ(0x100 + sp, at[0]); \
      ++sp;                                          \
      into = READ(0x100 + sp, below);                \
    }                                                \
  } while (0)

#define PACK_FLAGS \
  static_cast<uint8_t>(IS_NEGATIVE << 7 | v << 6 | 0x20 | B << 4 | d << 3 | i << 2 | IS_ZERO << 1 | c)
#define UNPACK_FLAGS(value)               \
  do {                                    \
    const uint8_t packed = (value);       \
    SET_NZ(packed & 0x80, !(packed & 2)); \
    v = packed >> 6 & 1;                  \
    B = true;                             \
    d = packed >> 3 & 1;                  \
    i = packed >> 2 & 1;                  \
    c = packed & 1;                       \
  } while (0)

/* Copy the registers between the local variables and the members of M6502. */
#define LOAD_REGISTERS                                                                \
  a = A, x = X, y = Y, sp = SP, pc = PC, SET_NZ(N, notZ), c = C, v = V, d = D, i = I, \
  cycles = mySystem->cycles()
#define STORE_REGISTERS                                                                                    \
  A = static_cast<uint8_t>(a), X = static_cast<uint8_t>(x), Y = static_cast<uint8_t>(y), SP = sp, PC = pc, \
  N = IS_NEGATIVE, notZ = !IS_ZERO, C = c != 0, V = v != 0, D = d != 0, I = i != 0, synchronise(cycles)

#endif  // ENVPOOL_ATARI_INSTRUCTIONS_H
