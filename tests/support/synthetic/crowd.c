/* An environment whose players come and go, by a rule that a test can repeat: see tests/support/crowd.py.
 *
 * It writes garbage where the pool must not look: to the rows, rewards and ends of players that are not present. */
#include <stdlib.h>
#include <string.h>

#include "envpool/env.h"

enum { MAX_PLAYERS = 16, OBS = 8 };
enum { FLAT = 0, RICH = 1, FLOATS = 2 };
enum { DIE = 11, CUT = 12, END = 13, FAIL = 14 }; /* actions with a meaning */

typedef struct config { /* packed by envpool_synthetic.py */
  int32_t num_players;
  int32_t episode_length; /* terminated at this step; 0: never */
  int32_t fail_reset;     /* the episode with this number fails to start the first time; -1: none */
  int32_t constant;       /* 1: all players are present until the episode ends */
  int32_t layout;         /* FLAT; RICH: three action arrays, the last one of whole envs; FLOATS: (-1, 2) floats */
  int32_t float_obs;      /* 1: observations are float64 */
} config;

typedef struct crowd {
  uint64_t seed;
  int32_t episode, step, in_use, mode, has_failed_reset, num_present;
  uint8_t present[MAX_PLAYERS], acts[MAX_PLAYERS];
  int32_t action[MAX_PLAYERS];
} crowd;

typedef struct crowds {
  config c;
  int32_t num_envs;
  crowd *env; /* (num_envs) */
} crowds;

