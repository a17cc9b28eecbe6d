/* One Atari 2600 with a game in it: what an environment needs of the emulator, without ALE's headers.
 *
 * Nothing here prints, ends the process or lets a C++ exception out. Different objects may be used on different threads
 * at once; one object, by one thread at a time. */
#ifndef ENVPOOL_ATARI_EMULATOR_H
#define ENVPOOL_ATARI_EMULATOR_H

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace envpool::atari {

inline constexpr int kRamSize = 128;    /* bytes                                                        */
inline constexpr int kNumActions = 18;  /* joystick positions with and without the button, 0 is no-op   */

/* What ALE knows about a game. */
struct GameInfo {
  std::string md5;                  /* of the only ROM that is supported, 32 hexadecimal digits         */
  std::vector<int> modes;           /* values allowed for Machine::mode, the first is the default       */
  std::vector<int> difficulties;    /* values allowed for Machine::difficulty, the first is the default */
  std::vector<int> minimal_actions; /* those that do something in this game, ascending, 0 to 17         */
  std::vector<int> legal_actions;   /* those that the game can be given, ascending, 0 to 17             */
};

/* Fills `out` for a game by its name in snake case ("pong"). False: ALE has no such game, or there is no memory. */
bool find_game(const std::string &name, GameInfo *out) noexcept;

/* A ROM in memory, under a path that ALE can open: the file it came from is never looked at again. */
class Rom {
 public:
  /* Copies `size` bytes. They must be the ROM of a game that find_game() knows, by its MD5. */
  Rom(const void *bytes, size_t size) noexcept;
  ~Rom();
  Rom(const Rom &) = delete;
  Rom &operator=(const Rom &) = delete;

  /* Whether there was memory for it. */
  bool is_open() const noexcept { return fd_ >= 0; }
  /* For ALE's loader. */
  std::string path() const;

 private:
  int fd_;
};

/* What an emulator is made of; checked against GameInfo by the caller. */
struct Machine {
  const Rom *rom;                  /* outlives the emulator                                             */
  int mode;                        /* of GameInfo::modes, or -1 for the game's default                  */
  int difficulty;                  /* of GameInfo::difficulties, or -1 for the game's default           */
  float repeat_action_probability; /* chance that a frame keeps the action of the frame before, 0 to 1  */
};

/* Use load() first; nothing else may be called before it succeeded, nor after it failed. */
class Emulator {
 public:
  explicit Emulator(const Machine &machine) noexcept;
  ~Emulator();
  Emulator(const Emulator &) = delete;
  Emulator &operator=(const Emulator &) = delete;

  /* Builds the console anew, as if it had never run, and seeds the generator of repeated actions. False: no memory, or
   * ALE refused the ROM. Takes milliseconds. */
  bool load(uint32_t seed) noexcept;

  /* Starts a game: presses reset, waits, sets the mode. The generator goes on. False: no memory. */
  bool reset_game() noexcept;

  /* Emulates one frame with this action (0 to 17) held and returns its reward; after game over nothing happens, 0.
   *
   * `draw` false says that screen() will not be looked at before the next frame or reset: it may then be of this frame,
   * of an earlier one, or half of each. All else, later screens included, is the same bits as with true. */
  int act(int action, bool draw) noexcept;

  /* As the last load(), reset_game() or act() left them; the screen, until the next of these. */
  bool is_game_over() const noexcept;
  int lives() const noexcept;
  const uint8_t *screen() const noexcept; /* palette indices (height x width), row by row               */
  const uint8_t *ram() const noexcept;    /* (kRamSize)                                                  */

  /* Of the console, fixed by the ROM. */
  int height() const noexcept; /* rows, 210 for most games                                              */
  int width() const noexcept;  /* columns, 160                                                          */

  /* Of the console, for palette indices 0 to 255. */
  void palette(uint8_t grey[256], uint8_t red[256], uint8_t green[256], uint8_t blue[256]) const noexcept;

 private:
  struct Console;
  Machine machine_;
  std::unique_ptr<Console> console_;
};

}  // namespace envpool::atari

#endif  // ENVPOOL_ATARI_EMULATOR_H
