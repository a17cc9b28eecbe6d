/* Rows of a 1000 x 800 canvas that is shrunk to a 96 x 96 observation: a row consists of 96 cells, one for each pixel of
 * the observation.
 *
 * Most cells have a single colour. A cell stores only this colour until a figure covers it partially; from then on the
 * cell is mixed, and its pixels count. A pixel on the border of two cells belongs to both. Two invariants hold: the
 * pixels of a mixed cell are up to date in `pixels`; and all pixels of a cell that is not mixed have its colour, where the
 * pixels that it shares with a mixed neighbour are up to date in `pixels` as well.
 *
 * A colour is 0xBBGGRR; its highest byte is 0. Cell c of the observation has index c + 1. Indices 0 and 97 are beyond the
 * edges and always mixed, so that no pixel has to be tested for a neighbour.
 */
#ifndef ENVPOOL_BOX2D_CAR_RACING_CELLS_H
#define ENVPOOL_BOX2D_CAR_RACING_CELLS_H

#include <stdint.h>
#include <string.h>

#define CANVAS_WIDTH 1000
#define CANVAS_HEIGHT 800
#define OBS_SIZE 96
#define CELLS (OBS_SIZE + 2)
#define ONE_PIXEL 0x4000 /* a pixel's width in the units of cell borders */
#define CELL_WIDTH (ONE_PIXEL * CANVAS_WIDTH / OBS_SIZE)

static inline int32_t at_least(int32_t a, int32_t b) { return a > b ? a : b; }
static inline int32_t at_most(int32_t a, int32_t b) { return a < b ? a : b; }

typedef struct cell_tables {
  int16_t first[CELLS];          /* leftmost pixel of each cell                                                   */
  int16_t last[CELLS];           /* rightmost pixel; shared with the next cell; 10 or 11 after `first`            */
  uint8_t left[CANVAS_WIDTH];    /* by pixel: the cell that ends with the pixel, or that contains it              */
  uint8_t right[CANVAS_WIDTH];   /* by pixel: the cell that begins with the pixel, or that contains it            */
  uint16_t head[CELLS][4];       /* part of pixel `first` that lies in the cell, in 1 / ONE_PIXEL, four times     */
  uint16_t tail[CELLS][4];       /* part of pixel `last` that lies in the cell, four times                        */
} cell_tables;

typedef struct cell_row {
  uint32_t pixels[CANVAS_WIDTH + 12]; /* valid in mixed cells; the extra entries are for loads beyond the edge */
  uint32_t colour[CELLS];             /* of cells that are not mixed */
  uint8_t mixed[CELLS + 6];           /* 0 or 1; the length is a multiple of 8 */
} cell_row;

/* Cell borders lie at multiples of the cell width, which is rounded down; no border lies between two pixels. */
static inline void cell_tables_init(cell_tables *t) {
  memset(t, 0, sizeof *t);
  for (int32_t c = 1; c <= OBS_SIZE; c++) {
    const int32_t begin = (c - 1) * CELL_WIDTH, end = c * CELL_WIDTH;
    t->first[c] = (int16_t)(begin / ONE_PIXEL);
    t->last[c] = (int16_t)((end - 1) / ONE_PIXEL);
    for (int32_t k = 0; k < 4; k++) {
      t->head[c][k] = (uint16_t)((t->first[c] + 1) * ONE_PIXEL - begin);
      t->tail[c][k] = (uint16_t)(end - t->last[c] * ONE_PIXEL);
    }
    for (int32_t x = t->first[c]; x <= t->last[c]; x++) {
      t->left[x] = (uint8_t)(x == t->first[c] ? c - 1 : c);
      t->right[x] = (uint8_t)(x == t->last[c] ? c + 1 : c);
    }
  }
}

/* Gives all cells of a row one colour. */
static inline void row_clear(cell_row *r, uint32_t colour) {
  for (int32_t c = 0; c < CELLS; c++)
    r->colour[c] = colour;
  memset(r->mixed, 0, sizeof r->mixed);
  r->mixed[0] = r->mixed[CELLS - 1] = 1;
}

/* Vectors of the eight channels of two pixels, and of four pixels. */
typedef uint8_t bytes8 __attribute__((vector_size(8)));
typedef uint16_t words8 __attribute__((vector_size(16)));
typedef uint32_t pixels4 __attribute__((vector_size(16)));

static inline pixels4 load4(const void *p) {
  pixels4 out;
  memcpy(&out, p, sizeof out);
  return out;
}

static inline void store4(uint32_t *p, pixels4 value) { memcpy(p, &value, sizeof value); }

static inline pixels4 spread4(uint32_t value) { return (pixels4){value, value, value, value}; }

/* Makes a cell mixed: fills its pixels with its colour. */
static inline void row_mix(const cell_tables *t, cell_row *r, int32_t cell) {
  const uint32_t colour = r->colour[cell];
  uint32_t *p = r->pixels + t->first[cell];
  store4(p, spread4(colour));
  store4(p + 4, spread4(colour));
  store4(p + 7, spread4(colour));
  r->pixels[t->last[cell]] = colour;
  r->mixed[cell] = 1;
}

/* Colours pixels a to b, which lie in one cell. There are no branches, because they would be unpredictable: all 12 pixels
 * that a cell may have are written, with old or new values. */
