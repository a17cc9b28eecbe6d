/* A band of rows of the picture, in which figures are drawn piece by piece.
 *
 * Figures are drawn with rows counted either from the top of the picture, or from its bottom: upstream flips the picture
 * once the scene is drawn. `direction` says which.
 */
#ifndef ENVPOOL_BOX2D_BAND_H
#define ENVPOOL_BOX2D_BAND_H

#include "cells.h"

#define BAND_HEIGHT 50 /* rows; divides CANVAS_HEIGHT */

typedef struct band {
  const cell_tables *tables;
  int32_t low, high; /* rows in it, in the figure's count */
  int32_t direction; /* 1: rows[0] is row low; -1: rows[0] is row high */
  cell_row rows[BAND_HEIGHT];
} band;

static inline cell_row *band_row(band *b, int32_t y) { return b->rows + (b->direction > 0 ? y - b->low : b->high - y); }

/* Colours what the picture has of pixels a to b of row y, which is in the band; a may be the greater. */
static inline void band_fill(band *b, int32_t y, int32_t from, int32_t to, uint32_t colour) {
  const int32_t low = at_least(at_most(from, to), 0), high = at_most(at_least(from, to), CANVAS_WIDTH - 1);
  if (low <= high)
    row_fill(b->tables, band_row(b, y), low, high, colour);
}

/* The same for figures that do not know what they are drawn on, and for any row. */
static inline void band_span(void *target, int32_t y, int32_t from, int32_t to, uint32_t colour) {
  band *b = (band *)target;
  if (y >= b->low && y <= b->high)
    band_fill(b, y, from, to, colour);
}

#endif /* ENVPOOL_BOX2D_BAND_H */
