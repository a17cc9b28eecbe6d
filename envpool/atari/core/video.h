/* A faster implementation of ALE's television chip: the same state and the same frames with fewer instructions.
 *
 * The state stays in ale::stella::TIA, which befriends a class of this name for debuggers. Before a register write changes
 * the state, the frame is drawn up to the current clock, a run of pixels at a time (scanlines.cpp). Writes to the most
 * frequent registers are done here (video.cpp); TIA does all other writes, after the frame has been brought up to date. */
#ifndef ENVPOOL_ATARI_VIDEO_H
#define ENVPOOL_ATARI_VIDEO_H

#include <cstdint>
#include <utility>

#include "ale/emucore/System.hxx"
#include "ale/emucore/TIA.hxx"
#include "machine_state.h"

namespace ale::stella {

constexpr int kLine = 228;      /* clocks per line                                                        */
constexpr int kBlank = 68;      /* clocks of a line in which nothing is drawn                             */
constexpr int kColumns = 160;   /* pixels per line                                                        */
constexpr int kHalf = 80;       /* column at which the score mode changes its colour                      */
constexpr int kCell = 4;        /* pixels that a bit of the playfield covers                              */

/* Returns a column that may be beyond an end of the line, wrapped around. */
inline int16_t wrap(int column) {
  return static_cast<int16_t>(column >= kColumns ? column - kColumns : column < 0 ? column + kColumns : column);
}

class TIADebug {
 public:
  /* Sets whether frames are drawn from now on. Collisions of objects are always detected. */
  static void set_drawing(TIA &tia, bool on) { tia.fastUpdate = !on; }

  /* Returns whether a call of update() ended before the frame did, so that the next call continues the frame. */
  static bool is_unfinished(const TIA &tia) { return tia.myPartialFrameFlag; }

  /* Return the number of pixels of a frame, of those before the point up to which it is drawn, and of those that are drawn
   * together with them: whole cells. */
  static int pixels(const TIA &tia) { return kColumns * static_cast<int>(tia.myHeight); }
  static int pixels_drawn(const TIA &tia) { return static_cast<int>(tia.myFramePointer - tia.myCurrentFrameBuffer); }
  static int pixels_of_cells(const TIA &tia) { return (pixels_drawn(tia) + kCell - 1) / kCell * kCell; }

  /* Exchanges the frame buffers. */
  static void swap_buffers(TIA &tia) { std::swap(tia.myCurrentFrameBuffer, tia.myPreviousFrameBuffer); }

  /* Keeps the rest of an unfinished frame as it is. TIA would grey it otherwise. */
  static void keep_rest(TIA &tia) { tia.myFrameGreyed = true; }

  /* Reads a register at a clock. `bus` is the previous byte on the bus, whose low bits are part of the result. */
  static uint8_t read(TIA &tia, uint16_t address, uint32_t cycles, uint8_t bus);

  /* Writes a register. Returns the clock, which some registers advance to the end of the line. */
  static uint32_t write(TIA &tia, System &system, uint16_t address, uint8_t value, uint32_t cycles);

  /* Returns whether a motion strobe blanks the next pixels. The frame then depends on where runs of pixels end, so that no
   * run may be split or merged. */
  static bool is_blanking(const TIA &tia) { return tia.myHMOVEBlankEnabled; }

  /* Draws the frame up to a clock, which counts pixels. */
  static void advance(TIA &tia, int clock);

  /* Saves and restores the registers and the position in the frame, between two frames. */
  static void save(const TIA &tia, envpool::atari::VideoState *state);
  static bool is_valid(const TIA &tia, const envpool::atari::VideoState &state);
  static void restore(TIA &tia, const envpool::atari::VideoState &state);

 private:
  template <typename State, typename Tia, typename Visit>
  static void visit_all(State &state, Tia &tia, Visit visit);

  /* Return the masks of the objects at their current positions. */
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
