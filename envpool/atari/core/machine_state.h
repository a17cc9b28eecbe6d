/* Everything on which the future of a console depends, except for the pixels of its two frame buffers: plain data, whose
 * layout is that of snapshots. A flag is 0 or 1. */
#ifndef ENVPOOL_ATARI_MACHINE_STATE_H
#define ENVPOOL_ATARI_MACHINE_STATE_H

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "ale/emucore/Cart.hxx"
#include "ale/emucore/CartDPC.hxx"
#include "ale/emucore/System.hxx"
#include "envpool/rng_legacy.h"

namespace envpool::atari {

/* The counter starts again with each frame, and hundreds of frames without an end fit. With larger values, times in clocks,
 * which are int32_t, would overflow. */
inline constexpr uint32_t kMostCycles = 1u << 26;
inline constexpr int kMaxGameWords = 8;   /* ALE's class with the most members has seven                          */
inline constexpr int kMaxGameExtras = 5;  /* members of ALE's class of a game that its own snapshots do not contain */

struct ProcessorState {
  uint16_t pc;
  uint8_t a, x, y, sp, ir;
  uint8_t n, v, b, d, i, not_z, c;  /* flags                                                        */
  uint8_t status;                   /* why execution ended: at the end of a frame, or by a fatal error */
  uint8_t last_access_was_read;
};

/* The chip with the RAM, the ports and the timer. */
struct TimerState {
  uint32_t timer, shift;            /* `shift` is 0, 3, 6 or 10                                     */
  int32_t set_at, interrupt_read_at;
  uint8_t ram[128];
  uint8_t was_read, ddra, ddrb, unused;
};

/* The television chip. Times are in clocks since the cycle counter was reset, unless stated otherwise. */
struct VideoState {
  int32_t frame_start;              /* -227 to 0                                                    */
  int32_t drawn_until;              /* time up to which the frame is drawn                          */
  int32_t left_in_line;             /* clocks from `drawn_until` to the end of the line, 0 to 228   */
  int32_t vsync_end, last_motion, lines_of_last_frame;
  int32_t dump_end;                 /* in cycles                                                    */
  uint32_t pixel;                   /* offset of the next pixel in the frame buffer                 */
  uint32_t background, playfield_colour, player0_colour, player1_colour, playfield, cosmic_counter;
  uint16_t collision;
  uint16_t player0_mask, player1_mask, missile0_mask, missile1_mask, ball_mask;  /* offsets in TIA's tables */
  int16_t player0, player1, missile0, missile1, ball;                            /* columns, 0 to 159       */
  uint8_t enabled, vsync, vblank, nusiz0, nusiz1, ctrlpf, priority_and_score;
  uint8_t grp0, grp1, dgrp0, dgrp1, current_grp0, current_grp1;
  int8_t hmp0, hmp1, hmm0, hmm1, hmbl;                                           /* 0 to 15                 */
  uint8_t refp0, refp1, enam0, enam1, enabl, denabl, vdelp0, vdelp1, vdelbl, resmp0, resmp1;  /* flags      */
  uint8_t dump, motion_blanks, cosmic, is_mirrored, is_partial, is_grey;                      /* flags      */
  uint8_t unused[3];
};

/* A cartridge; parts that a cartridge does not have are 0. */
struct CartridgeState {
  double music_clocks;              /* of a DPC: 0 to 1                                             */
  int32_t music_cycles;
  uint16_t bank;
  uint16_t counters[8];             /* of a DPC: 0 to 2047                                          */
  uint8_t slices[3];                /* of an E0 cartridge: 0 to 7                                   */
  uint8_t random;                   /* of a DPC                                                     */
  uint8_t tops[8], bottoms[8], flags[8], music[3];  /* of a DPC                                     */
  uint8_t ram[128];
  uint8_t unused[3];
};

struct MachineState {
  ep_mt19937 console_random;        /* draws what a reset leaves to chance                          */
  ep_mt19937 action_random;         /* decides which actions are repeated                           */
  CartridgeState cartridge;
  uint32_t cycles;                  /* since the counter was reset                                  */
  uint32_t game[kMaxGameWords];     /* what ALE's class of the game saves                           */
  int32_t game_extras[kMaxGameExtras];
  int32_t held;                     /* action that is held, 0 to 17                                 */
  float strength;                   /* with which it turns a paddle, 0 to kMaxStrength              */
  int32_t left_paddle, right_paddle;
  TimerState timer;
  VideoState video;
  ProcessorState processor;
  uint8_t bus;                      /* the last byte on the data bus                                */
  uint8_t unused[7];
};

static_assert(std::has_unique_object_representations_v<ProcessorState>);
static_assert(std::has_unique_object_representations_v<TimerState>);
static_assert(std::has_unique_object_representations_v<VideoState>);
static_assert(sizeof(CartridgeState) == 8 + 4 + 2 + 16 + 4 + 27 + 128 + 3, "no padding");
static_assert(sizeof(MachineState) == 2 * sizeof(ep_mt19937) + sizeof(CartridgeState) + 4 + 4 * kMaxGameWords +
                                          4 * kMaxGameExtras + 16 + sizeof(TimerState) + sizeof(VideoState) +
                                          sizeof(ProcessorState) + 8, "no padding");

/* Lists pairs of a saved value and a member: visit(saved, member). */
struct Save {
  template <typename Saved, typename Own>
  void operator()(Saved &saved, const Own &own) const { saved = static_cast<Saved>(own); }
};
struct Restore {
  template <typename Saved, typename Own>
  void operator()(const Saved &saved, Own &own) const { own = static_cast<Own>(saved); }
};

/* The cartridge of a console. */
class CartridgePort {
 public:
  /* The cartridge must be installed in the system. */
  explicit CartridgePort(ale::stella::System &system);

  void save(CartridgeState *state) const;
  bool is_valid(const CartridgeState &state) const;
  void restore(const CartridgeState &state);

 private:
  ale::stella::System &system_;
  ale::stella::Cartridge &cartridge_;
  ale::stella::CartridgeDPC *dpc_;  /* the cartridge, if it is a DPC; else null                     */
  uint8_t *ram_;                    /* RAM of the cartridge (128); null if it has none              */
  bool has_slices_;
};

}  // namespace envpool::atari

#endif  // ENVPOOL_ATARI_MACHINE_STATE_H
