/* MuJoCo's headers, from version 3.3 on: members and flags of newer versions, and what older ones have instead. */
#ifndef ENVPOOL_MUJOCO_VERSIONS_H
#define ENVPOOL_MUJOCO_VERSIONS_H

#include <mujoco/mujoco.h>

#if mjVERSION_HEADER < 1000000 /* 337 stands for 3.3.7 */
#define EP_MJ_VERSION (mjVERSION_HEADER / 100 * 1000000 + mjVERSION_HEADER / 10 % 10 * 1000 + mjVERSION_HEADER % 10)
#else /* 3014000 stands for 3.14.0 */
#define EP_MJ_VERSION mjVERSION_HEADER
#endif

/* The flag that leaves out the search for islands, where that changes no result: in 3.14.0, the numbers differ. */
#if EP_MJ_VERSION >= 3017000
#define EP_DSBL_ISLAND mjDSBL_ISLAND
#else
#define EP_DSBL_ISLAND 0
#endif

#if EP_MJ_VERSION >= 3004000
#define EP_ENBL_SLEEP mjENBL_SLEEP
#else
#define EP_ENBL_SLEEP 0 /* no body sleeps */
#endif

/* Before 3.3.6, mj_forward() changes where the next call begins its search for forces; later, only mj_step() does. */
#define EP_FORWARD_MOVES_START (EP_MJ_VERSION < 3003006)

/* Before 3.5, a file that a model names by another path is found only under its last part in lower case. */
#define EP_HAS_FLAT_NAMES (EP_MJ_VERSION < 3005000)

#if EP_MJ_VERSION >= 3005000
static inline long ep_num_history(const mjModel *m) { return (long)m->nhistory; }
#else
static inline long ep_num_history(const mjModel *m) { return (void)m, 0; }
#endif

#if EP_MJ_VERSION >= 3011000
#define EP_NUM_ACTUATORS nactuator
#define EP_NUM_FORCES nout
static inline int ep_first_control(const mjModel *m, long actuator) { return m->actuator_ctrladr[actuator]; }
static inline int ep_first_force(const mjModel *m, long actuator) { return m->actuator_outadr[actuator]; }
#else /* each actuator has one control and one force */
#define EP_NUM_ACTUATORS nu
#define EP_NUM_FORCES nu
static inline int ep_first_control(const mjModel *m, long actuator) { return (void)m, (int)actuator; }
static inline int ep_first_force(const mjModel *m, long actuator) { return (void)m, (int)actuator; }
#endif

#endif /* ENVPOOL_MUJOCO_VERSIONS_H */
