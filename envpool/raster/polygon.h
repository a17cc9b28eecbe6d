/* Filled polygons: the pixels of pygame.draw.polygon.
 *
 * A row is filled between pairs of crossings with the edges. Of the crossings in the order of the edges, the first, third
 * and so on are rounded down and the others up. An edge crosses the rows from its upper end to the row before its lower end;
 * in the last row of the polygon, the edges that end there count. Horizontal edges between the first and the last row are
 * drawn as well. Triangles are filled between the edge from their first to their last row and the two others; a crossing is
 * rounded towards the upper end of its edge. Crossings are computed in float32.
 */
#ifndef ENVPOOL_RASTER_POLYGON_H
#define ENVPOOL_RASTER_POLYGON_H

#include "canvas.h"

#define POLYGON_VERTICES 8 /* largest number of vertices          */
#define POLYGON_ROWS 50    /* rows that are processed together    */

typedef struct polygon {
  int32_t x[POLYGON_VERTICES], y[POLYGON_VERTICES];
  int32_t count;     /* vertices, at least 3 */
  int32_t low, high; /* first and last row, not clipped */
  uint32_t colour;
} polygon;

/* Colours the pixels of a row between two columns, both included and in any order; they may lie outside of the canvas. */
typedef void polygon_span(void *target, int32_t y, int32_t from, int32_t to, uint32_t colour);

static inline void polygon_init(polygon *p, const double (*vertices)[2], int32_t count, uint32_t colour) {
  p->count = count;
  p->colour = colour;
  p->low = INT32_MAX;
  p->high = INT32_MIN;
  for (int32_t i = 0; i < count; i++) {
    p->x[i] = canvas_coordinate(vertices[i][0]);
    p->y[i] = canvas_coordinate(vertices[i][1]);
    p->low = p->y[i] < p->low ? p->y[i] : p->low;
    p->high = p->y[i] > p->high ? p->y[i] : p->high;
  }
}

/* The crossings of the edges with some rows. */
typedef struct polygon_crossings {
  int32_t x[POLYGON_ROWS][POLYGON_VERTICES];
  uint8_t count[POLYGON_ROWS]; /* even */
} polygon_crossings;

/* Rounds towards zero, or returns INT32_MIN if the result does not fit. */
static inline int32_t polygon_whole(float value) {
  return value >= -2147483648.0f && value < 2147483648.0f ? (int32_t)value : INT32_MIN;
}

/* Sum, difference and product; results that do not fit wrap around. */
static inline int32_t polygon_add(int32_t a, int32_t b) { return (int32_t)((uint32_t)a + (uint32_t)b); }
static inline int32_t polygon_distance(int32_t from, int32_t to) { return (int32_t)((uint32_t)to - (uint32_t)from); }
static inline int32_t polygon_product(int32_t a, int32_t b) { return (int32_t)((uint32_t)a * (uint32_t)b); }

/* Adds the crossings of the edge that ends at vertex i with rows `begin` to `end`. */
static inline void polygon_cross(polygon_crossings *c, const polygon *p, int32_t i, int32_t begin, int32_t end) {
  const int32_t before = i ? i - 1 : p->count - 1;
  const int32_t upper = p->y[before] < p->y[i] ? before : i, lower = upper == i ? before : i;
  const int32_t x1 = p->x[upper], y1 = p->y[upper], width = polygon_distance(x1, p->x[lower]);
  const float height = (float)polygon_distance(y1, p->y[lower]);
  if (p->y[lower] == y1)
    return;
  const int32_t bottom = p->y[lower] == p->high ? p->high : p->y[lower] - 1, last = bottom < end ? bottom : end;
  for (int32_t y = y1 > begin ? y1 : begin; y <= last; y++) {
    const float aside = (float)polygon_product(polygon_distance(y1, y), width) / height;
    const int32_t towards_zero = polygon_whole(aside), count = c->count[y - begin]++;
    const int32_t correction = count % 2 ? (float)towards_zero < aside : -((float)towards_zero > aside);
    c->x[y - begin][count] = polygon_add(polygon_add(towards_zero, correction), x1);
  }
}

/* Returns the slope of an edge of a triangle; a level edge has a huge slope, which has no effect. */
static inline float polygon_slope(const polygon *p, int32_t from, int32_t to) {
  return (float)(polygon_distance(p->x[from], p->x[to]) / (polygon_distance(p->y[from], p->y[to]) + 1e-17));
}

