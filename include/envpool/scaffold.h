/* The parts of an environment definition that are the same in every environment: the state is allocated and freed, each
 * environment has a generator, and seeding fills it.
 *
 * A state is a struct whose first member is an `envpool_state`. It points to one record per environment, and to arrays
 * with one element per environment. If a record begins with an `ep_pcg64`, envpool_seed_records() seeds it. An
 * environment is usually written in one of two layouts:
 *
 * - Array of structs: a record holds the whole state of one environment, and the state is an `envpool_state` itself.
 * - Struct of arrays: a record is only the generator, and the state adds pointers to arrays. Loops over contiguous ids
 *   then vectorise.
 *
 * Nothing here is needed to implement envpool/env.h; an environment may replace any of these functions.
 */
#ifndef ENVPOOL_SCAFFOLD_H
#define ENVPOOL_SCAFFOLD_H

#include <stdio.h>
#include <stdlib.h>

#include "envpool/env.h"
#include "envpool/rng.h"

#ifdef __cplusplus
extern "C" {
#endif

#define ENVPOOL_MAX_ARRAYS 16

struct envpool_state;

/* Whether env `id` is in a state that its steps and resets can lead to, so that every later call is safe and ends. If
 * `resets` is nonzero, its next step starts an episode. */
typedef int (*envpool_is_valid)(const struct envpool_state *state, int32_t id, int32_t resets);

/* The head of a state. All memory belongs to it; envpool_free_state() frees it. */
typedef struct envpool_state {
  const void *config;  /* the config of the environment definition, which outlives the state                      */
  void *records;       /* one record per environment (num_envs), zeroed at first                                  */
  size_t record_size;  /* bytes of a record                                                                       */
  int32_t num_envs;    /* number of environments                                                                  */
  int32_t num_arrays;  /* entries of `arrays` in use                                                              */
  int32_t has_failed;  /* 1: an array could not be allocated, see envpool_finish_state()                          */
  void *arrays[ENVPOOL_MAX_ARRAYS]; /* made by envpool_new_array(), each (num_envs)                               */
  size_t item_sizes[ENVPOOL_MAX_ARRAYS]; /* bytes of one item of each array                                       */
  envpool_is_valid is_valid; /* see envpool_restore_records(); NULL: every value is valid                          */
  double **params;           /* made by envpool_new_params(), (num_params) arrays (num_envs)                       */
  const double *initial_params; /* (num_params)                                                                   */
  int32_t num_params;
  int32_t params_vary;       /* see envpool_params_vary()                                                          */
  double *reset_doubles;     /* made by envpool_new_reset_doubles(), (num_envs, num_reset_doubles)                 */
  const double *reset_defaults; /* (num_reset_doubles)                                                            */
  int32_t num_reset_doubles;
  int32_t reset_doubles_vary; /* whether any env has ever had other values than the defaults                      */
} envpool_state;

/* envpool_env.destroy for a state of envpool_new_state(). */
static inline void envpool_free_state(void *state) {
  envpool_state *s = (envpool_state *)state;
  for (int32_t i = 0; i < s->num_arrays; i++) free(s->arrays[i]);
  free(s->records);
  free(s);
}

/* The first call of create(): allocates a state of state_size bytes (at least sizeof(envpool_state)) and a record of
 * record_size bytes (at least 1) per environment, all zeroed but for the head. Returns NULL when there is not enough
 * memory. */
static inline void *envpool_new_state(const envpool_setup *setup, size_t state_size, size_t record_size) {
  envpool_state *s = (envpool_state *)calloc(1, state_size);
  if (s == NULL) return NULL;
  s->config = setup->config;
  s->num_envs = setup->num_envs;
  s->record_size = record_size;
  s->records = calloc((size_t)s->num_envs, record_size);
  if (s->records != NULL) return s;
  free(s);
  return NULL;
}

/* Allocates a zeroed array (num_envs) of items of itemsize bytes, which belongs to the state. If there is not enough
 * memory or the state has ENVPOOL_MAX_ARRAYS arrays, it returns NULL, and envpool_finish_state() will fail. */
static inline void *envpool_new_array(void *state, size_t itemsize) {
  envpool_state *s = (envpool_state *)state;
  void *array = s->num_arrays < ENVPOOL_MAX_ARRAYS ? calloc((size_t)s->num_envs, itemsize) : NULL;
  if (array == NULL)
    s->has_failed = 1;
  else {
    s->item_sizes[s->num_arrays] = itemsize;
    s->arrays[s->num_arrays++] = array;
  }
  return array;
}

/* Allocates `count` parameters of type double: arrays (num_envs), which belong to the state, filled with initial values
 * (count), which must outlive it, as those in the config do. `params` (count) gets the arrays, in the order of the table
 * of parameters; see envpool_with_params(). If there is not enough memory, envpool_finish_state() will fail. Call it
 * once. */
static inline void envpool_new_params(void *state, double **params, const double *initial, int32_t count) {
  envpool_state *s = (envpool_state *)state;
  s->params = params;
  s->initial_params = initial;
  s->num_params = count;
  for (int32_t k = 0; k < count; k++) {
    params[k] = (double *)envpool_new_array(state, sizeof(double));
    for (int32_t i = 0; params[k] != NULL && i < s->num_envs; i++) params[k][i] = initial[k];
  }
}

/* Whether the parameters of any env may differ from the initial values. While none do, a step may use the initial values
 * for all envs, which costs nothing per env. It must not read the parameters of another env, which may be changing. An env
 * is stepped after its parameters have changed, on the same thread or after the engine has synchronised the two, so a
 * relaxed read suffices. */
static inline int32_t envpool_params_vary(const envpool_state *s) {
  return __atomic_load_n(&s->params_vary, __ATOMIC_RELAXED);
}

/* The initial values of the parameters (num_params) while all envs have them, else NULL. */
static inline const double *envpool_common_params(const envpool_state *s) {
  return envpool_params_vary(s) ? NULL : s->initial_params;
}

/* Points at[k] at parameter k of env `id`, followed by parameter k of the next envs, or at its initial value while all
 * envs have it. Returns the distance from one env to the next: 1 or 0. A loop that is inlined twice, with either distance
 * as a constant, reads common parameters once. `count` may exceed num_params, if the two arrays that envpool_new_params()
 * got contain further values, which follow from the parameters. */
static inline int32_t envpool_params_at(const envpool_state *s, int32_t id, int32_t count, const double **at) {
  const double *common = envpool_common_params(s);
  for (int32_t k = 0; k < count; k++) at[k] = common != NULL ? common + k : s->params[k] + id;
  return common == NULL;
}

/* Records that parameters may differ from the initial values, which is never taken back. */
static inline void envpool_note_params_vary(envpool_state *s) {
  __atomic_store_n(&s->params_vary, 1, __ATOMIC_RELAXED);
}

/* Records whether the parameters of env `id` differ from the initial values. */
static inline void envpool_compare_params(envpool_state *s, int32_t id) {
  for (int32_t k = 0; k < s->num_params; k++)
    if (memcmp(&s->params[k][id], &s->initial_params[k], sizeof(double)) != 0) envpool_note_params_vary(s);
}

/* The last call of create(), which returns the result: stores a state in *state if all its arrays were allocated;
 * otherwise frees it and returns ENVPOOL_NO_MEMORY. `s` is the result of envpool_new_state() and may be NULL. */
static inline int envpool_finish_state(void *s, void **state) {
  if (s == NULL) return ENVPOOL_NO_MEMORY;
  if (((envpool_state *)s)->has_failed) {
    envpool_free_state(s);
    return ENVPOOL_NO_MEMORY;
  }
  *state = s;
  return 0;
}

/* envpool_env.seed_many for a state whose records begin with an ep_pcg64. */
static inline int envpool_seed_records(void *state, const envpool_seeds *seeds) {
  const envpool_state *s = (const envpool_state *)state;
  for (int32_t i = 0; i < seeds->n; i++)
    ep_pcg64_seed((ep_pcg64 *)((char *)s->records + (size_t)seeds->ids[i] * s->record_size), seeds->seeds[i]);
  return 0;
}

/* ---- Snapshots: envpool_with_snapshots() adds these functions to a definition whose state consists of the records,
 * which begin with an ep_pcg64, and of the arrays, and contains no pointers. A snapshot is the record of the env,
 * followed by its item of each array. A definition whose records begin with another generator replaces set_state by a
 * function that calls envpool_restore_records(). ---- */

/* envpool_env.state_size */
static inline int64_t envpool_records_size(void *state) {
  const envpool_state *s = (const envpool_state *)state;
  size_t size = s->record_size;
  for (int32_t k = 0; k < s->num_arrays; k++) size += s->item_sizes[k];
  return (int64_t)size;
}

/* Copies items of the common sizes, for which memcpy() with a constant size needs no call. */
static inline void envpool_copy_item(void *to, const void *from, size_t size) {
  if (size == 8)
    memcpy(to, from, 8);
  else if (size == 4)
    memcpy(to, from, 4);
  else if (size == 1)
    memcpy(to, from, 1);
  else if (size == sizeof(ep_pcg64))
    memcpy(to, from, sizeof(ep_pcg64));
  else
    memcpy(to, from, size);
}

/* Writes the snapshot of env `id` to `bytes`. */
static inline void envpool_get_record(const envpool_state *s, int32_t id, char *bytes) {
  memcpy(bytes, (const char *)s->records + (size_t)id * s->record_size, s->record_size);
  bytes += s->record_size;
  for (int32_t k = 0; k < s->num_arrays; bytes += s->item_sizes[k++])
    memcpy(bytes, (const char *)s->arrays[k] + (size_t)id * s->item_sizes[k], s->item_sizes[k]);
}

/* Restores env `id` from the snapshot in `bytes`. */
static inline void envpool_set_record(envpool_state *s, int32_t id, const char *bytes) {
  memcpy((char *)s->records + (size_t)id * s->record_size, bytes, s->record_size);
  bytes += s->record_size;
  for (int32_t k = 0; k < s->num_arrays; bytes += s->item_sizes[k++])
    memcpy((char *)s->arrays[k] + (size_t)id * s->item_sizes[k], bytes, s->item_sizes[k]);
}

/* envpool_env.get_state */
static inline int envpool_get_records(void *state, const envpool_snapshots *snapshots) {
  for (int32_t i = 0; i < snapshots->n; i++) {
    envpool_get_record((const envpool_state *)state, snapshots->ids[i], (char *)snapshots->bytes[i]);
    snapshots->sizes[i] = envpool_records_size(state);
  }
  return 0;
}

/* Whether the ep_pcg64 at the beginning of a record is valid. */
static inline int envpool_is_pcg64(const void *record) { return ep_pcg64_is_valid((const ep_pcg64 *)record); }

/* Restores envs, for records that begin with a generator of any kind: has_generator(record) is 0 if the generator of a
 * record is not safe to use. An env is restored, looked at, and given its earlier state back if that is not valid or
 * nothing but a check was asked for. */
static inline int envpool_restore_records(void *state, const envpool_snapshots *snapshots,
                                          int (*has_generator)(const void *record)) {
  envpool_state *s = (envpool_state *)state;
  const size_t size = (size_t)envpool_records_size(state);
  int status = 0;
  char *before = (char *)malloc(size);
  if (before == NULL) return ENVPOOL_NO_MEMORY;
  for (int32_t i = 0; i < snapshots->n; i++) {
    const int32_t id = snapshots->ids[i];
    if (snapshots->sizes[i] != (int64_t)size) {
      status = snapshots->errors[i] = ENVPOOL_BAD_SNAPSHOT;
      continue;
    }
    envpool_get_record(s, id, before);
    envpool_set_record(s, id, (const char *)snapshots->bytes[i]);
    if (!has_generator((const char *)s->records + (size_t)id * s->record_size) ||
        (s->is_valid != NULL && !s->is_valid(s, id, snapshots->resets[i] != 0)))
      status = snapshots->errors[i] = ENVPOOL_BAD_SNAPSHOT;
    if (snapshots->errors[i] || snapshots->only_checks)
      envpool_set_record(s, id, before);
    else
      envpool_compare_params(s, id);
  }
  free(before);
  return status;
}

/* envpool_env.set_state */
static inline int envpool_set_records(void *state, const envpool_snapshots *snapshots) {
  return envpool_restore_records(state, snapshots, envpool_is_pcg64);
}

/* Copies the items `from` (n) of an array of items of `size` bytes to the items `to` (n). */
static inline void envpool_copy_items(void *array, size_t size, const int32_t *from, const int32_t *to, int32_t n) {
  char *items = (char *)array;
  for (int32_t i = 0; i < n; i++)
    envpool_copy_item(items + (size_t)to[i] * size, items + (size_t)from[i] * size, size);
}

/* envpool_env.copy_state */
static inline int envpool_copy_records(void *state, const envpool_copies *copies) {
  envpool_state *s = (envpool_state *)state;
  envpool_copy_items(s->records, s->record_size, copies->from, copies->to, copies->n);
  for (int32_t k = 0; k < s->num_arrays; k++)
    envpool_copy_items(s->arrays[k], s->item_sizes[k], copies->from, copies->to, copies->n);
  return 0;
}

/* Adds snapshots to a definition. Its create() sets envpool_state.is_valid. */
static inline void envpool_with_snapshots(envpool_env *env) {
  env->state_size = envpool_records_size;
  env->get_state = envpool_get_records;
  env->set_state = envpool_set_records;
  env->copy_state = envpool_copy_records;
}

/* ---- Options of resets: entries "reset:..." of the parameter table, behind the parameters, that are of type double and
 * hold for one reset. Between resets, every env has their defaults, so that snapshots need not contain them. ---- */

/* Allocates the options; `defaults` (count) must outlive the state. If there is not enough memory,
 * envpool_finish_state() will fail. Call it once. */
static inline void envpool_new_reset_doubles(void *state, const double *defaults, int32_t count) {
  envpool_state *s = (envpool_state *)state;
  s->reset_defaults = defaults;
  s->num_reset_doubles = count;
  s->reset_doubles = (double *)envpool_new_array(state, (size_t)count * sizeof(double));
  if (s->reset_doubles == NULL) return;
  s->item_sizes[s->num_arrays - 1] = 0; /* no part of a snapshot */
  for (int32_t i = 0; i < s->num_envs; i++)
    memcpy(s->reset_doubles + (size_t)i * count, defaults, (size_t)count * sizeof(double));
}

/* Writes the options of the reset of env `id` to `values` (count), and gives the env the defaults again. */
static inline void envpool_take_reset_doubles(void *state, int32_t id, double *values) {
  envpool_state *s = (envpool_state *)state;
  const size_t size = (size_t)s->num_reset_doubles * sizeof(double);
  double *own = s->reset_doubles + (size_t)id * s->num_reset_doubles;
  const int32_t vary = __atomic_load_n(&s->reset_doubles_vary, __ATOMIC_RELAXED);
  memcpy(values, vary ? own : s->reset_defaults, size);
  if (vary) memcpy(own, s->reset_defaults, size);
}

/* The part of envpool_env.get_params for options whose entries in the table begin at `first`: their defaults. */
static inline void envpool_get_reset_doubles(void *state, const envpool_params *call, int32_t first) {
  const envpool_state *s = (const envpool_state *)state;
  for (int32_t k = 0; k < s->num_reset_doubles; k++)
    for (int32_t i = 0; i < call->n; i++) ((double *)call->values[first + k])[call->ids[i]] = s->reset_defaults[k];
}

/* The part of envpool_env.set_params for these options. The reset follows on the same thread. */
static inline void envpool_set_reset_doubles(void *state, const envpool_params *call, int32_t first) {
  envpool_state *s = (envpool_state *)state;
  for (int32_t k = 0; k < s->num_reset_doubles; k++)
    for (int32_t i = 0; i < call->n; i++) {
      double *own = &s->reset_doubles[(size_t)call->ids[i] * s->num_reset_doubles + k];
      *own = ((const double *)call->values[first + k])[call->ids[i]];
      if (memcmp(own, &s->reset_defaults[k], sizeof *own) != 0)
        __atomic_store_n(&s->reset_doubles_vary, 1, __ATOMIC_RELAXED);
    }
}

/* ---- Parameters: envpool_with_params() adds these functions to a definition whose parameters are all of type double
 * and made by envpool_new_params(), and to which options of envpool_new_reset_doubles() may be added. ---- */

/* envpool_env.get_params */
static inline int envpool_get_doubles(void *state, const envpool_params *call) {
  const envpool_state *s = (const envpool_state *)state;
  for (int32_t k = 0; k < s->num_params; k++)
    for (int32_t i = 0; i < call->n; i++) ((double *)call->values[k])[call->ids[i]] = s->params[k][call->ids[i]];
  envpool_get_reset_doubles(state, call, s->num_params);
  return 0;
}

/* envpool_env.set_params */
static inline int envpool_set_doubles(void *state, const envpool_params *call) {
  envpool_state *s = (envpool_state *)state;
  for (int32_t k = 0; k < s->num_params; k++)
    for (int32_t i = 0; i < call->n; i++) s->params[k][call->ids[i]] = ((const double *)call->values[k])[call->ids[i]];
  for (int32_t i = 0; i < call->n; i++) envpool_compare_params(s, call->ids[i]);
  envpool_set_reset_doubles(state, call, s->num_params);
  return 0;
}

/* Adds parameters to a definition. */
static inline void envpool_with_params(envpool_env *env) {
  env->get_params = envpool_get_doubles;
  env->set_params = envpool_set_doubles;
  env->flags |= ENVPOOL_DOUBLE_PARAMS;
}

/* envpool_env.error_text for an environment that can only fail while it draws, with ENVPOOL_NO_MEMORY. */
static inline void envpool_no_memory_text(void *state, int32_t id, int32_t code, char *text, size_t size) {
  (void)state, (void)id, (void)code;
  snprintf(text, size, "there is not enough memory to draw its frame");
}

/* Returns an environment definition with all required functions: those given, envpool_free_state() and
 * envpool_seed_records(). Its tables and config are empty; set optional members afterwards. */
static inline envpool_env envpool_new_env(const char *name, int (*create)(const envpool_setup *setup, void **state),
                                          int (*step_many)(void *state, const envpool_batch *batch),
                                          void (*write_many)(void *state, const envpool_rows *rows)) {
  envpool_env env;
  envpool_env_init(&env, name);
  env.create = create;
  env.destroy = envpool_free_state;
  env.seed_many = envpool_seed_records;
  env.step_many = step_many;
  env.write_many = write_many;
  return env;
}

#ifdef __cplusplus
}
#endif
#endif /* ENVPOOL_SCAFFOLD_H */
