/* Environment definitions from functions that work on one environment: what an author writes is a struct, the record of
 * an environment, and a table of functions that reset, step, write, draw and check one record. This header makes the
 * loops over batches, the snapshots and the seeds.
 *
 * There are two ways to use it. envpool_new_records_env() returns a whole definition, which calls the functions of the
 * table; a call costs about a nanosecond. A definition whose steps are so cheap that this is noticeable replaces members
 * of it by functions of its own, whose bodies are one of the loops envpool_step_each(), ...: these are compiled into
 * their callers, together with the functions that are their arguments.
 *
 * A record contains the whole state of an environment and no pointers, begins with an ep_pcg64 unless the table has its
 * own `seed`, and is zero at first. Environments that are arrays of numbers use scaffold.h. */
#ifndef ENVPOOL_RECORDS_H
#define ENVPOOL_RECORDS_H

#include "envpool/scaffold.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Results of a step. All zero at first. */
typedef struct envpool_outcome {
  double reward;
  int32_t terminated;
  int32_t truncated; /* by a rule of the environment; the pool applies the time limit */
} envpool_outcome;

/* Starts an episode. Returns 0, or a positive error code; see step_many in env.h. */
typedef int (*envpool_reset_one)(void *record, const void *config);

/* Simulates a step. The action is that of env `id` in each of the action arrays. Returns 0, or a positive error code. */
typedef int (*envpool_step_one)(void *record, const void *config, const void *const *actions, int32_t id,
                                envpool_outcome *out);

/* Writes the results of the last step to row `row` of each field. */
typedef void (*envpool_write_one)(const void *record, const void *config, void *const *fields, int64_t row);

/* Draws frame `i` of `frames`, see envpool_pixels(). Returns 0, or a positive error code. */
typedef int (*envpool_draw_one)(const void *record, const void *config, const envpool_frames *frames, int32_t i);

/* The functions of an environment. It must live forever. */
typedef struct envpool_records {
  size_t size;                            /* bytes of a record                                                    */
  size_t (*size_for)(const void *config); /* NULL: `size`; otherwise the bytes of a record, which depend on options */
  envpool_reset_one reset;                /* NULL: the definition has its own step_many                           */
  envpool_step_one step;                  /* likewise                                                             */
  envpool_write_one write;                /* NULL: the definition has its own write_many                          */
  envpool_draw_one draw;                  /* NULL: there are no frames, or the definition has its own render_many */
  /* Whether a restored record is safe: every later call ends, and stays within its arrays. If `resets` is nonzero, the
   * next step starts an episode. NULL: every value is valid. */
  int (*is_valid)(const void *record, const void *config, int32_t resets);
  void (*seed)(void *record, uint64_t seed);  /* NULL: the record begins with an ep_pcg64                         */
  int (*has_generator)(const void *record);   /* with `seed`: whether a restored generator is safe to use          */
} envpool_records;

/* Precedes the config of a definition, see envpool_records_config() in records.pxd. */
typedef struct envpool_records_head {
  const envpool_records *table;
  uint64_t reserved; /* the config is aligned to 16 bytes, if the head is */
} envpool_records_head;

/* ---- one record of a state ---- */

static inline void *envpool_record(const envpool_state *s, int32_t id) {
  return (char *)s->records + (size_t)id * s->record_size;
}

/* The table of a state, whose `config` is that behind the head. */
static inline const envpool_records *envpool_table(const envpool_state *s) {
  return ((const envpool_records_head *)s->config - 1)->table;
}

/* The first byte of frame i: (height, width, 3). */
static inline uint8_t *envpool_pixels(const envpool_frames *f, int32_t i) {
  return f->pixels + (size_t)3 * f->height * f->width * i;
}

/* ---- loops, for arguments that are functions of the caller's module ---- */

#define ENVPOOL_LOOP static inline __attribute__((always_inline))

/* Steps or resets position i of a batch, whose record is given; returns its error code. */
ENVPOOL_LOOP int envpool_advance(void *record, const void *config, const envpool_batch *b, int32_t i,
                                 envpool_reset_one reset, envpool_step_one step) {
  envpool_outcome out = {0, 0, 0};
  int error;
  if (b->reset[i]) {
    error = reset(record, config);
  } else {
    error = step(record, config, b->actions, b->ids[i], &out);
    b->reward[i] = (float)out.reward;
    b->terminated[i] = (uint8_t)(out.terminated != 0);
    b->truncated[i] = (uint8_t)(out.truncated != 0);
  }
  if (error) b->errors[i] = error;
  return error;
}

/* The loops read the members of the state once, since the compiler must assume that stores to bytes change them. */

/* envpool_env.step_many */
ENVPOOL_LOOP int envpool_step_each(void *state, const envpool_batch *b, envpool_reset_one reset, envpool_step_one step) {
  const envpool_state *s = (const envpool_state *)state;
  char *records = (char *)s->records;
  const size_t size = s->record_size;
  const void *config = s->config;
  int status = 0;
  for (int32_t i = 0; i < b->n; i++)
    status |= envpool_advance(records + (size_t)b->ids[i] * size, config, b, i, reset, step);
  return status;
}

