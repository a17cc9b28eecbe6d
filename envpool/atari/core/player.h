/* Plays a game frame by frame: what ale::StellaEnvironment::act() does, without what nobody looks at. It copies neither
 * the screen nor the RAM, renders no window and no sound, and need not draw every frame. */
#ifndef ENVPOOL_ATARI_PLAYER_H
#define ENVPOOL_ATARI_PLAYER_H

#include "ale/emucore/OSystem.hxx"
#include "ale/environment/ale_state.hpp"
#include "ale/environment/stella_environment.hpp"
#include "ale/games/RomSettings.hpp"

namespace envpool::atari {

class Player {
 public:
  /* Puts the faster processor into the console of `system`. The three outlive the player; `environment` resets the
   * game, then begin() must be called. `repeat_action_probability` as in Machine. */
  Player(ale::stella::OSystem &system, ale::RomSettings &game, ale::StellaEnvironment &environment,
         float repeat_action_probability);

  /* Resets the game through the environment, and holds no action. */
  void reset();

  /* As Emulator::act(). */
  int act(int action, bool draw);

  const uint8_t *screen() const { return tia_.currentFrameBuffer(); }
  const uint8_t *ram() const { return ram_; }

 private:
  ale::stella::OSystem &system_;
  ale::stella::System &machine_;
  ale::stella::TIA &tia_;
  ale::RomSettings &game_;
  ale::StellaEnvironment &environment_;
  ale::ALEState state_;    /* where the knobs are                                            */
  ale::Action held_;       /* by the first player                                            */
  float repeat_;           /* chance that the action held stays                              */
  bool has_paddles_;       /* knobs, which move with every frame                             */
  bool needs_all_frames_;  /* frames that are not drawn would show in later ones             */
  const uint8_t *ram_;     /* the console's (kRamSize)                                       */
};

}  // namespace envpool::atari

#endif  // ENVPOOL_ATARI_PLAYER_H
