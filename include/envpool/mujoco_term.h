/* Native terms: what a declared MuJoCo task (envpool.make_mujoco) computes with a C function from outside the package.
 *
 * A native term is one `envpool_mujoco_term`, handed to Python in a PyCapsule named ENVPOOL_MUJOCO_TERM_CAPSULE that is
 * an attribute of a module. A declaration names it: Native("module:attribute"). The struct must stay valid while the
 * capsule lives, and a pool keeps the capsule.
 *
 * mjModel and mjData change with each version of MuJoCo. Therefore a term is only accepted if it was compiled with the
 * headers of the version that envpool uses; otherwise the declaration is refused with an error.
 *
 * Rules for the function: it runs on any thread, without the GIL, for several environments at once, each of which has
 * an mjData of its own. It must not call Python, print, exit, throw a C++ exception through the call, use a global
 * generator, or keep anything between two calls: what an earlier step has computed is an input (`Previous`), so that
 * saved states contain it. It may call MuJoCo. An error of MuJoCo (mju_error) ends the call, and the environment fails
 * with its text, so the function must not own anything that has to be freed while it calls MuJoCo.
 *
 * Structs grow like the structs of envpool/env.h: members are only appended, and each struct says how large it is.
 */
#ifndef ENVPOOL_MUJOCO_TERM_H
#define ENVPOOL_MUJOCO_TERM_H

#include <mujoco/mujoco.h>
#include <stdint.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

#define ENVPOOL_MUJOCO_TERM_VERSION 1
#define ENVPOOL_MUJOCO_TERM_CAPSULE "envpool.mujoco_term"

/* The argument of the function: one environment, after a step or a reset. */
typedef struct envpool_mujoco_call {
  uint32_t struct_size; /* sizeof(envpool_mujoco_call) of the pool                                                */
  int32_t is_reset;     /* nonzero: the episode begins; zero: a step                                              */
  const mjModel *model; /* the model of this environment, which may have parameters of its own                    */
  mjData *data;         /* its simulation. The function may compute derived quantities in it (mj_subtreeVel) and
                           use its stack; it must not change the state, see mjSTATE_INTEGRATION                   */
  const double *inputs; /* the values of the expressions `inputs` of the declaration, one after another (num_inputs)  */
  double *out;          /* out (size, or 1 for a scalar), zero on entry. NaN is allowed, as in other terms        */
  char *text;           /* out (text_size), empty on entry: why the function failed, in English, NUL-terminated   */
  int32_t text_size;    /* bytes of `text`, at least 256                                                          */
  int32_t num_inputs;   /* envpool_mujoco_term.num_inputs                                                         */
} envpool_mujoco_call;

/* A native term. Set all members with envpool_mujoco_term_init(). */
typedef struct envpool_mujoco_term {
  uint32_t version;       /* ENVPOOL_MUJOCO_TERM_VERSION                                                          */
  uint32_t struct_size;   /* sizeof(envpool_mujoco_term)                                                          */
  int32_t mujoco_version; /* mjVERSION_HEADER                                                                     */
  int32_t size;           /* numbers of the value; 0: the value is a scalar                                       */
  uint64_t model_size;    /* sizeof(mjModel)                                                                      */
  uint64_t data_size;     /* sizeof(mjData)                                                                       */
  const char *name;       /* for error texts                                                                      */
  /* Returns 0, or a code if it fails: the environment then fails with `text`, or with the code if `text` is empty. */
  int32_t (*compute)(const envpool_mujoco_call *call);
  int32_t num_inputs;     /* numbers that the function needs as inputs                                            */
  int32_t reserved;       /* zero                                                                                 */
} envpool_mujoco_term;

/* Sets all members. `name` must live as long as the term. */
static inline void envpool_mujoco_term_init(envpool_mujoco_term *term, const char *name,
                                            int32_t (*compute)(const envpool_mujoco_call *call), int32_t size,
                                            int32_t num_inputs) {
  memset(term, 0, sizeof(*term));
  term->version = ENVPOOL_MUJOCO_TERM_VERSION;
  term->struct_size = sizeof(envpool_mujoco_term);
  term->mujoco_version = mjVERSION_HEADER;
  term->size = size;
  term->model_size = sizeof(mjModel);
  term->data_size = sizeof(mjData);
  term->name = name;
  term->compute = compute;
  term->num_inputs = num_inputs;
}

#ifdef __cplusplus
}
#endif
#endif /* ENVPOOL_MUJOCO_TERM_H */
