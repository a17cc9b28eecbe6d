#include "player.h"

#include <algorithm>
#include <string>
#include <utility>

#include "ale/emucore/Console.hxx"
#include "cpu.h"
#include "generator.h"
#include "video.h"

namespace envpool::atari {

namespace {

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
      strength_(1),
      repeat_(repeat_action_probability),
      has_paddles_(has_paddles(system.console())),
      cpu_(*Cpu::replace(machine_)),
      cartridge_(machine_),
      ram_(cpu_.ram()) {}

void Player::reset() {
  Video::set_drawing(tia_, true);
  cpu_.set_plain(false);
  save_start();
  start_.console_random = generator_of(machine_.rng());
  cpu_.has_left_unfinished();
  environment_.reset(); /* clears the frame buffers */
  if (cpu_.has_left_unfinished()) {
    cpu_.set_plain(true);
    restore_start();
    generator_of(machine_.rng()) = start_.console_random;
    environment_.reset();
  }
  wrong_[0] = wrong_[1] = num_frames_ = 0;
  state_ = environment_.getState();
  held_ = ale::PLAYER_A_NOOP;
  strength_ = 1;
}

void Player::configure(ale::difficulty_t difficulty, float repeat_action_probability) {
  environment_.setDifficulty(difficulty);
  state_.setDifficulty(difficulty);
  repeat_ = repeat_action_probability;
}

int Player::act(int action, bool draw, float strength) {
  /* The second player's action is always no-op, but consumes a random number, too, as in ALE. */
  ale::stella::Random &generator = environment_.getEnvironmentRNG();
  if (generator.nextDouble() >= repeat_) {
    held_ = static_cast<ale::Action>(action);
    strength_ = strength;
  }
  generator.nextDouble();
  if (game_.isTerminal()) return 0;

  /* The rest of an unfinished frame is drawn in any case, so that only its first part has to be drawn later. So are the
   * last two frames of a long history, after which it usually ends. */
  const bool continues = Video::is_unfinished(tia_);
  const bool is_drawn = draw || continues || num_frames_ >= kLongest - 2;
  const ale::Action done = game_.isLegal(held_) ? held_ : ale::PLAYER_A_NOOP;
  if (num_frames_ == 0 && !continues) save_start();
  if (num_frames_ > 0 || !continues) {
    strengths_[num_frames_] = strength_;
    history_[num_frames_++] = static_cast<uint8_t>(done);
  }
  emulate(done, strength_, is_drawn, continues);
  if ((draw && wrong_[0] > 0) || num_frames_ == kLongest) redraw();
  if (wrong_[0] == 0 && wrong_[1] == 0) num_frames_ = 0;
  game_.step(machine_);
  return game_.getReward();
}

void Player::emulate(ale::Action action, float strength, bool draw, bool exactly) {
  if (has_paddles_) {
    state_.applyActionPaddles(system_.event(), action, strength, ale::PLAYER_B_NOOP, 0.0f);
  } else {
    state_.applyActionJoysticks(system_.event(), action, ale::PLAYER_B_NOOP);
  }
  Video::set_drawing(tia_, draw);
  cpu_.set_plain(exactly);
  const bool is_new = !Video::is_unfinished(tia_);
  if (is_new) std::swap(wrong_[0], wrong_[1]);
  tia_.update();
  if (Video::is_unfinished(tia_)) {
    if (!exactly) wrong_[0] = Video::pixels(tia_);
  } else if (!draw) {
    wrong_[0] = std::max(wrong_[0], Video::pixels_of_cells(tia_));
  } else if (is_new && Video::pixels_drawn(tia_) >= wrong_[0]) {
    wrong_[0] = 0;
  }
}

void Player::redraw() {
  restore_start();
  for (int i = 0; i < num_frames_; i++) emulate(static_cast<ale::Action>(history_[i]), strengths_[i], true, true);
  wrong_[0] = wrong_[1] = num_frames_ = 0;
}

}  // namespace envpool::atari
