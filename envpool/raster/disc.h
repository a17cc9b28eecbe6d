/* Discs and rings: the pixels of a pygame.draw.circle that is filled or has a line one pixel wide, by the midpoint
 * algorithm. Both are 2 * radius pixels wide. */
#ifndef ENVPOOL_RASTER_DISC_H
#define ENVPOOL_RASTER_DISC_H

#include "canvas.h"

/* Whether a part of a circle may be on the canvas. */
static inline int disc_is_near(const canvas *c, int32_t column, int32_t row, int32_t radius) {
  return column >= -radius && column - radius <= c->width && row >= -radius && row - radius <= c->height;
}

/* Draws a disc with a radius less than 2**14. The fractions of the centre's coordinates are discarded. */
static inline void disc_draw(const canvas *c, double x, double y, int32_t radius, uint32_t colour) {
  const int32_t column = canvas_coordinate(x), row = canvas_coordinate(y);
  if (!disc_is_near(c, column, row, radius)) return;
  int32_t error = 1 - radius, aside = 0, up = radius;
  while (aside < up) {
    if (error >= 0) {
      up--;
      error -= 2 * up;
    }
    aside++;
    error += 2 * aside + 1;
    if (error >= 0) { /* `up` will change, so this is the longest span of this row */
      canvas_span(c, row + up - 1, column - aside, column + aside - 1, colour);
      canvas_span(c, row - up, column - aside, column + aside - 1, colour);
    }
    canvas_span(c, row + aside - 1, column - up, column + up - 1, colour);
    canvas_span(c, row - aside, column - up, column + up - 1, colour);
  }
}

/* Colours the pixels at (aside, up) and at its reflection, to the left and right of the centre. */
static inline void disc_mirrored(const canvas *c, int32_t column, int32_t row, int32_t aside, int32_t up, uint32_t colour) {
  canvas_set(c, column + aside - 1, row + up - 1, colour);
  canvas_set(c, column - aside, row + up - 1, colour);
  canvas_set(c, column + aside - 1, row - up, colour);
  canvas_set(c, column - aside, row - up, colour);
}

/* Draws a ring in the same way; a ring with a radius of 1 is a disc. */
static inline void disc_ring(const canvas *c, double x, double y, int32_t radius, uint32_t colour) {
  const int32_t column = canvas_coordinate(x), row = canvas_coordinate(y);
  if (!disc_is_near(c, column, row, radius)) return;
  int32_t error = 1 - radius, aside = 0, up = radius;
  while (aside < up) {
    if (error >= 0) {
      up--;
      error -= 2 * up;
    }
    aside++;
    error += 2 * aside + 1;
    disc_mirrored(c, column, row, aside, up, colour);
    disc_mirrored(c, column, row, up, aside, colour);
  }
}

#endif /* ENVPOOL_RASTER_DISC_H */
