/* Filled polygons and circles with antialiased edges: the pixels of pygame.gfxdraw (SDL_gfx), aapolygon followed by
 * filled_polygon and aacircle followed by filled_circle. All coordinates are int16 and wrap around.
 */
#ifndef ENVPOOL_RASTER_GFX_H
#define ENVPOOL_RASTER_GFX_H

#include <math.h>

#include "canvas.h"
#include "clip_line.h"
#include "turn.h"

#define GFX_VERTICES 8 /* largest number of vertices */

/* Converts a number by int() and to int16. Returns 0 where pygame raises: the number is NaN or does not fit in int64. */
static inline int32_t gfx_coordinate(double value, int16_t *out) {
  if (!(value > -9223372036854775809.0 && value < 9223372036854775808.0))
    return 0;
  *out = (int16_t)(uint16_t)(uint64_t)(int64_t)value;
  return 1;
}

/* Blends a colour into a pixel with about share / 256; each channel is rounded down. */
static inline void gfx_blend(const canvas *c, int32_t x, int32_t y, uint32_t colour, uint32_t share) {
  const int32_t weight = (int32_t)(255 * share >> 8);
  if (!canvas_has(c, x, y))
    return;
  uint8_t *pixel = canvas_pixel(c, x, y);
  for (int32_t k = 0; k < 3; k++)
    pixel[k] = (uint8_t)(pixel[k] + (((int32_t)(colour >> 8 * k & 255) - pixel[k]) * weight >> 8));
}

/* Draws an antialiased edge without its last pixel, which belongs to the next edge. */
static inline void gfx_draw_edge(const canvas *c, int16_t x1, int16_t y1, int16_t x2, int16_t y2, uint32_t colour) {
  int16_t x[2] = {x1, x2}, y[2] = {y1, y2};
  if (!clip_line(c->width, c->height, x, y))
    return;
  const int32_t top = y[0] > y[1];
  const int32_t dx = x[!top] - x[top], dy = y[!top] - y[top];
  const int32_t width = dx < 0 ? -dx : dx, aside = dx < 0 ? -1 : 1;
  int32_t column = x[top], row = y[top];
  if (dx == 0) {
    for (int32_t k = 0; k <= dy; k++)
      canvas_set(c, column, row + k, colour);
    return;
  }
  if (dy == 0) {
    canvas_span(c, row, column, column + dx, colour);
    return;
  }
  canvas_set(c, x[0], y[0], colour);
  const int32_t is_steep = dy > width, length = is_steep ? dy : width;
  const uint32_t slope = (uint32_t)((is_steep ? width : dy) << 16) / (uint32_t)length;
  uint32_t done = 0; /* distance along the shorter side in 1 / 0x10000 pixel */
  for (int32_t k = 1; k < length; k++) {
    done += slope & 0xffff;
    const int32_t shift = (int32_t)(done >> 16) + (slope >> 16 ? k : 0);
    const uint32_t share = done >> 8 & 255;
    const int32_t px = is_steep ? column + aside * shift : column + aside * k;
    const int32_t py = is_steep ? row + k : row + shift;
    gfx_blend(c, px, py, colour, 255 - share);
    gfx_blend(c, is_steep ? px + aside : px, is_steep ? py : py + 1, colour, share);
  }
}

static inline int32_t gfx_round(int32_t crossing) { return (crossing >> 16) + ((crossing & 0x8000) >> 15); }

/* Returns the column at which an edge crosses a row, in 1 / 0x10000 pixel; products wrap around. */
static inline int32_t gfx_crossing(int32_t x1, int32_t y1, int32_t x2, int32_t y2, int32_t y) {
  const int32_t share = (int32_t)((uint32_t)(y - y1) << 16) / (y2 - y1);
  return (int32_t)((uint32_t)share * (uint32_t)(x2 - x1) + ((uint32_t)x1 << 16));
}

