/* The Atari envs of a pool: their configuration and state, and the memory of both. env.pyx says what an env does. */
#ifndef ENVPOOL_ATARI_ENVS_H
#define ENVPOOL_ATARI_ENVS_H

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <new>

#include "emulator.h"
#include "envpool/env.h"
#include "envpool/raster/resize.h"
#include "envpool/rng.h"

namespace envpool::atari {

using raster::Resizer;
using raster::new_resizer;

inline constexpr int kMaxFrameSkip = 10000;

/* The parameters of an env, in the order of Atari.params in game.py. */
struct EnvParams {
  int32_t frame_skip; /* emulated frames per step, 1 to kMaxFrameSkip                                   */
  int32_t mode;       /* as in Machine                                                                  */
  int32_t difficulty;
  int32_t unused;     /* 0: instead of padding, whose bytes would vary in snapshots                     */
  double repeat_action_probability;
};

/* The options of a task. The bytes of its ROM follow in memory. */
struct Config {
  int32_t stack_num;
  int32_t noop_max;
  int32_t max_episode_steps;
  int32_t height; /* of a frame of an observation                                                       */
  int32_t width;
  int32_t num_planes;  /* 1 for greyscale, 3 for RGB                                                    */
  float threshold;     /* continuous actions: deflection of a stick from which it counts                */
  uint8_t actions[18]; /* ALE's number of each action                                                   */
  int32_t presses_fire;
  int32_t episodic_life;
  int32_t cuts_discount; /* whether the discount is 0 in a step that loses a life                       */
  int32_t clips_reward;
  int32_t area;
  int32_t continuous;       /* whether actions are radius, angle and button                             */
  int32_t maxpool;          /* whether a frame is the maximum of the last two screens                   */
  int32_t pads_with_zeros;  /* whether frames before the first one of a game are zero                   */
  int32_t tells_life_loss;  /* whether there is the info of Env::life_loss                              */
  int32_t tells_frames;     /* whether there are the infos of Env::frame_number and the next            */
  int32_t renders; /* whether the pool renders: the last screen of every step may then be shown         */
  int32_t render_height;
  int32_t render_width;
  EnvParams params; /* initial values                                                                   */
  int64_t rom_size;
};

/* An env in a snapshot, besides its emulator and its images. */
struct EnvState {
  ep_pcg64 rng;
  uint64_t seed;
  EnvParams params;      /* in force                                                                    */
  int32_t is_fresh;      /* whether the env was seeded and has not been reset since                     */
  int32_t is_over;       /* whether the game is over                                                    */
  int32_t has_lost_life; /* in the last step                                                            */
  int32_t lives;
  int32_t steps;         /* since the game started                                                      */
  int32_t newest;        /* index of the newest entry of `frames`                                       */
  int32_t num_frames;    /* entries of `frames` since the game started, at most stack_num               */
  int32_t life_loss;     /* whether the env had more lives before the last step, and has some left      */
  uint32_t frame_number; /* frames since the env was seeded, if Config::tells_frames                    */
  uint32_t episode_frame_number; /* frames since the game started, likewise                             */
  float reward;          /* of the last step, before clipping                                           */
  uint32_t unused;       /* 0: instead of padding, whose bytes would vary in snapshots                  */
};

struct Env : EnvState {
  Emulator *emulator;
  int32_t is_broken; /* whether its console could not be built or reset                                 */
  uint8_t *frames;   /* ring buffer (stack_num, num_planes, height, width)                              */
  uint8_t *planes;   /* (num_planes, pixels of a screen)                                                */
  uint8_t *older;    /* the second last screen of a step, which is only used within the step            */
};

struct Envs {
  Config config;
  int32_t num_envs;
  Rom *rom;
  Resizer *resizer;
  Resizer *render_resizer; /* NULL if rendered frames have the size of a screen                         */
  size_t pixels;           /* of a screen                                                               */
  size_t plane;            /* bytes of one plane of an observation's frame                              */
  uint8_t tables[4][256];  /* palette index to grey, red, green, blue                                   */
  uint8_t *memory;         /* the memory that the envs' pointers refer to                               */
  Env *env;                /* (num_envs)                                                                */
};

/* Allocates everything but the consoles, which are built when the envs are seeded. The console of the first env is built
 * here, too: it determines the size of a screen. */
inline bool allocate(Envs *s, const void *rom) {
  const Config &c = s->config;
  s->env = static_cast<Env *>(std::calloc(static_cast<size_t>(s->num_envs), sizeof(Env)));
  s->rom = new (std::nothrow) Rom(rom, static_cast<size_t>(c.rom_size));
  if (!s->env || !s->rom || !s->rom->is_open()) return false;
  const Machine machine = {s->rom, c.params.mode, c.params.difficulty,
                           static_cast<float>(c.params.repeat_action_probability)};
  for (int32_t i = 0; i < s->num_envs; i++) {
    s->env[i].params = c.params;
    s->env[i].emulator = new (std::nothrow) Emulator(machine);
    if (!s->env[i].emulator) return false;
  }
  Emulator &first = *s->env[0].emulator;
  if (!first.load(0)) return false;
  first.palette(s->tables[0], s->tables[1], s->tables[2], s->tables[3]);
  const int rows = first.height(), columns = first.width();
  s->pixels = static_cast<size_t>(rows) * static_cast<size_t>(columns);
  s->plane = static_cast<size_t>(c.height) * static_cast<size_t>(c.width);
  s->resizer = new_resizer(rows, columns, c.height, c.width, c.area);
  if (!s->resizer) return false;
  if (c.renders && (c.render_height != rows || c.render_width != columns)) {
    s->render_resizer = new_resizer(rows, columns, c.render_height, c.render_width, true);
    if (!s->render_resizer) return false;
  }
  const size_t frames = s->plane * static_cast<size_t>(c.num_planes) * static_cast<size_t>(c.stack_num);
  const size_t planes = s->pixels * static_cast<size_t>(c.num_planes);
  s->memory = static_cast<uint8_t *>(std::calloc(static_cast<size_t>(s->num_envs), frames + planes + s->pixels));
  if (!s->memory) return false;
  uint8_t *at = s->memory;
  for (int32_t i = 0; i < s->num_envs; i++, at += frames + planes + s->pixels) {
    s->env[i].frames = at;
    s->env[i].planes = at + frames;
    s->env[i].older = at + frames + planes;
  }
  return true;
}

/* The ABI's destroy(). */
inline void destroy(void *state) {
  Envs *s = static_cast<Envs *>(state);
  for (int32_t i = 0; s->env && i < s->num_envs; i++) delete s->env[i].emulator;
  delete s->resizer;
  delete s->render_resizer;
  delete s->rom;
  std::free(s->env);
  std::free(s->memory);
  std::free(s);
}

/* The ABI's create(). */
inline int create(const envpool_setup *setup, void **state) {
  Envs *s = static_cast<Envs *>(std::calloc(1, sizeof(Envs)));
  if (!s) return ENVPOOL_NO_MEMORY;
  s->config = *static_cast<const Config *>(setup->config);
  s->num_envs = setup->num_envs;
  if (!allocate(s, static_cast<const Config *>(setup->config) + 1)) {
    destroy(s);
    return ENVPOOL_NO_MEMORY;
  }
  *state = s;
  return 0;
}

}  // namespace envpool::atari

#endif  // ENVPOOL_ATARI_ENVS_H
