/* Snapshots of environments whose memory cannot be copied, such as a game in another process: a snapshot contains what
 * the episode was started from, and the actions since. Restoring starts the episode again and repeats the actions.
 *
 * The environment must be deterministic. It records in its step_many(): a reset calls envpool_history_clear(), and every
 * step envpool_history_add(). A definition with such snapshots sets ENVPOOL_SLOW_SNAPSHOTS, and has snapshot_size(),
 * since its snapshots grow. Its snapshots should contain a digest of what the last step left behind, so that it can
 * refuse an episode that did not repeat itself. */
#ifndef ENVPOOL_REPLAY_H
#define ENVPOOL_REPLAY_H

#include <stdlib.h>

#include "envpool/env.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- recording ---- */

/* The history of an env since its episode began. All zero at first. */
typedef struct envpool_history {
  uint8_t *rows;    /* one row of bytes per step (num_rows); NULL until the first one                             */
  int64_t num_rows;
  int64_t capacity; /* rows for which there is memory                                                             */
  int32_t is_lost;  /* 1: there was not enough memory for all rows                                                */
} envpool_history;

enum { ENVPOOL_FIRST_ROWS = 256 }; /* capacity of the smallest history */

static inline void envpool_history_clear(envpool_history *h) {
  h->num_rows = 0;
  h->is_lost = 0;
}

static inline void envpool_history_free(envpool_history *h) {
  free(h->rows);
  memset(h, 0, sizeof *h);
}

/* Appends a row. All rows of a history have the same size. The memory doubles when it is full, so that most steps only
 * copy the row. */
static inline void envpool_history_add(envpool_history *h, const void *row, size_t row_bytes) {
  if (h->is_lost) return;
  if (h->num_rows == h->capacity) {
    const int64_t capacity = h->capacity ? 2 * h->capacity : (int64_t)ENVPOOL_FIRST_ROWS;
    uint8_t *rows = (uint8_t *)realloc(h->rows, (size_t)capacity * row_bytes);
    if (rows == NULL) {
      h->is_lost = 1;
      return;
    }
    h->rows = rows;
    h->capacity = capacity;
  }
  memcpy(h->rows + (size_t)h->num_rows++ * row_bytes, row, row_bytes);
}

/* ---- rows that are numbers: the index of a discrete action, in as few bytes as all indices need ---- */

/* Bytes of a number below `count`. */
static inline size_t envpool_number_bytes(int64_t count) { return count <= 1 << 8 ? 1 : count <= 1 << 16 ? 2 : 4; }

static inline void envpool_history_add_number(envpool_history *h, uint32_t number, size_t row_bytes) {
  uint8_t row[4];
  for (int k = 0; k < 4; k++) row[k] = (uint8_t)(number >> 8 * k);
  envpool_history_add(h, row, row_bytes);
}

static inline uint32_t envpool_number_of(const uint8_t *row, size_t row_bytes) {
  uint32_t number = 0;
  for (size_t k = 0; k < row_bytes; k++) number |= (uint32_t)row[k] << 8 * k;
  return number;
}

/* ---- repeating ---- */

/* How the episodes of a definition are repeated. For the members from `n` on, see also envpool_restore_by_replay(). */
typedef struct envpool_replay {
  void *state;
  int (*step_many)(void *state, const envpool_batch *batch);
  /* Writes the action that a row stands for, and returns 0; or returns a value of envpool_batch.reset: the row stands for
   * a reset. The row is one that the env has recorded, or that it has checked. */
  int (*read_row)(const void *state, const uint8_t *row, void *action);
  size_t row_bytes;
  size_t action_bytes; /* of the only action array, per env                                                       */
  int32_t num_envs;    /* of the state                                                                            */
  int32_t n;           /* envs to repeat, 1 to ENVPOOL_MAX_BATCH                                                  */
  const int32_t *ids;  /* (n), all different                                                                      */
  const uint8_t *rows[ENVPOOL_MAX_BATCH]; /* one history per env (n), not the history of the env itself           */
  int64_t num_rows[ENVPOOL_MAX_BATCH];    /* (n)                                                                  */
  int32_t errors[ENVPOOL_MAX_BATCH];      /* in and out (n): an env with an error is left out; also codes of steps */
  uint8_t has_ended[ENVPOOL_MAX_BATCH];   /* out (n): 1: the last row has ended the episode                       */
} envpool_replay;

