/* A plug-in that was built against the first header of version 2 of the ABI. It uses all members and must run forever.
 *
 * An env is a sum: an episode starts at seed % 100, each action is added, and the episode ends at 100 or above. */
#include <stdio.h>
#include <stdlib.h>

#include "env_v2.h"

enum { FAIL = 7, TRUNCATE = 8, CUT_DISCOUNT = 9, LAST_ACTION = 50, UNKNOWN_POOL = 99 };

typedef struct sums {
  int32_t *sum; /* (num_envs) */
  int32_t *start;
  int32_t limit;
} sums;

static void destroy(void *state) {
  sums *s = state;
  free(s->sum);
  free(s->start);
  free(s);
}

static int create(const envpool_setup *setup, void **state) {
  const int32_t *limit = setup->config;
  if (setup->struct_size < sizeof *setup || setup->abi_version != ENVPOOL_ABI_VERSION || setup->text_size < 256) {
    snprintf(setup->text, setup->text_size, "unknown pool");
    return UNKNOWN_POOL;
  }
  sums *s = calloc(1, sizeof *s);
  if (!s) return ENVPOOL_NO_MEMORY;
  s->sum = calloc((size_t)setup->num_envs, sizeof *s->sum);
  s->start = calloc((size_t)setup->num_envs, sizeof *s->start);
  s->limit = *limit;
  if (!s->sum || !s->start) {
    destroy(s);
    return ENVPOOL_NO_MEMORY;
  }
  *state = s;
  return 0;
}

static int seed_many(void *state, const envpool_seeds *seeds) {
  if (seeds->struct_size < sizeof *seeds) return UNKNOWN_POOL;
  for (int32_t i = 0; i < seeds->n; i++) {
    if (seeds->errors[i]) return UNKNOWN_POOL;
    ((sums *)state)->start[seeds->ids[i]] = (int32_t)(seeds->seeds[i] % 100);
  }
  return 0;
}

static int step_many(void *state, const envpool_batch *b) {
  sums *s = state;
  const int32_t *actions = b->actions[0];
  int32_t num_resets = 0;
  int failed = 0;
  if (b->struct_size < sizeof *b) return UNKNOWN_POOL;
  if (b->num_players || b->player_reward || b->player_terminated || b->player_truncated) return UNKNOWN_POOL;
  for (int32_t i = 0; i < b->n; i++) {
    int32_t id = b->ids[i];
    if (b->contiguous && id != b->ids[0] + i) return UNKNOWN_POOL;
    if (b->reset[i]) {
      if (num_resets >= b->num_resets || b->resets[num_resets++] != i) return UNKNOWN_POOL;
      s->sum[id] = s->start[id];
      continue;
    }
    if (actions[id] == FAIL) failed = b->errors[i] = FAIL;
    s->sum[id] += actions[id];
    b->reward[i] = (float)actions[id] / 2;
    b->terminated[i] = s->sum[id] >= s->limit;
    b->truncated[i] = actions[id] == TRUNCATE;
    if (b->discount && actions[id] == CUT_DISCOUNT) b->discount[i] = 0.5f;
  }
  return num_resets == b->num_resets ? failed : UNKNOWN_POOL;
}

static void write_many(void *state, const envpool_rows *rows) {
  if (rows->struct_size < sizeof *rows || rows->player_rows) abort();
  for (int32_t i = 0; i < rows->n; i++) {
    int32_t sum = ((sums *)state)->sum[rows->ids[i]];
    int32_t *obs = (int32_t *)rows->fields[0] + 2 * (rows->row0 + i);
    obs[0] = sum;
    obs[1] = rows->ids[i];
    ((uint8_t *)rows->fields[1])[rows->row0 + i] = sum % 2 != 0;
  }
}

static int run_many(void *state, const envpool_batch *b, const envpool_rows *rows) {
  if (rows->n != b->n || rows->ids != b->ids) return UNKNOWN_POOL;
  int failed = step_many(state, b);
  write_many(state, rows);
  return failed;
}

static void error_text(void *state, int32_t id, int32_t code, char *text, size_t size) {
  snprintf(text, size, "sum %d, code %d", ((sums *)state)->sum[id], code);
}

static int render_many(void *state, const envpool_frames *f) {
  if (f->struct_size < sizeof *f || f->kind || f->camera != -1 || f->assets) return UNKNOWN_POOL;
  size_t bytes = (size_t)3 * f->height * f->width;
  for (int32_t i = 0; i < f->n; i++) memset(f->pixels + bytes * i, ((sums *)state)->sum[f->ids[i]], bytes);
  return 0;
}

static const double ZERO = 0, HIGH = LAST_ACTION;
static const int32_t LIMIT = 100;
static const envpool_field FIELDS[] = {
    {.name = "obs", .dtype = ENVPOOL_INT32, .ndim = 1, .shape = {2}, .low = &ZERO, .num_low = 1},
    {.name = "info:odd", .dtype = ENVPOOL_BOOL},
};
static const envpool_field ACTIONS[] = {
    {.name = "action", .dtype = ENVPOOL_INT32, .low = &ZERO, .high = &HIGH, .num_low = 1, .num_high = 1},
};

#define MEMBERS                                                                                                        \
  .abi_version = ENVPOOL_ABI_VERSION, .struct_size = sizeof(envpool_env), .field_size = sizeof(envpool_field),         \
  .flags = ENVPOOL_TRUNCATION_KEEPS_DISCOUNT, .required_flags = ENVPOOL_TRUNCATION_KEEPS_DISCOUNT, .num_fields = 2,    \
  .num_actions = 1, .fields = FIELDS, .actions = ACTIONS, .config = &LIMIT, .create = create, .destroy = destroy,      \
  .seed_many = seed_many, .step_many = step_many, .write_many = write_many, .error_text = error_text,                  \
  .render_many = render_many, .frame_height = 4, .frame_width = 6, .lanes = 2

const envpool_env SEPARATE = {MEMBERS, .name = "Sums"};
const envpool_env FUSED = {MEMBERS, .name = "FusedSums", .run_many = run_many};
