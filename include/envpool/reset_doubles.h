/* Options of resets that are of type double, for states of scaffold.h: entries "reset:..." of the parameter table, which
 * hold for one reset. Between resets, every env has their defaults, so that snapshots need not contain them. */
#ifndef ENVPOOL_RESET_DOUBLES_H
#define ENVPOOL_RESET_DOUBLES_H

#include "envpool/scaffold.h"

#ifdef __cplusplus
extern "C" {
#endif

#define ENVPOOL_MAX_RESET_DOUBLES 4

/* The head of a state with such options. */
typedef struct envpool_reset_state {
  envpool_state head;
  double *values;         /* (num_envs, count), belongs to `head`                                                 */
  const double *defaults; /* (count)                                                                              */
  int32_t count;          /* number of options, at most ENVPOOL_MAX_RESET_DOUBLES                                  */
  int32_t has_values;     /* whether any env has ever had other values than the defaults                           */
} envpool_reset_state;

/* Allocates the options; `defaults` (count) must outlive the state. If there is not enough memory,
 * envpool_finish_state() will fail. Call it once. */
static inline void envpool_new_reset_doubles(void *state, const double *defaults, int32_t count) {
  envpool_reset_state *s = (envpool_reset_state *)state;
  s->defaults = defaults;
  s->count = count;
  s->values = (double *)envpool_new_array(state, (size_t)count * sizeof(double));
  if (s->values == NULL) return;
  s->head.item_sizes[s->head.num_arrays - 1] = 0; /* no part of a snapshot */
  for (int32_t i = 0; i < s->head.num_envs; i++)
    memcpy(s->values + (size_t)i * count, defaults, (size_t)count * sizeof(double));
}

/* Writes the options of the reset of env `id` to `values` (count), and gives the env the defaults again. */
static inline void envpool_take_reset_doubles(void *state, int32_t id, double *values) {
  envpool_reset_state *s = (envpool_reset_state *)state;
  const size_t size = (size_t)s->count * sizeof(double);
  double *own = s->values + (size_t)id * s->count;
  const int32_t has_values = __atomic_load_n(&s->has_values, __ATOMIC_RELAXED);
  memcpy(values, has_values ? own : s->defaults, size);
  if (has_values) memcpy(own, s->defaults, size);
}

/* The part of envpool_env.get_params for options whose entries in the table begin at `first`: their defaults. */
static inline void envpool_get_reset_doubles(void *state, const envpool_params *call, int32_t first) {
  const envpool_reset_state *s = (const envpool_reset_state *)state;
  for (int32_t k = 0; k < s->count; k++)
    for (int32_t i = 0; i < call->n; i++) ((double *)call->values[first + k])[call->ids[i]] = s->defaults[k];
}

/* The part of envpool_env.set_params for these options. The reset follows on the same thread. */
static inline void envpool_set_reset_doubles(void *state, const envpool_params *call, int32_t first) {
  envpool_reset_state *s = (envpool_reset_state *)state;
  for (int32_t i = 0; i < call->n; i++) {
    double *own = s->values + (size_t)call->ids[i] * s->count;
    for (int32_t k = 0; k < s->count; k++) own[k] = ((const double *)call->values[first + k])[call->ids[i]];
    if (memcmp(own, s->defaults, (size_t)s->count * sizeof(double)) != 0)
      __atomic_store_n(&s->has_values, 1, __ATOMIC_RELAXED);
  }
}

/* envpool_env.get_params for parameters of envpool_new_params() that are followed by options of resets. */
static inline int envpool_get_doubles_and_options(void *state, const envpool_params *call) {
  const int status = envpool_get_doubles(state, call);
  envpool_get_reset_doubles(state, call, ((const envpool_state *)state)->num_params);
  return status;
}

/* envpool_env.set_params for the same. */
static inline int envpool_set_doubles_and_options(void *state, const envpool_params *call) {
  envpool_set_reset_doubles(state, call, ((const envpool_state *)state)->num_params);
  return envpool_set_doubles(state, call);
}

/* Adds parameters and options of resets to a definition; instead of envpool_with_params(). */
static inline void envpool_with_params_and_options(envpool_env *env) {
  env->get_params = envpool_get_doubles_and_options;
  env->set_params = envpool_set_doubles_and_options;
  env->flags |= ENVPOOL_DOUBLE_PARAMS;
}

#ifdef __cplusplus
}
#endif
#endif /* ENVPOOL_RESET_DOUBLES_H */
