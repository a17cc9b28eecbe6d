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
  double rest = angle + PENDULUM_PI;
  if (!(fabs(rest) < 2 * PENDULUM_PI)) rest = fmod(rest, 2 * PENDULUM_PI); /* else fmod changes nothing */
  if (rest < 0) rest += 2 * PENDULUM_PI;
  return rest - PENDULUM_PI;
}

/* The cost of a step as upstream computes it: squares by pow(x, 2), which is another number than x * x in the last place
 * now and then, and the term of the torque in float32, as upstream's action is. */
static inline float pendulum_exact_cost(double angle, double theta_dot, float torque) {
  const float effort = (float)0.001 * pendulum_powf(torque, 2.0f);
  return (float)(pow(angle, 2.0) + 0.1 * pow(theta_dot, 2.0) + effort);
}

/* The reward of a step from this state. Products are off by a few last places at most, a millionth of the gap between two
 * floats as a rule; only where rounding hangs on it (or a NaN is at work) is the slow way taken. */
static inline float pendulum_reward(double theta, double theta_dot, float action) {
  const float torque = pendulum_torque(action);
  const double angle = pendulum_normalized(theta);
  const double effort = 0.001 * (torque * torque);
  const double cost = angle * angle + 0.1 * (theta_dot * theta_dot) + effort;
  const double error = 0x1p-46 * cost + 0x1p-20 * effort;
  const float rounded = (float)(cost - error);
  return rounded == (float)(cost + error) ? -rounded : -pendulum_exact_cost(angle, theta_dot, torque);
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
