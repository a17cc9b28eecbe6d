/* Random tracks of CarRacing: closed chains of points around twelve checkpoints, computed in float64 as upstream does. */
#ifndef ENVPOOL_BOX2D_CAR_RACING_TRACK_H
#define ENVPOOL_BOX2D_CAR_RACING_TRACK_H

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "envpool/box2d/parameters.h"
#include "envpool/rng.h"
#include "shapes.h"

#define TRACK_CHECKPOINTS 12
#define TRACK_MAX 2500      /* largest number of points                                              */
#define TRACK_ATTEMPTS 200  /* at the generation of a closed track; with the defaults, few are needed */

/* A point of the track, and the direction of the track there. */
typedef struct track_point {
  double alpha;     /* polar angle, seen from the centre of the field         */
  double beta;      /* angle of the line across the track                     */
  double x, y;
} track_point;

typedef struct track {
  track_point points[TRACK_MAX];
  int32_t first, length;       /* the closed part; more than border_min_count points */
  uint8_t border[TRACK_MAX];   /* (length): whether the tile that ends at a point has a border */
} track;

typedef struct track_checkpoint {
  double alpha, x, y;
} track_checkpoint;

static inline double track_sign(double x) { return (x > 0) - (x < 0); }

/* Returns point i of the closed part; a negative i counts from the end. */
static inline const track_point *track_at(const track *t, int32_t i) {
  return &t->points[t->first + (i < 0 ? i + t->length : i)];
}

static inline void track_draw_checkpoints(const RacerParams *p, ep_pcg64 *rng, track_checkpoint *checkpoints) {
  for (int32_t c = 0; c < TRACK_CHECKPOINTS; c++) {
    const double noise = ep_uniform(rng, 0, 2 * M_PI * 1 / TRACK_CHECKPOINTS);
    double alpha = 2 * M_PI * c / TRACK_CHECKPOINTS + noise;
    double radius = ep_uniform(rng, p->track_rad / 3, p->track_rad);
    if (c == 0) {
      alpha = 0;
      radius = 1.5 * p->track_rad;
    }
    if (c == TRACK_CHECKPOINTS - 1) {
      alpha = 2 * M_PI * c / TRACK_CHECKPOINTS;
      radius = 1.5 * p->track_rad;
    }
    checkpoints[c].alpha = alpha;
    checkpoints[c].x = radius * cos(alpha);
    checkpoints[c].y = radius * sin(alpha);
  }
}

/* Drives around the checkpoints five times, or until there are TRACK_MAX points. Returns the number of points. */
static inline int32_t track_go_around(const RacerParams *p, const track_checkpoint *checkpoints, track_point *points) {
  double x = 1.5 * p->track_rad, y = 0, beta = 0;
  int32_t goal = 0, laps = 0, n = 0, was_on_other_side = 0;
  while (n < TRACK_MAX) {
    double alpha = atan2(y, x);
    if (was_on_other_side && alpha > 0) {
      laps++;
      was_on_other_side = 0;
    }
    if (alpha < 0) {
      was_on_other_side = 1;
      alpha += 2 * M_PI;
    }
    while (!(alpha <= checkpoints[goal % TRACK_CHECKPOINTS].alpha)) /* the next checkpoint ahead */
      if (++goal % TRACK_CHECKPOINTS == 0) alpha -= 2 * M_PI;
    const track_checkpoint *to = &checkpoints[goal % TRACK_CHECKPOINTS];

    const double across_x = cos(beta), across_y = sin(beta);
    double aside = across_x * (to->x - x) + across_y * (to->y - y);
    while (beta - alpha > 1.5 * M_PI) beta -= 2 * M_PI;
    while (beta - alpha < -1.5 * M_PI) beta += 2 * M_PI;
    const double old_beta = beta;
    aside *= CAR_RACING_SCALE;
    const double turn = fmin(p->track_turn_rate, fabs(0.001 * aside));
    if (aside > 0.3) beta -= turn;
    if (aside < -0.3) beta += turn;
    x += -across_y * p->track_detail_step;
    y += across_x * p->track_detail_step;
    points[n].alpha = alpha;
    points[n].beta = old_beta * 0.5 + beta * 0.5;
    points[n].x = x;
    points[n].y = y;
    n++;
    if (laps > 4) break;
  }
  return n;
}

/* Sets the closed part, the last full lap of n points. Returns 0 if there is no full lap, or if its ends do not meet. */
static inline int track_close(const RacerParams *p, track *t, int32_t n) {
  const double start = 2 * M_PI * (-0.5) / TRACK_CHECKPOINTS;
  int32_t last = -1, i = n;
  for (;;) {
    if (--i == 0) return 0;
    if (t->points[i].alpha > start && t->points[i - 1].alpha <= start) {
      if (last != -1) break;
      last = i;
    }
  }
  t->first = i;
  t->length = last - 1 - i;
  if (t->length <= p->border_min_count) return 0;
  const track_point *head = track_at(t, 0), *tail = track_at(t, -1);
  const double gap_x = cos(head->beta) * (head->x - tail->x), gap_y = sin(head->beta) * (head->y - tail->y);
  return !(sqrt(gap_x * gap_x + gap_y * gap_y) > p->track_detail_step);
}

/* Marks sharp turns and the tiles before them. */
static inline void track_mark_borders(const RacerParams *p, track *t) {
  const int32_t run = (int32_t)p->border_min_count;
  for (int32_t i = 0; i < t->length; i++) {
    int is_hard = 1;
    double side = 0;
    for (int32_t k = 0; k < run; k++) {
      const double turn = track_at(t, i - k)->beta - track_at(t, i - k - 1)->beta;
      is_hard &= fabs(turn) > p->track_turn_rate * 0.2;
      side += track_sign(turn);
    }
    t->border[i] = is_hard && fabs(side) == run;
  }
  for (int32_t i = 0; i < t->length; i++)
    for (int32_t k = 0; k < run; k++)
      t->border[i - k < 0 ? i - k + t->length : i - k] |= t->border[i];
}

/* Generates random tracks until one is closed. Returns 0 if none of TRACK_ATTEMPTS tracks is. */
static inline int track_make(const RacerParams *p, track *t, ep_pcg64 *rng) {
  track_checkpoint checkpoints[TRACK_CHECKPOINTS];
  for (int32_t attempt = 0; attempt < TRACK_ATTEMPTS; attempt++) {
    track_draw_checkpoints(p, rng, checkpoints);
    if (track_close(p, t, track_go_around(p, checkpoints, t->points))) {
      track_mark_borders(p, t);
      return 1;
    }
  }
  return 0;
}

#endif /* ENVPOOL_BOX2D_CAR_RACING_TRACK_H */
