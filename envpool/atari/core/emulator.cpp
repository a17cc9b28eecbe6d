// Implements emulator.h with ALE's console and RL environment, but without ALEInterface, whose loader ends the process if
// a ROM is invalid.

#include "emulator.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <mutex>

#include "ale/common/Log.hpp"
#include "ale/emucore/Console.hxx"
#include "ale/emucore/OSystem.hxx"
#include "ale/emucore/Props.hxx"
#include "ale/emucore/Settings.hxx"
#include "ale/environment/stella_environment.hpp"
#include "ale/games/Roms.hpp"
#include "envpool/descriptor.h"
#include "player.h"

namespace envpool::atari {
namespace {

// The logger's mode is ALE's only unsynchronised global: it is written once, before anything can read it.
void silence() {
  static std::once_flag once;
  std::call_once(once, [] { ::ale::Logger::setMode(::ale::Logger::Error); });
}

template <typename From>
std::vector<int> integers(const From &from) {
  return {from.begin(), from.end()};
}

}  // namespace

bool find_game(const std::string &name, GameInfo *out) noexcept try {
  silence();
  const std::unique_ptr<::ale::RomSettings> game(::ale::buildRomRLWrapper(name, {}));
  if (!game) return false;
  out->md5 = game->md5();
  out->modes = integers(game->getAvailableModes());
  out->difficulties = integers(game->getAvailableDifficulties());
  out->minimal_actions = integers(game->getMinimalActionSet());
  out->legal_actions = integers(game->getAllActions());
  return true;
} catch (const std::exception &) {
  return false;
}

#ifdef ENVPOOL_PORTABLE
Rom::Rom(const void *bytes, size_t size) noexcept : fd_(envpool_high_descriptor(mkostemp(path_, O_CLOEXEC))) {
#else
Rom::Rom(const void *bytes, size_t size) noexcept
    : fd_(envpool_high_descriptor(memfd_create("envpool-rom", MFD_CLOEXEC))) {
#endif
  const char *at = static_cast<const char *>(bytes);
  while (fd_ >= 0 && size > 0) {
    const ssize_t written = write(fd_, at, size);
    if (written <= 0) {
      close(fd_);
      fd_ = -1;
      break;
    }
    at += written;
    size -= static_cast<size_t>(written);
  }
}

Rom::~Rom() {
#ifdef ENVPOOL_PORTABLE
  unlink(path_);
#endif
  if (fd_ >= 0) close(fd_);
}

#ifdef ENVPOOL_PORTABLE
std::string Rom::path() const { return path_; }
#else
std::string Rom::path() const { return "/proc/self/fd/" + std::to_string(fd_); }
#endif

// Later members refer to earlier ones, and are destroyed before them.
struct Emulator::Console {
  ::ale::stella::OSystem system;
  std::unique_ptr<::ale::stella::Settings> settings;
  std::unique_ptr<::ale::RomSettings> game;
  std::unique_ptr<::ale::StellaEnvironment> environment;
  std::unique_ptr<Player> player;
  ::ale::game_mode_t default_mode;
  ::ale::difficulty_t default_difficulty;
};

Emulator::Emulator(const Machine &machine) noexcept : machine_(machine) {}

Emulator::~Emulator() = default;

bool Emulator::load(uint32_t seed) noexcept try {
  silence();
  console_.reset();
  auto console = std::make_unique<Console>();
  console->settings = std::make_unique<::ale::stella::Settings>(&console->system);
  console->settings->setFloat("repeat_action_probability", machine_.repeat_action_probability);
  console->settings->validate();
  console->system.create();
  if (!console->system.createConsole(machine_.rom->path())) return false;
  const ::ale::stella::Console &made = console->system.console();
  console->system.colourPalette().setPalette("standard", made.getFormat());
  console->game.reset(
      ::ale::buildRomRLWrapper(machine_.rom->path(), made.properties().get(::ale::stella::Cartridge_MD5)));
  if (!console->game) return false;
  console->game->modifyEnvironmentSettings(*console->settings);
  console->environment = std::make_unique<::ale::StellaEnvironment>(&console->system, console->game.get());
  console->environment->getEnvironmentRNG().seed(seed);
  console->player = std::make_unique<Player>(console->system, *console->game, *console->environment,
                                             machine_.repeat_action_probability);
  console->player->reset();
  console->default_mode = console->environment->getState().getCurrentMode();
  console->default_difficulty = console->environment->getState().getDifficulty();
  console_ = std::move(console);
  return configure(machine_.mode, machine_.difficulty, machine_.repeat_action_probability);
} catch (const std::exception &) {
  return false;
}

bool Emulator::accepts(int mode, int difficulty) const noexcept try {
  if (!console_) return true; /* the next game cannot begin if it is not a mode of the game */
  const auto has = [](const auto &values, int value) {
    return value == -1 || std::count(values.begin(), values.end(), static_cast<unsigned>(value)) > 0;
  };
  return has(console_->game->getAvailableModes(), mode) && has(console_->game->getAvailableDifficulties(), difficulty);
} catch (const std::exception &) {
  return false;
}

bool Emulator::configure(int mode, int difficulty, float repeat_action_probability) noexcept try {
  machine_.mode = mode;
  machine_.difficulty = difficulty;
  machine_.repeat_action_probability = repeat_action_probability;
  if (!console_) return true;
  console_->environment->setMode(mode < 0 ? console_->default_mode : static_cast<::ale::game_mode_t>(mode));
  console_->player->configure(difficulty < 0 ? console_->default_difficulty : static_cast<::ale::difficulty_t>(difficulty),
                              repeat_action_probability);
  return true;
} catch (const std::exception &) {
  return false;
}

bool Emulator::reset_game() noexcept try {
  console_->player->reset();
  return true;
} catch (const std::exception &) {
  return false;
}

int Emulator::act(int action, bool draw, float strength) noexcept {
  return console_->player->act(action, draw, strength);
}

int Emulator::frames_of_reset() const noexcept { return console_->environment->getState().getEpisodeFrameNumber(); }

bool Emulator::is_game_over() const noexcept { return console_->environment->isGameTerminal(); }

int Emulator::lives() const noexcept { return console_->game->lives(); }

const uint8_t *Emulator::screen() const noexcept { return console_->player->screen(); }

const uint8_t *Emulator::ram() const noexcept { return console_->player->ram(); }

size_t Emulator::state_size() noexcept { return sizeof(MachineState); }

bool Emulator::save(void *state) const noexcept try {
  MachineState saved;
  console_->player->save(&saved);
  std::memcpy(state, &saved, sizeof saved);
  return true;
} catch (const std::exception &) {
  return false;
}

bool Emulator::is_valid(const void *state) const noexcept try {
  MachineState saved;
  std::memcpy(&saved, state, sizeof saved);
  return console_->player->is_valid(saved);
} catch (const std::exception &) {
  return false;
}

bool Emulator::restore(const void *state) noexcept try {
  MachineState saved;
  std::memcpy(&saved, state, sizeof saved);
  console_->player->restore(saved);
  return true;
} catch (const std::exception &) {
  return false;
}

uint8_t *Emulator::frame_buffer(int number) noexcept { return console_->player->frame_buffer(number); }

int Emulator::height() const noexcept { return static_cast<int>(console_->environment->getScreen().height()); }

int Emulator::width() const noexcept { return static_cast<int>(console_->environment->getScreen().width()); }

void Emulator::palette(uint8_t grey[256], uint8_t red[256], uint8_t green[256], uint8_t blue[256]) const noexcept {
  ::ale::ColourPalette &colours = console_->system.colourPalette();
  uint8_t index[256] = {};
  for (int i = 0; i < 256; i++) {
    index[i] = static_cast<uint8_t>(i);
    const uint32_t rgb = colours.getRGB(i);
    red[i] = static_cast<uint8_t>(rgb >> 16);
    green[i] = static_cast<uint8_t>(rgb >> 8);
    blue[i] = static_cast<uint8_t>(rgb);
  }
  colours.applyPaletteGrayscale(grey, index, 255);  // ALE's table has no entry 255
  grey[255] = 0;
}

}  // namespace envpool::atari
