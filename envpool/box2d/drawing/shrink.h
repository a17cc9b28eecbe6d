/* 1000 x 800 to 96 x 96 by area, with the roundings of pygame.transform.smoothscale as x86 has it (its back end "SSE").
 *
 * Rows are shrunk first, then columns. A shrunk pixel is the sum of the pixels that it covers, times 0x10000 / (their
 * number), divided by 0x10000; of a pixel on a border each side gets its part. Every product is rounded down at once:
 * those of the parts, that of the sum, and the row's result, which has 8 bits before columns are added up.
 */
#ifndef ENVPOOL_BOX2D_SHRINK_H
#define ENVPOOL_BOX2D_SHRINK_H

#include "cells.h"

#ifdef __SSE2__
#include <emmintrin.h>
#endif

#define SHRUNK_BYTES (4 * CELLS) /* red, green, blue, 0 for each cell, those beyond the edges included */

/* The part weight / ONE_PIXEL of a channel. */
static inline uint32_t part(uint32_t value, uint32_t weight) { return (4 * value * weight) >> 16; }

/* One cell out of its pixels. */
static inline uint32_t shrink_mixed(const cell_tables *t, const cell_row *r, int32_t cell) {
  const uint32_t *p = r->pixels + t->first[cell];
  const int32_t whole = t->whole[4 * cell]; /* 9 or 10 */
#ifdef __SSE2__
  const __m128i zero = _mm_setzero_si128();
  const __m128i a = _mm_loadu_si128((const __m128i *)(p + 1));
  const __m128i b = _mm_loadu_si128((const __m128i *)(p + 5));
  __m128i sum = _mm_add_epi16(_mm_add_epi16(_mm_unpacklo_epi8(a, zero), _mm_unpackhi_epi8(a, zero)),
                              _mm_add_epi16(_mm_unpacklo_epi8(b, zero), _mm_unpackhi_epi8(b, zero)));
  const uint32_t tenth = whole == 10 ? p[10] : 0;
  const __m128i more = _mm_unpacklo_epi32(_mm_cvtsi32_si128((int)p[9]), _mm_cvtsi32_si128((int)tenth));
  const __m128i ends = _mm_unpacklo_epi32(_mm_cvtsi32_si128((int)p[0]), _mm_cvtsi32_si128((int)p[whole + 1]));
  const __m128i weights = _mm_unpacklo_epi64(_mm_loadl_epi64((const __m128i *)(t->head + 4 * cell)),
                                             _mm_loadl_epi64((const __m128i *)(t->tail + 4 * cell)));
  sum = _mm_add_epi16(sum, _mm_unpacklo_epi8(more, zero));
  sum = _mm_add_epi16(sum, _mm_mulhi_epu16(_mm_slli_epi16(_mm_unpacklo_epi8(ends, zero), 2), weights));
  sum = _mm_add_epi16(sum, _mm_srli_si128(sum, 8));
  sum = _mm_mulhi_epu16(sum, _mm_set1_epi16((short)t->reciprocal));
  return (uint32_t)_mm_cvtsi128_si32(_mm_packus_epi16(sum, zero));
#else
  uint32_t out = 0;
  for (int32_t shift = 0; shift < 24; shift += 8) {
    uint32_t sum = part(p[0] >> shift & 255, t->head[4 * cell]) + part(p[whole + 1] >> shift & 255, t->tail[4 * cell]);
    for (int32_t k = 1; k <= whole; k++)
      sum += p[k] >> shift & 255;
    out |= (sum * t->reciprocal >> 16) << shift;
  }
  return out;
#endif
}

/* Shrinks a row. */
static inline void shrink_row(const cell_tables *t, const cell_row *r, uint8_t *out) {
  const uint8_t *colour = (const uint8_t *)r->colour;
  const uint16_t reciprocal = t->reciprocal;
  for (int32_t k = 0; k < SHRUNK_BYTES; k++) {
    const uint16_t value = (uint16_t)(4 * colour[k]);
    const uint16_t ends = (uint16_t)(((uint32_t)value * t->head[k] >> 16) + ((uint32_t)value * t->tail[k] >> 16));
    const uint16_t sum = (uint16_t)(ends + colour[k] * t->whole[k]);
    out[k] = (uint8_t)((uint32_t)sum * reciprocal >> 16);
  }
  for (int32_t cell = 1; cell <= PICTURE_SIZE; cell++) {
    if (!r->mixed[cell])
      continue;
    const uint32_t value = shrink_mixed(t, r, cell);
    memcpy(out + 4 * cell, &value, 4);
  }
}

/* What has been seen of the shrunk row that is being added up. */
typedef struct column_sums {
  uint16_t sum[SHRUNK_BYTES];
  int32_t missing; /* what the shrunk row still needs, in 1 / ONE_PIXEL rows */
  int32_t row;     /* its index */
} column_sums;

#define SHRUNK_ROW_HEIGHT (ONE_PIXEL * CANVAS_HEIGHT / PICTURE_SIZE)

static inline void column_sums_init(column_sums *s) {
  memset(s, 0, sizeof *s);
  s->missing = SHRUNK_ROW_HEIGHT;
}

/* Adds the next row, from the top, and writes to the picture (PICTURE_SIZE, PICTURE_SIZE, 3) the row that it completes. */
static inline void add_row(column_sums *s, const uint8_t *shrunk, uint8_t *picture) {
  if (s->missing > ONE_PIXEL) {
    for (int32_t k = 0; k < SHRUNK_BYTES; k++)
      s->sum[k] = (uint16_t)(s->sum[k] + shrunk[k]);
    s->missing -= ONE_PIXEL;
    return;
  }
  const uint16_t reciprocal = (uint16_t)(0x10000 * (int64_t)ONE_PIXEL / SHRUNK_ROW_HEIGHT);
  const uint16_t mine = (uint16_t)s->missing, rest = (uint16_t)(ONE_PIXEL - s->missing);
  uint8_t bytes[SHRUNK_BYTES];
  for (int32_t k = 0; k < SHRUNK_BYTES; k++) {
    const uint16_t value = (uint16_t)(4 * shrunk[k]);
    const uint16_t sum = (uint16_t)(s->sum[k] + ((uint32_t)value * mine >> 16));
    bytes[k] = (uint8_t)((uint32_t)sum * reciprocal >> 16);
    s->sum[k] = (uint16_t)((uint32_t)value * rest >> 16);
  }
  uint8_t *out = picture + 3 * PICTURE_SIZE * s->row;
  for (int32_t c = 0; c < PICTURE_SIZE; c++)
    for (int32_t channel = 0; channel < 3; channel++)
      out[3 * c + channel] = bytes[4 * (c + 1) + channel];
  s->row++;
  s->missing += SHRUNK_ROW_HEIGHT - ONE_PIXEL;
}

#endif /* ENVPOOL_BOX2D_SHRINK_H */
