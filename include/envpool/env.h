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
 *
 * ---- Players ---------------------------------------------------------------------------------------------------------
 *
 * An env with the flag ENVPOOL_PLAYERS has places for max_num_players players, who may come and go. Its arrays whose
 * shape begins with -1 have one row per player: a batch has max_num_players rows for each env, in the order of the
 * players. An env writes the rows of the players that are present; the rows of the others are zero. Action arrays
 * whose shape begins with -1 have max_num_players rows per env, too. All other arrays have one row per env.
 *
 * step_many reports who is present, and the reward and the end of each player, in arrays by env id; the pool sums the
 * rewards, and when the episode of the env ends, it ends for every player. A player whose own episode ends has a row for
 * this step and, until it joins again, none for the next ones.
 *
 * With ENVPOOL_TURNS, one player moves in each step. No action array begins with -1: an action is the move of the player
 * whose turn it is. The field "info:current_player", int32 without dimensions, says whose turn is next; -1, nobody's. The
 * optional field "info:legal_action_mask", bool (A,) or (-1, A), says which of the values 0 to A - 1 of the only action
 * are legal for this player. The pool refuses other moves, unless the user wants the env to get them.
 *
 * ---- How the ABI grows ----------------------------------------------------------------------------------------------
 *
 * A plug-in that was built against any header of version 2 runs on any pool of version 2, older or newer. Therefore:
 *
 * - Members are only appended, at the end of a struct; none is ever moved, removed or given another meaning, and no
 *   function changes its signature. A function whose arguments must grow gets them in a struct.
 * - Every struct says how large its author's version is. The plug-in sets envpool_env.struct_size and field_size, and
 *   the pool reads a missing member as zero: zero and NULL must mean "as before". The pool sets struct_size of the
 *   structs that it passes, and a plug-in asks ENVPOOL_HAS() before it touches an appended member.
 * - No struct has padding, so that every appended member raises sizeof. Append 4-byte members in pairs.
 * - Dtypes are only appended as well. A pool refuses a definition that has a field of a dtype which it does not know.
 * - A member that a pool may ignore needs nothing else. If a pool that does not know a member would give wrong results,
 *   the plug-in sets a new bit of `flags` and the same bit of `required_flags`: an older pool refuses the definition.
 * - ENVPOOL_MAX_BATCH must never grow, since plug-ins have arrays of that size. ENVPOOL_MAX_DIMS is fixed, since it is
 *   part of a struct. Error codes and statuses below zero belong to this header, those above zero to the environment.
 * - tests/_core/abi/ has a frozen copy of the first header of this version. Tests run a plug-in that was compiled
 *   against the copy, and check that its structs are prefixes of those here. The copy is never edited.
 *
 * Members that the next headers append, and where they go:
 *
 * - Information for create(), such as the number of threads or the memory node of an env: to envpool_setup.
 * - Other kinds of frames, such as depth: envpool_frames.kind, with a bit of `flags` for each kind an env can draw.
 */
#ifndef ENVPOOL_ENV_H
#define ENVPOOL_ENV_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

#define ENVPOOL_ABI_VERSION 2
#define ENVPOOL_CAPSULE_NAME "envpool.env"
#define ENVPOOL_MAX_DIMS 6
#define ENVPOOL_MAX_FIELDS 64 /* most fields of one env; also its most actions */
#define ENVPOOL_MAX_BATCH 512 /* most envs per call, so that scratch arrays fit on the stack */
#define ENVPOOL_MAX_PLAYERS 4096 /* most players of one env */

#define ENVPOOL_NO_MEMORY (-1) /* status of create() and error code of an env: there is not enough memory */

/* The error code of an env whose snapshot has a size or values that get_state() cannot have written. */
#define ENVPOOL_BAD_SNAPSHOT (-2)

/* Values of envpool_batch.reset. An env without games of several episodes treats all but zero alike. */
#define ENVPOOL_NEXT_EPISODE 1u /* start an episode; a game that is not over may continue                          */
#define ENVPOOL_NEW_GAME 3u     /* appended: the user gives up a game, even if it could continue                   */

