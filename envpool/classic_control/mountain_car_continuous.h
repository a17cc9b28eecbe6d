/* The arithmetic of MountainCarContinuous over structure of arrays. In C for `restrict` and a variant per instruction
 * set.
 *
 * Upstream computes in the types that its values happen to have, and so does this. The state after a step is float32,
 * so a step is float32 arithmetic, where Python floats (the constants, cos, a force or velocity that was clipped) are
 * rounded to float32 first, unless they meet another Python float. The state after a reset is float64, and so is the
 * first step.
 */
#ifndef ENVPOOL_MOUNTAIN_CAR_CONTINUOUS_H
#define ENVPOOL_MOUNTAIN_CAR_CONTINUOUS_H

#include <stdint.h>

#include "envpool/simd.h"

#define MOUNTAIN_CAR_LOWEST (-1.2)
#define MOUNTAIN_CAR_HIGHEST 0.6
#define MOUNTAIN_CAR_MAX_SPEED 0.07
#define MOUNTAIN_CAR_GOAL 0.45
#define MOUNTAIN_CAR_POWER 0.0015
#define MOUNTAIN_CAR_GRAVITY 0.0025

/* What velocity changes by, as float32. `cosine` is that of three times the position, `action` may be anything. */
static inline float mountain_car_gain(float action, double cosine) {
  const double slope = MOUNTAIN_CAR_GRAVITY * cosine;
  const float pushed = action * (float)MOUNTAIN_CAR_POWER - (float)slope;
  const float clipped = (float)((action < 0 ? -MOUNTAIN_CAR_POWER : MOUNTAIN_CAR_POWER) - slope);
  return (action < -1.0f) | (action > 1.0f) ? clipped : pushed;
}

/* Steps n cars that have been stepped before: position, velocity (n) are updated, arrived (n) says which are at the
 * goal, fast enough, and reward (n) is filled. Given are the cosines of three times the position (n) and the actions
 * (n).
 *
 * Upstream's square is pow(action, 2). The square of a float32 fits into a float64, and a pow that is off by less than
 * one unit in the last place must then return it: it is the product, as comparing them for every float32 confirms. */
ENVPOOL_SIMD
static void mountain_car_advance(float *restrict position, float *restrict velocity, double *restrict cosines,
                                 const float *restrict actions, double goal_velocity, uint8_t *restrict arrived,
                                 float *restrict reward, int32_t n) {
  const float lowest = (float)MOUNTAIN_CAR_LOWEST, highest = (float)MOUNTAIN_CAR_HIGHEST;
  const float max_speed = (float)MOUNTAIN_CAR_MAX_SPEED, goal = (float)MOUNTAIN_CAR_GOAL;
  const float least = (float)goal_velocity;
  /* A clipped velocity is a Python float when upstream compares it. */
  const int max_suffices = MOUNTAIN_CAR_MAX_SPEED >= goal_velocity;
  const int min_suffices = -MOUNTAIN_CAR_MAX_SPEED >= goal_velocity;
  for (int32_t i = 0; i < n; i++) {
    float v = velocity[i] + mountain_car_gain(actions[i], cosines[i]);
    const int suffices = v > max_speed ? max_suffices : v < -max_speed ? min_suffices : v >= least;
    v = v > max_speed ? max_speed : v;
    v = v < -max_speed ? -max_speed : v;
    float p = position[i] + v;
    p = p > highest ? highest : p;
    p = p < lowest ? lowest : p;
    arrived[i] = (p >= goal) & suffices;
    position[i] = p;
    velocity[i] = (p == lowest) & (v < 0) ? 0 : v;
  }
  for (int32_t i = 0; i < n; i++) {
    const double action = actions[i];
    reward[i] = (float)((arrived[i] ? 100.0 : 0.0) - action * action * 0.1);
  }
}

/* The first step of a car at `start`, at rest: it gets neither to a bound nor to the goal. */
static inline void mountain_car_leave(double start, double cosine, float action, float *position, float *velocity) {
  const double slope = MOUNTAIN_CAR_GRAVITY * cosine;
  double v = action * (float)MOUNTAIN_CAR_POWER - (float)slope;
  if (action < -1.0f || action > 1.0f) v = (action < 0 ? -MOUNTAIN_CAR_POWER : MOUNTAIN_CAR_POWER) - slope;
  *position = (float)(start + v);
  *velocity = (float)v;
}

#endif /* ENVPOOL_MOUNTAIN_CAR_CONTINUOUS_H */
