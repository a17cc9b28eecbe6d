/* Rows of a 1000 x 800 picture that is only ever seen shrunk to 96 x 96: a row is 96 cells, one for each shrunk pixel.
 *
 * Most cells have one colour from end to end. A cell keeps only that colour until something is drawn that covers it in
 * part; from then on it is mixed, and its pixels count. A pixel on the border of two cells belongs to both. What holds:
 * a pixel of a mixed cell is up to date in `pixels`; a cell that is not mixed has its colour in all its pixels, of
 * which those that it shares with a mixed neighbour are up to date in `pixels` too.
 *
 * A colour is 0xBBGGRR; the highest byte is 0. Cell c of the picture is at index c + 1; indices 0 and 97 are beyond the
 * edges and always mixed, so that no pixel needs a test whether it has a neighbour.
 */
#ifndef ENVPOOL_BOX2D_CELLS_H
#define ENVPOOL_BOX2D_CELLS_H

#include <stdint.h>
#include <string.h>

#define CANVAS_WIDTH 1000
#define CANVAS_HEIGHT 800
#define PICTURE_SIZE 96
#define CELLS (PICTURE_SIZE + 2)
#define ONE_PIXEL 0x4000 /* a pixel's width in the units of cell borders */

typedef struct cell_tables {
  int16_t first[CELLS];          /* leftmost pixel of each cell                                                   */
  int16_t last[CELLS];           /* rightmost pixel; shared with the next cell; 10 or 11 after `first`            */
  uint8_t left[CANVAS_WIDTH];    /* by pixel: the cell that it ends, or in which it lies                          */
  uint8_t right[CANVAS_WIDTH];   /* by pixel: the cell that it begins, or in which it lies                        */
  uint16_t head[4 * CELLS];      /* by byte: the part of `first` that is in the cell, in 1 / ONE_PIXEL            */
  uint16_t tail[4 * CELLS];      /* by byte: the part of `last` that is in the cell                               */
  uint16_t whole[4 * CELLS];     /* by byte: the number of pixels between them                                    */
  uint16_t reciprocal;           /* 0x10000 * ONE_PIXEL / width of a cell                                         */
} cell_tables;

typedef struct cell_row {
  uint32_t pixels[CANVAS_WIDTH + 12]; /* those of mixed cells; the rest is for loads beyond the edge */
  uint32_t colour[CELLS];             /* of the cells that are not mixed */
  uint8_t mixed[CELLS];               /* 0 or 1 */
} cell_row;

/* Borders of the cells lie at multiples of the cell width, which is rounded down; none lies between two pixels. */
static inline void cell_tables_init(cell_tables *t) {
  const int32_t width = ONE_PIXEL * CANVAS_WIDTH / PICTURE_SIZE;
  memset(t, 0, sizeof *t);
  t->reciprocal = (uint16_t)(0x10000 * (int64_t)ONE_PIXEL / width);
  for (int32_t c = 1; c <= PICTURE_SIZE; c++) {
    const int32_t begin = (c - 1) * width, end = c * width;
    t->first[c] = (int16_t)(begin / ONE_PIXEL);
    t->last[c] = (int16_t)((end - 1) / ONE_PIXEL);
    for (int32_t k = 4 * c; k < 4 * c + 4; k++) {
      t->head[k] = (uint16_t)((t->first[c] + 1) * ONE_PIXEL - begin);
      t->tail[k] = (uint16_t)(end - t->last[c] * ONE_PIXEL);
      t->whole[k] = (uint16_t)(t->last[c] - t->first[c] - 1);
    }
    for (int32_t x = t->first[c]; x <= t->last[c]; x++) {
      t->left[x] = (uint8_t)(x == t->first[c] ? c - 1 : c);
      t->right[x] = (uint8_t)(x == t->last[c] ? c + 1 : c);
    }
  }
}

/* Gives the whole row one colour. */
static inline void row_clear(cell_row *r, uint32_t colour) {
  for (int32_t c = 1; c <= PICTURE_SIZE; c++)
    r->colour[c] = colour;
  memset(r->mixed, 0, sizeof r->mixed);
  r->mixed[0] = r->mixed[CELLS - 1] = 1;
}

static inline void row_mix(const cell_tables *t, cell_row *r, int32_t cell) {
  const uint32_t colour = r->colour[cell];
  uint32_t *p = r->pixels + t->first[cell];
  for (int32_t k = 0; k < 11; k++)
    p[k] = colour;
  r->pixels[t->last[cell]] = colour;
  r->mixed[cell] = 1;
}

/* Colours pixels a to b, which lie in one cell. */
static inline void row_fill_part(const cell_tables *t, cell_row *r, int32_t cell, int32_t a, int32_t b, uint32_t colour) {
  if (!r->mixed[cell]) {
    if (r->colour[cell] == colour)
      return;
    row_mix(t, r, cell);
  }
  for (int32_t x = a; x <= b; x++)
    r->pixels[x] = colour;
}

/* Colours pixels a to b (0 <= a <= b < CANVAS_WIDTH). */
static inline void row_fill(const cell_tables *t, cell_row *r, int32_t a, int32_t b, uint32_t colour) {
  const int32_t from = t->left[a], to = t->right[b]; /* cells that are covered in part, those between wholly */
  if (from == to) {
    row_fill_part(t, r, from, a, b, colour);
    return;
  }
  if (from > 0)
    row_fill_part(t, r, from, a, t->last[from], colour);
  if (to < CELLS - 1)
    row_fill_part(t, r, to, t->first[to], b, colour);
  for (int32_t c = from + 1; c < to; c++) {
    r->colour[c] = colour;
    r->mixed[c] = 0;
  }
}

/* Moves pixel x towards a colour by weight / 256, each channel rounded down. */
static inline void row_blend(const cell_tables *t, cell_row *r, int32_t x, uint32_t colour, uint32_t weight) {
  const int32_t left = t->left[x], right = t->right[x];
  if (!r->mixed[left]) {
    if (left == right && r->colour[left] == colour)
      return;
    row_mix(t, r, left);
  }
  if (!r->mixed[right])
    row_mix(t, r, right);
  const uint32_t old = r->pixels[x], rest = 256 - weight;
  const uint32_t odd = (((old & 0xff00ff) * rest + (colour & 0xff00ff) * weight) >> 8) & 0xff00ff;
  const uint32_t even = (((old & 0x00ff00) * rest + (colour & 0x00ff00) * weight) >> 8) & 0x00ff00;
  r->pixels[x] = odd | even;
}

#endif /* ENVPOOL_BOX2D_CELLS_H */