/* Bits of envpool_env.flags. A definition that sets a bit which changes results sets it in required_flags, too. */
#define ENVPOOL_TRUNCATION_KEEPS_DISCOUNT 1u /* a truncated step has discount 1, as in dm_control; without it 0 */
#define ENVPOOL_SLOW_SNAPSHOTS 2u /* set_state and copy_state may take long: the pool releases the GIL meanwhile */
#define ENVPOOL_PLAYERS 4u        /* the env has players; set it in required_flags, too, and max_num_players      */
#define ENVPOOL_TURNS 8u          /* with ENVPOOL_PLAYERS: they move in turn; set it in required_flags, too       */
#define ENVPOOL_DOUBLE_PARAMS 16u /* all parameters are float64 of shape (); envpool_with_params() sets it        */

/* Whether the pool that made *s, an envpool_batch for instance, knows a member of the type: for appended members. */
#define ENVPOOL_HAS(type, s, member) ((s)->struct_size >= offsetof(type, member) + sizeof((s)->member))

typedef enum envpool_dtype {
  ENVPOOL_BOOL = 0,
  ENVPOOL_INT8 = 1,
  ENVPOOL_UINT8 = 2,
  ENVPOOL_INT32 = 3,
  ENVPOOL_INT64 = 4,
  ENVPOOL_FLOAT32 = 5,
  ENVPOOL_FLOAT64 = 6,
  ENVPOOL_INT16 = 7, /* appended, as all that follow: a pool that does not know a dtype refuses the definition */
  ENVPOOL_UINT16 = 8,
  ENVPOOL_UINT32 = 9,
  ENVPOOL_UINT64 = 10
} envpool_dtype;

/* One array of an observation, an info or an action. Spaces, dm specs, the layout of the batch blocks and the docs all
 * derive from this entry. */
typedef struct envpool_field {
  const char *name;                /* "obs", "obs:a.b", "info:lives", "action", "action.a"; '.' nests names       */
  int32_t dtype;                   /* an envpool_dtype                                                            */
  int32_t ndim;                    /* entries of `shape` in use                                                   */
  int64_t shape[ENVPOOL_MAX_DIMS]; /* shape of one row; a leading -1: one row per player, see ENVPOOL_PLAYERS     */
  const double *low;               /* lower bounds (num_low), NULL for none                                       */
  const double *high;              /* upper bounds (num_high), NULL for none                                      */
  int32_t num_low;                 /* 1: one bound for all elements; else the number of elements of a row, or of
                                      the rows of all players, one player after the other; 0 with NULL            */
  int32_t num_high;                /* like num_low                                                                */
} envpool_field;

/* The argument of create(). */
typedef struct envpool_setup {
  uint32_t struct_size; /* sizeof(envpool_setup) of the pool                                                      */
  uint32_t abi_version; /* ENVPOOL_ABI_VERSION of the pool                                                        */
  const void *config;   /* envpool_env.config                                                                     */
  char *text;           /* out (text_size), empty on entry: why create() failed, in English, NUL-terminated,
                           without a final full stop; ignored with ENVPOOL_NO_MEMORY                              */
  int32_t text_size;    /* bytes of `text`, at least 256                                                          */
  int32_t num_envs;     /* number of envs, at least 1                                                             */
} envpool_setup;

/* The envs to seed. Arrays are indexed by position i in [0, n). */
typedef struct envpool_seeds {
  uint32_t struct_size;  /* sizeof(envpool_seeds) of the pool                                                     */
  int32_t n;             /* number of envs, 1 to ENVPOOL_MAX_BATCH                                                */
  const int32_t *ids;    /* env ids (n), all different                                                            */
  const uint64_t *seeds; /* one seed per env (n)                                                                  */
  int32_t *errors;       /* out (n), zero on entry; a code for each env that could not be seeded, see error_text  */
} envpool_seeds;