/* Steps the envs at `positions` (n), those with a nonzero `reset` (n) into a new episode. */
static inline void envpool_replay_step(envpool_replay *r, const int32_t *positions, const uint8_t *reset, int32_t n,
                                       const void *actions) {
  int32_t ids[ENVPOOL_MAX_BATCH], resets[ENVPOOL_MAX_BATCH], errors[ENVPOOL_MAX_BATCH];
  uint8_t terminated[ENVPOOL_MAX_BATCH], truncated[ENVPOOL_MAX_BATCH];
  float reward[ENVPOOL_MAX_BATCH], discount[ENVPOOL_MAX_BATCH];
  envpool_batch batch;
  memset(&batch, 0, sizeof batch);
  for (int32_t k = 0; k < n; k++) {
    ids[k] = r->ids[positions[k]];
    errors[k] = 0;
    terminated[k] = truncated[k] = 0;
    reward[k] = 0;
    discount[k] = 1;
    if (reset[k]) resets[batch.num_resets++] = k;
  }
  batch.struct_size = sizeof batch;
  batch.n = n;
  batch.ids = ids;
  batch.reset = reset;
  batch.resets = resets;
  batch.actions = &actions;
  batch.reward = reward;
  batch.terminated = terminated;
  batch.truncated = truncated;
  batch.errors = errors;
  batch.discount = discount;
  const int status = r->step_many(r->state, &batch);
  int any = 0;
  for (int32_t k = 0; k < n; k++) any |= errors[k];
  for (int32_t k = 0; k < n; k++) {
    r->errors[positions[k]] = status && !any ? status : errors[k];
    r->has_ended[positions[k]] = terminated[k] || truncated[k];
  }
}

/* Starts the episodes of the envs, whose generators are as they were at the start, and repeats their histories. A history
 * that continues after the end of its episode gets ENVPOOL_BAD_SNAPSHOT. */
static inline void envpool_replay_all(envpool_replay *r) {
  int32_t positions[ENVPOOL_MAX_BATCH], n = 0;
  uint8_t reset[ENVPOOL_MAX_BATCH];
  uint8_t *actions = (uint8_t *)calloc((size_t)r->num_envs, r->action_bytes);
  memset(r->has_ended, 0, sizeof r->has_ended);
  for (int32_t i = 0; i < r->n; i++) {
    if (actions == NULL) r->errors[i] = ENVPOOL_NO_MEMORY;
    if (r->errors[i]) continue;
    reset[n] = ENVPOOL_NEXT_EPISODE;
    positions[n++] = i;
  }
  for (int64_t t = 0; n > 0; t++) {
    envpool_replay_step(r, positions, reset, n, actions);
    int32_t left = 0;
    for (int32_t k = 0; k < n; k++) {
      const int32_t i = positions[k];
      if (r->errors[i] || t >= r->num_rows[i]) continue;
      const uint8_t *row = r->rows[i] + (size_t)t * r->row_bytes;
      reset[left] = (uint8_t)r->read_row(r->state, row, actions + (size_t)r->ids[i] * r->action_bytes);
      if (r->has_ended[i] && !reset[left])
        r->errors[i] = ENVPOOL_BAD_SNAPSHOT;
      else
        positions[left++] = i;
    }
    n = left;
  }
  free(actions);
}

/* ---- snapshots: a definition's own data, followed by the rows of the history ---- */

/* envpool_env.get_state of a definition. save() writes the snapshot of an env and returns 0, or an error code. */
static inline int envpool_save_all(void *state, const envpool_snapshots *snapshots,
                                   int64_t (*snapshot_size)(void *state, int32_t id),
                                   int (*save)(void *state, int32_t id, char *at)) {
  int status = 0;
  for (int32_t i = 0; i < snapshots->n; i++) {
    snapshots->sizes[i] = snapshot_size(state, snapshots->ids[i]);
    snapshots->errors[i] = save(state, snapshots->ids[i], (char *)snapshots->bytes[i]);
    status |= snapshots->errors[i];
  }
  return status;
}

/* envpool_env.set_state of a definition. The caller sets the members of `r` up to num_envs. All functions return 0, or an
 * error code.
 *
 * find_rows() checks a snapshot with all its rows, and finds where its rows begin; start() makes an env what it was when
 * its history began; after the repetition, compare() compares it with what it was when it was saved. */
