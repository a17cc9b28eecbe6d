/* The environment ABI (include/envpool/env.h), implemented once for all Box2D environments.
 *
 * An environment supplies three things: a struct that begins with `WorldEnv`, a configuration that begins with
 * `WorldOptions`, and a `WorldFunctions` table whose functions each handle one env. `worlds_init` fills in its env
 * definition; creating, destroying, seeding, stepping and rendering many envs is done here.
 *
 * This code is a header because every extension contains its own copy of Box2D, with tables that are filled on first
 * use: a world must stay with the copy that created it.
 */
#ifndef ENVPOOL_BOX2D_WORLDS_H
#define ENVPOOL_BOX2D_WORLDS_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "envpool/box2d/parameters.h"
#include "envpool/box2d/scene.h"
#include "envpool/raster/smoothscale.h"
#include "envpool/records.h"
#include "envpool/rng.h"

enum {
  WORLDS_FRAME_HEIGHT = 400, /* pixels of upstream's frames, in all tasks                                           */
  WORLDS_FRAME_WIDTH = 600,
  WORLDS_TOO_LARGE = 1000, /* error code: a snapshot needs more than `state_size` bytes                              */
  WORLDS_BAD_RESET = 1001, /* error code: `reset` has failed                                                         */
  WORLDS_DIVERGED = 1002   /* error code: a body has left the range of numbers that make sense                       */
};

struct WorldFunctions;
struct Archive;

/* The struct of every env begins with this one. */
struct WorldEnv {
  ep_pcg64 rng;
  ep_pcg64 rng_before_reset; /* `rng` as it was before the last call of `reset`                                     */
  b2World *world; /* empty, without a listener and without gravity before the first call of `reset`                 */
  double *params; /* values of the parameters in force (params.count of WorldOptions)                               */
  bool has_diverged; /* whether the last step has failed with WORLDS_DIVERGED                                       */
};

/* The configuration of every environment begins with this struct. */
struct WorldOptions {
  const WorldFunctions *functions;
  WorldParams params;
};

/* The functions of an environment, each for one env. Every function may run on any thread, without the GIL. */
struct WorldFunctions {
  size_t env_size;        /* bytes of an env's struct, which is zeroed before the first call                        */
  const char *bad_action; /* error text where `set_action` returns an error code; may be NULL if it never does      */
  const char *bad_reset;  /* error text where `reset` fails; may be NULL if it never does                            */
  /* Optional: frees what `draw` allocated. */
  void (*release)(WorldEnv *env);
  /* Optional: draws random numbers that do not come from `WorldEnv::rng`, which is already seeded. */
  void (*seed)(WorldEnv *env, const WorldOptions *options, uint64_t seed);
  /* Sets the gravity, and creates the bodies of a new episode. A step without an action completes the reset:
   * `apply_forces`, the physics and `observe` follow. Returns 1; or 0 if the parameters do not allow an episode, and
   * then creates one with other parameters. */
  int (*reset)(WorldEnv *env, const WorldOptions *options);
  /* Stores the action of env `id`. Returns 0, or an error code and leaves the env unchanged. */
  int32_t (*set_action)(WorldEnv *env, const WorldOptions *options, const void *actions, int32_t id);
  /* Applies forces, impulses and motor speeds before the physics step. */
  void (*apply_forces)(WorldEnv *env, const WorldOptions *options);
  /* Reads the state after the physics step. `out` is NULL if the step belongs to a reset. */
  void (*observe)(WorldEnv *env, const WorldOptions *options, envpool_outcome *out);
  /* Writes the last step into row `row` of every field. */
  envpool_write_one write;
  /* Draws the env into an RGB canvas (canvas_height, canvas_width, 3). It may change state that only frames depend on.
   * Returns 0 if memory is exhausted, else 1. */
  int (*draw)(WorldEnv *env, const WorldOptions *options, uint8_t *canvas);
  int32_t canvas_height;
  int32_t canvas_width;
  /* Makes an env whose world is empty as it was before its first reset, apart from its generators. */
  void (*forget)(WorldEnv *env); /* see worlds_forget()                                                             */
  /* Saves or restores, see archive.h, what steps, frames and seeds change, apart from the generator and the world. It
   * must reject values that lead a later call astray. */
  void (*transfer)(WorldEnv *env, const WorldOptions *options, Archive *archive);
  /* Optional: saves or restores, like `transfer`, what a repetition of the last call of `reset` needs. */
  void (*transfer_before)(WorldEnv *env, const WorldOptions *options, Archive *archive);
  int64_t state_size; /* most bytes of a snapshot                                                                   */
};

/* Returns the bytes of an env's struct and of its parameters, which follow it. */
static inline size_t worlds_env_size(const WorldOptions *options) {
  return options->functions->env_size + options->params.count * sizeof(double);
}

