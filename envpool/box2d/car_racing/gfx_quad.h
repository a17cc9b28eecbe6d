/* Filled quadrilaterals with antialiased edges: the pixels of pygame.gfxdraw.aapolygon followed by filled_polygon
 * (SDL_gfx).
 *
 * Edges are drawn first. Each edge is clipped to the canvas, which rounds, and drawn with two pixels per step along its
 * longer side, which share the colour; its first vertex has the full colour. The filling follows and covers the inner
 * half of the edges, so pixels that the filling will cover are skipped.
 */
#ifndef ENVPOOL_BOX2D_CAR_RACING_GFX_QUAD_H
#define ENVPOOL_BOX2D_CAR_RACING_GFX_QUAD_H

#include "envpool/raster/clip_line.h"
#include "band.h"

/* A clipped edge, from its upper end to its lower end; both are on the canvas. */
typedef struct gfx_edge {
  uint32_t slope;        /* shift along the shorter side per step along the longer side, in 1 / 0x10000 pixel  */
  int16_t x, y;          /* upper end                                                                          */
  int16_t length;        /* steps along the longer side; 0 for a single pixel                                  */
  int16_t first_x;       /* the end that has the full colour                                                   */
  int16_t first_y;
  int8_t kind;           /* a gfx_kind                                                                         */
  int8_t direction;      /* of x, from the upper end: 1 or -1                                                  */
} gfx_edge;

enum gfx_kind { GFX_NOTHING, GFX_STEEP, GFX_FLAT, GFX_VERTICAL, GFX_HORIZONTAL };

typedef struct gfx_quad {
  gfx_edge edges[4];
  int16_t x[4], y[4];
  int16_t low, high; /* first and last row of the quadrilateral, not clipped */
  uint32_t colour;
} gfx_quad;

static inline void gfx_edge_init(gfx_edge *e, int16_t x1, int16_t y1, int16_t x2, int16_t y2) {
  int16_t x[2] = {x1, x2}, y[2] = {y1, y2};
  e->kind = GFX_NOTHING;
  if (!clip_line(CANVAS_WIDTH, CANVAS_HEIGHT, x, y))
    return;
  const int32_t top = y[0] > y[1];
  const int32_t dx = x[!top] - x[top], dy = y[!top] - y[top];
  const int32_t width = dx < 0 ? -dx : dx;
  e->first_x = x[0];
  e->first_y = y[0];
  e->x = x[top];
  e->y = y[top];
  e->direction = dx < 0 ? -1 : 1;
  e->slope = 0;
  if (dx == 0) {
    e->kind = GFX_VERTICAL;
    e->length = (int16_t)dy;
  } else if (dy == 0) {
    e->kind = GFX_HORIZONTAL;
    e->length = (int16_t)width;
  } else if (dy > width) {
    e->kind = GFX_STEEP;
    e->length = (int16_t)dy;
    e->slope = (uint32_t)(width << 16) / (uint32_t)dy;
  } else {
    e->kind = GFX_FLAT;
    e->length = (int16_t)width;
    e->slope = (uint32_t)(dy << 16) / (uint32_t)width;
  }
}

/* Prepares a quadrilateral. Returns 0 if none of it is on the canvas, in row `lowest` or a row after it. */
static inline int32_t gfx_quad_init(gfx_quad *q, const int16_t *x, const int16_t *y, int32_t lowest, uint32_t colour) {
  int16_t left = x[0], right = x[0], low = y[0], high = y[0];
  for (int32_t i = 1; i < 4; i++) {
    left = (int16_t)at_most(left, x[i]);
    right = (int16_t)at_least(right, x[i]);
    low = (int16_t)at_most(low, y[i]);
    high = (int16_t)at_least(high, y[i]);
  }
  if (right < 0 || left >= CANVAS_WIDTH || high < lowest || low >= CANVAS_HEIGHT)
    return 0;
  memcpy(q->x, x, sizeof q->x);
  memcpy(q->y, y, sizeof q->y);
  q->low = low;
  q->high = high;
  q->colour = colour;
  for (int32_t i = 0; i < 4; i++)
    gfx_edge_init(&q->edges[i], x[i], y[i], x[(i + 1) % 4], y[(i + 1) % 4]);
  return 1;
}