static inline int envpool_restore_by_replay(
    envpool_replay *r, const envpool_snapshots *snapshots,
    int (*find_rows)(const void *state, const char *at, int64_t size, int64_t *rows_at),
    int (*start)(void *state, int32_t id, const char *at), int (*compare)(void *state, int32_t id, const char *at)) {
  int status = 0;
  for (int32_t i = 0; i < snapshots->n; i++) {
    const char *at = (const char *)snapshots->bytes[i];
    int64_t rows_at = 0;
    r->errors[i] = find_rows(r->state, at, snapshots->sizes[i], &rows_at);
    if (!r->errors[i] && !snapshots->only_checks) r->errors[i] = start(r->state, snapshots->ids[i], at);
    r->rows[i] = (const uint8_t *)at + rows_at;
    r->num_rows[i] = (snapshots->sizes[i] - rows_at) / (int64_t)r->row_bytes;
  }
  r->n = snapshots->n;
  r->ids = snapshots->ids;
  if (!snapshots->only_checks) envpool_replay_all(r);
  for (int32_t i = 0; i < snapshots->n; i++) {
    int32_t error = r->errors[i];
    if (!error && !snapshots->only_checks && r->has_ended[i] && !snapshots->resets[i]) error = ENVPOOL_BAD_SNAPSHOT;
    if (!error && !snapshots->only_checks)
      error = compare(r->state, snapshots->ids[i], (const char *)snapshots->bytes[i]);
    snapshots->errors[i] = error;
    status |= error;
  }
  return status;
}

/* envpool_env.copy_state for a definition with these functions: saves the sources and restores the targets. A target
 * whose source cannot be saved stays as it is. */
static inline int envpool_copy_through_snapshots(void *state, const envpool_copies *copies,
                                                 int64_t (*snapshot_size)(void *state, int32_t id),
                                                 int (*get_state)(void *state, const envpool_snapshots *snapshots),
                                                 int (*set_state)(void *state, const envpool_snapshots *snapshots)) {
  void *bytes[ENVPOOL_MAX_BATCH];
  int64_t sizes[ENVPOOL_MAX_BATCH], all = 0;
  int32_t ids[ENVPOOL_MAX_BATCH], errors[ENVPOOL_MAX_BATCH], places[ENVPOOL_MAX_BATCH], n = 0;
  uint8_t resets[ENVPOOL_MAX_BATCH];
  envpool_snapshots call;
  for (int32_t i = 0; i < copies->n; i++) all += snapshot_size(state, copies->from[i]);
  char *memory = (char *)malloc((size_t)all + 1);
  if (memory == NULL) return ENVPOOL_NO_MEMORY;
  memset(resets, 1, sizeof resets); /* an episode that has ended may be copied, too */
  all = 0;
  for (int32_t i = 0; i < copies->n; i++) {
    bytes[i] = memory + all;
    all += snapshot_size(state, copies->from[i]);
  }
  memset(&call, 0, sizeof call);
  call.struct_size = sizeof call;
  call.n = copies->n;
  call.ids = copies->from;
  call.bytes = bytes;
  call.sizes = sizes;
  call.errors = copies->errors;
  call.resets = resets;
  int status = get_state(state, &call);
  for (int32_t i = 0; i < copies->n; i++) {
    if (copies->errors[i]) continue;
    bytes[n] = bytes[i];
    sizes[n] = sizes[i];
    ids[n] = copies->to[i];
    errors[n] = 0;
    places[n++] = i;
  }
  call.n = n;
  call.ids = ids;
  call.errors = errors;
  if (n > 0) status |= set_state(state, &call);
  for (int32_t k = 0; k < n; k++) copies->errors[places[k]] = errors[k];
  free(memory);
  return status;
}

/* ---- comparing ---- */

/* Returns a digest of `size` bytes and of an earlier digest. It tells apart what a simulation leaves behind; it is not
 * secure. */
static inline uint64_t envpool_digest(uint64_t before, const void *data, size_t size) {
  const char *bytes = (const char *)data;
  const uint64_t odd = UINT64_C(0x9e3779b97f4a7c15);
  uint64_t sum = before ^ size, word;
  for (; size > 0; bytes += 8, size = size > 8 ? size - 8 : 0) {
    word = 0;
    memcpy(&word, bytes, size < 8 ? size : 8);
    sum = (sum ^ word) * odd;
    sum ^= sum >> 29;
  }
  return sum;
}

#ifdef __cplusplus
}
#endif
#endif /* ENVPOOL_REPLAY_H */
