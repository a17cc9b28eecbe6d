/* Parameters of single envs: their values by name, and the table that creates and checks them.
 *
 * The values of an env are an array of doubles, in the order of the dictionaries of parameters.py, which document them.
 * The struct of an environment gives them names: parameters.pxd has those that no header needs. */
#ifndef ENVPOOL_BOX2D_PARAMETERS_H
#define ENVPOOL_BOX2D_PARAMETERS_H

#include <math.h>
#include <stdint.h>

enum { WORLD_MAX_PARAMS = 40 };

/* The parameters of an environment. */
struct WorldParams {
  int32_t count;
  int32_t is_integer[WORLD_MAX_PARAMS]; /* 1: the values of a parameter are integers                                 */
  double initial[WORLD_MAX_PARAMS];     /* values of envs that have none of their own                                */
  double low[WORLD_MAX_PARAMS], high[WORLD_MAX_PARAMS]; /* bounds                                                    */
};

/* Whether values (count), which may be forged, are allowed. */
static inline bool params_are_allowed(const WorldParams *table, const double *values) {
  for (int32_t k = 0; k < table->count; k++) {
    if (!(values[k] >= table->low[k] && values[k] <= table->high[k])) return false;
    if (table->is_integer[k] && values[k] != floor(values[k])) return false;
  }
  return true;
}

struct RacerParams {
  double size;
  double engine_power, wheel_moment_of_inertia, friction_limit;
  double grass_friction, brake_force;
  double track_rad, track_detail_step, track_turn_rate;
  double track_width, border, border_min_count;
  double playfield;
  double lap_complete_percent;
};

#endif /* ENVPOOL_BOX2D_PARAMETERS_H */
