/* Antialiased lines: the pixels of pygame.draw.aaline and pygame.draw.aalines, in float32 arithmetic. */
#ifndef ENVPOOL_RASTER_AALINE_H
#define ENVPOOL_RASTER_AALINE_H

#include <math.h>

#include "canvas.h"

/* Lines are drawn along their longer side: `along` and `across` are x and y, or y and x if the line is steep. */
typedef struct aaline_target {
  const canvas *c;
  int32_t is_steep;
  uint32_t colour;
} aaline_target;

/* Blends the colour into a pixel with a weight of `brightness`, 0 to 1. */
static inline void aaline_mix(const canvas *c, int32_t x, int32_t y, uint32_t colour, float brightness) {
  if (!canvas_has(c, x, y))
    return;
  uint8_t *pixel = canvas_pixel(c, x, y);
  for (int32_t k = 0; k < 3; k++) {
    const int32_t channel = colour >> 8 * k & 255;
    pixel[k] = (uint8_t)(int32_t)(brightness * (float)channel + (1 - brightness) * (float)pixel[k]);
  }
}

static inline void aaline_plot(const aaline_target *t, int32_t along, int32_t across, float brightness) {
  aaline_mix(t->c, t->is_steep ? across : along, t->is_steep ? along : across, t->colour, brightness);
}

/* Draws the two pixels at one end, whose part `gap` is covered. `across` is greater by 1 than on the canvas. */
static inline void aaline_end(const aaline_target *t, int32_t along, float across, float gap) {
  const int32_t whole = canvas_coordinate(across);
  const float share = across - (float)whole;
  if ((float)whole < across)
    aaline_plot(t, along, whole, share * gap);
  aaline_plot(t, along, whole - 1, (1 - share) * gap);
}

/* Which ends of a line are not drawn, since it is one of several lines. A shared end is drawn nevertheless if only one of
 * the two lines is steep. */
typedef struct aaline_ends {
  int32_t hides_first, hides_last, is_bend;
} aaline_ends;

static inline void aaline_swap(float *a, float *b) {
  const float kept = *a;
  *a = *b;
  *b = kept;
}

/* Draws a line, or nothing if a coordinate is not finite. The line is clipped to the canvas plus one pixel on each side, so
 * that pixels at the border get their part of it. The first end is the left one, or the upper one of a steep line. */
static inline void aaline_draw_part(const canvas *c, float x1, float y1, float x2, float y2, uint32_t colour,
                                    const aaline_ends *ends) {
  float dx = x2 - x1, dy = y2 - y1;
  if (!isfinite(dx) || !isfinite(dy))
    return;
  if (fabs((double)dx) < 0.0001 && fabs((double)dy) < 0.0001) {
    aaline_mix(c, canvas_coordinate(floor(x1 + 0.5)), canvas_coordinate(floor(y1 + 0.5)), colour, 1);
    return;
  }
  const aaline_target t = {c, fabsf(dx) < fabsf(dy), colour};
  float right = (float)c->width, bottom = (float)c->height;
  if (t.is_steep) {
    aaline_swap(&x1, &y1);
    aaline_swap(&x2, &y2);
    aaline_swap(&dx, &dy);
    aaline_swap(&right, &bottom);
  }
  if (dx < 0) {
    aaline_swap(&x1, &x2);
    aaline_swap(&y1, &y2);
    dx = -dx;
    dy = -dy;
  }
  if (x2 <= -1 || x1 >= right)
    return;
  const float gradient = dy / dx;
  if (x1 < -1) {
    y1 += gradient * (-1 - x1);
    x1 = -1;
  }
  if (x2 > right) {
    y2 += gradient * (right - x2);
    x2 = right;
  }
  const int32_t goes_down = gradient > 0;
  float *upper_x = goes_down ? &x1 : &x2, *upper_y = goes_down ? &y1 : &y2;
  float *lower_x = goes_down ? &x2 : &x1, *lower_y = goes_down ? &y2 : &y1;
  if (*lower_y <= -1 || *upper_y >= bottom)
    return;
  if (*upper_y < -1) {
    *upper_x += (-1 - *upper_y) / gradient;
    *upper_y = -1;
  }
  if (*lower_y > bottom) {
    *lower_x += (bottom - *lower_y) / gradient;
    *lower_y = bottom;
  }
  /* 1 is added so that no `across` is negative: rounding towards zero then rounds down. */
  y1 += 1;
  y2 += 1;
  int32_t first = canvas_coordinate(x1);
  const int32_t last = canvas_coordinate(ceil(x2));
  float across = y1 + gradient * ((float)first - x1);
  if (x2 > 0 && (!ends->hides_first || ends->is_bend)) {
    aaline_end(&t, first, across, (float)(1 + first) - x1);
    across += gradient;
    first++;
  }
  if (ends->hides_first) {
    first = canvas_coordinate(ceil(x1));
    across = y1 + gradient * ((float)first - x1);
  }
  if (x1 < right - 1 && (!ends->hides_last || ends->is_bend))
    aaline_end(&t, last, y2 + gradient * ((float)last - x2), (float)(1 - last) + x2);
  for (int32_t along = first; along < last; along++, across += gradient) {
    const int32_t whole = canvas_coordinate(across);
    const float near = 1 - across + (float)whole;
    aaline_plot(&t, along, whole - 1, near);
    if ((float)whole < across)
      aaline_plot(&t, along, whole, 1 - near);
  }
}

static inline void aaline_draw(const canvas *c, float x1, float y1, float x2, float y2, uint32_t colour) {
  const aaline_ends both = {0, 0, 0};
  aaline_draw_part(c, x1, y1, x2, y2, colour, &both);
}

/* Returns whether two points are farther apart in one direction than in the other. */
static inline int32_t aaline_is_steep(float x1, float y1, float x2, float y2) { return fabsf(x2 - x1) < fabsf(y2 - y1); }

/* Draws lines through points (count, 2), at least three, whose coordinates are rounded to float32; if `is_closed`, also from
 * the last point to the first. Both ends of a line are hidden unless the coordinates of its second point are whole numbers,
 * apart from the two ends of the whole. As in pygame, the height of the second line is measured from the start of the first
 * one where the two are compared. */
static inline void aaline_draw_through(const canvas *c, const double (*points)[2], int32_t count, int32_t is_closed,
                                       uint32_t colour) {
  int32_t was_steep = 0;
  for (int32_t i = 0; i < count - 1 + is_closed; i++) {
    const double *next = points[i + 1 < count ? i + 1 : 0];
    const float x1 = (float)points[i][0], y1 = (float)points[i][1], x2 = (float)next[0], y2 = (float)next[1];
    const int32_t is_shared = roundf(x2) != x2 || roundf(y2) != y2;
    const int32_t is_steep = aaline_is_steep(x1, y1, x2, y2);
    const int32_t is_bend = i > 0 ? is_steep != was_steep
                                  : is_steep > aaline_is_steep(x2, y1, (float)points[2][0], (float)points[2][1]);
    const aaline_ends ends = {is_shared && (i > 0 || is_closed), is_shared && (i < count - 2 || is_closed), is_bend};
    aaline_draw_part(c, x1, y1, x2, y2, colour, &ends);
    was_steep = is_steep;
  }
}

#endif /* ENVPOOL_RASTER_AALINE_H */