static inline void polygon_swap(int32_t *upper, int32_t *lower) {
  const int32_t kept = *upper;
  *upper = *lower;
  *lower = kept;
}

/* Draws rows `begin` to `end` of a triangle. */
__attribute__((always_inline)) static inline void polygon_draw_triangle(const polygon *p, int32_t begin, int32_t end,
                                                                        polygon_span *span, void *target) {
  int32_t top = 0, middle = 1, bottom = 2;
  if (p->y[middle] < p->y[top])
    polygon_swap(&top, &middle);
  if (p->y[bottom] < p->y[middle]) {
    polygon_swap(&middle, &bottom);
    if (p->y[middle] < p->y[top])
      polygon_swap(&top, &middle);
  }
  if (p->low == p->high && p->x[top] == p->x[middle])
    polygon_swap(&middle, &bottom);
  const float along = polygon_slope(p, top, bottom), above = polygon_slope(p, top, middle);
  const float below = polygon_slope(p, middle, bottom);
  for (int32_t y = begin; y <= end; y++) {
    const int32_t is_above = y < p->y[middle], corner = is_above ? top : middle;
    const float from_top = (float)polygon_distance(p->y[top], y), from_corner = (float)polygon_distance(p->y[corner], y);
    span(target, y, polygon_add(p->x[top], polygon_whole(from_top * along)),
         polygon_add(p->x[corner], polygon_whole(from_corner * (is_above ? above : below))), p->colour);
  }
}

static inline void polygon_sort(int32_t *x, int32_t count) {
  for (int32_t i = 1; i < count; i++) {
    const int32_t value = x[i];
    int32_t k = i;
    for (; k > 0 && x[k - 1] > value; k--)
      x[k] = x[k - 1];
    x[k] = value;
  }
}

/* Draws rows `begin` to `end` of a polygon: at most POLYGON_ROWS rows. The polygon must have at least one of them. */
__attribute__((always_inline)) static inline void polygon_draw_rows(const polygon *p, int32_t begin, int32_t end,
                                                                    polygon_span *span, void *target) {
  polygon_crossings c;
  memset(c.count, 0, (size_t)(end - begin + 1));
  for (int32_t i = 0; i < p->count; i++)
    polygon_cross(&c, p, i, begin, end);
  for (int32_t y = begin; y <= end; y++) {
    int32_t *x = c.x[y - begin];
    const int32_t count = c.count[y - begin];
    if (count > 2) /* spans accept their two ends in any order */
      polygon_sort(x, count);
    for (int32_t i = 0; i < count; i += 2)
      span(target, y, x[i], x[i + 1], p->colour);
  }
  for (int32_t i = 0; i < p->count; i++) {
    const int32_t before = i ? i - 1 : p->count - 1, y = p->y[i];
    if (p->y[before] == y && p->low < y && y < p->high && y >= begin && y <= end)
      span(target, y, p->x[before], p->x[i], p->colour);
  }
}

/* Draws the part of a polygon in rows `low` to `high`. */
__attribute__((always_inline)) static inline void polygon_draw_spans(const polygon *p, int32_t low, int32_t high,
                                                                     polygon_span *span, void *target) {
  const int32_t begin = p->low > low ? p->low : low, end = p->high < high ? p->high : high;
  if (begin > end)
    return;
  if (p->count == 3) {
    polygon_draw_triangle(p, begin, end, span, target);
    return;
  }
  if (p->low == p->high) {
    int32_t left = p->x[0], right = p->x[0];
    for (int32_t i = 1; i < p->count; i++) {
      left = p->x[i] < left ? p->x[i] : left;
      right = p->x[i] > right ? p->x[i] : right;
    }
    span(target, p->low, left, right, p->colour);
    return;
  }
  for (int32_t row = begin; row <= end; row += POLYGON_ROWS)
    polygon_draw_rows(p, row, end - row < POLYGON_ROWS ? end : row + POLYGON_ROWS - 1, span, target);
}

static inline void polygon_canvas_span(void *target, int32_t y, int32_t from, int32_t to, uint32_t colour) {
  canvas_span((const canvas *)target, y, from, to, colour);
}

/* Draws a polygon (count, 2) with 3 to POLYGON_VERTICES vertices. */
static inline void polygon_draw(const canvas *c, const double (*vertices)[2], int32_t count, uint32_t colour) {
  polygon p;
  polygon_init(&p, vertices, count, colour);
  polygon_draw_spans(&p, 0, c->height - 1, polygon_canvas_span, (void *)c);
}

#endif /* ENVPOOL_RASTER_POLYGON_H */
