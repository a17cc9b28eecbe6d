/* Discs: the pixels of a filled pygame.draw.circle, 2 * radius pixels wide, by the midpoint algorithm. */
#ifndef ENVPOOL_RASTER_DISC_H
#define ENVPOOL_RASTER_DISC_H

#include "canvas.h"

/* Draws a disc with a radius less than 2**14. The fractions of the centre's coordinates are discarded. */
static inline void disc_draw(const canvas *c, double x, double y, int32_t radius, uint32_t colour) {
  const int32_t column = canvas_coordinate(x), row = canvas_coordinate(y);
  if (column < -radius || column - radius > c->width || row < -radius || row - radius > c->height)
    return;
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

#endif /* ENVPOOL_RASTER_DISC_H */
