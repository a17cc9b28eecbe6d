/* Lines with a width of one or two pixels: the pixels of pygame.draw.line and pygame.draw.lines (Bresenham). */
#ifndef ENVPOOL_RASTER_LINE_H
#define ENVPOOL_RASTER_LINE_H

#include <math.h>
#include <stdlib.h>

#include "canvas.h"

/* A line, clipped. Clipping rounds the ends, so that the pixels may differ from those of the original line. */
typedef struct line {
  int32_t x[2], y[2];
  int32_t end_x, end_y;  /* last pixel, not clipped                                           */
  int32_t width, height; /* of the whole line, not clipped                                    */
  int32_t right, down;   /* directions: 1 or -1                                               */
  uint32_t colour;
} line;

/* Colours the pixels of a row between two columns, both included and in order; they may lie outside of the canvas. */
typedef void line_span(void *target, int32_t y, int32_t from, int32_t to, uint32_t colour);

/* Reduces [*first, *last] to the parameters t for which position + t * step is in [0, size]. */
static inline void line_clip_side(double position, double step, double size, double *first, double *last) {
  if (step == 0)
    return;
  const double low = -position / step, high = (size - position) / step;
  *first = fmax(*first, step > 0 ? low : high);
  *last = fmin(*last, step > 0 ? high : low);
}

static inline int32_t line_round(double value) { return (int32_t)(value < 0 ? value - 0.5 : value + 0.5); }

/* Prepares a line on a canvas. Fractions of coordinates are discarded. Returns 0 if no part of the line is visible. */
static inline int32_t line_init(line *l, int32_t width, int32_t height, const double *from, const double *to,
                                uint32_t colour) {
  const int32_t x = canvas_coordinate(from[0]), y = canvas_coordinate(from[1]);
  const double far = 1 << 30; /* differences of larger coordinates would overflow */
  l->end_x = canvas_coordinate(to[0]);
  l->end_y = canvas_coordinate(to[1]);
  if (fabs((double)x) > far || fabs((double)y) > far || fabs((double)l->end_x) > far || fabs((double)l->end_y) > far)
    return 0;
  const int32_t dx = l->end_x - x, dy = l->end_y - y;
  double first = 0, last = 1;
  if ((dx == 0 && (x < 0 || x > width)) || (dy == 0 && (y < 0 || y > height)))
    return 0;
  line_clip_side(x, dx, width, &first, &last);
  line_clip_side(y, dy, height, &first, &last);
  if (first > last)
    return 0;
  l->x[0] = x + line_round(dx * first);
  l->y[0] = y + line_round(dy * first);
  l->x[1] = x + line_round(dx * last);
  l->y[1] = y + line_round(dy * last);
  l->width = abs(dx);
  l->height = abs(dy);
  l->right = dx > 0 ? 1 : -1;
  l->down = dy > 0 ? 1 : -1;
  l->colour = colour;
  return 1;
}

/* Advances from one pixel of a line to the next. */
static inline void line_advance(int32_t *x, int32_t *y, int32_t *error, int32_t width, int32_t height, int32_t right,
                                int32_t down) {
  const int32_t before = *error;
  if (before > -width) {
    *error -= height;
    *x += right;
  }
  if (before < height) {
    *error += width;
    *y += down;
  }
}

/* Draws a line with a width of one pixel. The clipped line is drawn as if it were an independent line. */
__attribute__((always_inline)) static inline void line_draw_thin(const line *l, line_span *span, void *target) {
  const int32_t width = abs(l->x[1] - l->x[0]), height = abs(l->y[1] - l->y[0]);
  const int32_t right = l->x[0] < l->x[1] ? 1 : -1, down = l->y[0] < l->y[1] ? 1 : -1;
  int32_t x = l->x[0], y = l->y[0], error = (width > height ? width : -height) / 2;
  for (; x != l->x[1] || y != l->y[1]; line_advance(&x, &y, &error, width, height, right, down))
    span(target, y, x, x, l->colour);
  span(target, y, x, x, l->colour);
}

/* Draws a line with a width of two pixels: the second pixel is the next one in the row, or in the column if the line is
 * flat. The clipped line continues as the whole line would, also beyond its end while it is on the canvas (in_width,
 * in_height). */
__attribute__((always_inline)) static inline void line_draw_double(const line *l, int32_t in_width, int32_t in_height,
                                                                   line_span *span, void *target) {
  const int32_t is_steep = l->width <= l->height;
  int32_t x = l->x[0], y = l->y[0], error = (l->width > l->height ? l->width : -l->height) / 2;
  for (;;) {
    const int32_t is_before = (x - l->x[1]) * l->right < 0 || (y - l->y[1]) * l->down < 0;
    const int32_t is_end = is_steep ? y == l->end_y : x == l->end_x;
    const int32_t has_row = y >= 0 && y < in_height, has_next_row = y + 1 >= 0 && y + 1 < in_height;
    const int32_t has_column = x >= 0 && x < in_width, has_next_column = x + 1 >= 0 && x + 1 < in_width;
    span(target, y, x, is_steep ? x + 1 : x, l->colour);
    if (!is_steep)
      span(target, y + 1, x, x, l->colour);
    if (!is_before && (is_end || !(is_steep ? has_row && (has_column || has_next_column)
                                            : has_column && (has_row || has_next_row))))
      return;
    line_advance(&x, &y, &error, l->width, l->height, l->right, l->down);
  }
}

static inline void line_canvas_span(void *target, int32_t y, int32_t from, int32_t to, uint32_t colour) {
  canvas_span((const canvas *)target, y, from, to, colour);
}

/* Draws a line with a width of one pixel on a canvas. */
static inline void line_draw(const canvas *c, const double *from, const double *to, uint32_t colour) {
  line l;
  if (line_init(&l, c->width, c->height, from, to, colour))
    line_draw_thin(&l, line_canvas_span, (void *)c);
}

/* Draws the sides of a polygon (count, 2) with a width of one pixel. */
static inline void line_draw_around(const canvas *c, const double (*vertices)[2], int32_t count, uint32_t colour) {
  for (int32_t i = 0; i < count; i++)
    line_draw(c, vertices[i], vertices[i + 1 < count ? i + 1 : 0], colour);
}

#endif /* ENVPOOL_RASTER_LINE_H */
