/* Rotation of points around the origin, as in pygame's Vector2.rotate_rad. */
#ifndef ENVPOOL_RASTER_TURN_H
#define ENVPOOL_RASTER_TURN_H

#include <math.h>
#include <stdint.h>

typedef struct turn {
  double sine, cosine;
  int32_t quarters; /* 0 to 3: an exact rotation by this many right angles; -1: use sine and cosine */
} turn;

/* Angles within 1e-6 of a multiple of a right angle count as this multiple. */
static inline turn turn_of(double angle) {
  const double epsilon = 1e-6, full = 2 * M_PI;
  turn t;
  angle = fmod(angle, full);
  if (angle < 0)
    angle += full;
  t.quarters = fmod(angle + epsilon, M_PI_2) < 2 * epsilon ? (int32_t)((angle + epsilon) / M_PI_2) % 4 : -1;
  t.sine = sin(angle);
  t.cosine = cos(angle);
  return t;
}

static inline void turn_point(const turn *t, double x, double y, double *out) {
  switch (t->quarters) {
  case 0:
    out[0] = x;
    out[1] = y;
    break;
  case 1:
    out[0] = -y;
    out[1] = x;
    break;
  case 2:
    out[0] = -x;
    out[1] = -y;
    break;
  case 3:
    out[0] = y;
    out[1] = -x;
    break;
  default:
    out[0] = t->cosine * x - t->sine * y;
    out[1] = t->sine * x + t->cosine * y;
  }
}

#endif /* ENVPOOL_RASTER_TURN_H */
