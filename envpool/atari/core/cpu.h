/* A faster processor for ALE's console: the same machine as ALE's own, instruction by instruction.
 *
 * It stands in for ale::stella::M6502Low through System::attach(). The documented instructions of the 6502 run here,
 * with the registers in local variables and the television chip called directly. What is rare is left to M6502Low, one
 * instruction at a time: undocumented instructions and decimal arithmetic.
 */
#ifndef ENVPOOL_ATARI_CPU_H
#define ENVPOOL_ATARI_CPU_H

#include "ale/emucore/M6502Low.hxx"
#include "ale/emucore/M6532.hxx"
#include "ale/emucore/System.hxx"
#include "ale/emucore/TIA.hxx"

namespace envpool::atari {

class Cpu final : public ale::stella::M6502Low {
 public:
  /* Takes the place of the processor of `system`, whose devices are in place already. The system owns the new
   * processor from then on, and the old one is freed. */
  static Cpu *replace(ale::stella::System &system);

  /* The RAM of the console (128). */
  const uint8_t *ram() const { return ram_; }

  /* Runs at most `number` instructions, until the frame ends. */
  bool execute(uint32_t number) override;

 private:
  using Page = ale::stella::System::PageAccess;

  explicit Cpu(ale::stella::System &system);

  /* Reads or writes a byte. The clock is given along, since the system's own count is behind while code runs here;
   * `bus` is the byte that the processor saw before, which reads of the television chip show in part. */
  uint8_t read(uint16_t address, uint32_t cycles, uint8_t bus);
  uint8_t read_device(const Page &page, uint16_t address, uint32_t cycles, uint8_t bus);
  /* Returns the clock, which a write may advance to the end of the line. */
  uint32_t write(uint16_t address, uint8_t value, uint32_t cycles);
  uint32_t write_device(const Page &page, uint16_t address, uint8_t value, uint32_t cycles);

  bool fetch(uint16_t pc, uint32_t cycles, bool decimal, uint8_t bytes[]);

  /* Clock and instruction count after a loop that waits for the timer, if the read at `at` is in one. */
  struct Wait {
    uint32_t cycles, number;
  };
  Wait skip_wait(const uint8_t *at, uint16_t pc, uint32_t cycles, uint32_t number) const;

  /* The page of an address. */
  const Page &page_of(uint16_t address) const;

  /* Makes the clock of the system agree. */
  void synchronise(uint32_t cycles) { mySystem->incrementCycles(cycles - mySystem->cycles()); }

  const Page *pages_;             /* of the system: 128 pages of 64 bytes; banked cartridges change them      */
  uint8_t *ram_;                  /* the console's (128)                                                      */
  ale::stella::TIA *tia_;         /* the television chip                                                      */
  ale::stella::M6532 *timer_;     /* the chip with the RAM, the ports and the timer                           */
};

}  // namespace envpool::atari

#endif  // ENVPOOL_ATARI_CPU_H
