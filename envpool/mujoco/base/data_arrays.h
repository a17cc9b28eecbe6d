/* The arrays of mjData in a saved simulation, in their order; snapshots.pyx explains what they are for. */
#ifndef ENVPOOL_MUJOCO_DATA_ARRAYS_H
#define ENVPOOL_MUJOCO_DATA_ARRAYS_H

#include <mujoco/mujoco.h>
#include <stddef.h>

/* ROW(array of mjData, member of mjModel with the number of rows, columns) */

/* The arrays that depend on positions and velocities. Those with indices come first. */
#define EP_LAGGING_ARRAYS(ROW)                                                                                \
  ROW(ten_wrapadr, ntendon, 1) ROW(ten_wrapnum, ntendon, 1) ROW(wrap_obj, nwrap, 2) ROW(wrap_xpos, nwrap, 6)  \
  ROW(ten_length, ntendon, 1) ROW(ten_velocity, ntendon, 1) ROW(xpos, nbody, 3) ROW(xquat, nbody, 4)          \
  ROW(xmat, nbody, 9) ROW(xipos, nbody, 3) ROW(ximat, nbody, 9) ROW(xanchor, njnt, 3) ROW(xaxis, njnt, 3)     \
  ROW(geom_xpos, ngeom, 3) ROW(geom_xmat, ngeom, 9) ROW(site_xpos, nsite, 3) ROW(site_xmat, nsite, 9)         \
  ROW(cam_xpos, ncam, 3) ROW(cam_xmat, ncam, 9) ROW(light_xpos, nlight, 3) ROW(light_xdir, nlight, 3)         \
  ROW(subtree_com, nbody, 3) ROW(cinert, nbody, 10) ROW(cvel, nbody, 6)

/* The forces and sensors of the last mj_step(). */
#define EP_RESULT_ARRAYS(ROW)                                                                                 \
  ROW(sensordata, nsensordata, 1) ROW(qfrc_actuator, nv, 1) ROW(qfrc_constraint, nv, 1) ROW(cfrc_ext, nbody, 6)

typedef struct ep_data_array {
  size_t member; /* offset of the array's pointer in mjData */
  size_t size;   /* bytes */
} ep_data_array;

/* Lists the arrays; returns their number. */
static inline int ep_list_arrays(const mjModel *m, int lagging, ep_data_array *list) {
  int n = 0;
#define ROW(array, number, columns) \
  list[n++] = (ep_data_array){offsetof(mjData, array), columns * (size_t)m->number * sizeof(*((mjData *)0)->array)};
  if (lagging) { EP_LAGGING_ARRAYS(ROW) }
  EP_RESULT_ARRAYS(ROW)
#undef ROW
  return n;
}

#endif /* ENVPOOL_MUJOCO_DATA_ARRAYS_H */
