/* A game whose players move in turn, by a rule that a test can repeat: see tests/support/turns.py.
 *
 * It writes garbage where the pool must not look: to rewards of players that are not present, and to the field of whose
 * turn it is when the episode is over. */
#include <stdlib.h>
#include <string.h>

#include "envpool/env.h"

enum { MAX_PLAYERS = 8, MOVES = 7, OBS = 4 };
enum { OUT = 4, END = 5, FAIL = 6 }; /* moves with a meaning */

typedef struct config { /* packed by envpool_synthetic.py */
  int32_t num_players;
  int32_t masks; /* 0: none; 1: that of the mover; 2: one per player */
} config;

typedef struct game {
  uint64_t seed;
  int32_t episode, step, mover, over;
  uint8_t present[MAX_PLAYERS], alive[MAX_PLAYERS];
} game;

typedef struct games {
  config c;
  game *env; /* (num_envs) */
} games;

static uint64_t mix(const game *g, int32_t what) {
  uint64_t z = g->seed * 0x9e3779b97f4a7c15u + (uint64_t)g->episode * 0xbf58476d1ce4e5b9u +
               (uint64_t)g->step * 0x94d049bb133111ebu + (uint64_t)what * 0xd6e8feb86659fd93u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

static int is_legal(const game *g, int32_t player, int32_t move) {
  return move == 0 || mix(g, 100 + 10 * player + move) % 4 != 0;
}

static void destroy(void *state) {
  free(((games *)state)->env);
  free(state);
}

static int create(const envpool_setup *setup, void **state) {
  games *s = calloc(1, sizeof *s);
  if (!s) return ENVPOOL_NO_MEMORY;
  s->c = *(const config *)setup->config;
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
    game *g = &((games *)state)->env[seeds->ids[i]];
    g->seed = seeds->seeds[i];
    g->episode = 0;
  }
  return 0;
}

static int step_many(void *state, const envpool_batch *b) {
  games *s = state;
  const int32_t size = s->c.num_players;
  int status = 0;
  for (int32_t i = 0; i < b->n; i++) {
    const int32_t id = b->ids[i], move = ((const int32_t *)b->actions[0])[id];
    const int64_t at = (int64_t)id * size;
    game *g = &s->env[id];
    int32_t num_alive = 0;
    if (b->reset[i]) {
      g->episode++;
      g->step = g->over = 0;
      memset(g->alive, 1, sizeof g->alive);
      memset(g->present, 1, sizeof g->present);
      g->mover = (int32_t)(mix(g, 0) % (uint64_t)size);
      continue;
    }
    for (int32_t p = 0; p < size; p++) {
      g->present[p] = g->alive[p];
      b->player_present[at + p] = g->present[p];
      b->player_reward[at + p] = g->present[p] ? (float)(mix(g, 20 + p) % 8) / 8 : 77;
    }
    b->terminated[i] = 0;
    if (s->c.masks && !is_legal(g, g->mover, move)) {
      b->player_reward[at + g->mover] = -9;
      b->terminated[i] = 1;
    }
    g->step++;
    if (move == OUT) b->player_terminated[at + g->mover] = 1, g->alive[g->mover] = 0;
    if (move == END) b->terminated[i] = 1;
    if (move == FAIL) status = b->errors[i] = 1;
    for (int32_t p = 0; p < size; p++) num_alive += g->alive[p];
    if (num_alive < 2) b->terminated[i] = 1;
    g->over = b->terminated[i];
    for (int32_t k = 0; k < size && (k == 0 || !g->alive[g->mover]); k++) g->mover = (g->mover + 1) % size;
  }
  return status;
}

static void write_many(void *state, const envpool_rows *rows) {
  games *s = state;
  const int32_t size = s->c.num_players;
  for (int32_t i = 0; i < rows->n; i++) {
    const game *g = &s->env[rows->ids[i]];
    const int64_t row = rows->row0 + i;
    ((int32_t *)rows->fields[1])[row] = g->over && mix(g, 1) % 2 ? -5 : g->mover;
    for (int32_t p = 0; p < size; p++) {
      const int64_t at = rows->player_rows[i] + p;
      const int64_t values[OBS] = {rows->ids[i], p, g->episode, g->step};
      memcpy((int64_t *)rows->fields[0] + at * OBS, values, sizeof values);
      if (s->c.masks == 2)
        for (int32_t m = 0; m < MOVES; m++) ((uint8_t *)rows->fields[2])[at * MOVES + m] = (uint8_t)is_legal(g, p, m);
    }
    if (s->c.masks == 1)
      for (int32_t m = 0; m < MOVES; m++) ((uint8_t *)rows->fields[2])[row * MOVES + m] = (uint8_t)is_legal(g, g->mover, m);
  }
}

static int64_t state_size(void *state) { return (int64_t)sizeof(game); }

static int get_state(void *state, const envpool_snapshots *snapshots) {
  for (int32_t i = 0; i < snapshots->n; i++) {
    memcpy(snapshots->bytes[i], &((games *)state)->env[snapshots->ids[i]], sizeof(game));
    snapshots->sizes[i] = (int64_t)sizeof(game);
  }
  return 0;
}

static int set_state(void *state, const envpool_snapshots *snapshots) {
  int status = 0;
  for (int32_t i = 0; i < snapshots->n; i++) {
    if (snapshots->sizes[i] != (int64_t)sizeof(game)) status = snapshots->errors[i] = ENVPOOL_BAD_SNAPSHOT;
    else if (!snapshots->only_checks) memcpy(&((games *)state)->env[snapshots->ids[i]], snapshots->bytes[i], sizeof(game));
  }
  return status;
}

static int copy_state(void *state, const envpool_copies *copies) {
  for (int32_t i = 0; i < copies->n; i++) ((games *)state)->env[copies->to[i]] = ((games *)state)->env[copies->from[i]];
  return 0;
}

static const envpool_field any_field = {.name = "obs", .dtype = ENVPOOL_INT64, .ndim = 2, .shape = {-1, OBS}};
static const envpool_field any_action = {.name = "action", .dtype = ENVPOOL_INT32};

/* The template of envpool_synthetic.Turns. */
const envpool_env turns_definition = {
    .abi_version = ENVPOOL_ABI_VERSION,
    .struct_size = sizeof(envpool_env),
    .name = "Turns",
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
