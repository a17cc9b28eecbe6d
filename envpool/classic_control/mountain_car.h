/* The arithmetic of MountainCar over structure of arrays. In C for `restrict` and a variant per instruction set. */
#ifndef ENVPOOL_MOUNTAIN_CAR_H
#define ENVPOOL_MOUNTAIN_CAR_H

#include <stdint.h>

#include "envpool/simd.h"

#define MOUNTAIN_CAR_LOWEST (-1.2)
#define MOUNTAIN_CAR_HIGHEST 0.6
#define MOUNTAIN_CAR_MAX_SPEED 0.07
#define MOUNTAIN_CAR_GOAL 0.5
#define MOUNTAIN_CAR_FORCE 0.001
#define MOUNTAIN_CAR_GRAVITY 0.0025

/* Steps n cars: position, velocity (n) are updated, arrived (n) says which are at the goal, fast enough. Given are the
 * cosines of three times the position (n) and the actions (n): 0, 1 or 2. */
ENVPOOL_SIMD
static void mountain_car_advance(double *restrict position, double *restrict velocity, const double *restrict cosines,
                                 const int32_t *restrict actions, double goal_velocity, uint8_t *restrict arrived,
                                 int32_t n) {
  for (int32_t i = 0; i < n; i++) {
    double v = velocity[i] + ((actions[i] - 1) * MOUNTAIN_CAR_FORCE + cosines[i] * -MOUNTAIN_CAR_GRAVITY);
    v = v < -MOUNTAIN_CAR_MAX_SPEED ? -MOUNTAIN_CAR_MAX_SPEED : v;
    v = v > MOUNTAIN_CAR_MAX_SPEED ? MOUNTAIN_CAR_MAX_SPEED : v;
    double p = position[i] + v;
    p = p < MOUNTAIN_CAR_LOWEST ? MOUNTAIN_CAR_LOWEST : p;
    p = p > MOUNTAIN_CAR_HIGHEST ? MOUNTAIN_CAR_HIGHEST : p;
    position[i] = p;
    velocity[i] = (p == MOUNTAIN_CAR_LOWEST) & (v < 0) ? 0 : v;
  }
  for (int32_t i = 0; i < n; i++) arrived[i] = (position[i] >= MOUNTAIN_CAR_GOAL) & (velocity[i] >= goal_velocity);
}

#endif /* ENVPOOL_MOUNTAIN_CAR_H */