/* The filling in the rows of a band: spans, as pairs of their first and last pixel. */
typedef struct gfx_spans {
  int32_t ends[BAND_HEIGHT][4]; /* first the crossings of the edges in 1 / 0x10000 pixel, later pixels; unclipped */
  uint8_t count[BAND_HEIGHT];   /* 0, 2 or 4 */
} gfx_spans;

static inline int32_t gfx_round(int32_t crossing) { return (crossing >> 16) + ((crossing & 0x8000) >> 15); }

static inline void gfx_order(int32_t *a, int32_t *b) {
  const int32_t low = at_most(*a, *b), high = at_least(*a, *b);
  *a = low;
  *b = high;
}

/* Adds the crossings of an edge with the rows of a band. An edge crosses the rows from its upper end to the row before its
 * lower end, and also the row of its lower end if that is the last row of the quadrilateral. */
static inline void gfx_cross(gfx_spans *s, const gfx_quad *q, int32_t i, int32_t low, int32_t high) {
  const int32_t before = (i + 3) % 4;
  const int32_t upper = q->y[before] < q->y[i] ? before : i, lower = upper == i ? before : i;
  const int32_t y1 = q->y[upper], y2 = q->y[lower], x1 = q->x[upper], dx = q->x[lower] - x1;
  const int32_t begin = at_least(y1, low), end = at_most(y2 == q->high ? y2 : y2 - 1, high);
  if (y1 == y2 || begin > end)
    return;
  const uint32_t dy = (uint32_t)(y2 - y1), step = 0x10000 / dy, step_rest = 0x10000 % dy;
  const uint32_t done = (uint32_t)(begin - y1) << 16;
  uint32_t share = done / dy, rest = done % dy;
  for (int32_t y = begin; y <= end; y++) {
    s->ends[y - low][s->count[y - low]++] = (int32_t)(share * (uint32_t)dx + ((uint32_t)x1 << 16));
    share += step;
    rest += step_rest;
    if (rest >= dy) {
      rest -= dy;
      share++;
    }
  }
}

static inline void gfx_find_spans(gfx_spans *s, const gfx_quad *q, int32_t low, int32_t high) {
  memset(s->count, 0, sizeof s->count);
  for (int32_t i = 0; i < 4; i++)
    gfx_cross(s, q, i, low, high);
  for (int32_t k = 0; k <= high - low; k++) {
    int32_t *e = s->ends[k];
    if (s->count[k] == 4) {
      gfx_order(e, e + 1);
      gfx_order(e + 2, e + 3);
      gfx_order(e, e + 2);
      gfx_order(e + 1, e + 3);
      gfx_order(e + 1, e + 2);
    } else if (s->count[k] == 2) {
      gfx_order(e, e + 1);
    }
    for (int32_t i = 0; i < s->count[k]; i += 2) {
      e[i] = gfx_round(e[i] + 1);
      e[i + 1] = gfx_round(e[i + 1] - 1);
      gfx_order(e + i, e + i + 1);
    }
  }
}

/* A band, and the filling of the quadrilateral in it. */
typedef struct gfx_target {
  band *rows;
  const gfx_spans *spans;
  int32_t low, high; /* rows that the band and the quadrilateral share */
  uint32_t colour;
} gfx_target;

/* Returns the blending weight of a share of 0 to 255. */
static inline uint32_t gfx_weight(uint32_t share) { return 255 * share >> 8; }

/* Draws an edge that is steeper than the diagonal: two adjacent pixels in each row. */
static inline void gfx_draw_steep(const gfx_target *t, const gfx_edge *e) {
  const int32_t begin = at_least(1, t->low - e->y), end = at_most(e->length - 1, t->high - e->y);
  uint32_t aside = (uint32_t)begin * e->slope;
  for (int32_t k = begin; k <= end; k++, aside += e->slope) {
    const int32_t x = e->x + (e->direction > 0 ? (int32_t)(aside >> 16) : -(int32_t)(aside >> 16) - 1);
    const uint32_t share = aside >> 8 & 255, near = gfx_weight(255 - share), far = gfx_weight(share);
    cell_row *r = band_row(t->rows, e->y + k);
    row_mix_from(t->rows->tables, r, x, x + 1);
    blend_pair(r->pixels + x, t->colour, e->direction > 0 ? near : far, e->direction > 0 ? far : near);
  }
}

