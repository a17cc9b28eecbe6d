/* A band of rows of the canvas, into which figures are drawn band by band.
 *
 * Figures count rows either from the top of the canvas or from its bottom, since upstream flips the canvas once the scene
 * is drawn; `direction` tells which.
 */
#ifndef ENVPOOL_BOX2D_CAR_RACING_BAND_H
#define ENVPOOL_BOX2D_CAR_RACING_BAND_H

#include "cells.h"

#define BAND_HEIGHT 50 /* rows; divides CANVAS_HEIGHT */

typedef struct band {
  const cell_tables *tables;
  int32_t low, high; /* first and last row of the band, in the figure's count */
  int32_t direction; /* 1: rows[0] is row low; -1: rows[0] is row high */
  cell_row rows[BAND_HEIGHT];
} band;

static inline cell_row *band_row(band *b, int32_t y) { return b->rows + (b->direction > 0 ? y - b->low : b->high - y); }

/* Colours the pixels of row y, which is in the band, between two columns, both included and in any order. Columns outside
 * of the canvas are ignored. */
static inline void band_fill(band *b, int32_t y, int32_t from, int32_t to, uint32_t colour) {
  const int32_t low = at_least(at_most(from, to), 0), high = at_most(at_least(from, to), CANVAS_WIDTH - 1);
  if (low <= high)
    row_fill(b->tables, band_row(b, y), low, high, colour);
}

/* The `span` callback of lines and polygons: as band_fill(), but ignores rows outside of the band. */
static inline void band_span(void *target, int32_t y, int32_t from, int32_t to, uint32_t colour) {
  band *b = (band *)target;
  if (y >= b->low && y <= b->high)
    band_fill(b, y, from, to, colour);
}

#endif /* ENVPOOL_BOX2D_CAR_RACING_BAND_H */
