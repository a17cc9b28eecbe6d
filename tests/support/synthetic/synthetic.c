/* A native environment outside the package, in plain C: it tests the ABI, and exposes every mistake of a scheduler.
 *
 * What an env reports, and what its frames show, encodes its identity and history (env id, episode, step, last action,
 * number of calls), so that a lost, doubled, misplaced or overwritten row is noticed. Some actions have a meaning, see
 * below. Resets, seedings and rows can wait at a gate as well. A step takes a configurable time.
 *
 * The module hands out two env definitions: `definition(fused)`, a template whose field table and config the Python side
 * fills in, and `static_definition()`, a const table as a plug-in without options would have it. */
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "envpool/env.h"

/* Actions with a meaning; all other actions are only recorded. */
enum { ACTION_NO_FRAME = 94, ACTION_TRUNCATE = 95, ACTION_TERMINATE = 96, ACTION_FAIL = 97, ACTION_WAIT = 98, NUM_ACTIONS = 100 };
enum { FIXED = 0, EXPONENTIAL = 1, HEAVY_TAILED = 2, STRAGGLERS = 3 };
enum { REPORT_BOTH = 0, REPORT_STATUS = 1, REPORT_ERRORS = 2 };
enum { FLAT = 0, RICH = 1 };
enum { WAITS_IN_STEP = 0, WAITS_IN_RESET = 1, WAITS_IN_SEED = 2, WAITS_IN_WRITE = 3 };
enum { SEEDS = 0, ODD_ENVS = 1, ALL_ENVS = 2, SILENT_STATUS = 3 }; /* SILENT_STATUS: odd envs, but 0 is returned */
enum { FAILED_STEP = 1, FAILED_RESET = 2, STEPPED_TWICE = 3, NOT_RESET = 4, NO_FRAME = 5, NOT_SEEDED = 6 };
enum { CODE = 6 }; /* numbers that describe an env's history: id, episode, step, action, calls, seed */

typedef struct config { /* packed by synthetic.py, in this order */
  double cost_ns;         /* mean cost of a step                                                     */
  int64_t items;          /* elements of "obs" (FLAT, at least CODE) or "obs:b.d" (RICH)             */
  int32_t distribution;   /* FIXED, EXPONENTIAL, HEAVY_TAILED: 2 % of steps 51 times as dear, or     */
                          /* STRAGGLERS: 0.2 % of steps sleep for 20 ms                             */
  int32_t sleeps;         /* 1: a step sleeps that long, 0: it computes                              */
  int32_t layout;         /* FLAT or RICH                                                            */
  int32_t episode_length; /* terminated at this step; 0: never                                       */
  int32_t truncate_after; /* truncated by its own rule at this step; 0: never                        */
  int32_t fail_reset;     /* starting the episode with this number fails the first time; -1: none    */
  int32_t fail_create;    /* status of create(): 0, ENVPOOL_NO_MEMORY or another one                 */
  int32_t fail_seed;      /* SEEDS and so on: which envs cannot be seeded the first time             */
  int32_t counted;        /* 1: steps count in steps()                                               */
  int32_t frames_wait;    /* 1: a frame waits at the gate                                             */
  int32_t frame_ns;       /* how long a frame sleeps                                                 */
  int32_t report;         /* what tells of failures: the status of step_many, the error codes or both */
  int32_t waits_in;       /* WAITS_IN_STEP: ACTION_WAIT waits at the gate; else env 0 does, in a reset, its seeding or its row */
  int32_t fails_again;    /* 1: resets and seedings that fail do so every time, not only the first time */
} config;

typedef struct env {
  uint64_t seed, draws, costs; /* draws, costs: states of the two generators */
  int64_t calls;               /* steps and resets since create()            */
  int32_t episode;             /* episodes started since seeding             */
  int32_t step;
  int32_t action;
  int32_t in_use;    /* 1 while a thread is in step_many for it  */
  int32_t needs_reset;
  int32_t has_failed_reset;
  int32_t has_failed_seed;
  int32_t is_seeded;
  float push[2];
  int8_t mode[3];
  int64_t count;
} __attribute__((aligned(64))) env;

typedef struct envs {
  config c;
  env *env; /* (num_envs) */
} envs;

/* Read and written by Python, one value for all pools. */
static int32_t gate_is_closed, at_gate, violations;
static int64_t steps, destroyed;
static double rounds_per_ns;

