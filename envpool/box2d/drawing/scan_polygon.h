/* Filled polygons, pixel by pixel as pygame.draw.polygon draws them.
 *
 * A row is filled between pairs of crossings with the edges, which are rounded towards zero. An edge crosses the rows
 * from its upper end to the one before its lower end; in the last row of the polygon, edges count that end there.
 * Horizontal edges between the first and the last row are drawn as well.
 */
#ifndef ENVPOOL_BOX2D_SCAN_POLYGON_H
#define ENVPOOL_BOX2D_SCAN_POLYGON_H

#include "band.h"

#define SCAN_VERTICES 8

typedef struct scan_polygon {
  int32_t x[SCAN_VERTICES], y[SCAN_VERTICES];
  int32_t count;     /* vertices, at least 3 */
  int32_t low, high; /* the rows that it touches, not clipped */
  uint32_t colour;
} scan_polygon;

/* What x86 makes of a double: rounded towards zero, INT32_MIN where that does not fit. */
static inline int32_t scan_coordinate(double value) {
  return value > -2147483649.0 && value < 2147483648.0 ? (int32_t)value : INT32_MIN;
}

static inline void scan_polygon_init(scan_polygon *p, const double (*vertices)[2], int32_t count, uint32_t colour) {
  p->count = count;
  p->colour = colour;
  p->low = INT32_MAX;
  p->high = INT32_MIN;
  for (int32_t i = 0; i < count; i++) {
    p->x[i] = scan_coordinate(vertices[i][0]);
    p->y[i] = scan_coordinate(vertices[i][1]);
    p->low = at_most(p->low, p->y[i]);
    p->high = at_least(p->high, p->y[i]);
  }
}

/* Crossings of row y with the edges, ascending; returns their number, which is even. */
static inline int32_t scan_crossings(const scan_polygon *p, int32_t y, int32_t *crossings) {
  int32_t n = 0;
  for (int32_t i = 0; i < p->count; i++) {
    const int32_t before = i ? i - 1 : p->count - 1;
    const int32_t upper = p->y[before] < p->y[i] ? before : i, lower = upper == i ? before : i;
    if (p->y[upper] == p->y[lower] || y < p->y[upper] || y > p->y[lower] || (y == p->y[lower] && y != p->high))
      continue;
    const double x1 = p->x[upper], x2 = p->x[lower], y1 = p->y[upper], y2 = p->y[lower];
    const int32_t x = scan_coordinate((y - y1) * (x2 - x1) / (y2 - y1) + x1);
    int32_t k = n++;
    for (; k > 0 && crossings[k - 1] > x; k--)
      crossings[k] = crossings[k - 1];
    crossings[k] = x;
  }
  return n;
}

/* Draws what the band has of a polygon. */
static inline void scan_polygon_draw(band *b, const scan_polygon *p) {
  const int32_t begin = at_least(p->low, b->low), end = at_most(p->high, b->high);
  int32_t crossings[SCAN_VERTICES];
  if (begin > end)
    return;
  if (p->low == p->high) {
    int32_t left = p->x[0], right = p->x[0];
    for (int32_t i = 1; i < p->count; i++) {
      left = at_most(left, p->x[i]);
      right = at_least(right, p->x[i]);
    }
    band_fill(b, p->low, left, right, p->colour);
    return;
  }
  for (int32_t y = begin; y <= end; y++) {
    const int32_t n = scan_crossings(p, y, crossings);
    for (int32_t i = 0; i < n; i += 2)
      band_fill(b, y, crossings[i], crossings[i + 1], p->colour);
  }
  for (int32_t i = 0; i < p->count; i++) {
    const int32_t before = i ? i - 1 : p->count - 1, y = p->y[i];
    if (p->y[before] == y && p->low < y && y < p->high && y >= begin && y <= end)
      band_fill(b, y, p->x[before], p->x[i], p->colour);
  }
}

#endif /* ENVPOOL_BOX2D_SCAN_POLYGON_H */
