#include "cpu.h"

#include <algorithm>

#include "instructions.h"
#include "timer.h"
#include "video.h"

namespace envpool::atari {

using ale::stella::M6502Low;
using ale::stella::System;

namespace {

constexpr uint16_t kAddressMask = 0x1fff; /* 13 address lines                                   */
constexpr int kPageShift = 6;             /* pages of 64 bytes                                  */
constexpr uint16_t kOffsetMask = 0x3f;    /* the part of an address within its page             */
constexpr int kLongest = 3;               /* bytes of the longest instruction                   */
constexpr int kLoop = 5;                  /* bytes of a loop that waits for the timer           */

}  // namespace

Cpu *Cpu::replace(System &system) {
  auto *old = &system.m6502();
  auto *cpu = new Cpu(system);
  system.attach(cpu);
  delete old;
  cpu->reset();
  return cpu;
}

Cpu::Cpu(System &system)
    : M6502Low(1),
      pages_(&system.getPageAccess(0)),
      ram_(system.getPageAccess(0x80 >> kPageShift).directPokeBase),
      tia_(&system.tia()),
      timer_(static_cast<ale::stella::M6532 *>(system.getPageAccess(0x280 >> kPageShift).device)) {}

inline const Cpu::Page &Cpu::page_of(uint16_t address) const { return pages_[(address & kAddressMask) >> kPageShift]; }

inline uint8_t Cpu::read(uint16_t address, uint32_t cycles, uint8_t bus) {
  const Page &page = page_of(address);
  if (page.directPeekBase) return page.directPeekBase[address & kOffsetMask];
  return read_device(page, address, cycles, bus);
}

inline uint32_t Cpu::write(uint16_t address, uint8_t value, uint32_t cycles) {
  const Page &page = page_of(address);
  if (page.directPokeBase) {
    page.directPokeBase[address & kOffsetMask] = value;
    return cycles;
  }
  return write_device(page, address, value, cycles);
}

[[gnu::noinline]] uint8_t Cpu::read_device(const Page &page, uint16_t address, uint32_t cycles, uint8_t bus) {
  if (page.device == tia_) return Video::read(*tia_, address, cycles, bus);
  if (page.device == timer_ && is_timer(address)) {
    const int value = timer_value(*timer_, cycles);
    if (value >= 0) return is_flag(address) ? 0 : static_cast<uint8_t>(value);
  }
  synchronise(cycles);
  return page.device->peek(address);
}

[[gnu::noinline]] uint32_t Cpu::write_device(const Page &page, uint16_t address, uint8_t value, uint32_t cycles) {
  if (page.device == tia_) return Video::write(*tia_, *mySystem, address, value, cycles);
  synchronise(cycles);
  page.device->poke(address, value);
  return mySystem->cycles();
}

/* Most games wait for the timer in a loop of two instructions: read the timer, branch back. Reads before the timer runs
 * out change nothing, so all rounds but the last are skipped, and the clock and the instruction count advance accordingly.
 * `cycles` is the clock of the read. */
[[gnu::noinline]] Cpu::Wait Cpu::skip_wait(const uint8_t *at, uint16_t pc, uint32_t cycles, uint32_t number) const {
  constexpr uint8_t kBit = 0x2c, kBack = 0xfb, kWhilePositive = 0x10, kWhileNegative = 0x30, kWhileNonzero = 0xd0;
  const Wait none = {cycles, number};
  if ((pc & kOffsetMask) > kOffsetMask + 1 - kLoop || at[4] != kBack) return none;
  const int value = is_flag(OPERAND16) ? 0 : timer_value(*timer_, cycles);
  int least; /* smallest value for which the loop continues */
  if (at[3] == kWhileNonzero && at[0] != kBit) least = 1;
  else if (at[3] == kWhilePositive && value < 0x80) least = 0;
  else if (at[3] == kWhileNegative) least = 0x80;
  else return none;
  if (value < least) return none;
  const uint32_t passed = cycles - 1 - static_cast<uint32_t>(timer_->*member(TimerStart()));
  const uint32_t above = timer_->*member(TimerValue()) - static_cast<uint32_t>(least);
  const uint32_t enough = above << timer_->*member(TimerShift());
  if (passed >= enough) return none; /* the timer has run out; only reads of the flag get here */
  const uint32_t round = 4 + 2 + 1 + (((pc ^ (pc + kLoop)) & 0xff00) != 0);
  const uint32_t rounds = std::min((enough - 1 - passed) / round, (number - 1) / 2);
  return {cycles + rounds * round, number - rounds * 2};
}

/* Copies the instruction at `pc`, whose bytes are not contiguous in memory. Only the bytes of the instruction are read,
 * and in order, because cartridges may react to reads. Returns false if M6502Low must execute the instruction. */
[[gnu::noinline]] bool Cpu::fetch(uint16_t pc, uint32_t cycles, bool decimal, uint8_t bytes[]) {
  bytes[0] = read(pc, cycles, 0);
  constexpr uint8_t kCall = 0x20; /* it reads its last byte after writing to the stack */
  if (bytes[0] == kCall || decimal) return false;
  cycles += myInstructionSystemCycleTable[bytes[0]];
  const AddressingMode mode = addressingMode(bytes[0]);
  if (mode == Implied || mode == Invalid) return true;
  bytes[1] = read(static_cast<uint16_t>(pc + 1), cycles, bytes[0]);
  if (mode != Absolute && mode != AbsoluteX && mode != AbsoluteY && mode != Indirect) return true;
  bytes[2] = read(static_cast<uint16_t>(pc + 2), cycles, bytes[1]);
  return true;
}

/* Each instruction dispatches the next one itself, so that the branch predictor learns which instructions follow it. */
#define NEXT                                                                                       \
  do {                                                                                             \
    if (__builtin_expect(--number == 0, 0)) goto done;                                             \
    BEGIN;                                                                                         \
  } while (0)
#define BEGIN                                                                                      \
  do {                                                                                             \
    const Page &page = page_of(static_cast<uint16_t>(pc));                                         \
    offset = pc & kOffsetMask;                                                                     \
    if (__builtin_expect(!page.directPeekBase || offset > kOffsetMask + 1 - kLongest, 0)) goto piecemeal; \
    at = page.directPeekBase + offset;                                                             \
    DISPATCH;                                                                                      \
  } while (0)
#define DISPATCH goto *kCode[at[0]]
/* An instruction: its code, and the clocks that it takes without crossed pages and taken branches. */
#define ON(opcode, clocks) NEXT; on_##opcode: cycles += (clocks);
/* As ON; in decimal mode, M6502Low executes the instruction. */
#define ON_ARITHMETIC(opcode, clocks) ON(opcode, clocks) if (__builtin_expect(d, 0)) goto undo;

bool Cpu::execute(uint32_t number) {
#define AT(opcode) &&on_##opcode
#define RARE &&rare
  static const void *const kCode[256] = {
    RARE, AT(01), RARE, RARE, RARE, AT(05), AT(06), RARE, AT(08), AT(09), AT(0a), RARE, RARE, AT(0d),
    AT(0e), RARE, AT(10), AT(11), RARE, RARE, RARE, AT(15), AT(16), RARE, AT(18), AT(19), RARE, RARE,
    RARE, AT(1d), AT(1e), RARE, AT(20), AT(21), RARE, RARE, AT(24), AT(25), AT(26), RARE, AT(28), AT(29),
    AT(2a), RARE, AT(2c), AT(2d), AT(2e), RARE, AT(30), AT(31), RARE, RARE, RARE, AT(35), AT(36), RARE,
    AT(38), AT(39), RARE, RARE, RARE, AT(3d), AT(3e), RARE, AT(40), AT(41), RARE, RARE, RARE, AT(45),
    AT(46), RARE, AT(48), AT(49), AT(4a), RARE, AT(4c), AT(4d), AT(4e), RARE, AT(50), AT(51), RARE, RARE,
    RARE, AT(55), AT(56), RARE, AT(58), AT(59), RARE, RARE, RARE, AT(5d), AT(5e), RARE, AT(60), AT(61),
    RARE, RARE, RARE, AT(65), AT(66), RARE, AT(68), AT(69), AT(6a), RARE, AT(6c), AT(6d), AT(6e), RARE,
    AT(70), AT(71), RARE, RARE, RARE, AT(75), AT(76), RARE, AT(78), AT(79), RARE, RARE, RARE, AT(7d),
    AT(7e), RARE, RARE, AT(81), RARE, RARE, AT(84), AT(85), AT(86), RARE, AT(88), RARE, AT(8a), RARE,
    AT(8c), AT(8d), AT(8e), RARE, AT(90), AT(91), RARE, RARE, AT(94), AT(95), AT(96), RARE, AT(98), AT(99),
    AT(9a), RARE, RARE, AT(9d), RARE, RARE, AT(a0), AT(a1), AT(a2), RARE, AT(a4), AT(a5), AT(a6), RARE,
    AT(a8), AT(a9), AT(aa), RARE, AT(ac), AT(ad), AT(ae), RARE, AT(b0), AT(b1), RARE, RARE, AT(b4), AT(b5),
    AT(b6), RARE, AT(b8), AT(b9), AT(ba), RARE, AT(bc), AT(bd), AT(be), RARE, AT(c0), AT(c1), RARE, RARE,
    AT(c4), AT(c5), AT(c6), RARE, AT(c8), AT(c9), AT(ca), RARE, AT(cc), AT(cd), AT(ce), RARE, AT(d0), AT(d1),
    RARE, RARE, RARE, AT(d5), AT(d6), RARE, AT(d8), AT(d9), RARE, RARE, RARE, AT(dd), AT(de), RARE,
    AT(e0), AT(e1), RARE, RARE, AT(e4), AT(e5), AT(e6), RARE, AT(e8), AT(e9), AT(ea), RARE, AT(ec), AT(ed),
    AT(ee), RARE, AT(f0), AT(f1), RARE, RARE, RARE, AT(f5), AT(f6), RARE, AT(f8), AT(f9), RARE, RARE,
    RARE, AT(fd), AT(fe), RARE,
  };
#undef AT
#undef RARE
  if (is_plain_ || myExecutionStatus & FatalErrorBit) return M6502Low::execute(number);
  myExecutionStatus = 0;
  if (number == 0) return true;

  unsigned a, x, y, nz, c, v, d, i, operand, result, offset;
  uint8_t sp;
  uint16_t pc, address;
  uint32_t cycles;
  const uint8_t *at;
  uint8_t fetched[kLoop] = {}; /* an instruction and zeros, in which skip_wait() finds no loop */
  LOAD_REGISTERS;
  BEGIN;

  on_a9: cycles += 2; IMMEDIATE, LOAD(a);
  ON(a5, 3) ZERO, LOAD(a);
  ON(b5, 4) ZERO_INDEXED(x), LOAD(a);
  ON(ad, 4) ABSOLUTE_POLL; LOAD(a);
  ON(bd, 4) ABSOLUTE_INDEXED(x); LOAD(a);
  ON(b9, 4) ABSOLUTE_INDEXED(y); LOAD(a);
  ON(a1, 6) INDIRECT_X; LOAD(a);
  ON(b1, 5) INDIRECT_Y; LOAD(a);
  ON(a2, 2) IMMEDIATE, LOAD(x);
  ON(a6, 3) ZERO, LOAD(x);
  ON(b6, 4) ZERO_INDEXED(y), LOAD(x);
  ON(ae, 4) ABSOLUTE_POLL; LOAD(x);
  ON(be, 4) ABSOLUTE_INDEXED(y); LOAD(x);
  ON(a0, 2) IMMEDIATE, LOAD(y);
  ON(a4, 3) ZERO, LOAD(y);
  ON(b4, 4) ZERO_INDEXED(x), LOAD(y);
  ON(ac, 4) ABSOLUTE_POLL; LOAD(y);
  ON(bc, 4) ABSOLUTE_INDEXED(x); LOAD(y);

  ON(85, 3) LENGTH(2); WRITE_ZERO(OPERAND8, a);
  ON(95, 4) LENGTH(2); WRITE_ZERO(static_cast<uint8_t>(OPERAND8 + x), a);
  ON(8d, 4) LENGTH(3); WRITE(OPERAND16, a);
  ON(9d, 5) LENGTH(3); WRITE(OPERAND16 + x, a);
  ON(99, 5) LENGTH(3); WRITE(OPERAND16 + y, a);
  ON(81, 6) LENGTH(2); POINTER(OPERAND8 + x); WRITE(address, a);
  ON(91, 6) LENGTH(2); POINTER(OPERAND8); WRITE(address + y, a);
  ON(86, 3) LENGTH(2); WRITE_ZERO(OPERAND8, x);
  ON(96, 4) LENGTH(2); WRITE_ZERO(static_cast<uint8_t>(OPERAND8 + y), x);
  ON(8e, 4) LENGTH(3); WRITE(OPERAND16, x);
  ON(84, 3) LENGTH(2); WRITE_ZERO(OPERAND8, y);
  ON(94, 4) LENGTH(2); WRITE_ZERO(static_cast<uint8_t>(OPERAND8 + x), y);
  ON(8c, 4) LENGTH(3); WRITE(OPERAND16, y);

  ON(29, 2) IMMEDIATE, LOGIC(&);
  ON(25, 3) ZERO, LOGIC(&);
  ON(35, 4) ZERO_INDEXED(x), LOGIC(&);
  ON(2d, 4) ABSOLUTE, LOGIC(&);
  ON(3d, 4) ABSOLUTE_INDEXED(x); LOGIC(&);
  ON(39, 4) ABSOLUTE_INDEXED(y); LOGIC(&);
  ON(21, 6) INDIRECT_X; LOGIC(&);
  ON(31, 5) INDIRECT_Y; LOGIC(&);
  ON(09, 2) IMMEDIATE, LOGIC(|);
  ON(05, 3) ZERO, LOGIC(|);
  ON(15, 4) ZERO_INDEXED(x), LOGIC(|);
  ON(0d, 4) ABSOLUTE, LOGIC(|);
  ON(1d, 4) ABSOLUTE_INDEXED(x); LOGIC(|);
  ON(19, 4) ABSOLUTE_INDEXED(y); LOGIC(|);
  ON(01, 6) INDIRECT_X; LOGIC(|);
  ON(11, 5) INDIRECT_Y; LOGIC(|);
  ON(49, 2) IMMEDIATE, LOGIC(^);
  ON(45, 3) ZERO, LOGIC(^);
  ON(55, 4) ZERO_INDEXED(x), LOGIC(^);
  ON(4d, 4) ABSOLUTE, LOGIC(^);
  ON(5d, 4) ABSOLUTE_INDEXED(x); LOGIC(^);
  ON(59, 4) ABSOLUTE_INDEXED(y); LOGIC(^);
  ON(41, 6) INDIRECT_X; LOGIC(^);
  ON(51, 5) INDIRECT_Y; LOGIC(^);
  ON(24, 3) ZERO, BIT_TEST;
  ON(2c, 4) ABSOLUTE_POLL; BIT_TEST;

  ON(c9, 2) IMMEDIATE; COMPARE(a);
  ON(c5, 3) ZERO; COMPARE(a);
  ON(d5, 4) ZERO_INDEXED(x); COMPARE(a);
  ON(cd, 4) ABSOLUTE; COMPARE(a);
  ON(dd, 4) ABSOLUTE_INDEXED(x); COMPARE(a);
  ON(d9, 4) ABSOLUTE_INDEXED(y); COMPARE(a);
  ON(c1, 6) INDIRECT_X; COMPARE(a);
  ON(d1, 5) INDIRECT_Y; COMPARE(a);
  ON(e0, 2) IMMEDIATE; COMPARE(x);
  ON(e4, 3) ZERO; COMPARE(x);
  ON(ec, 4) ABSOLUTE; COMPARE(x);
  ON(c0, 2) IMMEDIATE; COMPARE(y);
  ON(c4, 3) ZERO; COMPARE(y);
  ON(cc, 4) ABSOLUTE; COMPARE(y);

  ON_ARITHMETIC(69, 2) IMMEDIATE; ADD(operand);
  ON_ARITHMETIC(65, 3) ZERO; ADD(operand);
  ON_ARITHMETIC(75, 4) ZERO_INDEXED(x); ADD(operand);
  ON_ARITHMETIC(6d, 4) ABSOLUTE; ADD(operand);
  ON_ARITHMETIC(7d, 4) ABSOLUTE_INDEXED(x); ADD(operand);
  ON_ARITHMETIC(79, 4) ABSOLUTE_INDEXED(y); ADD(operand);
  ON_ARITHMETIC(61, 6) INDIRECT_X; ADD(operand);
  ON_ARITHMETIC(71, 5) INDIRECT_Y; ADD(operand);
  ON_ARITHMETIC(e9, 2) IMMEDIATE; ADD(~operand);
  ON_ARITHMETIC(e5, 3) ZERO; ADD(~operand);
  ON_ARITHMETIC(f5, 4) ZERO_INDEXED(x); ADD(~operand);
  ON_ARITHMETIC(ed, 4) ABSOLUTE; ADD(~operand);
  ON_ARITHMETIC(fd, 4) ABSOLUTE_INDEXED(x); ADD(~operand);
  ON_ARITHMETIC(f9, 4) ABSOLUTE_INDEXED(y); ADD(~operand);
  ON_ARITHMETIC(e1, 6) INDIRECT_X; ADD(~operand);
  ON_ARITHMETIC(f1, 5) INDIRECT_Y; ADD(~operand);

  ON(0a, 2) MODIFY_A(SHIFT_LEFT);
  ON(06, 5) MODIFY_ZERO(SHIFT_LEFT);
  ON(16, 6) MODIFY_ZERO_X(SHIFT_LEFT);
  ON(0e, 6) MODIFY(OPERAND16, SHIFT_LEFT);
  ON(1e, 7) MODIFY(OPERAND16 + x, SHIFT_LEFT);
  ON(4a, 2) MODIFY_A(SHIFT_RIGHT);
  ON(46, 5) MODIFY_ZERO(SHIFT_RIGHT);
  ON(56, 6) MODIFY_ZERO_X(SHIFT_RIGHT);
  ON(4e, 6) MODIFY(OPERAND16, SHIFT_RIGHT);
  ON(5e, 7) MODIFY(OPERAND16 + x, SHIFT_RIGHT);
  ON(2a, 2) MODIFY_A(ROTATE_LEFT);
  ON(26, 5) MODIFY_ZERO(ROTATE_LEFT);
  ON(36, 6) MODIFY_ZERO_X(ROTATE_LEFT);
  ON(2e, 6) MODIFY(OPERAND16, ROTATE_LEFT);
  ON(3e, 7) MODIFY(OPERAND16 + x, ROTATE_LEFT);
  ON(6a, 2) MODIFY_A(ROTATE_RIGHT);
  ON(66, 5) MODIFY_ZERO(ROTATE_RIGHT);
  ON(76, 6) MODIFY_ZERO_X(ROTATE_RIGHT);
  ON(6e, 6) MODIFY(OPERAND16, ROTATE_RIGHT);
  ON(7e, 7) MODIFY(OPERAND16 + x, ROTATE_RIGHT);
  ON(e6, 5) MODIFY_ZERO(INCREMENT);
  ON(f6, 6) MODIFY_ZERO_X(INCREMENT);
  ON(ee, 6) MODIFY(OPERAND16, INCREMENT);
  ON(fe, 7) MODIFY(OPERAND16 + x, INCREMENT);
  ON(c6, 5) MODIFY_ZERO(DECREMENT);
  ON(d6, 6) MODIFY_ZERO_X(DECREMENT);
  ON(ce, 6) MODIFY(OPERAND16, DECREMENT);
  ON(de, 7) MODIFY(OPERAND16 + x, DECREMENT);

  ON(e8, 2) LENGTH(1), NZ(x = static_cast<uint8_t>(x + 1));
  ON(c8, 2) LENGTH(1), NZ(y = static_cast<uint8_t>(y + 1));
  ON(ca, 2) LENGTH(1), NZ(x = static_cast<uint8_t>(x - 1));
  ON(88, 2) LENGTH(1), NZ(y = static_cast<uint8_t>(y - 1));
  ON(aa, 2) LENGTH(1), NZ(x = a);
  ON(a8, 2) LENGTH(1), NZ(y = a);
  ON(8a, 2) LENGTH(1), NZ(a = x);
  ON(98, 2) LENGTH(1), NZ(a = y);
  ON(ba, 2) LENGTH(1), NZ(x = sp);
  ON(9a, 2) LENGTH(1), sp = static_cast<uint8_t>(x);
  ON(18, 2) LENGTH(1), c = 0;
  ON(38, 2) LENGTH(1), c = 1;
  ON(d8, 2) LENGTH(1), d = 0;
  ON(f8, 2) LENGTH(1), d = 1;
  ON(58, 2) LENGTH(1), i = 0;
  ON(78, 2) LENGTH(1), i = 1;
  ON(b8, 2) LENGTH(1), v = 0;
  ON(ea, 2) LENGTH(1);

  ON(10, 2) BRANCH(!IS_NEGATIVE);
  ON(30, 2) BRANCH(IS_NEGATIVE);
  ON(50, 2) BRANCH(!v);
  ON(70, 2) BRANCH(v);
  ON(90, 2) BRANCH(!c);
  ON(b0, 2) BRANCH(c);
  ON(d0, 2) BRANCH(!IS_ZERO);
  ON(f0, 2) BRANCH(IS_ZERO);

  ON(4c, 3) pc = OPERAND16;
  ON(6c, 5) {
    /* The high byte is read from the same page, even if the low byte is the last one of the page. */
    const uint16_t low_at = OPERAND16;
    const uint16_t high_at = static_cast<uint16_t>((low_at & 0xff) == 0xff ? low_at & 0xff00 : low_at + 1);
    const uint8_t low = READ(low_at, at[2]);
    pc = static_cast<uint16_t>(low | READ(high_at, low) << 8);
  }
  ON(20, 6) {
    if (!IN_RAM(sp) || !IN_RAM(sp - 1)) {
      goto undo;
    }
    const uint16_t back = static_cast<uint16_t>(pc + 2);
    const uint8_t low = at[1];
    STACK(sp) = static_cast<uint8_t>(back >> 8);
    STACK(sp - 1) = static_cast<uint8_t>(back);
    sp = static_cast<uint8_t>(sp - 2);
    pc = static_cast<uint16_t>(low | at[2] << 8);
  }
  ON(60, 6) {
    const uint8_t first = static_cast<uint8_t>(sp + 1), second = static_cast<uint8_t>(sp + 2);
    if (!IN_RAM(first) || !IN_RAM(second)) {
      goto undo;
    }
    pc = static_cast<uint16_t>(STACK(first) | STACK(second) << 8);
    sp = second;
    /* The processor reads and skips the byte at the return address, which may switch banks. */
    READ(pc, static_cast<uint8_t>(pc >> 8));
    LENGTH(1);
  }
  ON(40, 6) {
    const uint8_t first = static_cast<uint8_t>(sp + 1), third = static_cast<uint8_t>(sp + 3);
    if (!IN_RAM(first) || !IN_RAM(third)) {
      goto undo;
    }
    UNPACK_FLAGS(STACK(first));
    pc = static_cast<uint16_t>(STACK(first + 1) | STACK(third) << 8);
    sp = third;
  }
  ON(48, 3) LENGTH(1); WRITE(0x100 + sp, a); --sp;
  ON(08, 3) LENGTH(1); WRITE(0x100 + sp, PACK_FLAGS); --sp;
  ON(68, 4) LENGTH(1); PULL(a); NZ(a);
  ON(28, 4) {
    uint8_t flags;
    LENGTH(1);
    PULL(flags);
    UNPACK_FLAGS(flags);
  }
  NEXT;

piecemeal:
  if (!fetch(pc, cycles, d, fetched)) goto rare;
  at = fetched;
  DISPATCH;

undo:
  cycles -= myInstructionSystemCycleTable[at[0]];
rare:
  STORE_REGISTERS;
  M6502Low::execute(1);
  LOAD_REGISTERS;
  if (!myExecutionStatus) NEXT;

done:
  STORE_REGISTERS;
  if (!(myExecutionStatus & StopExecutionBit)) {
    has_left_unfinished_ = true;
    Video::keep_rest(*tia_);
  }
  return !(myExecutionStatus & FatalErrorBit) || (myExecutionStatus & StopExecutionBit);
}

}  // namespace envpool::atari
