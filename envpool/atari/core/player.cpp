#include "player.h"

#include <algorithm>
#include <string>

#include "ale/emucore/Console.hxx"
#include "cpu.h"
#include "video.h"

namespace envpool::atari {

namespace {

/* Some frames of these games take longer than TIA waits. Such a frame is drawn in several parts, over the previous content
 * of the buffer. */
constexpr const char *kSlowGames[] = {"tic_tac_toe_3d", "video_checkers"};

bool has_paddles(const ale::stella::Console &console) {
  const auto &properties = console.properties();
  return properties.get(ale::stella::Controller_Left) == "PADDLES" ||
         properties.get(ale::stella::Controller_Right) == "PADDLES";
}

}  // namespace

Player::Player(ale::stella::OSystem &system, ale::RomSettings &game, ale::StellaEnvironment &environment,
               float repeat_action_probability)
    : system_(system),
      machine_(system.console().system()),
      tia_(machine_.tia()),
      game_(game),
      environment_(environment),
      held_(ale::PLAYER_A_NOOP),
      repeat_(repeat_action_probability),
      has_paddles_(has_paddles(system.console())),
      needs_all_frames_(std::any_of(std::begin(kSlowGames), std::end(kSlowGames),
                                    [&](const char *name) { return std::string(game.rom()) == name; })),
      cpu_(*Cpu::replace(machine_)),
      cartridge_(machine_),
      ram_(cpu_.ram()) {}

void Player::reset() {
  Video::set_drawing(tia_, true);
  environment_.reset();
  state_ = environment_.getState();
  held_ = ale::PLAYER_A_NOOP;
}

void Player::configure(ale::difficulty_t difficulty, float repeat_action_probability) {
  environment_.setDifficulty(difficulty);
  state_.setDifficulty(difficulty);
  repeat_ = repeat_action_probability;
}

int Player::act(int action, bool draw) {
  /* The second player's action is always no-op, but consumes a random number, too, as in ALE. */
  ale::stella::Random &generator = environment_.getEnvironmentRNG();
  if (generator.nextDouble() >= repeat_) held_ = static_cast<ale::Action>(action);
  generator.nextDouble();
  if (game_.isTerminal()) return 0;

  Video::set_drawing(tia_, draw || needs_all_frames_);
  const ale::Action done = game_.isLegal(held_) ? held_ : ale::PLAYER_A_NOOP;
  if (has_paddles_) {
    state_.applyActionPaddles(system_.event(), done, 1.0f, ale::PLAYER_B_NOOP, 0.0f);
  } else {
    state_.applyActionJoysticks(system_.event(), done, ale::PLAYER_B_NOOP);
  }
  tia_.update();
  game_.step(machine_);
  return game_.getReward();
}

}  // namespace envpool::atari
