/* The environment ABI: everything the pool needs to know about one native environment.
 *
 * An environment definition is one `envpool_env`, handed to the pool in a PyCapsule named ENVPOOL_CAPSULE_NAME. It may
 * be a static const table (a plug-in in plain C), or be made per configuration (`envpool.native.define`), so that the
 * field table may depend on options such as an image size. The pool copies nothing out of it: the struct, the tables
 * and the config behind it must stay valid while the capsule lives, and the pool keeps the capsule.
 *
 * The pool takes care of seeds in the order of environment ids, auto-reset in every API style, elapsed steps, the time
 * limit, step types, discounts, batches and threads. An environment reports what happened in one step: reward,
 * terminated and, if it has a rule of its own, truncated.
 *
 * Rules for every function below: it runs on any thread, without the GIL, for several disjoint sets of env ids at once.
 * It must not call Python, allocate memory per step, print, exit, throw a C++ exception through the call, or use a
 * global generator. `state` is the result of create(). An env id is an index in [0, num_envs).
 *
 * envpool/scaffold.h has the functions that most environments share.
 */
#ifndef ENVPOOL_ENV_H
#define ENVPOOL_ENV_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

#define ENVPOOL_ABI_VERSION 1
#define ENVPOOL_CAPSULE_NAME "envpool.env"
#define ENVPOOL_MAX_DIMS 6
#define ENVPOOL_MAX_FIELDS 64 /* most fields of one env; also its most actions */
#define ENVPOOL_MAX_BATCH 512 /* most envs per call, so that scratch arrays fit on the stack */

/* Bits of envpool_env.flags. */
#define ENVPOOL_TRUNCATION_KEEPS_DISCOUNT 1u /* a truncated step has discount 1, as in dm_control; without it 0 */

typedef enum envpool_dtype {
  ENVPOOL_BOOL = 0,
  ENVPOOL_INT8 = 1,
  ENVPOOL_UINT8 = 2,
  ENVPOOL_INT32 = 3,
  ENVPOOL_INT64 = 4,
  ENVPOOL_FLOAT32 = 5,
  ENVPOOL_FLOAT64 = 6
} envpool_dtype;

/* One array of an observation, an info or an action. Spaces, dm specs, the layout of the batch blocks and the docs all
 * derive from this entry. */
typedef struct envpool_field {
  const char *name;                /* "obs", "obs:a.b", "info:lives", "action", "action.a"; '.' nests names       */
  int32_t dtype;                   /* an envpool_dtype                                                            */
  int32_t ndim;                    /* entries of `shape` in use                                                   */
  int64_t shape[ENVPOOL_MAX_DIMS]; /* shape of one env's row; a leading -1 is the player dimension (one player)   */
  const double *low;               /* lower bounds (num_low), NULL for none                                       */
  const double *high;              /* upper bounds (num_high), NULL for none                                      */
  int32_t num_low;                 /* 1: one bound for all elements; else the number of elements; 0 with NULL     */
  int32_t num_high;                /* like num_low                                                                */
} envpool_field;

/* The envs of one call. Arrays are indexed by position i in [0, n) unless their comment says "by env id". */
typedef struct envpool_batch {
  const int32_t *ids;         /* env ids (n), all different                                                       */
  int32_t n;                  /* number of envs, 1 to ENVPOOL_MAX_BATCH                                           */
  int32_t contiguous;         /* 1: ids[i] == ids[0] + i, so a loop over state arrays can be vectorised           */
  const uint8_t *reset;       /* nonzero: start an episode and ignore the action (n)                              */
  const int32_t *resets;      /* positions i with a nonzero reset[i], ascending (num_resets)                      */
  int32_t num_resets;         /* entries of `resets`                                                              */
  const void *const *actions; /* one array per action field, by env id; rows are packed. All zero before the first
                                 action, even if the bounds exclude zero: an env that resets ignores its action   */
  float *reward;              /* out (n); the pool zeroes it where reset                                          */
  uint8_t *terminated;        /* out (n), 0 or 1; the pool zeroes it where reset                                  */
  uint8_t *truncated;         /* out (n), zero on entry; set it for a rule of the env itself, not the time limit  */
  int32_t *errors;            /* out (n), zero on entry; a code for each env that failed, see step_many           */
  float *discount;            /* out (n), one on entry: discount of this step if the episode continues; if it ends,
                                 the pool sets the discount. NULL if the API style has no discounts               */
} envpool_batch;

