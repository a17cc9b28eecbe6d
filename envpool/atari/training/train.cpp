// The training run of a profile-guided build: plays the games whose ROM files are the arguments. As in steps with the
// default options, half of the frames are drawn.

#include <cstdint>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <string>

#include "emulator.h"

int main(int argc, char **argv) {
  constexpr int kFrames = 2000, kSkip = 4;
  for (int i = 1; i < argc; ++i) {
    std::ifstream file(argv[i], std::ios::binary);
    const std::string bytes{std::istreambuf_iterator<char>(file), {}};
    const envpool::atari::Rom rom(bytes.data(), bytes.size());
    envpool::atari::Emulator emulator({&rom, -1, -1, 0.0f});
    if (bytes.empty() || !emulator.load(1) || !emulator.reset_game()) {
      std::fprintf(stderr, "%s cannot be played\n", argv[i]);
      return 1;
    }
    uint32_t random = 1;
    for (int frame = 0; frame < kFrames; ++frame) {
      if (frame % (4 * kSkip) == 0) random = random * 1664525u + 1013904223u;
      const int action = static_cast<int>((random >> 16) % envpool::atari::kNumActions);
      emulator.act(action, frame % kSkip >= kSkip - 2);
      if (emulator.is_game_over() && !emulator.reset_game()) return 1;
    }
  }
  return 0;
}