static inline void gfx_fill(const canvas *c, const int16_t *x, const int16_t *y, int32_t count, uint32_t colour) {
  int32_t low = y[0], high = y[0];
  for (int32_t i = 1; i < count; i++) {
    low = y[i] < low ? y[i] : low;
    high = y[i] > high ? y[i] : high;
  }
  for (int32_t row = low > 0 ? low : 0; row <= high && row < c->height; row++) {
    int32_t ends[GFX_VERTICES], found = 0;
    for (int32_t i = 0; i < count; i++) {
      const int32_t before = i ? i - 1 : count - 1;
      const int32_t upper = y[before] < y[i] ? before : i, lower = upper == i ? before : i;
      const int32_t y1 = y[upper], y2 = y[lower];
      if (!((row >= y1 && row < y2) || (row == high && row > y1 && row <= y2)))
        continue;
      const int32_t crossing = gfx_crossing(x[upper], y1, x[lower], y2, row);
      int32_t k = found++;
      for (; k > 0 && ends[k - 1] > crossing; k--)
        ends[k] = ends[k - 1];
      ends[k] = crossing;
    }
    for (int32_t i = 0; i + 1 < found; i += 2)
      canvas_span(c, row, (int16_t)gfx_round(ends[i] + 1), (int16_t)gfx_round(ends[i + 1] - 1), colour);
  }
}

/* Draws the antialiased edges of a polygon with int16 coordinates. */
static inline void gfx_draw_edges(const canvas *c, const int16_t *x, const int16_t *y, int32_t count, uint32_t colour) {
  for (int32_t i = 0; i < count; i++) {
    const int32_t next = i + 1 < count ? i + 1 : 0;
    gfx_draw_edge(c, x[i], y[i], x[next], y[next], colour);
  }
}

/* Converts vertices to int16 coordinates. Returns 0 if pygame rejects one of them. */
static inline int32_t gfx_coordinates(const double (*vertices)[2], int32_t count, int16_t *x, int16_t *y) {
  for (int32_t i = 0; i < count; i++)
    if (!gfx_coordinate(vertices[i][0], &x[i]) || !gfx_coordinate(vertices[i][1], &y[i]))
      return 0;
  return 1;
}

/* Draws the outline of a polygon with 3 to GFX_VERTICES vertices, or nothing if pygame rejects one of them. */
static inline void gfx_draw_outline(const canvas *c, const double (*vertices)[2], int32_t count, uint32_t colour) {
  int16_t x[GFX_VERTICES], y[GFX_VERTICES];
  if (gfx_coordinates(vertices, count, x, y))
    gfx_draw_edges(c, x, y, count, colour);
}

/* Draws a filled polygon with 3 to GFX_VERTICES vertices, or nothing if pygame rejects one of them. */
static inline void gfx_draw_polygon(const canvas *c, double (*vertices)[2], int32_t count, uint32_t colour) {
  int16_t x[GFX_VERTICES], y[GFX_VERTICES];
  if (!gfx_coordinates((const double (*)[2])vertices, count, x, y))
    return;
  gfx_draw_edges(c, x, y, count, colour);
  gfx_fill(c, x, y, count, colour);
}

/* Draws a rectangle that is rotated around the origin, moved up by `lift`, and moved by x and y. */
static inline void gfx_draw_box(const canvas *c, double left, double right, double low, double high, const turn *by,
                                double lift, double x, double y, uint32_t colour) {
  double vertices[4][2] = {{left, low}, {left, high}, {right, high}, {right, low}};
  for (int32_t i = 0; i < 4; i++) {
    double turned[2];
    turn_point(by, vertices[i][0], vertices[i][1], turned);
    vertices[i][0] = turned[0] + x;
    vertices[i][1] = turned[1] + lift + y;
  }
  gfx_draw_polygon(c, vertices, 4, colour);
}

/* Blends a colour into a pixel and its three mirror images. */
static inline void gfx_blend_four(const canvas *c, int32_t x, int32_t y, int32_t dx, int32_t dy, uint32_t colour,
                                  uint32_t share) {
  gfx_blend(c, x + dx, y + dy, colour, share);
  gfx_blend(c, x - dx, y + dy, colour, share);
  gfx_blend(c, x + dx, y - dy, colour, share);
  gfx_blend(c, x - dx, y - dy, colour, share);
}

