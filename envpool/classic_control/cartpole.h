/* The arithmetic of CartPole over structure of arrays. In C for `restrict` and a variant per instruction set. */
#ifndef ENVPOOL_CARTPOLE_H
#define ENVPOOL_CARTPOLE_H

#include <stdint.h>

#include "envpool/simd.h"

#define CARTPOLE_GRAVITY 9.8
#define CARTPOLE_POLE_MASS 0.1
#define CARTPOLE_TOTAL_MASS (0.1 + 1.0)
#define CARTPOLE_LENGTH 0.5 /* half the pole */
#define CARTPOLE_POLE_MASS_LENGTH (0.1 * 0.5)
#define CARTPOLE_FORCE 10.0
#define CARTPOLE_TAU 0.02 /* seconds between steps */
#define CARTPOLE_X_LIMIT 2.4
#define CARTPOLE_THETA_LIMIT (12 * 2 * 3.141592653589793 / 360)

/* Steps n carts: x, x_dot, theta, theta_dot (n) are updated, fell (n) says which left the limits. Given are the sines and
 * cosines of theta (n) and the actions (n), 1 for a push to the right. */
ENVPOOL_SIMD
static void cartpole_advance(double *restrict x, double *restrict x_dot, double *restrict theta, double *restrict theta_dot,
                             const double *restrict sines, const double *restrict cosines, const int32_t *restrict actions,
                             uint8_t *restrict fell, int32_t n) {
  for (int32_t i = 0; i < n; i++) {
    double force = actions[i] == 1 ? CARTPOLE_FORCE : -CARTPOLE_FORCE;
    double speed = theta_dot[i];
    double temp = (force + CARTPOLE_POLE_MASS_LENGTH * (speed * speed) * sines[i]) / CARTPOLE_TOTAL_MASS;
    double theta_acc = (CARTPOLE_GRAVITY * sines[i] - cosines[i] * temp) /
                       (CARTPOLE_LENGTH * (4.0 / 3.0 - CARTPOLE_POLE_MASS * (cosines[i] * cosines[i]) / CARTPOLE_TOTAL_MASS));
    double x_acc = temp - CARTPOLE_POLE_MASS_LENGTH * theta_acc * cosines[i] / CARTPOLE_TOTAL_MASS;
    x[i] = x[i] + CARTPOLE_TAU * x_dot[i];
    x_dot[i] = x_dot[i] + CARTPOLE_TAU * x_acc;
    theta[i] = theta[i] + CARTPOLE_TAU * speed;
    theta_dot[i] = speed + CARTPOLE_TAU * theta_acc;
  }
  for (int32_t i = 0; i < n; i++)
    fell[i] = (x[i] < -CARTPOLE_X_LIMIT) | (x[i] > CARTPOLE_X_LIMIT) | (theta[i] < -CARTPOLE_THETA_LIMIT) |
              (theta[i] > CARTPOLE_THETA_LIMIT);
}

#endif /* ENVPOOL_CARTPOLE_H */