static uint64_t mix(uint64_t seed, int32_t episode, int32_t step, int32_t player) {
  uint64_t z = seed * 0x9e3779b97f4a7c15u + (uint64_t)episode * 0xbf58476d1ce4e5b9u + (uint64_t)step * 0x94d049bb133111ebu +
               (uint64_t)player * 0xd6e8feb86659fd93u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

/* The action of a player as an integer. */
static int32_t action_of(const crowds *s, const envpool_batch *b, int64_t row) {
  return s->c.layout == FLOATS ? (int32_t)((const float *)b->actions[0])[2 * row] : ((const int32_t *)b->actions[0])[row];
}

static void destroy(void *state) {
  free(((crowds *)state)->env);
  free(state);
}

static int create(const envpool_setup *setup, void **state) {
  crowds *s = calloc(1, sizeof *s);
  if (!s) return ENVPOOL_NO_MEMORY;
  s->c = *(const config *)setup->config;
  s->num_envs = setup->num_envs;
  s->env = calloc((size_t)setup->num_envs, sizeof *s->env);
  if (!s->env) {
    free(s);
    return ENVPOOL_NO_MEMORY;
  }
  *state = s;
  return 0;
}

static int seed_many(void *state, const envpool_seeds *seeds) {
  for (int32_t i = 0; i < seeds->n; i++) {
    crowd *e = &((crowds *)state)->env[seeds->ids[i]];
    e->seed = seeds->seeds[i];
    e->episode = 0;
  }
  return 0;
}

/* Players 0 and 1 begin every episode, so that there are at least two; the others come and go. */
static int begins(const config *c, const crowd *e, int32_t p) { return c->constant || p < 2 || mix(e->seed, e->episode, 0, p) % 2; }

static int step_many(void *state, const envpool_batch *b) {
  crowds *s = state;
  const int32_t size = s->c.num_players;
  int status = 0;
  for (int32_t i = 0; i < b->n; i++) {
    const int32_t id = b->ids[i];
    uint8_t *present = b->player_present + id * size, *terminated = b->player_terminated + id * size;
    uint8_t *truncated = b->player_truncated + id * size;
    float *reward = b->player_reward + id * size;
    crowd *e = &s->env[id];
    if (__atomic_exchange_n(&e->in_use, 1, __ATOMIC_ACQUIRE)) abort();
    int32_t num_acting = 0;
    if (b->reset[i]) {
      if (e->episode == s->c.fail_reset && !e->has_failed_reset) {
        e->has_failed_reset = 1;
        status = b->errors[i] = 2;
        __atomic_store_n(&e->in_use, 0, __ATOMIC_RELEASE);
        continue;
      }
      e->episode++;
      e->step = 0;
      e->mode = -1;
      e->num_present = 0;
      for (int32_t p = 0; p < size; p++) {
        e->present[p] = e->acts[p] = begins(&s->c, e, p);
        e->action[p] = -1;
        e->num_present += e->present[p];
        present[p] = e->present[p];
        reward[p] = 99; /* the pool drops rewards of resets */
      }
    } else {
      e->step++;
      b->terminated[i] = 0;
      e->num_present = 0;
      if (s->c.layout == RICH) e->mode = ((const int32_t *)b->actions[2])[id];
      for (int32_t p = 0; p < size; p++) {
        const uint64_t number = mix(e->seed, e->episode, e->step, p);
        const int64_t row = (int64_t)id * size + p;
        if (e->acts[p]) {
          const int32_t action = action_of(s, b, row);
          e->action[p] = action;
          e->present[p] = 1;
          reward[p] = (float)action + (float)p / 8;
          if (s->c.layout != FLAT) reward[p] += ((const float *)b->actions[s->c.layout == RICH])[row * 2 + 1];
          terminated[p] = action == DIE || (!s->c.constant && p > 1 && number % 8 == 0);
          truncated[p] = action == CUT;
          if (action == END) b->terminated[i] = 1;
          if (action == FAIL) status = b->errors[i] = 1;
          e->acts[p] = !terminated[p] && !truncated[p];
        } else {
          if (s->c.layout == FLAT && action_of(s, b, row)) b->errors[i] = 3; /* a player that does not act has none */
          e->present[p] = e->acts[p] = !s->c.constant && number % 4 == 0;
          e->action[p] = -1;
          if (!e->present[p]) reward[p] = 77, terminated[p] = truncated[p] = 1; /* the pool must not look here */
        }
        present[p] = e->present[p];
        e->num_present += e->present[p];
        num_acting += e->acts[p];
      }
      if (num_acting == 0 || (s->c.episode_length && e->step >= s->c.episode_length)) b->terminated[i] = 1;
    }
    __atomic_store_n(&e->in_use, 0, __ATOMIC_RELEASE);
  }
  return status;
}

static void write_many(void *state, const envpool_rows *rows) {
  crowds *s = state;
  for (int32_t i = 0; i < rows->n; i++) {
    const int32_t id = rows->ids[i];
    const crowd *e = &s->env[id];
    for (int32_t p = 0; p < s->c.num_players; p++) {
      int64_t *obs = (int64_t *)rows->fields[0] + (rows->player_rows[i] + p) * OBS;
      int64_t *token = (int64_t *)rows->fields[1] + rows->player_rows[i] + p;
      const int64_t values[OBS] = {id, p, e->episode, e->step, e->action[p], (int64_t)e->seed, e->num_present, 1};
      if (e->present[p] && s->c.float_obs) for (int32_t k = 0; k < OBS; k++) ((double *)obs)[k] = (double)values[k];
      else if (e->present[p]) memcpy(obs, values, sizeof values);
      else memset(obs, 0x77, sizeof values);
      *token = e->present[p] ? (int64_t)(mix(e->seed, e->episode, e->step, p) >> 1) : 77;
    }
    ((int32_t *)rows->fields[2])[rows->row0 + i] = e->num_present;
    ((int32_t *)rows->fields[3])[rows->row0 + i] = e->mode;
  }
}

static int64_t state_size(void *state) { return (int64_t)sizeof(crowd); }

static int get_state(void *state, const envpool_snapshots *snapshots) {
  for (int32_t i = 0; i < snapshots->n; i++) {
    memcpy(snapshots->bytes[i], &((crowds *)state)->env[snapshots->ids[i]], sizeof(crowd));
    snapshots->sizes[i] = (int64_t)sizeof(crowd);
  }
  return 0;
}

static int set_state(void *state, const envpool_snapshots *snapshots) {
  int status = 0;
  for (int32_t i = 0; i < snapshots->n; i++) {
    if (snapshots->sizes[i] != (int64_t)sizeof(crowd)) status = snapshots->errors[i] = ENVPOOL_BAD_SNAPSHOT;
    else if (!snapshots->only_checks) memcpy(&((crowds *)state)->env[snapshots->ids[i]], snapshots->bytes[i], sizeof(crowd));
  }
  return status;
}

static int copy_state(void *state, const envpool_copies *copies) {
  for (int32_t i = 0; i < copies->n; i++)
    ((crowds *)state)->env[copies->to[i]] = ((crowds *)state)->env[copies->from[i]];
  return 0;
}

static int step_nothing(void *state, const envpool_batch *b) {
  for (int32_t i = 0; i < b->n; i++) b->terminated[i] = 0;
  return 0;
}

static void write_nothing(void *state, const envpool_rows *rows) {}

static const double zero = 0, most = 15;
static const envpool_field any_field = {.name = "obs", .dtype = ENVPOOL_INT64, .ndim = 2, .shape = {-1, OBS}};
static const envpool_field any_action = {
    .name = "action", .dtype = ENVPOOL_INT32, .ndim = 1, .shape = {-1}, .low = &zero, .high = &most, .num_low = 1, .num_high = 1};

/* The template of envpool_synthetic.Crowd. */
const envpool_env crowd_definition = {
    .abi_version = ENVPOOL_ABI_VERSION,
    .struct_size = sizeof(envpool_env),
    .name = "Crowd",
    .field_size = sizeof(envpool_field),
    .num_fields = 1,
    .num_actions = 1,
    .fields = &any_field,
    .actions = &any_action,
    .create = create,
    .destroy = destroy,
    .seed_many = seed_many,
    .step_many = step_many,
    .write_many = write_many,
    .state_size = state_size,
    .get_state = get_state,
    .set_state = set_state,
    .copy_state = copy_state,
};

/* A template for any table of fields: all of its players are always there, and nothing is written. */
const envpool_env silent_definition = {
    .abi_version = ENVPOOL_ABI_VERSION,
    .struct_size = sizeof(envpool_env),
    .name = "Silent",
    .field_size = sizeof(envpool_field),
    .num_fields = 1,
    .num_actions = 1,
    .fields = &any_field,
    .actions = &any_action,
    .create = create,
    .destroy = destroy,
    .seed_many = seed_many,
    .step_many = step_nothing,
    .write_many = write_nothing,
};
