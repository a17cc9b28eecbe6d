/* Lines with a width of one or two pixels: the pixels of pygame.draw.line and pygame.draw.lines (Bresenham). */
#ifndef ENVPOOL_RASTER_LINE_H
#define ENVPOOL_RASTER_LINE_H

#include <stdlib.h>

#include "canvas.h"

/* The part of a line that is within the rows of a canvas if the line is steep, or else within its columns. It has one pixel
 * in each of these rows or columns, all of them pixels of the whole line. */
typedef struct line {
  int32_t x, y;           /* first pixel                                                                      */
  int32_t count;          /* pixels, at least 1                                                               */
  int32_t right, down;    /* directions: 1 or -1                                                              */
  int32_t longer, shorter; /* height and width of the whole line, or width and height if it is not steep      */
  int32_t error;          /* grows by `shorter` with each pixel; at `longer`, the line moves to the side      */
  int32_t is_steep;       /* whether the line is at least as high as it is wide                               */
  uint32_t colour;
} line;

/* Colours the pixels of a row between two columns, both included and in order; they may lie outside of the canvas. */
typedef void line_span(void *target, int32_t y, int32_t from, int32_t to, uint32_t colour);

/* Prepares a line on a canvas. Fractions of coordinates are discarded. Returns 0 if no part of the line is visible. */
static inline int32_t line_init(line *l, int32_t width, int32_t height, const double *from, const double *to,
                                uint32_t colour) {
  const int32_t x = canvas_coordinate(from[0]), y = canvas_coordinate(from[1]);
  const int32_t end_x = canvas_coordinate(to[0]), end_y = canvas_coordinate(to[1]);
  const int32_t far = 1 << 29; /* differences and errors of larger coordinates would overflow */
  if (x < -far || x > far || y < -far || y > far || end_x < -far || end_x > far || end_y < -far || end_y > far)
    return 0;
  l->right = end_x > x ? 1 : -1;
  l->down = end_y > y ? 1 : -1;
  l->is_steep = abs(end_x - x) <= abs(end_y - y);
  l->longer = l->is_steep ? abs(end_y - y) : abs(end_x - x);
  l->shorter = l->is_steep ? abs(end_x - x) : abs(end_y - y);
  l->colour = colour;

  /* The pixels before the canvas are skipped. */
  const int32_t start = l->is_steep ? y : x, direction = l->is_steep ? l->down : l->right;
  const int32_t size = l->is_steep ? height : width;
  const int32_t before = direction > 0 ? -start : start - (size - 1), within = direction > 0 ? size - 1 - start : start;
  const int32_t first = before > 0 ? before : 0, last = within < l->longer ? within : l->longer;
  if (first > last)
    return 0;
  l->count = last - first + 1;
  const int64_t errors = (int64_t)first * l->shorter + l->longer - 1 - l->longer / 2;
  const int32_t aside = l->longer ? (int32_t)(errors / l->longer) : 0;
  l->error = l->longer ? (int32_t)(errors % l->longer) : 0;
  l->x = x + l->right * (l->is_steep ? aside : first);
  l->y = y + l->down * (l->is_steep ? first : aside);
  return 1;
}

/* Draws a line with a width of one pixel, or of two: the second pixel is the next one in the row, or in the column if the
 * line is flat. */
__attribute__((always_inline)) static inline void line_draw_spans(const line *l, int32_t is_double, line_span *span,
                                                                  void *target) {
  int32_t x = l->x, y = l->y, error = l->error;
  for (int32_t k = 0; k < l->count; k++) {
    span(target, y, x, is_double && l->is_steep ? x + 1 : x, l->colour);
    if (is_double && !l->is_steep)
      span(target, y + 1, x, x, l->colour);
    error += l->shorter;
    const int32_t moves = error >= l->longer;
    error -= moves ? l->longer : 0;
    x += l->is_steep && !moves ? 0 : l->right;
    y += l->is_steep || moves ? l->down : 0;
  }
}

static inline void line_canvas_span(void *target, int32_t y, int32_t from, int32_t to, uint32_t colour) {
  canvas_span((const canvas *)target, y, from, to, colour);
}

/* Draws a line with a width of one pixel on a canvas. */
static inline void line_draw(const canvas *c, const double *from, const double *to, uint32_t colour) {
  line l;
  if (line_init(&l, c->width, c->height, from, to, colour))
    line_draw_spans(&l, 0, line_canvas_span, (void *)c);
}

/* Draws the sides of a polygon (count, 2) with a width of one pixel. */
static inline void line_draw_around(const canvas *c, const double (*vertices)[2], int32_t count, uint32_t colour) {
  for (int32_t i = 0; i < count; i++)
    line_draw(c, vertices[i], vertices[i + 1 < count ? i + 1 : 0], colour);
}

#endif /* ENVPOOL_RASTER_LINE_H */