/* The envs of one step. Arrays are indexed by position i in [0, n) unless their comment says "by env id". */
typedef struct envpool_batch {
  uint32_t struct_size;       /* sizeof(envpool_batch) of the pool                                                */
  int32_t n;                  /* number of envs, 1 to ENVPOOL_MAX_BATCH                                           */
  const int32_t *ids;         /* env ids (n), all different                                                       */
  const uint8_t *reset;       /* nonzero: start an episode and ignore the action, see ENVPOOL_NEW_GAME (n)        */
  const int32_t *resets;      /* positions i with a nonzero reset[i], ascending (num_resets)                      */
  int32_t num_resets;         /* entries of `resets`                                                              */
  int32_t contiguous;         /* 1: ids[i] == ids[0] + i, so a loop over state arrays can be vectorised           */
  const void *const *actions; /* one array per action field, by env id; rows are packed. All zero before the first
                                 action, even if the bounds exclude zero: an env that resets ignores its action,
                                 and an env with players ignores the actions of players that do not act           */
  float *reward;              /* out (n): write it wherever reset[i] is zero, see step_many; zero where reset      */
  uint8_t *terminated;        /* out (n), 0 or 1: likewise                                                        */
  uint8_t *truncated;         /* out (n), zero on entry; set it for a rule of the env itself, not the time limit  */
  int32_t *errors;            /* out (n), zero on entry; a code for each env that failed, see step_many           */
  float *discount;            /* out (n), one on entry: discount of this step if the episode continues; if it ends,
                                 the pool sets the discount. NULL if the API style has no discounts               */

  /* For envs with players, else NULL: arrays (num_envs, max_num_players) by env id. The pool ends the players of an env
   * whose `terminated` or `truncated` is set, or whose time is over, and fills `reward` with the sum of the rewards. */
  uint8_t *player_present;    /* out, one on entry: players that have a row of this step or reset: those that acted
                                 in it, also if it is their last one, and those that join with it                 */
  float *player_reward;       /* out, zero on entry; the pool zeroes it where reset, or where nobody is present   */
  uint8_t *player_terminated; /* out, zero on entry, 0 or 1: players whose own episode ends with this step        */
  uint8_t *player_truncated;  /* out, zero on entry, 0 or 1: likewise, but truncated                              */
} envpool_batch;

/* Rows to write, one per env. */
typedef struct envpool_rows {
  uint32_t struct_size; /* sizeof(envpool_rows) of the pool                                                       */
  int32_t n;            /* number of envs, 1 to ENVPOOL_MAX_BATCH                                                 */
  const int32_t *ids;   /* env ids (n), all different                                                             */
  void *const *fields;  /* one array per field: row r starts at fields[f] + r * (size of one row)                 */
  int64_t row0;         /* env ids[i] has row row0 + i                                                            */

  /* For envs with players, else NULL. */
  const int64_t *player_rows; /* (n): in fields whose shape begins with -1, player p of env ids[i] has the row
                                 player_rows[i] + p; the pool zeroes the rows of players that are not present     */
} envpool_rows;

/* Frames to draw, of envs that no thread is stepping. Arrays are indexed by position i in [0, n). */
typedef struct envpool_frames {
  uint32_t struct_size; /* sizeof(envpool_frames) of the pool                                                     */
  int32_t n;            /* number of frames, at least 1                                                           */
  const int32_t *ids;   /* env ids (n), all different                                                             */
  const void *assets;   /* the bytes that render_assets() of the Python side returned, e.g. images; NULL for None */
  uint8_t *pixels;      /* out (n, height, width, 3): RGB, the top row first                                      */
  int32_t *errors;      /* out (n), zero on entry; a code for each env that could not be drawn, see error_text    */
  int32_t height;       /* of every frame, in pixels; one pool always asks for the same size                      */
  int32_t width;        /* of every frame, in pixels                                                              */
  int32_t camera;       /* number of a camera of the env; -1: its default camera                                  */
  int32_t kind;         /* reserved: 0, RGB                                                                       */
} envpool_frames;

/* Snapshots of envs that no thread is stepping. Arrays are indexed by position i in [0, n). */
typedef struct envpool_snapshots {
  uint32_t struct_size;   /* sizeof(envpool_snapshots) of the pool                                                */
  int32_t n;              /* number of envs, 1 to ENVPOOL_MAX_BATCH                                               */
  const int32_t *ids;     /* env ids (n), all different                                                           */
  void *const *bytes;     /* the snapshots (n), not aligned; set_state must not write to them                     */
  int64_t *sizes;         /* (n) get_state: out, bytes written, at most state_size(); set_state: bytes to read    */
  int32_t *errors;        /* out (n), zero on entry; a code for each env that failed, see error_text              */
  const uint8_t *resets;  /* set_state: nonzero: the next step of the env starts an episode (n); else NULL        */
  int32_t only_checks;    /* set_state: 1: check the snapshots, but leave every env as it is; else 0              */
  int32_t reserved;       /* 0                                                                                    */
} envpool_snapshots;