/* envpool_env.write_many */
ENVPOOL_LOOP void envpool_write_each(void *state, const envpool_rows *rows, envpool_write_one write) {
  const envpool_state *s = (const envpool_state *)state;
  const char *records = (const char *)s->records;
  const size_t size = s->record_size;
  const void *config = s->config;
  for (int32_t i = 0; i < rows->n; i++)
    write(records + (size_t)rows->ids[i] * size, config, rows->fields, rows->row0 + i);
}

/* envpool_env.run_many */
ENVPOOL_LOOP int envpool_run_each(void *state, const envpool_batch *b, const envpool_rows *rows, envpool_reset_one reset,
                                  envpool_step_one step, envpool_write_one write) {
  const envpool_state *s = (const envpool_state *)state;
  char *records = (char *)s->records;
  const size_t size = s->record_size;
  const void *config = s->config;
  int status = 0;
  for (int32_t i = 0; i < b->n; i++) {
    void *record = records + (size_t)b->ids[i] * size;
    status |= envpool_advance(record, config, b, i, reset, step);
    write(record, config, rows->fields, rows->row0 + i);
  }
  return status;
}

/* ---- functions of a definition; create() gets a config with a head ---- */

static inline int envpool_record_is_valid(const envpool_state *s, int32_t id, int32_t resets) {
  return envpool_table(s)->is_valid(envpool_record(s, id), s->config, resets);
}

static inline int envpool_create_records(const envpool_setup *setup, void **state) {
  const envpool_records_head *head = (const envpool_records_head *)setup->config;
  const envpool_records *table = head != NULL ? head->table : NULL;
  if (table == NULL) {
    snprintf(setup->text, (size_t)setup->text_size,
             "its config must be the result of envpool_records_config(), but begins with no table of functions");
    return 1;
  }
  const size_t size = table->size_for != NULL ? table->size_for(head + 1) : table->size;
  envpool_state *s = (envpool_state *)envpool_new_state(setup, sizeof(envpool_state), size);
  if (s != NULL) {
    s->config = head + 1;
    if (table->is_valid != NULL) s->is_valid = envpool_record_is_valid;
  }
  return envpool_finish_state(s, state);
}

static inline int envpool_seed_each(void *state, const envpool_seeds *seeds) {
  const envpool_state *s = (const envpool_state *)state;
  const envpool_records *table = envpool_table(s);
  if (table->seed == NULL) return envpool_seed_records(state, seeds);
  for (int32_t i = 0; i < seeds->n; i++) table->seed(envpool_record(s, seeds->ids[i]), seeds->seeds[i]);
  return 0;
}

static inline int envpool_set_each(void *state, const envpool_snapshots *snapshots) {
  const envpool_records *table = envpool_table((const envpool_state *)state);
  return envpool_restore_records(state, snapshots,
                                 table->has_generator != NULL ? table->has_generator : envpool_is_pcg64);
}

static inline int envpool_step_records(void *state, const envpool_batch *b) {
  const envpool_records *table = envpool_table((const envpool_state *)state);
  return envpool_step_each(state, b, table->reset, table->step);
}

static inline void envpool_write_records(void *state, const envpool_rows *rows) {
  envpool_write_each(state, rows, envpool_table((const envpool_state *)state)->write);
}

static inline int envpool_run_records(void *state, const envpool_batch *b, const envpool_rows *rows) {
  const envpool_records *table = envpool_table((const envpool_state *)state);
  return envpool_run_each(state, b, rows, table->reset, table->step, table->write);
}

static inline int envpool_draw_records(void *state, const envpool_frames *f) {
  const envpool_state *s = (const envpool_state *)state;
  const envpool_records *table = envpool_table(s);
  int status = 0;
  for (int32_t i = 0; i < f->n; i++) {
    const int error = table->draw(envpool_record(s, f->ids[i]), s->config, f, i);
    if (error) f->errors[i] = error;
    status |= error;
  }
  return status;
}

/* Returns the definition of a table: with snapshots, and with frames if the table has `draw`. Its field tables and its
 * config are empty; set optional members afterwards, such as the size of a frame. */
static inline envpool_env envpool_new_records_env(const char *name, const envpool_records *table) {
  envpool_env env = envpool_new_env(name, envpool_create_records, envpool_step_records, envpool_write_records);
  envpool_with_snapshots(&env);
  env.seed_many = envpool_seed_each;
  env.set_state = envpool_set_each;
  if (table->step != NULL && table->write != NULL) env.run_many = envpool_run_records;
  if (table->draw != NULL) env.render_many = envpool_draw_records;
  return env;
}

#ifdef __cplusplus
}
#endif
#endif /* ENVPOOL_RECORDS_H */
