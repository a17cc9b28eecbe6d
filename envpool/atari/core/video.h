/* A faster way through ALE's television chip: the same state, the same picture, fewer instructions.
 *
 * The state stays in ale::stella::TIA, which befriends a class of this name for debuggers. What a register write does
 * to the picture so far is drawn here, a run of pixels at a time; so is what the most frequent registers do. All other
 * registers are left to TIA, after the picture was brought up to date. */
#ifndef ENVPOOL_ATARI_VIDEO_H
#define ENVPOOL_ATARI_VIDEO_H

#include <cstdint>

#include "ale/emucore/System.hxx"
#include "ale/emucore/TIA.hxx"

namespace ale::stella {

constexpr int kLine = 228;      /* clocks of a line                                                       */
constexpr int kBlank = 68;      /* of which nothing is drawn                                              */
constexpr int kColumns = 160;   /* pixels of a line                                                       */
constexpr int kHalf = 80;       /* where the score mode changes its colour                                */

/* A column, from one that a motion took beyond an end of the line. */
inline int16_t wrap(int column) {
  return static_cast<int16_t>(column >= kColumns ? column - kColumns : column < 0 ? column + kColumns : column);
}

class TIADebug {
 public:
  /* Whether frames are drawn from now on. Collisions of objects are found in any case. */
  static void set_drawing(TIA &tia, bool on) { tia.fastUpdate = !on; }

  /* Reads a register at a clock; `bus` is the byte that the processor saw before, whose low bits show through. */
  static uint8_t read(TIA &tia, uint16_t address, uint32_t cycles, uint8_t bus);

  /* Writes a register and returns the clock, which waits for the end of the line when the register says so. */
  static uint32_t write(TIA &tia, System &system, uint16_t address, uint8_t value, uint32_t cycles);

  /* Whether a motion strobe blanks the next pixels: the picture then depends on where runs end, so that none may be
   * added nor left out. */
  static bool is_blanking(const TIA &tia) { return tia.myHMOVEBlankEnabled; }

  /* Draws the frame up to a clock, in pixels. */
  static void advance(TIA &tia, int clock);

 private:
  /* Masks of the objects where they are now. */
  static const uint8_t *player_mask(int position, uint8_t size) {
    return &TIA::ourPlayerMaskTable[position & 3][0][size & 7][kColumns - (position & 0xfc)];
  }
  static const uint8_t *missile_mask(int position, uint8_t size, int width) {
    return &TIA::ourMissleMaskTable[position & 3][size & 7][width][kColumns - (position & 0xfc)];
  }
  static const uint8_t *ball_mask(const TIA &tia) {
    return &TIA::ourBallMaskTable[tia.myPOSBL & 3][(tia.myCTRLPF & 0x30) >> 4][kColumns - (tia.myPOSBL & 0xfc)];
  }

  static void finish_line(TIA &tia);
  static void move(TIA &tia, int clock, uint32_t in_line);
  static uint64_t playfield_cells(const TIA &tia);
  static void draw(TIA &tia, int length, int column);
  template <bool Drawing>
  static void compose(TIA &tia, int length, int column, unsigned wanted);
  static void overshoot(TIA &tia, int length, int column);
  static void set_enabled(TIA &tia, uint8_t bit, bool on);
  static void show_players(TIA &tia);
};

}  // namespace ale::stella

namespace envpool::atari {
using Video = ale::stella::TIADebug;
}

#endif  // ENVPOOL_ATARI_VIDEO_H
