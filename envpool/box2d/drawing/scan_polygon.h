/* Filled polygons, pixel by pixel as pygame.draw.polygon draws them.
 *
 * A row is filled between pairs of crossings with the edges, which are rounded towards zero. An edge crosses the rows
 * from its upper end to the one before its lower end; in the last row of the polygon, edges count that end there.
 * Horizontal edges between the first and the last row are drawn as well.
 */
#ifndef ENVPOOL_BOX2D_SCAN_POLYGON_H
#define ENVPOOL_BOX2D_SCAN_POLYGON_H

#include "../../drawing/canvas.h"
#include "band.h"

#define SCAN_VERTICES 8

typedef struct scan_polygon {
  int32_t x[SCAN_VERTICES], y[SCAN_VERTICES];
  int32_t count;     /* vertices, at least 3 */
  int32_t low, high; /* the rows that it touches, not clipped */
  uint32_t colour;
} scan_polygon;

static inline void scan_polygon_init(scan_polygon *p, const double (*vertices)[2], int32_t count, uint32_t colour) {
  p->count = count;
  p->colour = colour;
  p->low = INT32_MAX;
  p->high = INT32_MIN;
  for (int32_t i = 0; i < count; i++) {
    p->x[i] = canvas_coordinate(vertices[i][0]);
    p->y[i] = canvas_coordinate(vertices[i][1]);
    p->low = at_most(p->low, p->y[i]);
    p->high = at_least(p->high, p->y[i]);
  }
}

/* Where the edges cross the rows of a band. */
typedef struct scan_crossings {
  int32_t x[BAND_HEIGHT][SCAN_VERTICES];
  uint8_t count[BAND_HEIGHT]; /* even */
} scan_crossings;

/* Adds the crossings of the edge that ends at vertex i with rows `begin` to `end`. */
static inline void scan_cross(scan_crossings *c, const scan_polygon *p, int32_t i, int32_t begin, int32_t end) {
  const int32_t before = i ? i - 1 : p->count - 1;
  const int32_t upper = p->y[before] < p->y[i] ? before : i, lower = upper == i ? before : i;
  const double x1 = p->x[upper], width = (double)p->x[lower] - x1, y1 = p->y[upper], height = (double)p->y[lower] - y1;
  if (height == 0)
    return;
  const int32_t last = at_most(p->y[lower] == p->high ? p->high : p->y[lower] - 1, end);
  for (int32_t y = at_least(p->y[upper], begin); y <= last; y++)
    c->x[y - begin][c->count[y - begin]++] = canvas_coordinate((y - y1) * width / height + x1);
}

static inline void scan_sort(int32_t *x, int32_t count) {
  for (int32_t i = 1; i < count; i++) {
    const int32_t value = x[i];
    int32_t k = i;
    for (; k > 0 && x[k - 1] > value; k--)
      x[k] = x[k - 1];
    x[k] = value;
  }
}

/* Draws what the band has of a polygon. */
static inline void scan_polygon_draw(band *b, const scan_polygon *p) {
  const int32_t begin = at_least(p->low, b->low), end = at_most(p->high, b->high);
  scan_crossings c;
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
  memset(c.count, 0, (size_t)(end - begin + 1));
  for (int32_t i = 0; i < p->count; i++)
    scan_cross(&c, p, i, begin, end);
  for (int32_t y = begin; y <= end; y++) {
    int32_t *x = c.x[y - begin];
    const int32_t count = c.count[y - begin];
    if (count > 2) /* two need no order */
      scan_sort(x, count);
    for (int32_t i = 0; i < count; i += 2)
      band_fill(b, y, x[i], x[i + 1], p->colour);
  }
  for (int32_t i = 0; i < p->count; i++) {
    const int32_t before = i ? i - 1 : p->count - 1, y = p->y[i];
    if (p->y[before] == y && p->low < y && y < p->high && y >= begin && y <= end)
      band_fill(b, y, p->x[before], p->x[i], p->colour);
  }
}

#endif /* ENVPOOL_BOX2D_SCAN_POLYGON_H */
