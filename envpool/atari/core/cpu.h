/* A faster processor for ALE's console, which equals ALE's own processor instruction by instruction.
 *
 * It replaces ale::stella::M6502Low through System::attach(). The documented instructions of the 6502 are executed here,
 * with the registers in local variables and with direct calls of the television chip. M6502Low executes the rare
 * instructions one by one: undocumented instructions and decimal arithmetic.
 */
#ifndef ENVPOOL_ATARI_CPU_H
#define ENVPOOL_ATARI_CPU_H

#include <utility>

#include "ale/emucore/M6502Low.hxx"
#include "ale/emucore/M6532.hxx"
#include "ale/emucore/System.hxx"
#include "ale/emucore/TIA.hxx"
#include "machine_state.h"

namespace envpool::atari {

class Cpu final : public ale::stella::M6502Low {
 public:
  /* Replaces the processor of `system`, whose devices must be installed already. The system owns the new processor; the
   * old one is freed. */
  static Cpu *replace(ale::stella::System &system);

  /* The RAM of the console (128). */
  const uint8_t *ram() const { return ram_; }

  /* Executes instructions until the frame ends, at most `number` of them. */
  bool execute(uint32_t number) override;

  /* Sets whether M6502Low executes all instructions. The television chip is then brought up to date with every access, as
   * in ALE; otherwise only with those that change the frame, which can be seen in a frame that is left unfinished. */
  void set_plain(bool on) { is_plain_ = on; }

  /* Returns whether a frame was left unfinished since the last call, other than by M6502Low alone. */
  bool has_left_unfinished() { return std::exchange(has_left_unfinished_, false); }

  /* Save and restore the registers. */
  void save(ProcessorState *state) const;
  static bool is_valid(const ProcessorState &state);
  void restore(const ProcessorState &state);

 private:
  template <typename State, typename Self, typename Visit>
  static void visit_all(State &state, Self &self, Visit visit);

  using Page = ale::stella::System::PageAccess;

  explicit Cpu(ale::stella::System &system);

  /* Read a byte. The clock is an argument, because the system's own clock lags behind while instructions are executed
   * here. `bus` is the previous byte on the bus, part of which reads of the television chip return. */
  uint8_t read(uint16_t address, uint32_t cycles, uint8_t bus);
  uint8_t read_device(const Page &page, uint16_t address, uint32_t cycles, uint8_t bus);
  /* Write a byte. Return the clock, which a write may advance to the end of the line. */
  uint32_t write(uint16_t address, uint8_t value, uint32_t cycles);
  uint32_t write_device(const Page &page, uint16_t address, uint8_t value, uint32_t cycles);

  bool fetch(uint16_t pc, uint32_t cycles, bool decimal, uint8_t bytes[]);

  /* The clock and the instruction count after a loop that waits for the timer, if the read at `at` is in such a loop. */
  struct Wait {
    uint32_t cycles, number;
  };
  Wait skip_wait(const uint8_t *at, uint16_t pc, uint32_t cycles, uint32_t number) const;

  /* Returns the page of an address. */
  const Page &page_of(uint16_t address) const;

  /* Advances the system's clock to `cycles`. */
  void synchronise(uint32_t cycles) { mySystem->incrementCycles(cycles - mySystem->cycles()); }

  bool is_plain_ = false;         /* whether M6502Low executes all instructions                               */
  bool has_left_unfinished_ = false;
  const Page *pages_;             /* of the system: 128 pages of 64 bytes; cartridges with banks change them  */
  uint8_t *ram_;                  /* the RAM of the console (128)                                             */
  ale::stella::TIA *tia_;         /* the television chip                                                      */
  ale::stella::M6532 *timer_;     /* the chip with the RAM, the ports and the timer                           */
};

}  // namespace envpool::atari

#endif  // ENVPOOL_ATARI_CPU_H