/* Draws steps k to `end` of a flat edge in row y. `flip` is 255 for the row that contains the edge, 0 for the row below. */
static inline void gfx_draw_run(const gfx_target *t, const gfx_edge *e, int32_t k, int32_t end, int32_t y, uint32_t flip) {
  const int32_t x = e->x + e->direction * k;
  cell_row *r = band_row(t->rows, y);
  uint32_t *pixel = r->pixels + x;
  uint32_t aside = (uint32_t)k * e->slope;
  if (k > end)
    return;
  row_mix_from(t->rows->tables, r, at_most(x, x + e->direction * (end - k)), at_least(x, x + e->direction * (end - k)));
  for (; k <= end; k++, aside += e->slope, pixel += e->direction)
    blend(pixel, t->colour, gfx_weight((aside >> 8 & 255) ^ flip));
}

/* As gfx_draw_run(), but skips the steps that the filling will cover. */
static inline void gfx_draw_outer_run(const gfx_target *t, const gfx_edge *e, int32_t begin, int32_t end, int32_t y,
                                      uint32_t flip) {
  if (y < t->low || y > t->high)
    return;
  if (!t->spans->count[y - t->low]) {
    gfx_draw_run(t, e, begin, end, y, flip);
    return;
  }
  const int32_t *ends = t->spans->ends[y - t->low];
  const int32_t first = e->direction > 0 ? ends[0] - e->x : e->x - ends[1]; /* covered steps */
  const int32_t last = e->direction > 0 ? ends[1] - e->x : e->x - ends[0];
  gfx_draw_run(t, e, begin, at_most(end, first - 1), y, flip);
  gfx_draw_run(t, e, at_least(begin, last + 1), end, y, flip);
}

/* Returns the first step of a flat edge in row e->y + down or below. */
static inline int32_t gfx_step_of(const gfx_edge *e, int32_t down) {
  return (int32_t)((((uint32_t)down << 16) + e->slope - 1) / e->slope);
}

/* Draws an edge that is not steeper than the diagonal: two pixels, one below the other, per step. */
static inline void gfx_draw_flat(const gfx_target *t, const gfx_edge *e) {
  const int32_t top = at_least(0, t->low - 1 - e->y);
  const int32_t bottom = at_most((int32_t)((uint32_t)(e->length - 1) * e->slope >> 16), t->high - e->y);
  for (int32_t down = top, begin = at_least(1, gfx_step_of(e, top)), next; down <= bottom; down++, begin = next) {
    next = at_most(e->length, gfx_step_of(e, down + 1));
    gfx_draw_outer_run(t, e, begin, next - 1, e->y + down, 255);
    gfx_draw_outer_run(t, e, begin, next - 1, e->y + down + 1, 0);
  }
}

static inline void gfx_draw_edge(const gfx_target *t, const gfx_edge *e) {
  const int32_t low = at_least(e->y, t->low), high = at_most(e->y + e->length, t->high);
  switch (e->kind) {
  case GFX_VERTICAL:
    for (int32_t y = low; y <= high; y++)
      band_fill(t->rows, y, e->x, e->x, t->colour);
    return;
  case GFX_HORIZONTAL:
    if (e->y >= t->low && e->y <= t->high)
      band_fill(t->rows, e->y, e->x, e->x + e->direction * e->length, t->colour);
    return;
  case GFX_STEEP:
  case GFX_FLAT:
    if (e->first_y >= t->low && e->first_y <= t->high)
      band_fill(t->rows, e->first_y, e->first_x, e->first_x, t->colour);
    if (e->kind == GFX_STEEP)
      gfx_draw_steep(t, e);
    else
      gfx_draw_flat(t, e);
  }
}

/* Draws the part of a quadrilateral that lies in the band. */
static inline void gfx_quad_draw(band *b, const gfx_quad *q) {
  gfx_spans spans;
  const gfx_target t = {b, &spans, at_least(q->low, b->low), at_most(q->high, b->high), q->colour};
  if (t.low > t.high)
    return;
  gfx_find_spans(&spans, q, t.low, t.high);
  for (int32_t i = 0; i < 4; i++)
    gfx_draw_edge(&t, &q->edges[i]);
  for (int32_t y = t.low; y <= t.high; y++)
    for (int32_t i = 0; i < spans.count[y - t.low]; i += 2)
      band_fill(b, y, spans.ends[y - t.low][i], spans.ends[y - t.low][i + 1], q->colour);
}

#endif /* ENVPOOL_BOX2D_CAR_RACING_GFX_QUAD_H */
