/* The arithmetic of Pendulum over structure of arrays. In C for `restrict` and a variant per instruction set. */
#ifndef ENVPOOL_PENDULUM_H
#define ENVPOOL_PENDULUM_H

#include <math.h>
#include <stdint.h>

#include "envpool/simd.h"

#define PENDULUM_PI 3.141592653589793
#define PENDULUM_MAX_SPEED 8.0
#define PENDULUM_MAX_TORQUE 2.0
#define PENDULUM_STEP 0.05 /* seconds */

/* libm's powf, out of the compiler's sight: it would turn powf(x, 2) into x * x, which is another number. */
static float (*volatile pendulum_powf)(float, float) = powf;

/* The torque that an action gives; NaN stays NaN. */
static inline float pendulum_torque(float action) {
  float u = action < -(float)PENDULUM_MAX_TORQUE ? -(float)PENDULUM_MAX_TORQUE : action;
  return u > (float)PENDULUM_MAX_TORQUE ? (float)PENDULUM_MAX_TORQUE : u;
}

/* The angle in [-pi, pi): numpy's `%` takes the sign of the divisor. */
static inline double pendulum_normalized(double angle) {
  double rest = fmod(angle + PENDULUM_PI, 2 * PENDULUM_PI);
  if (rest < 0) rest += 2 * PENDULUM_PI;
  return rest - PENDULUM_PI;
}

/* What a step from this state costs. The term of the torque is float32, as upstream's action is. */
static inline double pendulum_cost(double theta, double theta_dot, float action) {
  const float effort = (float)0.001 * pendulum_powf(pendulum_torque(action), 2.0f);
  return pow(pendulum_normalized(theta), 2.0) + 0.1 * pow(theta_dot, 2.0) + effort;
}

/* Steps n pendulums: theta, theta_dot (n) are updated. Given are the sines of theta (n), the actions (n), and pull,
 * which is 3 g / (2 l). */
ENVPOOL_SIMD
static void pendulum_advance(double *restrict theta, double *restrict theta_dot, const double *restrict sines,
                             const float *restrict actions, double pull, int32_t n) {
  for (int32_t i = 0; i < n; i++) {
    const float push = 3.0f * pendulum_torque(actions[i]);
    double speed = theta_dot[i] + (pull * sines[i] + push) * PENDULUM_STEP;
    speed = speed < -PENDULUM_MAX_SPEED ? -PENDULUM_MAX_SPEED : speed;
    speed = speed > PENDULUM_MAX_SPEED ? PENDULUM_MAX_SPEED : speed;
    theta_dot[i] = speed;
    theta[i] = theta[i] + speed * PENDULUM_STEP;
  }
}

#endif /* ENVPOOL_PENDULUM_H */