/* The state is an envpool_state, whose records are the structs of the envs. */
static inline const WorldOptions *worlds_options(const envpool_state *s) {
  return static_cast<const WorldOptions *>(s->config);
}

static inline WorldEnv *worlds_env(const envpool_state *s, int32_t id) {
  return static_cast<WorldEnv *>(envpool_record(s, id));
}

/* Prepares an env whose memory (worlds_env_size()) is zero. Returns whether there was enough memory. */
static inline bool worlds_begin(WorldEnv *env, const WorldOptions *options) {
  env->params = reinterpret_cast<double *>(reinterpret_cast<char *>(env) + options->functions->env_size);
  memcpy(env->params, options->params.initial, options->params.count * sizeof(double));
  env->world = scene_create(0.0);
  return env->world != NULL;
}

static void worlds_destroy(void *state) {
  const envpool_state *s = static_cast<const envpool_state *>(state);
  const WorldFunctions *functions = worlds_options(s)->functions;
  for (int32_t i = 0; i < s->num_envs; i++) {
    if (functions->release != NULL) functions->release(worlds_env(s, i));
    delete worlds_env(s, i)->world;
  }
  envpool_free_state(state);
}

static int worlds_create(const envpool_setup *setup, void **state) {
  const WorldOptions *options = static_cast<const WorldOptions *>(setup->config);
  void *made = envpool_new_state(setup, sizeof(envpool_state), worlds_env_size(options));
  if (made == NULL) return ENVPOOL_NO_MEMORY;
  for (int32_t i = 0; i < setup->num_envs; i++)
    if (!worlds_begin(worlds_env(static_cast<envpool_state *>(made), i), options)) {
      worlds_destroy(made);
      return ENVPOOL_NO_MEMORY;
    }
  return envpool_finish_state(made, state);
}

static int worlds_seed(void *state, const envpool_seeds *seeds) {
  const envpool_state *s = static_cast<const envpool_state *>(state);
  const WorldFunctions *functions = worlds_options(s)->functions;
  for (int32_t i = 0; i < seeds->n; i++) {
    WorldEnv *env = worlds_env(s, seeds->ids[i]);
    ep_pcg64_seed(&env->rng, seeds->seeds[i]);
    if (functions->seed != NULL) functions->seed(env, worlds_options(s), seeds->seeds[i]);
  }
  return 0;
}

/* Makes an env as it was before its first reset, apart from its generators. */
static inline void worlds_forget(WorldEnv *env, const WorldOptions *options) {
  scene_restart(env->world, 0.0);
  options->functions->forget(env);
  env->has_diverged = false;
}

/* Steps positions `first` to first + n - 1 of a batch (n <= SCENE_BLOCK). Returns whether one of them failed. */
static inline int worlds_step_block(const envpool_state *s, const envpool_batch *b, int32_t first, int32_t n) {
  const WorldOptions *options = worlds_options(s);
  const WorldFunctions *functions = options->functions;
  b2World *worlds[SCENE_BLOCK];
  int32_t positions[SCENE_BLOCK];
  int32_t count = 0, failed = 0;
  memset(worlds, 0, sizeof(worlds));
  for (int32_t at = first; at < first + n; at++) {
    WorldEnv *env = worlds_env(s, b->ids[at]);
    if (b->reset[at]) {
      if (env->has_diverged) worlds_forget(env, options);
      env->rng_before_reset = env->rng;
      if (!functions->reset(env, options)) b->errors[at] = WORLDS_BAD_RESET;
    } else {
      b->errors[at] = functions->set_action(env, options, b->actions[0], b->ids[at]);
    }
    if (b->errors[at]) continue;
    functions->apply_forces(env, options);
    positions[count] = at;
    worlds[count] = env->world;
    count++;
  }
  scene_step(worlds, count);
  for (int32_t i = 0; i < count; i++) {
    const int32_t at = positions[i];
    WorldEnv *env = worlds_env(s, b->ids[at]);
    if (!scene_is_sound(env->world)) {
      env->has_diverged = true;
      b->errors[at] = WORLDS_DIVERGED;
      failed = 1;
      continue;
    }
    if (b->reset[at]) {
      functions->observe(env, options, NULL);
      continue;
    }
    envpool_outcome out = {0, 0, 0};
    functions->observe(env, options, &out);
    b->reward[at] = static_cast<float>(out.reward);
    b->terminated[at] = static_cast<uint8_t>(out.terminated);
    b->truncated[at] = static_cast<uint8_t>(out.truncated);
  }
  return failed || count < n;
}

static int worlds_step(void *state, const envpool_batch *b) {
  int failed = 0;
  for (int32_t first = 0; first < b->n; first += SCENE_BLOCK)
    failed |= worlds_step_block(static_cast<const envpool_state *>(state), b, first,
                                b->n - first < SCENE_BLOCK ? b->n - first : SCENE_BLOCK);
  return failed;
}