/* Envs to copy within one state. Arrays are indexed by position i in [0, n). */
typedef struct envpool_copies {
  uint32_t struct_size; /* sizeof(envpool_copies) of the pool                                                     */
  int32_t n;            /* number of copies, 1 to ENVPOOL_MAX_BATCH                                               */
  const int32_t *from;  /* env ids (n), not necessarily different                                                 */
  const int32_t *to;    /* env ids (n), all different, and none of them in `from`                                 */
  int32_t *errors;      /* out (n), zero on entry; a code for each target that failed, see error_text             */
} envpool_copies;

/* Parameters of envs. Arrays are indexed by position i in [0, n) unless their comment says "by env id". */
typedef struct envpool_params {
  uint32_t struct_size; /* sizeof(envpool_params) of the pool                                                     */
  int32_t n;            /* number of envs, 1 to ENVPOOL_MAX_BATCH                                                 */
  const int32_t *ids;   /* env ids (n), all different                                                             */
  void *const *values;  /* one array per parameter, by env id; rows are packed                                    */
  int32_t *errors;      /* out (n), zero on entry; a code for each env that failed, see error_text                */
} envpool_params;

/* Functions that return a status return 0, or nonzero if envs failed: then errors[i] is nonzero for each of them, or
 * the status is an error code for all envs of the call. An env whose errors[i] is nonzero has failed, whatever the
 * status says. */