/* Returns the share of a step, 0 to 255, that the outer of two pixels has: the error divided by the gradient. */
static inline uint32_t gfx_outer_share(int32_t error, int32_t gradient) {
  const float share = gradient ? (float)abs(error) / (float)abs(gradient) : 1.0f;
  return (uint32_t)(uint8_t)((share > 1.0f ? 1.0f : share) * 255);
}

/* Draws the rim of a circle, from the topmost pixel to the left: first column by column, then row by row. */
static inline void gfx_draw_rim(const canvas *c, int32_t x, int32_t y, int32_t radius, uint32_t colour) {
  const int32_t square = radius * radius, step = 2 * square;
  const int32_t steps = (int32_t)lrint((double)square / sqrt((double)(square + square)));
  int32_t dx = 0, dy = radius;            /* distance from the centre to the left, and upwards */
  int32_t t = 0, s = -step * radius, d = 0; /* derivatives and error of the implicit equation */
  canvas_set(c, x, y - dy, colour);
  canvas_set(c, x, y + dy, colour);
  for (int32_t k = 0; k < steps; k++) {
    int32_t other;
    dx++;
    d += t - square;
    if (d >= 0) {
      other = dy + 1;
    } else if (d - s - square > 0) {
      other = dy - 1;
      if (2 * d - s - square < 0) {
        other = dy--;
        d -= s + square;
        s += step;
      }
    } else {
      dy--;
      other = dy - 1;
      d -= s + square;
      s += step;
    }
    t -= step;
    const uint32_t share = gfx_outer_share(d, s);
    gfx_blend_four(c, x, y, dx, dy, colour, 255 - share);
    gfx_blend_four(c, x, y, dx, other, colour, share);
  }
  for (int32_t k = 0; k < steps; k++) {
    int32_t other;
    dy--;
    d -= s + square;
    if (d <= 0) {
      other = dx - 1;
    } else if (d + t - square < 0) {
      other = dx + 1;
      if (2 * d + t - square > 0) {
        other = dx++;
        d += t - square;
        t -= step;
      }
    } else {
      dx++;
      other = dx + 1;
      d += t - square;
      t -= step;
    }
    s += step;
    const uint32_t share = gfx_outer_share(d, t);
    gfx_blend_four(c, x, y, dx, dy, colour, 255 - share);
    gfx_blend_four(c, x, y, other, dy, colour, share);
  }
}

/* Fills the rows of a disc, by the midpoint algorithm. */
static inline void gfx_fill_disc(const canvas *c, int32_t x, int32_t y, int32_t radius, uint32_t colour) {
  int32_t dx = 0, dy = radius, drawn = -1;
  int32_t error = 1 - radius, right = 3, diagonal = 5 - 2 * radius;
  do {
    if (drawn != dy) {
      canvas_span(c, y + dy, x - dx, x + dx, colour);
      canvas_span(c, y - dy, x - dx, x + dx, colour);
      drawn = dy;
    }
    if (dx != dy) {
      canvas_span(c, y - dx, x - dy, x + dy, colour);
      canvas_span(c, y + dx, x - dy, x + dy, colour);
    }
    if (error < 0) {
      error += right;
      diagonal += 2;
    } else {
      error += diagonal;
      diagonal += 4;
      dy--;
    }
    right += 2;
    dx++;
  } while (dx <= dy);
}

/* Draws a circle around (int(x), int(y)), or nothing if pygame rejects a number that does not fit in int16. */
static inline void gfx_draw_circle(const canvas *c, double x, double y, double radius, uint32_t colour) {
  const double limit = 32768;
  if (!(x > -limit - 1 && x < limit && y > -limit - 1 && y < limit && radius >= 0 && radius < limit))
    return;
  const int32_t cx = (int32_t)x, cy = (int32_t)y, r = (int32_t)radius;
  if ((int16_t)(cx + r) < 0 || (int16_t)(cx - r) >= c->width || (int16_t)(cy + r) < 0 || (int16_t)(cy - r) >= c->height)
    return;
  if (r == 0) {
    canvas_set(c, cx, cy, colour);
    return;
  }
  gfx_draw_rim(c, cx, cy, r, colour);
  gfx_fill_disc(c, cx, cy, r, colour);
}

#endif /* ENVPOOL_RASTER_GFX_H */