/* Frames to draw, of envs that no thread is stepping. Arrays are indexed by position i in [0, n). */
typedef struct envpool_frames {
  const int32_t *ids; /* env ids (n), all different                                                               */
  int32_t n;          /* number of frames, at least 1                                                             */
  int32_t height;     /* of every frame, in pixels; one pool always asks for the same size                        */
  int32_t width;      /* of every frame, in pixels                                                                */
  int32_t camera;     /* number of a camera of the env; -1: its default camera                                    */
  const void *assets; /* the bytes that render_assets() of the Python side returned, e.g. images; NULL for None   */
  uint8_t *pixels;    /* out (n, height, width, 3): RGB, the top row first                                        */
  int32_t *errors;    /* out (n), zero on entry; a code for each env that could not be drawn, see error_text      */
} envpool_frames;

typedef struct envpool_env {
  uint32_t abi_version; /* ENVPOOL_ABI_VERSION                                                                    */
  uint32_t struct_size; /* sizeof(envpool_env): later versions append members, a pool reads those it knows        */
  const char *name;     /* CamelCase, e.g. "CartPole"                                                             */
  int32_t num_fields;   /* entries of `fields`                                                                    */
  int32_t num_actions;  /* entries of `actions`                                                                   */
  const envpool_field *fields;  /* observation and info arrays, in the order of `fields` in write_many            */
  const envpool_field *actions; /* action arrays, in the order of envpool_batch.actions                           */
  const void *config;           /* data of the env itself, handed to create(); may be NULL                        */

  /* Required. Allocates the state of `num_envs` envs; they are neither seeded nor reset. Returns NULL when there is
   * not enough memory. Called once, on the thread that makes the pool. The pool owns the result and frees it with
   * destroy(). */
  void *(*create)(const void *config, int32_t num_envs);

  /* Required. Frees the result of create(). Called once, when no other call is running. */
  void (*destroy)(void *state);

  /* Required. Seeds the generators of n (1 to ENVPOOL_MAX_BATCH) envs: seeds[i] (n) for env ids[i] (n). Called
   * for every env before its first step, and again when the user reseeds; the same batch then resets it. Expensive
   * construction of single envs belongs here too (on the first call for an id), since all threads call it at once. */
  void (*seed_many)(void *state, const int32_t *ids, int32_t n, const uint64_t *seeds);

  /* Required. Simulates one step of each env of the batch, or starts its next episode. Returns 0, or nonzero
   * if envs failed: then errors[i] is nonzero for each of them. The pool reports a failed env to the user, ends its
   * episode as truncated and fills its row with zeros; the next call for this env has `reset` set and must restore a
   * valid state. */
  int (*step_many)(void *state, const envpool_batch *batch);

  /* Required. Writes the fields of n envs as their last step left them: env ids[i] (n) into row row0 + i of
   * fields[f], where row r starts at fields[f] + r * (size of one row). Must not change the state. */
  void (*write_many)(void *state, const int32_t *ids, int32_t n, void *const *fields, int64_t row0);

  /* Optional. step_many and write_many in one pass, for envs so cheap that a second pass over the state is noticeable.
   * Must give the same bits as calling both. */
  int (*run_many)(void *state, const envpool_batch *batch, void *const *fields, int64_t row0);

  /* Optional. Writes the text for an error code of env `id`, in English, without a final full stop: at most size bytes
   * including the terminating NUL. Called with the GIL after the env failed and before its next step. */
  void (*error_text)(void *state, int32_t id, int32_t code, char *text, size_t size);

  uint32_t flags; /* ENVPOOL_... bits                                                                            */
  /* Optional. How many envs step_many simulates in about the time of one, in the lanes of vectors; 0 and 1 have no
   * effect. Unless it leaves a thread idle, the pool hands over at least `lanes` envs per call. */
  int32_t lanes;

  /* Optional. Draws envs as their last step or reset left them. Returns 0, or nonzero if envs could not be drawn:
   * then errors[i] is nonzero for each of them, or the result is an error code for all. Must not change the results of
   * later steps, nor draw from an env's generator. Several threads may call it at once for disjoint ids, also while
   * step_many runs for other ids. Resources needed only for drawing are created on the first call and freed by
   * destroy(). */
  int (*render_many)(void *state, const envpool_frames *frames);
  int32_t frame_height; /* default size of a frame, in pixels; required with render_many */
  int32_t frame_width;
} envpool_env;

/* Sets all members to zero or NULL, except for abi_version, struct_size and name. */
static inline void envpool_env_init(envpool_env *env, const char *name) {
  memset(env, 0, sizeof *env);
  env->abi_version = ENVPOOL_ABI_VERSION;
  env->struct_size = sizeof *env;
  env->name = name;
}

#ifdef __cplusplus
}
#endif
#endif /* ENVPOOL_ENV_H */