static inline void row_fill_part(const cell_tables *t, cell_row *r, int32_t cell, int32_t a, int32_t b, uint32_t colour) {
  static const uint32_t from[24] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, ~0u, ~0u, ~0u, ~0u, ~0u, ~0u, ~0u, ~0u, ~0u, ~0u, ~0u, ~0u};
  const int32_t first = t->first[cell];
  const uint32_t *is_after_a = from + 12 - (a - first), *is_beyond_b = from + 11 - (b - first);
  const uint32_t *is_beyond_cell = from + 11 - (t->last[cell] - first);
  const pixels4 is_uniform = spread4((uint32_t)r->mixed[cell] - 1), background = spread4(r->colour[cell]);
  uint32_t *p = r->pixels + first;
  for (int32_t k = 0; k < 12; k += 4) {
    const pixels4 is_new = load4(is_after_a + k) & ~load4(is_beyond_b + k);
    const pixels4 is_background = is_uniform & ~load4(is_beyond_cell + k);
    pixels4 old = load4(p + k);
    old ^= (old ^ background) & is_background;
    store4(p + k, old ^ ((old ^ spread4(colour)) & is_new));
  }
  r->mixed[cell] |= r->colour[cell] != colour;
}

/* Gives n cells one colour each, the same for all. */
static inline void row_unify(cell_row *r, int32_t cell, int32_t n, uint32_t colour) {
  uint32_t *c = r->colour + cell;
  uint8_t *mixed = r->mixed + cell;
  const uint64_t none = 0;
  if (n < 8) {
    for (int32_t k = 0; k < n; k++) {
      c[k] = colour;
      mixed[k] = 0;
    }
    return;
  }
  for (int32_t k = 0; k < n; k += 8) {
    const int32_t at = at_most(k, n - 8); /* the last 8 cells may overlap the previous 8 */
    store4(c + at, spread4(colour));
    store4(c + at + 4, spread4(colour));
    memcpy(mixed + at, &none, sizeof none);
  }
}

/* Colours pixels a to b (0 <= a <= b < CANVAS_WIDTH). */
static inline void row_fill(const cell_tables *t, cell_row *r, int32_t a, int32_t b, uint32_t colour) {
  const int32_t from = t->left[a], to = t->right[b]; /* partially covered cells; the cells between them are fully covered */
  if (from == to) {
    row_fill_part(t, r, from, a, b, colour);
    return;
  }
  if (from > 0)
    row_fill_part(t, r, from, a, t->last[from], colour);
  if (to < CELLS - 1)
    row_fill_part(t, r, to, t->first[to], b, colour);
  row_unify(r, from + 1, to - from - 1, colour);
}

/* Makes all cells of pixels a to b mixed. */
static inline void row_mix_from(const cell_tables *t, cell_row *r, int32_t a, int32_t b) {
  for (int32_t cell = t->left[a]; cell <= t->right[b]; cell++)
    if (!r->mixed[cell])
      row_mix(t, r, cell);
}

/* Copies a row to RGB bytes `out` (CANVAS_WIDTH, 3). */
static inline void row_copy(const cell_tables *t, const cell_row *r, uint8_t *out) {
  for (int32_t c = 1; c <= OBS_SIZE; c++)
    for (int32_t x = t->first[c]; x <= t->last[c]; x++) {
      const uint32_t colour = r->mixed[c] ? r->pixels[x] : r->colour[c];
      out[3 * x] = (uint8_t)colour;
      out[3 * x + 1] = (uint8_t)(colour >> 8);
      out[3 * x + 2] = (uint8_t)(colour >> 16);
    }
}

/* Blends a colour into a pixel with weight / 256; each channel is rounded down. */
static inline void blend(uint32_t *pixel, uint32_t colour, uint32_t weight) {
  const uint32_t old = *pixel, rest = 256 - weight;
  const uint32_t odd = (((old & 0xff00ff) * rest + (colour & 0xff00ff) * weight) >> 8) & 0xff00ff;
  const uint32_t even = (((old & 0x00ff00) * rest + (colour & 0x00ff00) * weight) >> 8) & 0x00ff00;
  *pixel = odd | even;
}

/* Blends a colour into two adjacent pixels, each with a weight of its own. */
static inline void blend_pair(uint32_t *pixels, uint32_t colour, uint32_t weight0, uint32_t weight1) {
  const uint64_t colours = colour | (uint64_t)colour << 32;
  const uint64_t olds = pixels[0] | (uint64_t)pixels[1] << 32; /* two loads: the pixels may have been stored separately just before */
  const uint16_t w0 = (uint16_t)weight0, w1 = (uint16_t)weight1;
  const words8 weights = {w0, w0, w0, w0, w1, w1, w1, w1};
  bytes8 old, towards;
  memcpy(&old, &olds, sizeof old);
  memcpy(&towards, &colours, sizeof towards);
  const words8 sum = __builtin_convertvector(old, words8) * (256 - weights) + __builtin_convertvector(towards, words8) * weights;
  const bytes8 out = __builtin_convertvector(sum >> 8, bytes8);
  memcpy(pixels, &out, sizeof out);
}

#endif /* ENVPOOL_BOX2D_CAR_RACING_CELLS_H */
