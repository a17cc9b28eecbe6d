/* Figures on a whole canvas (CANVAS_HEIGHT, CANVAS_WIDTH) of 0xBBGGRR, for comparisons. */
#ifndef CAR_RACING_HOOK_CANVAS_H
#define CAR_RACING_HOOK_CANVAS_H

#include "envpool/box2d/car_racing/frame.h"

/* Copies the pixels of a row, and those of the cells of one colour, which are nowhere else. */
static void canvas_copy(const cell_tables *t, const cell_row *r, uint32_t *out) {
  memcpy(out, r->pixels, CANVAS_WIDTH * sizeof *out);
  for (int32_t c = 1; c <= OBS_SIZE; c++)
    for (int32_t x = t->first[c]; x <= t->last[c] && !r->mixed[c]; x++)
      out[x] = r->colour[c];
}

typedef void canvas_figures(band *b, const void *figures);

static void canvas_draw(canvas_figures *draw, const void *figures, uint32_t background, int32_t direction, uint32_t *out) {
  cell_tables t;
  band b;
  cell_tables_init(&t);
  b.tables = &t;
  b.direction = direction;
  for (b.low = 0; b.low < CANVAS_HEIGHT; b.low += BAND_HEIGHT) {
    b.high = b.low + BAND_HEIGHT - 1;
    for (int32_t k = 0; k < BAND_HEIGHT; k++)
      row_clear(&b.rows[k], background);
    draw(&b, figures);
    for (int32_t y = b.low; y <= b.high; y++)
      canvas_copy(&t, band_row(&b, y), out + (size_t)CANVAS_WIDTH * y);
  }
}

typedef struct canvas_quads {
  const gfx_quad *quads;
  int32_t count;
} canvas_quads;

static void canvas_draw_quads(band *b, const void *figures) {
  const canvas_quads *f = (const canvas_quads *)figures;
  for (int32_t i = 0; i < f->count; i++)
    gfx_quad_draw(b, &f->quads[i]);
}

typedef struct canvas_polygons {
  const polygon *polygons;
  int32_t count;
} canvas_polygons;

static void canvas_draw_polygons(band *b, const void *figures) {
  const canvas_polygons *f = (const canvas_polygons *)figures;
  for (int32_t i = 0; i < f->count; i++)
    polygon_draw_spans(&f->polygons[i], b->low, b->high, band_span, b);
}

typedef struct canvas_text {
  const car_racing_brush *brush;
  const car_racing_figures *figures;
} canvas_text;

static void canvas_draw_text(band *b, const void *figures) {
  const canvas_text *f = (const canvas_text *)figures;
  car_racing_draw_text(b, f->figures, f->brush);
}

/* Shrinks a canvas; with is_mixed no cell is taken for one of a single colour. */
static void canvas_shrink(const uint32_t *canvas, int32_t is_mixed, uint8_t *frame) {
  cell_tables t;
  cell_row r;
  column_sums sums;
  cell_tables_init(&t);
  column_sums_init(&sums);
  row_clear(&r, 0);
  for (int32_t y = 0; y < CANVAS_HEIGHT; y++, canvas += CANVAS_WIDTH) {
    memcpy(r.pixels, canvas, CANVAS_WIDTH * sizeof *canvas);
    for (int32_t c = 1; c <= OBS_SIZE; c++) {
      r.colour[c] = canvas[t.first[c]];
      r.mixed[c] = is_mixed != 0;
      for (int32_t x = t.first[c]; x <= t.last[c]; x++)
        r.mixed[c] |= canvas[x] != r.colour[c];
    }
    shrink_row(&t, &r);
    add_row(&sums, &r, frame);
  }
}

#endif /* CAR_RACING_HOOK_CANVAS_H */
