/* Plays a game frame by frame, as ale::StellaEnvironment::act() does, without the work whose results are not used: a player
 * copies neither the screen nor the RAM, produces no window and no sound, and need not draw every frame. */
#ifndef ENVPOOL_ATARI_PLAYER_H
#define ENVPOOL_ATARI_PLAYER_H

#include "ale/emucore/OSystem.hxx"
#include "ale/environment/ale_state.hpp"
#include "ale/environment/stella_environment.hpp"
#include "ale/games/RomSettings.hpp"
#include "machine_state.h"

namespace envpool::atari {

class Cpu;

class Player {
 public:
  /* Installs the faster processor in the console of `system`. The three objects must outlive the player, and reset() must
   * be called first. `repeat_action_probability` is that of Machine. */
  Player(ale::stella::OSystem &system, ale::RomSettings &game, ale::StellaEnvironment &environment,
         float repeat_action_probability);

  /* Resets the game through the environment, and holds no action. If a frame is left unfinished, the game is reset again from
   * the same state, exactly. */
  void reset();

  /* Changes the difficulty and the chance that an action is repeated, for the next frame. */
  void configure(ale::difficulty_t difficulty, float repeat_action_probability);

  /* See Emulator::act(). A frame that is drawn in part shows what older frames left in its buffer. If one of them was not
   * drawn, the frames since then are emulated again from the last state in which both buffers were right. */
  int act(int action, bool draw, float strength);

  const uint8_t *screen() const { return tia_.currentFrameBuffer(); }
  const uint8_t *ram() const { return ram_; }

  /* Save and restore everything but the frame buffers. save() first brings them up to date. save() and is_valid() throw
   * std::bad_alloc. */
  void save(MachineState *state);
  bool is_valid(const MachineState &state) const;
  void restore(const MachineState &state);

  /* The buffer that screen() returns (0), and the one that the next frame is drawn to (1). */
  uint8_t *frame_buffer(int number) { return number == 0 ? tia_.currentFrameBuffer() : tia_.previousFrameBuffer(); }

 private:
  static constexpr int kLongest = 64;  /* frames that may have to be emulated again                          */

  /* Save and restore the parts of the state on which pixels depend: all but the generators and the score keeping. */
  void save_console(MachineState *state) const;
  void restore_console(const MachineState &state);
  void save_start();
  void restore_start();

  /* Emulates one frame with an action held, a paddle with a strength; `exactly` as in ALE, also if the frame is left
   * unfinished. */
  void emulate(ale::Action action, float strength, bool draw, bool exactly);

  /* Emulates the history again, drawn and exactly, after which both frame buffers are right. */
  void redraw();

  ale::stella::OSystem &system_;
  ale::stella::System &machine_;
  ale::stella::TIA &tia_;
  ale::RomSettings &game_;
  ale::StellaEnvironment &environment_;
  ale::ALEState state_;    /* positions of the paddles                                       */
  ale::Action held_;       /* action that the first player holds                             */
  float strength_;         /* with which it turns a paddle, 0 to kMaxStrength                */
  float repeat_;           /* chance that the held action is repeated                        */
  bool has_paddles_;       /* whether the game uses paddles, which move in every frame       */
  Cpu &cpu_;
  CartridgePort cartridge_;
  const uint8_t *ram_;     /* the RAM of the console (kRamSize)                              */

  /* The pixels, from the first one on, that may be wrong in the frame buffers, that of screen() first. */
  int wrong_[2] = {0, 0};
  /* While there are such pixels: the console before the frame with the first of them, its current frame buffer, and the
   * actions since then. */
  MachineState start_ = {};
  const uint8_t *start_buffer_ = nullptr;
  uint8_t history_[kLongest];
  float strengths_[kLongest];
  int num_frames_ = 0;
};

}  // namespace envpool::atari

#endif  // ENVPOOL_ATARI_PLAYER_H
