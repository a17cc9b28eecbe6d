// Saves and restores the console of a player, the game's score keeping, and the player itself.

#include <algorithm>
#include <memory>
#include <string>

#include "ale/games/supported/Atlantis2.hpp"
#include "ale/games/supported/ChopperCommand.hpp"
#include "ale/games/supported/DemonAttack.hpp"
#include "ale/games/supported/MiniatureGolf.hpp"
#include "ale/games/supported/VideoCheckers.hpp"
#include "cpu.h"
#include "emulator.h"
#include "exposed.h"
#include "generator.h"
#include "player.h"
#include "timer.h"
#include "video.h"

namespace envpool::atari {

namespace {

ENVPOOL_EXPOSE(TimerInterrupt, M6532, int, myCyclesWhenInterruptReset)
ENVPOOL_EXPOSE(TimerWasRead, M6532, bool, myTimerReadAfterInterrupt)
ENVPOOL_EXPOSE(PortA, M6532, uint8_t, myDDRA)
ENVPOOL_EXPOSE(PortB, M6532, uint8_t, myDDRB)
ENVPOOL_EXPOSE(Bus, ale::stella::System, uint8_t, myDataBusState)
ENVPOOL_EXPOSE(LeftPaddle, ale::ALEState, int, m_left_paddle)
ENVPOOL_EXPOSE(RightPaddle, ale::ALEState, int, m_right_paddle)
ENVPOOL_EXPOSE(PaddleMin, ale::ALEState, int, m_paddle_min)
ENVPOOL_EXPOSE(PaddleMax, ale::ALEState, int, m_paddle_max)
ENVPOOL_EXPOSE(AtlantisLives, ale::Atlantis2Settings, int, m_lives)
ENVPOOL_EXPOSE(ChopperStarted, ale::ChopperCommandSettings, bool, m_is_started)
ENVPOOL_EXPOSE(CheckersReverse, ale::VideoCheckersSettings, bool, m_reverse_checkers)
ENVPOOL_EXPOSE(DemonLevel, ale::DemonAttackSettings, bool, m_level_change)
ENVPOOL_EXPOSE(GolfLevel, ale::MiniatureGolfSettings, int, m_levelNumber)
ENVPOOL_EXPOSE(GolfPar, ale::MiniatureGolfSettings, int, m_levelPar)
ENVPOOL_EXPOSE(GolfHits, ale::MiniatureGolfSettings, int, m_hits)
ENVPOOL_EXPOSE(GolfLeft, ale::MiniatureGolfSettings, int, m_leftStatus)
ENVPOOL_EXPOSE(GolfHitsBefore, ale::MiniatureGolfSettings, int, m_hitsAtStartOfLevel)

constexpr uint16_t kRamAddress = 0x80;
constexpr uint16_t kTimerAddress = 0x280;

M6532 &timer_of(ale::stella::System &system) {
  return static_cast<M6532 &>(*system.getPageAccess(static_cast<uint16_t>(kTimerAddress >> system.pageShift())).device);
}

uint8_t *ram_of(ale::stella::System &system) {
  return system.getPageAccess(static_cast<uint16_t>(kRamAddress >> system.pageShift())).directPokeBase;
}

template <typename State, typename Timer, typename Visit>
void visit_all(State &state, Timer &timer, Visit visit) {
  visit(state.timer, timer.*member(TimerValue()));
  visit(state.shift, timer.*member(TimerShift()));
  visit(state.set_at, timer.*member(TimerStart()));
  visit(state.interrupt_read_at, timer.*member(TimerInterrupt()));
  visit(state.was_read, timer.*member(TimerWasRead()));
  visit(state.ddra, timer.*member(PortA()));
  visit(state.ddrb, timer.*member(PortB()));
}

/* Visits the members that ALE's saveState() forgets, or saves as flags although they are numbers. */
template <typename State, typename Visit>
void visit_extras(State &state, ale::RomSettings &game, const std::string &name, Visit visit) {
  if (name == "atlantis2") {
    visit(state.game_extras[0], static_cast<ale::Atlantis2Settings &>(game).*member(AtlantisLives()));
  } else if (name == "chopper_command") {
    visit(state.game_extras[0], static_cast<ale::ChopperCommandSettings &>(game).*member(ChopperStarted()));
  } else if (name == "demon_attack") {
    visit(state.game_extras[0], static_cast<ale::DemonAttackSettings &>(game).*member(DemonLevel()));
  } else if (name == "video_checkers") {
    visit(state.game_extras[0], static_cast<ale::VideoCheckersSettings &>(game).*member(CheckersReverse()));
  } else if (name == "miniature_golf") {
    auto &golf = static_cast<ale::MiniatureGolfSettings &>(game);
    visit(state.game_extras[0], golf.*member(GolfLevel()));
    visit(state.game_extras[1], golf.*member(GolfPar()));
    visit(state.game_extras[2], golf.*member(GolfHits()));
    visit(state.game_extras[3], golf.*member(GolfLeft()));
    visit(state.game_extras[4], golf.*member(GolfHitsBefore()));
  }
}

/* Lets ALE's class of a game read its members. Words that it does not read are ignored. Throws what it throws if a flag has
 * an impossible value. */
void load_game(ale::RomSettings &game, const MachineState &state) {
  ale::stella::Deserializer words(std::string(reinterpret_cast<const char *>(state.game), sizeof state.game));
  game.loadState(words);
}

}  // namespace

template <typename State, typename Self, typename Visit>
inline void Cpu::visit_all(State &state, Self &self, Visit visit) {
  visit(state.pc, self.PC);
  visit(state.a, self.A);
  visit(state.x, self.X);
  visit(state.y, self.Y);
  visit(state.sp, self.SP);
  visit(state.ir, self.IR);
  visit(state.n, self.N);
  visit(state.v, self.V);
  visit(state.b, self.B);
  visit(state.d, self.D);
  visit(state.i, self.I);
  visit(state.not_z, self.notZ);
  visit(state.c, self.C);
  visit(state.status, self.myExecutionStatus);
  visit(state.last_access_was_read, self.myLastAccessWasRead);
}

void Cpu::save(ProcessorState *state) const { visit_all(*state, *this, Save()); }

bool Cpu::is_valid(const ProcessorState &s) {
  return (s.n | s.v | s.b | s.d | s.i | s.not_z | s.c | s.last_access_was_read) <= 1 &&
         (s.status & ~(StopExecutionBit | FatalErrorBit)) == 0;
}

void Cpu::restore(const ProcessorState &state) { visit_all(state, *this, Restore()); }

void Player::save(MachineState *state) {
  if (num_frames_ > 0) redraw();
  *state = {};
  state->console_random = generator_of(machine_.rng());
  state->action_random = generator_of(environment_.getEnvironmentRNG());
  ale::stella::Serializer words;
  game_.saveState(words);
  const std::string text = words.get_str();
  std::memcpy(state->game, text.data(), std::min(text.size(), sizeof state->game));
  visit_extras(*state, game_, game_.rom(), Save());
  state->held = held_;
  state->strength = strength_;
  save_console(state);
}

void Player::save_console(MachineState *state) const {
  cartridge_.save(&state->cartridge);
  state->cycles = machine_.cycles();
  state->left_paddle = state_.*member(LeftPaddle());
  state->right_paddle = state_.*member(RightPaddle());
  visit_all(state->timer, timer_of(machine_), Save());
  std::memcpy(state->timer.ram, ram_, sizeof state->timer.ram);
  Video::save(tia_, &state->video);
  cpu_.save(&state->processor);
  state->bus = machine_.*member(Bus());
}

bool Player::is_valid(const MachineState &s) const {
  const auto is_generator = [](const ep_mt19937 &g) { return 0 <= g.position && g.position <= EP_MT19937_WORDS; };
  const int least = state_.*member(PaddleMin()), most = state_.*member(PaddleMax());
  const auto is_paddle = [=](int position) { return least <= position && position <= most; };
  const uint32_t shift = s.timer.shift;
  const bool has_timer = (shift == 0 || shift == 3 || shift == 6 || shift == 10) && s.timer.timer <= 0xff &&
                         s.timer.was_read <= 1;
  if (!is_generator(s.console_random) || !is_generator(s.action_random) || !has_timer) return false;
  if (s.cycles > kMostCycles) return false;
  if (s.held < 0 || s.held >= kNumActions || !(s.strength >= 0 && s.strength <= kMaxStrength)) return false;
  if (has_paddles_ && !(is_paddle(s.left_paddle) && is_paddle(s.right_paddle))) return false;
  if (!cartridge_.is_valid(s.cartridge) || !Video::is_valid(tia_, s.video) || !Cpu::is_valid(s.processor))
    return false;
  const std::unique_ptr<ale::RomSettings> copy(game_.clone());
  try {
    load_game(*copy, s);
  } catch (const char *) {
    return false;
  }
  return true;
}

void Player::save_start() {
  save_console(&start_);
  start_buffer_ = tia_.currentFrameBuffer();
}

void Player::restore_start() {
  if (tia_.currentFrameBuffer() != start_buffer_) Video::swap_buffers(tia_);
  restore_console(start_);
}

void Player::restore(const MachineState &state) {
  generator_of(machine_.rng()) = state.console_random;
  generator_of(environment_.getEnvironmentRNG()) = state.action_random;
  load_game(game_, state);
  visit_extras(state, game_, game_.rom(), Restore());
  held_ = static_cast<ale::Action>(state.held);
  strength_ = state.strength;
  wrong_[0] = wrong_[1] = num_frames_ = 0;
  restore_console(state);
}

void Player::restore_console(const MachineState &state) {
  cartridge_.restore(state.cartridge);
  machine_.incrementCycles(state.cycles - machine_.cycles());
  state_.*member(LeftPaddle()) = state.left_paddle;
  state_.*member(RightPaddle()) = state.right_paddle;
  visit_all(state.timer, timer_of(machine_), Restore());
  std::memcpy(ram_of(machine_), state.timer.ram, sizeof state.timer.ram);
  Video::restore(tia_, state.video);
  cpu_.restore(state.processor);
  machine_.*member(Bus()) = state.bus;
}

}  // namespace envpool::atari
