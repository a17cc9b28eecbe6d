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

  /* Resets the game through the environment, and holds no action. */
  void reset();

  /* Changes the difficulty and the chance that an action is repeated, for the next frame. */
  void configure(ale::difficulty_t difficulty, float repeat_action_probability);

  /* See Emulator::act(). */
  int act(int action, bool draw);

  const uint8_t *screen() const { return tia_.currentFrameBuffer(); }
  const uint8_t *ram() const { return ram_; }

  /* Save and restore everything but the frame buffers. save() and is_valid() throw std::bad_alloc. */
  void save(MachineState *state) const;
  bool is_valid(const MachineState &state) const;
  void restore(const MachineState &state);

  /* The buffer that screen() returns (0), and the one that the next frame is drawn to (1). */
  uint8_t *frame_buffer(int number) { return number == 0 ? tia_.currentFrameBuffer() : tia_.previousFrameBuffer(); }

 private:
  ale::stella::OSystem &system_;
  ale::stella::System &machine_;
  ale::stella::TIA &tia_;
  ale::RomSettings &game_;
  ale::StellaEnvironment &environment_;
  ale::ALEState state_;    /* positions of the paddles                                       */
  ale::Action held_;       /* action that the first player holds                             */
  float repeat_;           /* chance that the held action is repeated                        */
  bool has_paddles_;       /* whether the game uses paddles, which move in every frame       */
  bool needs_all_frames_;  /* whether frames that are not drawn would affect later frames    */
  Cpu &cpu_;
  CartridgePort cartridge_;
  const uint8_t *ram_;     /* the RAM of the console (kRamSize)                              */
};

}  // namespace envpool::atari

#endif  // ENVPOOL_ATARI_PLAYER_H
