/* Saved states of Box2D environments: the four functions of the environment ABI. Included by worlds.h.
 *
 * A snapshot consists of the generator, the generator as it was before the episode's reset, the parameters, what steps
 * have changed in the world (src/world_image.h), and what the environment keeps itself (`WorldFunctions::transfer`).
 * Restoring begins with an empty world and repeats the reset: the same generator and the same parameters create the same
 * terrain and the same robot. */
#ifndef ENVPOOL_BOX2D_WORLD_SNAPSHOTS_H
#define ENVPOOL_BOX2D_WORLD_SNAPSHOTS_H

#include "envpool/box2d/worlds.h"
#include "world_image.h"

static inline void worlds_transfer_rng(Archive *a, ep_pcg64 *rng) {
  a->bytes(rng, sizeof(*rng));
  a->require(ep_pcg64_is_valid(rng));
}

/* Writes the snapshot of an env. Returns its size, or -1 if it does not fit into `size` bytes. */
static inline int64_t worlds_save(WorldEnv *env, const WorldOptions *options, char *bytes, int64_t size) {
  Archive a = {bytes, bytes + size, false, true};
  worlds_transfer_rng(&a, &env->rng);
  worlds_transfer_rng(&a, &env->rng_before_reset);
  a.bytes(env->params, options->params.count * sizeof(double));
  if (options->functions->transfer_before != NULL) options->functions->transfer_before(env, options, &a);
  WorldImage::transfer(env->world, &a);
  options->functions->transfer(env, options, &a);
  return a.is_valid ? a.at - bytes : -1;
}

/* Restores an env, whatever it was before. Returns whether the snapshot is valid; otherwise the env may only be
 * restored again, released, or reset after worlds_forget(). */
static inline bool worlds_load(WorldEnv *env, const WorldOptions *options, const char *bytes, int64_t size) {
  char *start = const_cast<char *>(bytes);
  Archive a = {start, start + size, true, true};
  ep_pcg64 rng, before;
  double params[WORLD_MAX_PARAMS];
  worlds_transfer_rng(&a, &rng);
  worlds_transfer_rng(&a, &before);
  a.bytes(params, options->params.count * sizeof(double));
  a.require(params_are_allowed(&options->params, params));
  if (!a.is_valid) return false;
  worlds_forget(env, options);
  memcpy(env->params, params, options->params.count * sizeof(double));
  env->rng = env->rng_before_reset = before;
  if (options->functions->transfer_before != NULL) options->functions->transfer_before(env, options, &a);
  if (!a.is_valid) return false;
  a.require(options->functions->reset(env, options));
  env->rng = rng;
  WorldImage::transfer(env->world, &a);
  if (a.is_valid) options->functions->transfer(env, options, &a);
  return a.is_valid && a.at == a.end;
}

static inline void worlds_free_env(WorldEnv *env, const WorldOptions *options) {
  if (env == NULL) return;
  if (options->functions->release != NULL) options->functions->release(env);
  delete env->world;
  free(env);
}

/* Returns an env in which snapshots can be checked, or NULL if memory is exhausted. */
static inline WorldEnv *worlds_new_env(const WorldOptions *options) {
  WorldEnv *env = static_cast<WorldEnv *>(calloc(1, worlds_env_size(options)));
  if (env == NULL) return NULL;
  if (worlds_begin(env, options)) return env;
  free(env);
  return NULL;
}

static int64_t worlds_state_size(void *state) { return worlds_options(static_cast<envpool_state *>(state))->functions->state_size; }

static int worlds_get_state(void *state, const envpool_snapshots *snapshots) {
  const envpool_state *s = static_cast<const envpool_state *>(state);
  const int64_t size = worlds_state_size(state);
  int status = 0;
  for (int32_t i = 0; i < snapshots->n; i++) {
    WorldEnv *env = worlds_env(s, snapshots->ids[i]);
    snapshots->sizes[i] = worlds_save(env, worlds_options(s), static_cast<char *>(snapshots->bytes[i]), size);
    if (snapshots->sizes[i] < 0) {
      snapshots->sizes[i] = 0;
      status = snapshots->errors[i] = WORLDS_TOO_LARGE;
    }
  }
  return status;
}

static int worlds_set_state(void *state, const envpool_snapshots *snapshots) {
  const envpool_state *s = static_cast<const envpool_state *>(state);
  WorldEnv *scratch = snapshots->only_checks ? worlds_new_env(worlds_options(s)) : NULL;
  if (snapshots->only_checks && scratch == NULL) return ENVPOOL_NO_MEMORY;
  int status = 0;
  for (int32_t i = 0; i < snapshots->n; i++) {
    WorldEnv *env = scratch ? scratch : worlds_env(s, snapshots->ids[i]);
    if (worlds_load(env, worlds_options(s), static_cast<const char *>(snapshots->bytes[i]), snapshots->sizes[i])) continue;
    worlds_forget(env, worlds_options(s));
    status = snapshots->errors[i] = scratch ? ENVPOOL_BAD_SNAPSHOT : ENVPOOL_NO_MEMORY; /* it has been checked */
  }
  worlds_free_env(scratch, worlds_options(s));
  return status;
}

static int worlds_copy_state(void *state, const envpool_copies *copies) {
  const envpool_state *s = static_cast<const envpool_state *>(state);
  const int64_t limit = worlds_state_size(state);
  char *bytes = static_cast<char *>(malloc(limit));
  if (bytes == NULL) return ENVPOOL_NO_MEMORY;
  int status = 0;
  for (int32_t i = 0; i < copies->n; i++) {
    WorldEnv *to = worlds_env(s, copies->to[i]);
    const int64_t size = worlds_save(worlds_env(s, copies->from[i]), worlds_options(s), bytes, limit);
    if (size < 0) {
      status = copies->errors[i] = WORLDS_TOO_LARGE;
    } else if (!worlds_load(to, worlds_options(s), bytes, size)) {
      worlds_forget(to, worlds_options(s));
      status = copies->errors[i] = ENVPOOL_NO_MEMORY;
    }
  }
  free(bytes);
  return status;
}

#endif /* ENVPOOL_BOX2D_WORLD_SNAPSHOTS_H */
