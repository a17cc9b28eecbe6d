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

/* The head of a state. All memory belongs to it; envpool_free_state() frees it. */
typedef struct envpool_state {
  const void *config;  /* the config of the environment definition, which outlives the state                      */
  void *records;       /* one record per environment (num_envs), zeroed at first                                  */
  size_t record_size;  /* bytes of a record                                                                       */
  int32_t num_envs;    /* number of environments                                                                  */
  int32_t num_arrays;  /* entries of `arrays` in use                                                              */
  int32_t has_failed;  /* 1: an array could not be allocated, see envpool_finish_state()                          */
  void *arrays[ENVPOOL_MAX_ARRAYS]; /* made by envpool_new_array(), each (num_envs)                               */
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
  else
    s->arrays[s->num_arrays++] = array;
  return array;
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
