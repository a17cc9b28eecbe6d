/* Frames of LunarLander: the pixels that gymnasium's environment draws with pygame, 600 x 400 of them. */
#ifndef ENVPOOL_BOX2D_LUNAR_LANDER_FRAME_H
#define ENVPOOL_BOX2D_LUNAR_LANDER_FRAME_H

#include "envpool/raster/disc.h"
#include "envpool/box2d/exhaust.h"
#include "envpool/box2d/outline.h"

enum { LANDER_CHUNKS = 11, LANDER_HEIGHT = 400, LANDER_WIDTH = 600 };

/* Everything that a frame shows. */
struct LanderScene {
  const double *x, *y; /* corners of the ground (LANDER_CHUNKS), m                                                   */
  double pad_y;        /* height of the landing pad, m                                                               */
  const b2Body *parts[3]; /* hull and legs                                                                           */
  const Exhaust *exhaust; /* whose world has caught up with the step                                                 */
};

/* Returns the value of a colour channel. */
static inline uint32_t lander_brightness(double part) { return static_cast<uint32_t>((part > 0.2 ? part : 0.2) * 255); }

static inline uint32_t lander_particle_colour(double brightness) {
  const uint32_t other = lander_brightness(0.5 * brightness);
  return lander_brightness(0.15 + brightness) | other << 8 | other << 16;
}

/* Draws the flags at both ends of the landing pad. */
static inline void lander_draw_flags(const canvas *c, const LanderScene *s) {
  for (int32 i = LANDER_CHUNKS / 2 - 1; i <= LANDER_CHUNKS / 2 + 1; i += 2) {
    const double x = s->x[i] * OUTLINE_SCALE, low = s->pad_y * OUTLINE_SCALE, high = low + 50;
    const double pole[2][2] = {{x, low}, {x, high}}, flag[3][2] = {{x, high}, {x, high - 10}, {x + 25, high - 5}};
    line_draw(c, pole[0], pole[1], 0xffffff);
    outline_fill(c, flag, 3, 0x00cccc);
  }
}

/* Draws a frame into RGB pixels (LANDER_HEIGHT, LANDER_WIDTH, 3). Upstream draws the flags again after every object,
 * which is visible because their edges are antialiased. */
static inline void lander_draw(const LanderScene *s, uint8_t *pixels) {
  const canvas c = canvas_flipped(pixels, LANDER_HEIGHT, LANDER_WIDTH);
  canvas_clear(&c, 0xffffff);
  for (int32 i = 0; i < LANDER_CHUNKS - 1; i++) {
    const double sky[4][2] = {{s->x[i] * OUTLINE_SCALE, s->y[i] * OUTLINE_SCALE},
                              {s->x[i + 1] * OUTLINE_SCALE, s->y[i + 1] * OUTLINE_SCALE},
                              {s->x[i + 1] * OUTLINE_SCALE, LANDER_HEIGHT / 30.0 * OUTLINE_SCALE},
                              {s->x[i] * OUTLINE_SCALE, LANDER_HEIGHT / 30.0 * OUTLINE_SCALE}};
    outline_fill(&c, sky, 4, 0);
  }
  for (int64_t k = s->exhaust->first; k < s->exhaust->num_emitted; k++) {
    const Particle *p = &s->exhaust->particles[k % EXHAUST_PARTICLES];
    const b2Vec2 place = OUTLINE_SCALE * s->exhaust->bodies[k % EXHAUST_PARTICLES]->GetPosition();
    disc_draw(&c, place.x, place.y, 2, lander_particle_colour(p->brightness));
    lander_draw_flags(&c, s);
  }
  for (int32 i = 0; i < 3; i++) {
    const Outline o = outline_of(s->parts[i]);
    outline_fill(&c, o.corners, o.count, 0xe66680);
    aaline_draw_through(&c, o.corners, o.count, 1, 0x804d4d);
    lander_draw_flags(&c, s);
  }
}

#endif /* ENVPOOL_BOX2D_LUNAR_LANDER_FRAME_H */
