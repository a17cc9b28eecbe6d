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
#define CELL_WIDTH (ONE_PIXEL * CANVAS_WIDTH / PICTURE_SIZE)

static inline int32_t at_least(int32_t a, int32_t b) { return a > b ? a : b; }
static inline int32_t at_most(int32_t a, int32_t b) { return a < b ? a : b; }

typedef struct cell_tables {
  int16_t first[CELLS];          /* leftmost pixel of each cell                                                   */
  int16_t last[CELLS];           /* rightmost pixel; shared with the next cell; 10 or 11 after `first`            */
  uint8_t left[CANVAS_WIDTH];    /* by pixel: the cell that it ends, or in which it lies                          */
  uint8_t right[CANVAS_WIDTH];   /* by pixel: the cell that it begins, or in which it lies                        */
  uint16_t head[CELLS][4];       /* the part of `first` that is in the cell, in 1 / ONE_PIXEL, four times         */
  uint16_t tail[CELLS][4];       /* the part of `last` that is in the cell                                        */
} cell_tables;

typedef struct cell_row {
  uint32_t pixels[CANVAS_WIDTH + 12]; /* those of mixed cells; the rest is for loads beyond the edge */
  uint32_t colour[CELLS];             /* of the cells that are not mixed */
  uint8_t mixed[CELLS + 6];           /* 0 or 1; a multiple of 8 */
} cell_row;

/* Borders of the cells lie at multiples of the cell width, which is rounded down; none lies between two pixels. */
static inline void cell_tables_init(cell_tables *t) {
  memset(t, 0, sizeof *t);
  for (int32_t c = 1; c <= PICTURE_SIZE; c++) {
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

/* Gives the whole row one colour. */
static inline void row_clear(cell_row *r, uint32_t colour) {
  for (int32_t c = 0; c < CELLS; c++)
    r->colour[c] = colour;
  memset(r->mixed, 0, sizeof r->mixed);
  r->mixed[0] = r->mixed[CELLS - 1] = 1;
}

/* Eight channels of two pixels, and four pixels. */
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

/* Lets the pixels of a cell count. */
static inline void row_mix(const cell_tables *t, cell_row *r, int32_t cell) {
  const uint32_t colour = r->colour[cell];
  uint32_t *p = r->pixels + t->first[cell];
  store4(p, spread4(colour));
  store4(p + 4, spread4(colour));
  store4(p + 7, spread4(colour));
  r->pixels[t->last[cell]] = colour;
  r->mixed[cell] = 1;
}

/* Colours pixels a to b, which lie in one cell. Without branches, as one cannot tell beforehand which way they go: all
 * that the cell may have (12 pixels) are written, the old ones or new ones. */
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

/* Gives n cells a colour from end to end. */
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
    const int32_t at = at_most(k, n - 8); /* the last 8 may overlap those before */
    store4(c + at, spread4(colour));
    store4(c + at + 4, spread4(colour));
    memcpy(mixed + at, &none, sizeof none);
  }
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
  row_unify(r, from + 1, to - from - 1, colour);
}

/* Lets pixels a to b count. */
static inline void row_mix_from(const cell_tables *t, cell_row *r, int32_t a, int32_t b) {
  for (int32_t cell = t->left[a]; cell <= t->right[b]; cell++)
    if (!r->mixed[cell])
      row_mix(t, r, cell);
}

/* Copies the row to out (CANVAS_WIDTH, 3), red, green, blue. */
static inline void row_copy(const cell_tables *t, const cell_row *r, uint8_t *out) {
  for (int32_t c = 1; c <= PICTURE_SIZE; c++)
    for (int32_t x = t->first[c]; x <= t->last[c]; x++) {
      const uint32_t colour = r->mixed[c] ? r->pixels[x] : r->colour[c];
      out[3 * x] = (uint8_t)colour;
      out[3 * x + 1] = (uint8_t)(colour >> 8);
      out[3 * x + 2] = (uint8_t)(colour >> 16);
    }
}

/* Moves a pixel towards a colour by weight / 256, each channel rounded down. */
static inline void blend(uint32_t *pixel, uint32_t colour, uint32_t weight) {
  const uint32_t old = *pixel, rest = 256 - weight;
  const uint32_t odd = (((old & 0xff00ff) * rest + (colour & 0xff00ff) * weight) >> 8) & 0xff00ff;
  const uint32_t even = (((old & 0x00ff00) * rest + (colour & 0x00ff00) * weight) >> 8) & 0x00ff00;
  *pixel = odd | even;
}

/* The same for two pixels. */
static inline void blend_pair(uint32_t *pixels, uint32_t colour, uint32_t weight0, uint32_t weight1) {
  const uint64_t colours = colour | (uint64_t)colour << 32;
  const uint64_t olds = pixels[0] | (uint64_t)pixels[1] << 32; /* not one load: they may just have been stored apart */
  const uint16_t w0 = (uint16_t)weight0, w1 = (uint16_t)weight1;
  const words8 weights = {w0, w0, w0, w0, w1, w1, w1, w1};
  bytes8 old, towards;
  memcpy(&old, &olds, sizeof old);
  memcpy(&towards, &colours, sizeof towards);
  const words8 sum = __builtin_convertvector(old, words8) * (256 - weights) + __builtin_convertvector(towards, words8) * weights;
  const bytes8 out = __builtin_convertvector(sum >> 8, bytes8);
  memcpy(pixels, &out, sizeof out);
}

#endif /* ENVPOOL_BOX2D_CELLS_H */
