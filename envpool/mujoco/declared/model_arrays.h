/* Names that declarations use for a model and its simulation: arrays of mjData, and objects with names. */
#ifndef ENVPOOL_MUJOCO_MODEL_ARRAYS_H
#define ENVPOOL_MUJOCO_MODEL_ARRAYS_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "mujoco_versions.h"

/* ROW(array of mjData, member of mjModel with the number of rows, columns) */
#define EP_ARRAYS(ROW)                                                                                       \
  ROW(qpos, nq, 1) ROW(qvel, nv, 1) ROW(qacc, nv, 1) ROW(qfrc_actuator, nv, 1) ROW(qfrc_constraint, nv, 1)   \
  ROW(act, na, 1) ROW(ctrl, nu, 1) ROW(actuator_force, EP_NUM_FORCES, 1) ROW(sensordata, nsensordata, 1)     \
  ROW(xpos, nbody, 3) ROW(xquat, nbody, 4) ROW(xmat, nbody, 9) ROW(xipos, nbody, 3)                          \
  ROW(subtree_com, nbody, 3) ROW(cinert, nbody, 10) ROW(cvel, nbody, 6) ROW(cfrc_ext, nbody, 6)              \
  ROW(geom_xpos, ngeom, 3) ROW(geom_xmat, ngeom, 9) ROW(site_xpos, nsite, 3) ROW(site_xmat, nsite, 9)        \
  ROW(ten_length, ntendon, 1) ROW(ten_velocity, ntendon, 1)                                                  \
  ROW(mocap_pos, nmocap, 3) ROW(mocap_quat, nmocap, 4)

/* ROW(kind of object, mjtObj, its number in mjModel, the part of the names of their addresses) */
#define EP_KINDS(ROW)                                                                                     \
  ROW(body, mjOBJ_BODY, nbody, body) ROW(joint, mjOBJ_JOINT, njnt, jnt) ROW(geom, mjOBJ_GEOM, ngeom, geom) \
  ROW(site, mjOBJ_SITE, nsite, site) ROW(tendon, mjOBJ_TENDON, ntendon, tendon)                           \
  ROW(actuator, mjOBJ_ACTUATOR, EP_NUM_ACTUATORS, actuator) ROW(sensor, mjOBJ_SENSOR, nsensor, sensor)    \
  ROW(keyframe, mjOBJ_KEY, nkey, key)

/* Returns the offset in mjData of the pointer to an array and sets its shape; -1: there is no such array. */
static inline ptrdiff_t ep_array(const mjModel *m, const char *name, int64_t *rows, int *columns) {
#define ROW(array, number, width)            \
  if (!strcmp(name, #array)) {               \
    *rows = m->number;                       \
    *columns = width;                        \
    return (ptrdiff_t)offsetof(mjData, array); \
  }
  EP_ARRAYS(ROW)
#undef ROW
  return -1;
}

/* Returns the number of objects of a kind. */
static inline int64_t ep_count(const mjModel *m, const char *kind) {
#define ROW(name, type, number, part) \
  if (!strcmp(kind, #name)) return m->number;
  EP_KINDS(ROW)
#undef ROW
  return -1;
}

/* Returns the name of an object, which is empty if it has none. */
static inline const char *ep_name(const mjModel *m, const char *kind, int64_t id) {
#define ROW(name, type, number, part) \
  if (!strcmp(kind, #name)) return m->names + m->name_##part##adr[id];
  EP_KINDS(ROW)
#undef ROW
  return "";
}

/* Returns the mjtObj of a kind. */
static inline int ep_object_type(const char *kind) {
#define ROW(name, type, number, part) \
  if (!strcmp(kind, #name)) return type;
  EP_KINDS(ROW)
#undef ROW
  return mjOBJ_UNKNOWN;
}

/* Returns the number of active contacts between two groups of geoms: bits 1 and 2 of sides[geom]. */
static inline int ep_contacts(const mjData *d, const uint8_t *sides) {
  int count = 0;
  for (int k = 0; k < d->ncon; k++) {
    const mjContact *c = d->contact + k;
    if (c->exclude || c->geom[0] < 0 || c->geom[1] < 0) continue;
    const uint8_t a = sides[c->geom[0]], b = sides[c->geom[1]];
    count += ((a & 1) && (b & 2)) || ((a & 2) && (b & 1));
  }
  return count;
}

/* Sets the state of a keyframe, as mj_resetDataKeyframe() does after mj_resetData(). */
static inline void ep_set_keyframe(const mjModel *m, mjData *d, int64_t key) {
  d->time = m->key_time[key];
  memcpy(d->qpos, m->key_qpos + key * m->nq, m->nq * sizeof(mjtNum));
  memcpy(d->qvel, m->key_qvel + key * m->nv, m->nv * sizeof(mjtNum));
  memcpy(d->act, m->key_act + key * m->na, m->na * sizeof(mjtNum));
  memcpy(d->mocap_pos, m->key_mpos + key * 3 * m->nmocap, 3 * m->nmocap * sizeof(mjtNum));
  memcpy(d->mocap_quat, m->key_mquat + key * 4 * m->nmocap, 4 * m->nmocap * sizeof(mjtNum));
  memcpy(d->ctrl, m->key_ctrl + key * m->nu, m->nu * sizeof(mjtNum));
}

#endif /* ENVPOOL_MUJOCO_MODEL_ARRAYS_H */
