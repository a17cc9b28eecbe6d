/* One Atari 2600 with a game: the interface of the emulator for environments, without ALE's headers.
 *
 * No function prints, ends the process or throws a C++ exception. Different objects may be used on different threads at
 * the same time; one object must only be used by one thread at a time. */
#ifndef ENVPOOL_ATARI_EMULATOR_H
#define ENVPOOL_ATARI_EMULATOR_H

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "envpool/platform.h"

namespace envpool::atari {

inline constexpr int kRamSize = 128;    /* bytes                                                        */
inline constexpr int kNumActions = 18;  /* joystick positions with and without the button; 0 is no-op   */
inline constexpr float kMaxStrength = 1000; /* turns a paddle from one end to the other in a frame      */

/* ALE's data about a game. */
struct GameInfo {
  std::string md5;                  /* of the only supported ROM, 32 hexadecimal digits                 */
  std::vector<int> modes;           /* allowed values of Machine::mode; the first is the default        */
  std::vector<int> difficulties;    /* allowed values of Machine::difficulty; the first is the default  */
  std::vector<int> minimal_actions; /* actions with an effect in this game, ascending, 0 to 17          */
  std::vector<int> legal_actions;   /* actions that the game accepts, ascending, 0 to 17                */
};

/* Fills `out` for a game, given its name in snake case ("pong"). Returns false if ALE has no such game, or if memory is
 * exhausted. */
bool find_game(const std::string &name, GameInfo *out) noexcept;

/* A copy of a ROM in memory, with a path that ALE can open: the original file is not needed any more. */
class Rom {
 public:
  /* Copies `size` bytes, which must be the ROM of a game that find_game() knows, as shown by its MD5. */
  Rom(const void *bytes, size_t size) noexcept;
  ~Rom();
  Rom(const Rom &) = delete;
  Rom &operator=(const Rom &) = delete;

  /* Returns whether there was enough memory. */
  bool is_open() const noexcept { return fd_ >= 0; }
  /* Returns the path for ALE's loader. */
  std::string path() const;

 private:
#ifdef ENVPOOL_PORTABLE
  char path_[32] = "/tmp/envpool-rom-XXXXXX"; /* before fd_, since opening the file completes it */
#endif
  int fd_;
};

/* The configuration of an emulator. The caller checks `mode` and `difficulty` with accepts() or against GameInfo. */
struct Machine {
  const Rom *rom;                  /* must outlive the emulator                                         */
  int mode;                        /* one of GameInfo::modes, or -1 for the game's default              */
  int difficulty;                  /* one of GameInfo::difficulties, or -1 for the game's default       */
  float repeat_action_probability; /* chance that a frame repeats the previous frame's action, 0 to 1   */
};

/* Call load() first: no other function may be called before load() has succeeded, or after it has failed. */
class Emulator {
 public:
  explicit Emulator(const Machine &machine) noexcept;
  ~Emulator();
  Emulator(const Emulator &) = delete;
  Emulator &operator=(const Emulator &) = delete;

  /* Builds a new console, and seeds the generator of repeated actions. Returns false if memory is exhausted or if ALE
   * rejects the ROM. Takes milliseconds. */
  bool load(uint32_t seed) noexcept;

  /* Returns whether the game has a mode and a difficulty; -1 is the default of either. May be called before load(). */
  bool accepts(int mode, int difficulty) const noexcept;

  /* Changes the difficulty and the probability from the next frame on, and the mode from the next game on. The game must
   * accept them. May be called before load(). Returns false if memory is exhausted. */
  bool configure(int mode, int difficulty, float repeat_action_probability) noexcept;

  /* Starts a game: presses reset, waits, sets the mode. The generator is not seeded again. Returns false if memory is
   * exhausted. */
  bool reset_game() noexcept;

  /* Emulates one frame with an action (0 to 17) held, and returns its reward. After the game is over, it does nothing and
   * returns 0. A paddle turns by `strength`, 0 to kMaxStrength, times what it turns by with 1; games with joysticks ignore
   * it.
   *
   * If `draw` is false, screen() is unspecified until the next frame or reset: it may show this frame, an earlier frame, or
   * parts of both. Everything else, including later screens, does not depend on `draw`. */
  int act(int action, bool draw, float strength = 1) noexcept;

  /* Returns how many frames the last load() or reset_game() emulated that ALE counts: those that select a mode. */
  int frames_of_reset() const noexcept;

  /* Return the state after the last load(), reset_game() or act(). The pointers are valid until the next of these calls. */
  bool is_game_over() const noexcept;
  int lives() const noexcept;
  const uint8_t *screen() const noexcept; /* palette indices (height x width), row by row               */
  const uint8_t *ram() const noexcept;    /* (kRamSize)                                                  */

  /* Save and restore everything on which later frames depend, except for the pixels of the frame buffers. The state has
   * state_size() bytes and need not be aligned. restore() is only for states that is_valid() accepts, of an emulator with the
   * same Machine; the functions return false if memory is exhausted. */
  static size_t state_size() noexcept;
  bool save(void *state) const noexcept;
  bool is_valid(const void *state) const noexcept;
  bool restore(const void *state) noexcept;

  /* The frame buffers (height x width). Number 0 is screen(). The next frame is drawn to number 1, and may keep some of its
   * pixels. */
  uint8_t *frame_buffer(int number) noexcept;

  /* Return the size of the screen, which depends on the ROM only. */
  int height() const noexcept; /* rows, 210 for most games                                              */
  int width() const noexcept;  /* columns, 160                                                          */

  /* Writes the colours of the palette indices 0 to 255. */
  void palette(uint8_t grey[256], uint8_t red[256], uint8_t green[256], uint8_t blue[256]) const noexcept;

 private:
  struct Console;
  Machine machine_;
  std::unique_ptr<Console> console_;
};

}  // namespace envpool::atari

#endif  // ENVPOOL_ATARI_EMULATOR_H