static void worlds_write(void *state, const envpool_rows *rows) {
  envpool_write_each(state, rows, worlds_options(static_cast<envpool_state *>(state))->functions->write);
}

/* Draws every env in upstream's size, and scales the result as pygame.transform.smoothscale does if another size is
 * requested. */
static int worlds_render(void *state, const envpool_frames *f) {
  const envpool_state *s = static_cast<const envpool_state *>(state);
  const WorldFunctions *functions = worlds_options(s)->functions;
  const size_t frame_bytes = static_cast<size_t>(3) * f->height * f->width;
  const bool is_scaled = f->height != functions->canvas_height || f->width != functions->canvas_width;
  uint8_t *scratch = NULL;
  if (is_scaled)
    scratch = static_cast<uint8_t *>(malloc(static_cast<size_t>(3) * functions->canvas_height * functions->canvas_width));
  int failed = 0;
  for (int32_t i = 0; i < f->n; i++) {
    const smooth_image frame = {f->pixels + frame_bytes * i, f->height, f->width, 3};
    const smooth_image canvas = {is_scaled ? scratch : frame.pixels, functions->canvas_height, functions->canvas_width, 3};
    if (canvas.pixels == NULL || !functions->draw(worlds_env(s, f->ids[i]), worlds_options(s), canvas.pixels)) {
      f->errors[i] = ENVPOOL_NO_MEMORY;
      failed = 1;
    } else if (is_scaled) {
      smooth_scale(&canvas, &frame);
    }
  }
  free(scratch);
  return failed;
}

static void worlds_error_text(void *state, int32_t, int32_t code, char *text, size_t size) {
  if (code == ENVPOOL_NO_MEMORY)
    snprintf(text, size, "out of memory while drawing a frame; use a smaller frame size or render fewer envs at once");
  else if (code == WORLDS_TOO_LARGE)
    snprintf(text, size, "its world has too many contacts, or forces that are too large");
  else if (code == WORLDS_DIVERGED)
    snprintf(text, size, "its simulation has diverged; choose parameters nearer to their defaults");
  else if (code == WORLDS_BAD_RESET)
    snprintf(text, size, "%s", worlds_options(static_cast<envpool_state *>(state))->functions->bad_reset);
  else
    snprintf(text, size, "%s", worlds_options(static_cast<envpool_state *>(state))->functions->bad_action);
}

static int worlds_get_params(void *state, const envpool_params *call) {
  const envpool_state *s = static_cast<const envpool_state *>(state);
  for (int32_t k = 0; k < worlds_options(s)->params.count; k++)
    for (int32_t i = 0; i < call->n; i++) {
      const double value = worlds_env(s, call->ids[i])->params[k];
      if (worlds_options(s)->params.is_integer[k])
        static_cast<int64_t *>(call->values[k])[call->ids[i]] = static_cast<int64_t>(value);
      else
        static_cast<double *>(call->values[k])[call->ids[i]] = value;
    }
  return 0;
}

static int worlds_set_params(void *state, const envpool_params *call) {
  const envpool_state *s = static_cast<const envpool_state *>(state);
  for (int32_t k = 0; k < worlds_options(s)->params.count; k++)
    for (int32_t i = 0; i < call->n; i++) {
      const int32_t id = call->ids[i];
      worlds_env(s, id)->params[k] = worlds_options(s)->params.is_integer[k]
                                         ? static_cast<double>(static_cast<const int64_t *>(call->values[k])[id])
                                         : static_cast<const double *>(call->values[k])[id];
    }
  return 0;
}

#include "envpool/box2d/world_snapshots.h"

/* Fills in an env definition, and prepares the Box2D copy of the extension. Call it once, while the extension is
 * imported. */
static inline void worlds_init(envpool_env *definition, const char *name) {
  envpool_env_init(definition, name);
  definition->create = worlds_create;
  definition->destroy = worlds_destroy;
  definition->seed_many = worlds_seed;
  definition->step_many = worlds_step;
  definition->write_many = worlds_write;
  definition->error_text = worlds_error_text;
  definition->lanes = SCENE_LANES;
  definition->render_many = worlds_render;
  definition->frame_height = WORLDS_FRAME_HEIGHT;
  definition->frame_width = WORLDS_FRAME_WIDTH;
  definition->state_size = worlds_state_size;
  definition->get_state = worlds_get_state;
  definition->set_state = worlds_set_state;
  definition->copy_state = worlds_copy_state;
  definition->state_version = 1; /* version 0 did not contain parameters */
  definition->get_params = worlds_get_params;
  definition->set_params = worlds_set_params;
  scene_warm_up();
}

#endif /* ENVPOOL_BOX2D_WORLDS_H */
