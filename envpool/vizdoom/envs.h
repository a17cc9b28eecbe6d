/* The ViZDoom envs of a pool: their configuration and state, and the memory of both. env.pyx says what an env does. */
#ifndef ENVPOOL_VIZDOOM_ENVS_H
#define ENVPOOL_VIZDOOM_ENVS_H

#include <cstdint>
#include <cstdlib>

#include "engine/engine.h"
#include "engine/seats.h"
#include "envpool/env.h"
#include "envpool/raster/resize.h"
#include "envpool/replay.h"
#include "envpool/rng_legacy.h"

namespace envpool::vizdoom {

using raster::Resizer;
using raster::new_resizer;

enum { kMaxVariables = 160, kMaxInfos = 56, kMaxGroups = 4 };

enum Failure { /* error codes                                                                               */
  kNoEngine = 1, /* the engine failed, see Engine.text                                                      */
  kNoMemory,     /* while rendering                                                                         */
  kHasPlayers,   /* a game with other players has no state                                                  */
  kTooLong,      /* the history has more rows than a state may have                                         */
  kReseeded,     /* the history does not contain the later seed                                             */
  kOtherScenario, /* a state of another configuration file                                                  */
  kDiverged,     /* a restored game did not repeat itself                                                   */
};

/* A buffer of the engine that is part of an observation. */
struct Group {
  int32_t region;
  int32_t num_planes;
  int32_t is_labels; /* whether its bytes are numbers, which must not be mixed                              */
};

/* The options of a task. The table of combined actions follows in memory, then strings, each with a NUL: the folder, the
 * map, the start of the paths of recordings, and the arguments of the engine. */
struct Config {
  int32_t stack_num;
  int32_t frame_skip;
  int32_t height; /* of a frame of an observation                                                           */
  int32_t width;
  int32_t area;
  int32_t max_episode_steps;
  int32_t episodic_life;
  int32_t screen_width;
  int32_t screen_height;
  int32_t blue_first; /* whether the first plane of the screen is blue                                      */
  int32_t start_tic;
  int32_t num_players; /* of a game; each of them has an engine                                             */
  int32_t num_arguments;
  int32_t num_actions; /* combined actions; 0: an action has one number for each button                     */
  int32_t num_buttons;
  int32_t buttons[kButtons];
  int32_t num_variables;
  int32_t variables[kMaxVariables];
  int32_t num_infos;
  int32_t infos[kMaxInfos]; /* indices into `variables`                                                     */
  int32_t num_groups;
  Group groups[kMaxGroups];
  int32_t weapon_duration;
  int32_t scenario_reward; /* whether the reward comes from the scenario                                    */
  uint64_t scenario;    /* digest of what the configuration file says                                       */
  double patience;
  double gain[kMaxVariables]; /* reward for each unit by which a variable rises                             */
  double loss[kMaxVariables]; /* reward for each unit by which it falls, with the opposite sign             */
  double weapon_reward[kSlots];
  double living_reward;
  double death_penalty;
  double map_exit_reward;
};

/* A player of an env. The first player of an env also has what belongs to the whole env. */
struct Env {
  Engine engine;
  ep_mt19937 rng;     /* draws the seed of each episode                                                     */
  uint32_t seed;      /* of the first episode of the engine                                                 */
  int32_t is_fresh;   /* whether the env was seeded and has not been reset since                            */
  int32_t is_over;    /* whether the game is over                                                           */
  int32_t is_time_up; /* whether the map's own time limit is reached                                        */
  int32_t steps;      /* since the game started                                                             */
  int32_t episodes;   /* games since the env was created                                                    */
  int32_t weapon;     /* selected weapon, -1: none                                                          */
  int32_t weapon_steps;  /* steps since it was selected                                                     */
  int32_t newest;        /* index of the newest entry of `frames`                                           */
  int32_t num_frames;    /* entries of `frames` since the episode started, at most stack_num                */
  uint32_t last_tic;     /* engine.last_tic at the end of the last step                                     */
  int32_t map_reward;    /* of the engine at the end of the last step                                       */
  float reward;          /* of the last step                                                                */
  double health;         /* for the reward: not below 0                                                     */
  double base[3];        /* hit, damage and death counts at the start of the episode                        */
  double value[kMaxVariables]; /* of the game variables after the last step                                 */
  uint8_t *frames;             /* ring buffer (stack_num, num_planes, height, width)                        */
  int32_t is_restored;         /* whether the next reset starts what a state repeats, in a new engine       */
  int32_t is_reseeded;         /* whether the env was seeded again since the engine started                 */
  ep_mt19937 start;            /* `rng` before the engine started                                           */
  envpool_history history;     /* since then, see rows.pxd                                                  */
};

struct Envs {
  Config config;
  int32_t num_envs;
  int32_t num_planes;      /* of a frame, of all groups                                                     */
  size_t plane;            /* bytes of one plane of a frame                                                 */
  size_t pixels;           /* of a screen                                                                   */
  Launch launch;
  const double *actions;   /* (num_actions, num_buttons)                                                    */
  const char *recordings;  /* start of the paths of recordings; empty: none                                 */
  bool is_available[kButtons];
  char *arguments[kMaxArguments];
  Resizer *resizer;
  uint8_t *memory; /* of the frames of all players                                                          */
  Env *env;        /* (num_envs * num_players)                                                              */
};

inline int32_t num_seats(const Envs *s) { return s->num_envs * s->config.num_players; }

/* Finds the engines of the players of an env, and returns their number. */
inline int32_t seats_of(Env *env, const Config *c, Engine **engines) {
  for (int32_t p = 0; p < c->num_players; p++) engines[p] = &env[p].engine;
  return c->num_players;
}

inline bool allocate(Envs *s, const Config *config) {
  Config &c = s->config;
  const double *table = reinterpret_cast<const double *>(config + 1);
  const char *text = reinterpret_cast<const char *>(table + static_cast<size_t>(c.num_actions) * c.num_buttons);
  const auto next = [&text] {
    const char *found = text;
    text += strlen(text) + 1;
    return found;
  };
  s->actions = table;
  s->launch.folder = next();
  s->launch.map = next();
  s->recordings = next();
  for (int32_t i = 0; i < c.num_arguments; i++) s->arguments[i] = const_cast<char *>(next());
  s->launch.arguments = s->arguments;
  s->launch.num_arguments = c.num_arguments;
  s->launch.start_tic = static_cast<uint32_t>(c.start_tic);
  s->launch.screen_size[0] = static_cast<uint32_t>(c.screen_width);
  s->launch.screen_size[1] = static_cast<uint32_t>(c.screen_height);
  s->launch.patience = c.patience;
  for (int32_t i = 0; i < c.num_buttons; i++) s->is_available[c.buttons[i]] = true;
  s->plane = static_cast<size_t>(c.height) * static_cast<size_t>(c.width);
  s->pixels = static_cast<size_t>(c.screen_height) * static_cast<size_t>(c.screen_width);
  s->launch.needed[kInputRegion] = sizeof(Input);
  for (int32_t i = 0; i < c.num_groups; i++) {
    s->num_planes += c.groups[i].num_planes;
    s->launch.needed[c.groups[i].region] = s->pixels * static_cast<size_t>(c.groups[i].num_planes);
  }
  s->resizer = new_resizer(c.screen_height, c.screen_width, c.height, c.width, c.area);
  const int32_t seats = num_seats(s);
  s->env = static_cast<Env *>(std::calloc(static_cast<size_t>(seats), sizeof(Env)));
  for (int32_t i = 0; s->env && i < seats; i++) s->env[i].engine.process.output = s->env[i].engine.lock = -1;
  const size_t frames = s->plane * static_cast<size_t>(s->num_planes) * static_cast<size_t>(c.stack_num);
  s->memory = static_cast<uint8_t *>(std::calloc(static_cast<size_t>(seats), frames));
  if (!s->resizer || !s->env || !s->memory) return false;
  for (int32_t i = 0; i < seats; i++) s->env[i].frames = s->memory + static_cast<size_t>(i) * frames;
  return true;
}

/* The ABI's destroy(). */
inline void destroy(void *state) {
  Envs *s = static_cast<Envs *>(state);
  for (int32_t i = 0; s->env && i < num_seats(s); i++) {
    finish_recording(&s->env[i].engine, &s->launch);
    stop_engine(&s->env[i].engine);
    envpool_history_free(&s->env[i].history);
  }
  delete s->resizer;
  std::free(s->env);
  std::free(s->memory);
  std::free(s);
}

/* The ABI's create(). Engines are started by the first reset. */
inline int create(const envpool_setup *setup, void **state) {
  Envs *s = static_cast<Envs *>(std::calloc(1, sizeof(Envs)));
  if (!s) return ENVPOOL_NO_MEMORY;
  s->config = *static_cast<const Config *>(setup->config);
  s->num_envs = setup->num_envs;
  if (!allocate(s, static_cast<const Config *>(setup->config))) {
    destroy(s);
    return ENVPOOL_NO_MEMORY;
  }
  *state = s;
  return 0;
}

}  // namespace envpool::vizdoom

#endif  // ENVPOOL_VIZDOOM_ENVS_H
