/* Shrinks a 1000 x 800 canvas to a 96 x 96 observation by area, with the rounding of pygame.transform.smoothscale on x86
 * (its back end "SSE2").
 *
 * Rows are shrunk first, then columns. A shrunk pixel is the sum of the pixels that it covers, times 0x10000 / (their
 * number), divided by 0x10000; a pixel on a border contributes a part to each side. Every product is rounded down
 * immediately: the products of the parts, the product of the sum, and the result of a row, which has 8 bits before columns
 * are added.
 */
#ifndef ENVPOOL_BOX2D_CAR_RACING_SHRINK_H
#define ENVPOOL_BOX2D_CAR_RACING_SHRINK_H

#include "cells.h"

#ifdef __SSE2__
#include <emmintrin.h>
#endif

/* Number of sums of a row: one per cell and channel (red, green, blue, 0), including the cells beyond the edges. */
#define SUMS (4 * CELLS)

/* 0x10000 / (number of pixels), where the number is given in 1 / ONE_PIXEL. */
#define RECIPROCAL(width) ((uint16_t)(0x10000 * (int64_t)ONE_PIXEL / (width)))

/* Returns the colour of a shrunk mixed cell. */
static inline uint32_t shrink_mixed(const cell_tables *t, const cell_row *r, int32_t cell) {
  const uint32_t *p = r->pixels + t->first[cell];
  const uint32_t *last = r->pixels + t->last[cell]; /* p + 10 or p + 11 */
#ifdef __SSE2__
  const __m128i zero = _mm_setzero_si128();
  const __m128i a = _mm_loadu_si128((const __m128i *)(p + 1));
  const __m128i b = _mm_loadu_si128((const __m128i *)(p + 5));
  const __m128i tenth = _mm_cvtsi32_si128(last == p + 11 ? (int)p[10] : 0);
  const __m128i more = _mm_unpacklo_epi8(_mm_unpacklo_epi32(_mm_cvtsi32_si128((int)p[9]), tenth), zero);
  const __m128i ends = _mm_unpacklo_epi8(_mm_unpacklo_epi32(_mm_cvtsi32_si128((int)*p), _mm_cvtsi32_si128((int)*last)), zero);
  const __m128i parts = _mm_unpacklo_epi64(_mm_loadl_epi64((const __m128i *)t->head[cell]),
                                           _mm_loadl_epi64((const __m128i *)t->tail[cell]));
  __m128i sum = _mm_add_epi16(_mm_add_epi16(_mm_unpacklo_epi8(a, zero), _mm_unpackhi_epi8(a, zero)),
                              _mm_add_epi16(_mm_unpacklo_epi8(b, zero), _mm_unpackhi_epi8(b, zero)));
  sum = _mm_add_epi16(_mm_add_epi16(sum, more), _mm_mulhi_epu16(_mm_slli_epi16(ends, 2), parts));
  sum = _mm_add_epi16(sum, _mm_srli_si128(sum, 8));
  sum = _mm_mulhi_epu16(sum, _mm_set1_epi16((short)RECIPROCAL(CELL_WIDTH)));
  return (uint32_t)_mm_cvtsi128_si32(_mm_packus_epi16(sum, zero));
#else
  uint32_t out = 0;
  for (int32_t shift = 0; shift < 24; shift += 8) {
    uint32_t sum = 4 * (*p >> shift & 255) * t->head[cell][0] >> 16;
    sum += 4 * (*last >> shift & 255) * t->tail[cell][0] >> 16;
    for (const uint32_t *inner = p + 1; inner < last; inner++)
      sum += *inner >> shift & 255;
    out |= (sum * RECIPROCAL(CELL_WIDTH) >> 16) << shift;
  }
  return out;
#endif
}

/* Shrinks a row in place: each cell gets one colour, which is brighter by 1 than the result.
 *
 * Because of the rounding, a cell of a single colour that is not black becomes darker by 1, whichever cell it is. So
 * subtracting 1 from all cells later is right for both kinds of cells; mixed cells never exceed 254. */
static inline void shrink_row(const cell_tables *t, cell_row *r) {
  uint64_t mixed[2] = {0, 0}; /* one bit per cell, including the cells beyond the edges */
  for (int32_t k = 0; k < (int32_t)sizeof r->mixed / 8; k++) {
    uint64_t bytes;
    memcpy(&bytes, r->mixed + 8 * k, sizeof bytes);
    mixed[k / 8] |= (bytes * 0x0102040810204080u >> 56) << 8 * (k % 8); /* the product's highest byte contains the 8 bits */
  }
  for (int32_t k = 0; k < 2; k++)
    for (; mixed[k]; mixed[k] &= mixed[k] - 1) {
      const int32_t cell = 64 * k + __builtin_ctzll(mixed[k]);
      r->colour[cell] = shrink_mixed(t, r, cell) + 0x010101;
    }
}

static inline uint8_t shrunk(uint8_t brighter) { return (uint8_t)(brighter - (brighter != 0)); }

/* The row of the observation that is being accumulated. */
typedef struct column_sums {
  uint16_t sum[SUMS];
  int32_t missing; /* rows of the canvas that it still needs, in 1 / ONE_PIXEL */
  int32_t row;     /* index of the row */
} column_sums;

#define CELL_HEIGHT (ONE_PIXEL * CANVAS_HEIGHT / OBS_SIZE)

static inline void column_sums_init(column_sums *s) {
  memset(s, 0, sizeof *s);
  s->missing = CELL_HEIGHT;
}

/* Adds the next shrunk row, counted from the top. If it completes a row of the observation, this row is written to `obs`
 * (OBS_SIZE, OBS_SIZE, 3). */
static inline void add_row(column_sums *s, const cell_row *r, uint8_t *obs) {
  const uint8_t *colour = (const uint8_t *)r->colour;
  if (s->missing > ONE_PIXEL) {
    for (int32_t k = 0; k < SUMS; k++)
      s->sum[k] = (uint16_t)(s->sum[k] + shrunk(colour[k]));
    s->missing -= ONE_PIXEL;
    return;
  }
  const uint16_t mine = (uint16_t)s->missing, rest = (uint16_t)(ONE_PIXEL - s->missing);
  uint8_t bytes[SUMS];
  for (int32_t k = 0; k < SUMS; k++) {
    const uint16_t value = (uint16_t)(4 * shrunk(colour[k]));
    const uint16_t sum = (uint16_t)(s->sum[k] + ((uint32_t)value * mine >> 16));
    bytes[k] = (uint8_t)((uint32_t)sum * RECIPROCAL(CELL_HEIGHT) >> 16);
    s->sum[k] = (uint16_t)((uint32_t)value * rest >> 16);
  }
  uint8_t *out = obs + 3 * OBS_SIZE * s->row;
  for (int32_t c = 0; c < OBS_SIZE; c++)
    for (int32_t channel = 0; channel < 3; channel++)
      out[3 * c + channel] = bytes[4 * (c + 1) + channel];
  s->row++;
  s->missing += CELL_HEIGHT - ONE_PIXEL;
}

#endif /* ENVPOOL_BOX2D_CAR_RACING_SHRINK_H */