typedef struct envpool_env {
  uint32_t abi_version;    /* ENVPOOL_ABI_VERSION                                                                 */
  uint32_t struct_size;    /* sizeof(envpool_env) of the plug-in                                                  */
  const char *name;        /* CamelCase, e.g. "CartPole"                                                          */
  uint32_t flags;          /* ENVPOOL_... bits                                                                    */
  uint32_t required_flags; /* bits of `flags` that a pool must know, because they change results                  */
  uint32_t field_size;     /* sizeof(envpool_field) of the plug-in: bytes from one entry of a table to the next   */
  int32_t max_num_players; /* with ENVPOOL_PLAYERS: places for players, 1 to ENVPOOL_MAX_PLAYERS; else 0 or 1     */
  int32_t num_fields;      /* entries of `fields`                                                                 */
  int32_t num_actions;     /* entries of `actions`                                                                */
  const envpool_field *fields;  /* observation and info arrays, in the order of envpool_rows.fields               */
  const envpool_field *actions; /* action arrays, in the order of envpool_batch.actions                           */
  const void *config;           /* data of the env itself, handed to create(); may be NULL                        */

  /* Required. Allocates the state of setup->num_envs envs, which are neither seeded nor reset, and stores it in *state
   * (not NULL). Returns 0; ENVPOOL_NO_MEMORY; or another nonzero status, and says why in setup->text. If it fails, it
   * frees what it has allocated. Called once, on the thread that makes the pool. The pool owns the state and frees it
   * with destroy(). */
  int (*create)(const envpool_setup *setup, void **state);

  /* Required. Frees the result of create(). Called once, when no other call is running. */
  void (*destroy)(void *state);

  /* Required. Seeds the generators of envs, and returns a status. Called for every env before its first step, and again
   * when the user reseeds; the same batch then resets it. Expensive construction of single envs belongs here too (on
   * the first call for an id), since all threads call it at once. The pool reports an env that could not be seeded as
   * one whose reset failed: it is not stepped, and it is seeded again, with the same seed, before its next reset. */
  int (*seed_many)(void *state, const envpool_seeds *seeds);

  /* Required. Simulates one step of each env of the batch, or starts its next episode, and returns a status. The pool
   * reports a failed env to the user, ends its episode as truncated and fills its row with zeros; the next call for
   * this env has `reset` set and must restore a valid state.
   *
   * For each i that is not a reset and does not fail, it writes reward[i] and terminated[i], also if they are zero: on
   * entry they contain anything, for instance results of an earlier batch. Where reset[i] is nonzero, both are zero on
   * entry, and it leaves them so. truncated[i], errors[i] and discount[i] have the values stated at these members on
   * entry, in all rows; it writes them only where they differ. */
  int (*step_many)(void *state, const envpool_batch *batch);

  /* Required. Writes the fields of envs as their last step or reset left them: every element of every field of every
   * row, also those that are zero or did not change, since the rows contain anything on entry. Must not change the
   * state. */
  void (*write_many)(void *state, const envpool_rows *rows);

  /* Optional. step_many and write_many in one pass, for envs so cheap that a second pass over the state is noticeable.
   * Must give the same bits as calling both. `rows` has the n and the ids of `batch`. Not called for envs with
   * players. */
  int (*run_many)(void *state, const envpool_batch *batch, const envpool_rows *rows);

  /* Optional. Writes the text for an error code of env `id`, in English, without a final full stop: at most size bytes
   * including the terminating NUL. Called with the GIL after the env failed and before its next step. */
  void (*error_text)(void *state, int32_t id, int32_t code, char *text, size_t size);

  /* Optional. Draws envs as their last step or reset left them, and returns a status. Must not change the results of
   * later steps, nor draw from an env's generator. Several threads may call it at once for disjoint ids, also while
   * step_many runs for other ids. Resources needed only for drawing are created on the first call and freed by
   * destroy(). */
  int (*render_many)(void *state, const envpool_frames *frames);
  int32_t frame_height; /* default size of a frame, in pixels; required with render_many */
  int32_t frame_width;

  /* Optional. How many envs step_many simulates in about the time of one, in the lanes of vectors; 0 and 1 have no
   * effect. Unless it leaves a thread idle, the pool hands over at least `lanes` envs per call. */
  int32_t lanes;
  int32_t num_params; /* entries of `params`, 0 to ENVPOOL_MAX_FIELDS                                             */

  /* Optional, all four or none: snapshots of single envs, from which the env continues bit for bit: the same results of
   * steps and the same frames, in every pool whose definition has this name and was built with the same options, in any
   * process and under any env id. A snapshot contains everything that later results depend on, also the generators, and
   * no pointers. The pool adds what it keeps itself: elapsed steps, pending resets and pending seeds. All envs of a call
   * have been seeded and are idle; no other call of these functions or of render_many runs for them. These functions may
   * allocate memory.
   *
   * Returns the most bytes of one env's snapshot; constant for a state. See also snapshot_size. */
  int64_t (*state_size)(void *state);

  /* Writes the snapshots of envs whose last step or reset did not fail, and returns a status. It must not change the
   * envs, and writes every byte that it counts in sizes[i]. */
  int (*get_state)(void *state, const envpool_snapshots *snapshots);

  /* Restores envs from snapshots, which get_state of this definition has written, or which may be forged: it
   * returns errors for sizes and values with which a later call could read or write outside of its memory, or not end.
   * With only_checks it changes no env. The pool first calls it with only_checks for all snapshots, and then without, if
   * there were no errors; the second call can only fail for want of memory, or because the env repeats an episode
   * meanwhile, see replay.h: an env that fails then starts an episode with its next step. The earlier state of an env is
   * irrelevant: it may have failed, or never have been reset. Returns a status. */
  int (*set_state)(void *state, const envpool_snapshots *snapshots);

  /* Makes the envs `to` what set_state makes of snapshots of the envs `from`, and returns a status. */
  int (*copy_state)(void *state, const envpool_copies *copies);

  /* Version of the contents of snapshots, 0 at first. Raise it whenever an env could no longer continue exactly from an
   * earlier version's snapshots: the pool refuses snapshots of all other versions. */
  uint32_t state_version;
  uint32_t reserved_state; /* 0 */

  /* Optional, all three or none: parameters of single envs, such as physical constants. `params` (num_params) has
   * entries of field_size bytes; a parameter has one value, or an array of a fixed shape, per env, and the pool accepts
   * only finite values within its bounds. The parameters in force are part of an env's snapshot. */
  const envpool_field *params;

  /* Writes the parameters in force of envs that no thread is stepping, also on several threads; returns a status. */
  int (*get_params)(void *state, const envpool_params *params);

  /* Puts parameters into force, and returns a status. The pool calls it right before step_many resets these envs, on
   * the same thread, while other threads may be stepping other envs. An env that fails keeps its parameters, and its
   * reset counts as failed. */
  int (*set_params)(void *state, const envpool_params *params);

  /* Optional, for snapshots that grow: returns the bytes of the snapshot of env `id` as it is now, at most state_size().
   * If it is given, the pool asks it before get_state, instead of state_size(). */
  int64_t (*snapshot_size)(void *state, int32_t id);
} envpool_env;

/* Sets all members to zero or NULL, except for abi_version, struct_size, field_size and name. */
static inline void envpool_env_init(envpool_env *env, const char *name) {
  memset(env, 0, sizeof *env);
  env->abi_version = ENVPOOL_ABI_VERSION;
  env->struct_size = sizeof *env;
  env->field_size = sizeof(envpool_field);
  env->name = name;
}

#ifdef __cplusplus
}
#endif
#endif /* ENVPOOL_ENV_H */