static uint64_t next(uint64_t *s) { /* splitmix64 */
  uint64_t z = (*s += 0x9e3779b97f4a7c15u);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

static double uniform(uint64_t *s) { return (double)(next(s) >> 11) * 0x1p-53; }

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static void compute(int64_t rounds) {
  uint64_t x = (uint64_t)rounds | 1;
  for (int64_t i = 0; i < rounds; i++) {
    x *= 0x9e3779b97f4a7c15u;
    __asm__ volatile("" : "+r"(x));
  }
}

static void calibrate(void) {
  for (int i = 0; i < 50; i++) { /* the fastest run is the one nothing interrupted */
    double start = now();
    compute(20000);
    double rate = 20000 / (now() - start);
    if (rate > rounds_per_ns) rounds_per_ns = rate;
  }
}

static void nap(double ns) {
  struct timespec t = {(time_t)(ns / 1e9), (long)fmod(ns, 1e9)};
  nanosleep(&t, NULL);
}

static void spend(const config *c, env *e) {
  double ns = c->cost_ns, u = uniform(&e->costs);
  if (c->distribution == EXPONENTIAL) ns *= -log1p(-u);
  if (c->distribution == HEAVY_TAILED) ns *= u < 0.02 ? 25.5 : 0.5; /* the mean stays */
  int is_straggler = c->distribution == STRAGGLERS && u < 0.002;
  if (is_straggler) ns = 20e6;
  if (ns <= 0) return;
  if (c->sleeps || is_straggler) nap(ns);
  else compute((int64_t)(ns * rounds_per_ns));
}

static void wait_at_gate(void) {
  __atomic_add_fetch(&at_gate, 1, __ATOMIC_SEQ_CST);
  while (__atomic_load_n(&gate_is_closed, __ATOMIC_SEQ_CST)) nap(200e3);
  __atomic_sub_fetch(&at_gate, 1, __ATOMIC_SEQ_CST);
}

static void violate(void) { __atomic_add_fetch(&violations, 1, __ATOMIC_SEQ_CST); }

/* ---- the functions of the ABI ---------------------------------------------------------------------------------------- */

static int create(const envpool_setup *setup, void **state) {
  const config *c = setup->config;
  int32_t num_envs = setup->num_envs;
  envs *s = calloc(1, sizeof *s);
  if (!s) return ENVPOOL_NO_MEMORY;
  if (c->fail_create) {
    snprintf(setup->text, setup->text_size, "asked for %d envs by version %u", num_envs, setup->abi_version);
    free(s);
    return c->fail_create;
  }
  s->c = *c;
  s->env = aligned_alloc(64, (size_t)num_envs * sizeof(env));
  if (!s->env) {
    free(s);
    return ENVPOOL_NO_MEMORY;
  }
  memset(s->env, 0, (size_t)num_envs * sizeof(env));
  for (int32_t i = 0; i < num_envs; i++) s->env[i].needs_reset = 1;
  *state = s;
  return 0;
}

static void destroy(void *state) {
  envs *s = state;
  free(s->env);
  free(s);
  __atomic_add_fetch(&destroyed, 1, __ATOMIC_SEQ_CST);
}

/* Whether an env cannot be seeded this time; the next time it can, unless it fails again. */
static int32_t fails_to_seed(const config *c, env *e, int32_t id) {
  if (c->fail_seed == SEEDS || (c->fail_seed != ALL_ENVS && id % 2 == 0)) return 0;
  if (e->has_failed_seed && !c->fails_again) return 0;
  return e->has_failed_seed = 1;
}

static int seed_many(void *state, const envpool_seeds *b) {
  envs *s = state;
  int failed = 0;
  for (int32_t i = 0; i < b->n; i++) {
    env *e = &s->env[b->ids[i]];
    if (s->c.waits_in == WAITS_IN_SEED && b->ids[i] == 0) wait_at_gate();
    e->is_seeded = !fails_to_seed(&s->c, e, b->ids[i]);
    if (!e->is_seeded) {
      if (s->c.fail_seed != ALL_ENVS) b->errors[i] = NOT_SEEDED;
      if (s->c.fail_seed != SILENT_STATUS) failed = NOT_SEEDED;
      continue;
    }
    e->seed = e->draws = b->seeds[i];
    e->costs = ~b->seeds[i];
    e->episode = 0;
    e->needs_reset = 1;
  }
  return failed;
}

static int32_t start_episode(const config *c, env *e, int32_t id) {
  if (c->waits_in == WAITS_IN_RESET && id == 0) wait_at_gate();
  e->needs_reset = 0;
  e->step = 0;
  e->action = -1;
  memset(e->push, 0, sizeof e->push);
  memset(e->mode, 0, sizeof e->mode);
  e->count = 0;
  if (e->episode == c->fail_reset && (!e->has_failed_reset || c->fails_again)) {
    e->has_failed_reset = 1;
    e->needs_reset = 1;
    return FAILED_RESET;
  }
  e->episode++;
  next(&e->draws);
  return 0;
}

static int32_t step(const config *c, env *e, const envpool_batch *b, int32_t i) {
  int32_t id = b->ids[i];
  if (e->needs_reset) return NOT_RESET;
  e->step++;
  e->action = ((const int32_t *)b->actions[0])[id];
  if (c->layout == RICH) {
    memcpy(e->push, (const float *)b->actions[1] + 2 * id, sizeof e->push);
    memcpy(e->mode, (const int8_t *)b->actions[2] + 3 * id, sizeof e->mode);
    e->count = ((const int64_t *)b->actions[3])[id];
  }
  next(&e->draws);
  if (e->action == ACTION_WAIT && c->waits_in == WAITS_IN_STEP) wait_at_gate();
  if (e->action == ACTION_FAIL) {
    e->needs_reset = 1;
    return FAILED_STEP;
  }
  b->reward[i] = (float)e->step + (float)(id % 1024) / 1024;
  b->terminated[i] = e->action == ACTION_TERMINATE || (c->episode_length && e->step >= c->episode_length);
  b->truncated[i] = e->action == ACTION_TRUNCATE || (c->truncate_after && e->step >= c->truncate_after);
  e->needs_reset = b->terminated[i] || b->truncated[i];
  return 0;
}

static int step_many(void *state, const envpool_batch *b) {
  envs *s = state;
  int failed = 0;
  for (int32_t i = 0; i < b->n; i++) {
    env *e = &s->env[b->ids[i]];
    if (__atomic_exchange_n(&e->in_use, 1, __ATOMIC_RELAXED)) {
      violate();
      b->errors[i] = STEPPED_TWICE;
      failed = 1;
      continue;
    }
    if (!e->is_seeded) violate();
    e->calls++;
    b->errors[i] = b->reset[i] ? start_episode(&s->c, e, b->ids[i]) : step(&s->c, e, b, i);
    failed |= b->errors[i];
    if (s->c.report == REPORT_STATUS) b->errors[i] = 0;
    spend(&s->c, e);
    __atomic_store_n(&e->in_use, 0, __ATOMIC_RELAXED);
  }
  if (s->c.counted) __atomic_add_fetch(&steps, b->n, __ATOMIC_RELAXED);
  return s->c.report == REPORT_ERRORS ? 0 : failed;
}

static void write_flat(const config *c, const env *e, int32_t id, void *const *fields, int64_t row) {
  int64_t *obs = (int64_t *)fields[0] + row * c->items;
  int64_t code[CODE] = {id, e->episode, e->step, e->action, e->calls, (int64_t)e->seed};
  memcpy(obs, code, sizeof code);
  for (int64_t k = CODE; k < c->items; k++) obs[k] = e->calls * 1000 + id + k;
  ((int64_t *)fields[1])[row] = (int64_t)e->draws;
}

static void write_rich(const config *c, const env *e, int32_t id, void *const *fields, int64_t row) {
  int64_t code[CODE] = {id, e->episode, e->step, e->action, e->calls, (int64_t)e->seed};
  memcpy((int64_t *)fields[0] + row * CODE, code, sizeof code);
  for (int k = 0; k < CODE; k++) ((float *)fields[1])[row * CODE + k] = (float)code[k];
  for (int64_t k = 0; k < c->items; k++) ((uint8_t *)fields[2])[row * c->items + k] = (uint8_t)(e->calls + id + k);
  ((uint8_t *)fields[3])[row] = (uint8_t)(e->step & 1);
  ((int32_t *)fields[4])[row] = (int32_t)e->calls;
  ((double *)fields[5])[2 * row] = (double)(e->draws >> 11) * 0x1p-53;
  ((double *)fields[5])[2 * row + 1] = -(double)e->step;
  memcpy((float *)fields[6] + 2 * row, e->push, sizeof e->push);
  memcpy((int8_t *)fields[7] + 3 * row, e->mode, sizeof e->mode);
  ((int64_t *)fields[8])[row] = e->count;
}

static void write_many(void *state, const envpool_rows *rows) {
  envs *s = state;
  for (int32_t i = 0; i < rows->n; i++) {
    const env *e = &s->env[rows->ids[i]];
    if (__atomic_load_n(&e->in_use, __ATOMIC_RELAXED) || !e->is_seeded) violate();
    if (s->c.waits_in == WAITS_IN_WRITE && rows->ids[i] == 0) wait_at_gate();
    if (s->c.layout == RICH) write_rich(&s->c, e, rows->ids[i], rows->fields, rows->row0 + i);
    else write_flat(&s->c, e, rows->ids[i], rows->fields, rows->row0 + i);
  }
}

/* A frame starts with the env's code, the camera, and the first four bytes of the assets; the rest counts up. */
static int32_t draw(const config *c, env *e, const envpool_frames *f, int32_t i) {
  int64_t code[CODE + 2] = {f->ids[i], e->episode, e->step, e->action, e->calls, (int64_t)e->seed, f->camera};
  uint8_t *pixels = f->pixels + (int64_t)i * f->height * f->width * 3;
  size_t bytes = (size_t)f->height * f->width * 3;
  if (f->assets) memcpy(&code[CODE + 1], f->assets, 4);
  if (__atomic_exchange_n(&e->in_use, 1, __ATOMIC_RELAXED) || e->calls == 0) violate();
  if (c->frame_ns) nap(c->frame_ns);
  if (c->frames_wait) wait_at_gate();
  for (size_t k = 0; k < bytes; k++) pixels[k] = (uint8_t)(k + e->step);
  memcpy(pixels, code, sizeof code < bytes ? sizeof code : bytes);
  __atomic_store_n(&e->in_use, 0, __ATOMIC_RELAXED);
  return e->action == ACTION_NO_FRAME ? NO_FRAME : 0;
}

static int render_many(void *state, const envpool_frames *f) {
  envs *s = state;
  int failed = 0;
  for (int32_t i = 0; i < f->n; i++) failed |= f->errors[i] = draw(&s->c, &s->env[f->ids[i]], f, i);
  return failed;
}

static int run_many(void *state, const envpool_batch *b, const envpool_rows *rows) {
  int failed = step_many(state, b);
  write_many(state, rows);
  return failed;
}

static void error_text(void *state, int32_t id, int32_t code, char *text, size_t size) {
  static const char *const why[] = {"", "was asked to fail", "failed to start an episode", "was stepped by two threads at once",
                                    "was stepped without a reset", "has nothing to show", "could not be seeded"};
  const env *e = &((envs *)state)->env[id];
  snprintf(text, size, "%s at step %d of episode %d (env %d)", why[code], e->step, e->episode, id);
}

#define FUNCTIONS                                                                                                          \
  .abi_version = ENVPOOL_ABI_VERSION, .struct_size = sizeof(envpool_env), .field_size = sizeof(envpool_field),             \
  .create = create, .destroy = destroy,                                                                                    \
  .seed_many = seed_many, .step_many = step_many, .write_many = write_many, .error_text = error_text,                  \
  .render_many = render_many, .frame_height = 8, .frame_width = 12

static const envpool_env SEPARATE = {FUNCTIONS, .name = "Synthetic"};
static const envpool_env FUSED = {FUNCTIONS, .name = "Synthetic", .run_many = run_many};

static const double ZERO = 0, LAST_ACTION = NUM_ACTIONS - 1;
static const envpool_field STATIC_FIELDS[] = {
    {.name = "obs", .dtype = ENVPOOL_INT64, .ndim = 1, .shape = {CODE}},
    {.name = "info:draws", .dtype = ENVPOOL_INT64},
};
static const envpool_field STATIC_ACTIONS[] = {
    {.name = "action", .dtype = ENVPOOL_INT32, .ndim = 1, .shape = {-1}, .low = &ZERO, .high = &LAST_ACTION, .num_low = 1, .num_high = 1},
};
static const config STATIC_CONFIG = {.items = CODE, .layout = FLAT, .episode_length = 5, .fail_reset = -1};
static const envpool_env STATIC = {
    FUNCTIONS, .name = "StaticSynthetic", .num_fields = 2, .num_actions = 1,
    .fields = STATIC_FIELDS, .actions = STATIC_ACTIONS, .config = &STATIC_CONFIG,
};

/* ---- the module ------------------------------------------------------------------------------------------------------ */

static PyObject *definition(PyObject *self, PyObject *fused) {
  int is_fused = PyObject_IsTrue(fused);
  if (is_fused < 0) return NULL;
  return PyCapsule_New((void *)(is_fused ? &FUSED : &SEPARATE), ENVPOOL_CAPSULE_NAME, NULL);
}

static PyObject *static_definition(PyObject *self, PyObject *unused) {
  return PyCapsule_New((void *)&STATIC, ENVPOOL_CAPSULE_NAME, NULL);
}

extern const envpool_env crowd_definition, silent_definition;

static PyObject *new_crowd(PyObject *self, PyObject *unused) {
  return PyCapsule_New((void *)&crowd_definition, ENVPOOL_CAPSULE_NAME, NULL);
}

extern const envpool_env turns_definition;

static PyObject *new_turns(PyObject *self, PyObject *unused) {
  return PyCapsule_New((void *)&turns_definition, ENVPOOL_CAPSULE_NAME, NULL);
}

static PyObject *new_silent(PyObject *self, PyObject *unused) {
  return PyCapsule_New((void *)&silent_definition, ENVPOOL_CAPSULE_NAME, NULL);
}

static PyObject *close_gate(PyObject *self, PyObject *unused) {
  __atomic_store_n(&gate_is_closed, 1, __ATOMIC_SEQ_CST);
  Py_RETURN_NONE;
}

static PyObject *open_gate(PyObject *self, PyObject *unused) {
  __atomic_store_n(&gate_is_closed, 0, __ATOMIC_SEQ_CST);
  Py_RETURN_NONE;
}

static PyObject *num_at_gate(PyObject *self, PyObject *unused) {
  return PyLong_FromLong(__atomic_load_n(&at_gate, __ATOMIC_SEQ_CST));
}

static PyObject *num_steps(PyObject *self, PyObject *unused) {
  return PyLong_FromLongLong(__atomic_load_n(&steps, __ATOMIC_SEQ_CST));
}

static PyObject *num_destroyed(PyObject *self, PyObject *unused) {
  return PyLong_FromLongLong(__atomic_load_n(&destroyed, __ATOMIC_SEQ_CST));
}

static PyObject *num_violations(PyObject *self, PyObject *unused) {
  return PyLong_FromLong(__atomic_load_n(&violations, __ATOMIC_SEQ_CST));
}

static PyMethodDef methods[] = {
    {"definition", definition, METH_O, "definition(fused)\n\nThe template: pass it to envpool.native.define with fields, actions and config."},
    {"static_definition", static_definition, METH_NOARGS, "The env definition without options: flat, episodes of five steps, no cost."},
    {"crowd_definition", new_crowd, METH_NOARGS, "The template of the env with players, see crowd.c."},
    {"turns_definition", new_turns, METH_NOARGS, "The template of the game whose players move in turn, see turns.c."},
    {"silent_definition", new_silent, METH_NOARGS, "The template of an env with players that writes nothing, see crowd.c."},
    {"close_gate", close_gate, METH_NOARGS, "Makes envs wait, as the option `waits_in` says."},
    {"open_gate", open_gate, METH_NOARGS, "Lets them go on."},
    {"num_at_gate", num_at_gate, METH_NOARGS, "How many wait now."},
    {"num_steps", num_steps, METH_NOARGS, "Steps and resets simulated by pools with the option `counted`."},
    {"num_destroyed", num_destroyed, METH_NOARGS, "How often the envs of a pool were freed."},
    {"num_violations", num_violations, METH_NOARGS, "How often a pool touched an env from two threads at once."},
    {0},
};

static struct PyModuleDef module = {PyModuleDef_HEAD_INIT, .m_name = "_envpool_synthetic", .m_size = -1, .m_methods = methods};

PyMODINIT_FUNC PyInit__envpool_synthetic(void) {
  calibrate();
  return PyModule_Create(&module);
}
