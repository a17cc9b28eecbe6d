/* Clipping of lines as in SDL_gfx. Every step rounds, so that the pixels of a clipped line may differ from those of the
 * original line. */
#ifndef ENVPOOL_RASTER_CLIP_LINE_H
#define ENVPOOL_RASTER_CLIP_LINE_H

#include <stdint.h>

enum clip_side { CLIP_LEFT = 1, CLIP_RIGHT = 2, CLIP_BOTTOM = 4, CLIP_TOP = 8 };

static inline int32_t clip_sides(int32_t width, int32_t height, int32_t x, int32_t y) {
  return (x < 0 ? CLIP_LEFT : x >= width ? CLIP_RIGHT : 0) | (y < 0 ? CLIP_TOP : y >= height ? CLIP_BOTTOM : 0);
}

/* Clips the line from x[0], y[0] to x[1], y[1] to a canvas, and possibly swaps its ends. Returns 0 if no part of the line is
 * inside. Each round moves one end to one side of the canvas, so that a few rounds suffice; the limit is for coordinates
 * that have wrapped around. */
static inline int32_t clip_line(int32_t width, int32_t height, int16_t *x, int16_t *y) {
  for (int32_t round = 0; round < 16; round++) {
    int32_t sides = clip_sides(width, height, x[0], y[0]);
    const int32_t other = clip_sides(width, height, x[1], y[1]);
    if (!(sides | other))
      return 1;
    if (sides & other)
      return 0;
    if (!sides) {
      const int16_t swapped_x = x[0], swapped_y = y[0];
      x[0] = x[1];
      y[0] = y[1];
      x[1] = swapped_x;
      y[1] = swapped_y;
      sides = other;
    }
    const int32_t is_upright = x[0] == x[1];
    const float slope = is_upright ? 1.0f : (float)(y[1] - y[0]) / (float)(x[1] - x[0]);
    if (sides & (CLIP_LEFT | CLIP_RIGHT)) {
      const int32_t side = sides & CLIP_LEFT ? 0 : width - 1;
      y[0] = (int16_t)(y[0] + (int16_t)(int32_t)((float)(side - x[0]) * slope));
      x[0] = (int16_t)side;
    } else {
      const int32_t side = sides & CLIP_TOP ? 0 : height - 1;
      if (!is_upright)
        x[0] = (int16_t)(x[0] + (int16_t)(int32_t)((float)(side - y[0]) / slope));
      y[0] = (int16_t)side;
    }
  }
  return 0;
}

#endif /* ENVPOOL_RASTER_CLIP_LINE_H */
