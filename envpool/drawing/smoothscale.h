/* Images scaled with the roundings of pygame.transform.smoothscale as x86 has it (its back end "SSE"): columns first, then
 * rows; by area where the image shrinks, between neighbours where it grows.
 *
 * A shrunk pixel is the sum of the pixels that it covers, times 0x10000 / (their number), divided by 0x10000; of a pixel
 * on a border each side gets its part. All of it is uint16 and rounded down at once.
 */
#ifndef ENVPOOL_DRAWING_SMOOTHSCALE_H
#define ENVPOOL_DRAWING_SMOOTHSCALE_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define SMOOTH_ONE 0x4000  /* a pixel's width in the units of borders */
#define SMOOTH_COLUMNS 64  /* of the result, done at a time */
#define SMOOTH_CHANNELS 4  /* at most */
#define SMOOTH_INLINE static inline __attribute__((always_inline)) /* so that the number of channels is a constant */

/* An image of uint8 (height, width, channels), 3 or 4 channels, packed. */
typedef struct smooth_image {
  uint8_t *pixels;
  int32_t height, width, channels;
} smooth_image;

/* One side of an image in old and new pixels. */
typedef struct smooth_side {
  int32_t from, to;
  int32_t space;        /* what a new pixel covers of old ones, in 1 / SMOOTH_ONE, where the image shrinks */
  uint16_t reciprocal;  /* 0x10000 / (number of old pixels) */
} smooth_side;

static inline smooth_side smooth_side_of(int32_t from, int32_t to) {
  smooth_side s = {from, to, 0, 0};
  if (to < from) {
    s.space = (int32_t)((int64_t)SMOOTH_ONE * from / to);
    s.reciprocal = (uint16_t)(0x40000000 / s.space);
  }
  return s;
}

/* Four times a value, which has 14 bits after it, times a part in 1 / SMOOTH_ONE. */
static inline uint16_t smooth_part(uint8_t value, int32_t part) { return (uint16_t)((uint32_t)(4 * value) * (uint32_t)part >> 16); }

static inline uint8_t smooth_mean(uint16_t sum, uint16_t reciprocal) {
  const uint32_t mean = (uint32_t)sum * reciprocal >> 16;
  return (uint8_t)(mean > 255 ? 255 : mean);
}

static inline uint8_t smooth_between(uint8_t a, uint8_t b, int32_t share) {
  return (uint8_t)((uint32_t)(a * (256 - share) + b * share) >> 8);
}

/* The last old pixel that new pixel k covers, and which part of it, 1 to SMOOTH_ONE, is in it. */
static inline int32_t smooth_border(const smooth_side *s, int32_t k, int32_t *part) {
  const int64_t end = (int64_t)s->space * (k + 1);
  const int32_t last = (int32_t)((end - 1) / SMOOTH_ONE);
  *part = (int32_t)(end - (int64_t)last * SMOOTH_ONE);
  return last;
}

/* Columns `begin` to `end` (not included) of a row, scaled. */
SMOOTH_INLINE void smooth_row(const smooth_side *s, const uint8_t *row, int32_t channels, int32_t begin, int32_t end,
                              uint8_t *out) {
  if (s->to == s->from) {
    memcpy(out, row + (size_t)channels * begin, (size_t)channels * (end - begin));
    return;
  }
  if (s->to > s->from) {
    for (int32_t x = begin; x < end; x++, out += channels) {
      const int64_t place = (int64_t)x * (s->from - 1);
      const int32_t share = (int32_t)(0x100 * (place % s->to) / s->to);
      const uint8_t *p = row + (size_t)channels * (place / s->to);
      for (int32_t k = 0; k < channels; k++)
        out[k] = smooth_between(p[k], share ? p[channels + k] : 0, share);
    }
    return;
  }
  int32_t part = SMOOTH_ONE, at = begin ? smooth_border(s, begin - 1, &part) : -1;
  for (int32_t x = begin; x < end; x++, out += channels) {
    uint32_t sum[SMOOTH_CHANNELS] = {0, 0, 0, 0};
    if (at >= 0)
      for (int32_t k = 0; k < channels; k++)
        sum[k] = smooth_part(row[(size_t)channels * at + k], SMOOTH_ONE - part);
    const int32_t last = smooth_border(s, x, &part);
    const uint8_t *p = row + (size_t)channels * (at + 1);
    for (at++; at < last; at++, p += channels)
      for (int32_t k = 0; k < channels; k++)
        sum[k] += p[k];
    for (int32_t k = 0; k < channels; k++)
      out[k] = smooth_mean((uint16_t)(sum[k] + smooth_part(p[k], part)), s->reciprocal);
  }
}

/* Columns `begin` to `end` of the result where it has fewer rows. */
SMOOTH_INLINE void smooth_shrink(const smooth_image *in, const smooth_image *out, const smooth_side *columns,
                                 const smooth_side *rows, int32_t channels, int32_t begin, int32_t end) {
  const size_t in_stride = (size_t)channels * in->width, out_stride = (size_t)channels * out->width;
  const int32_t bytes = channels * (end - begin);
  uint8_t scaled[SMOOTH_CHANNELS * SMOOTH_COLUMNS];
  uint16_t sum[SMOOTH_CHANNELS * SMOOTH_COLUMNS];
  memset(sum, 0, sizeof sum);
  for (int32_t y = 0, at = 0; y < rows->to; y++) {
    int32_t part;
    const int32_t last = smooth_border(rows, y, &part);
    uint8_t *pixels = out->pixels + out_stride * y + (size_t)channels * begin;
    for (; at < last; at++) {
      smooth_row(columns, in->pixels + in_stride * at, channels, begin, end, scaled);
      for (int32_t k = 0; k < bytes; k++)
        sum[k] = (uint16_t)(sum[k] + scaled[k]);
    }
    smooth_row(columns, in->pixels + in_stride * at++, channels, begin, end, scaled);
    for (int32_t k = 0; k < bytes; k++) {
      pixels[k] = smooth_mean((uint16_t)(sum[k] + smooth_part(scaled[k], part)), rows->reciprocal);
      sum[k] = smooth_part(scaled[k], SMOOTH_ONE - part);
    }
  }
}

/* The same where it has more rows, or as many. */
SMOOTH_INLINE void smooth_expand(const smooth_image *in, const smooth_image *out, const smooth_side *columns,
                                 const smooth_side *rows, int32_t channels, int32_t begin, int32_t end) {
  const size_t in_stride = (size_t)channels * in->width, out_stride = (size_t)channels * out->width;
  const int32_t bytes = channels * (end - begin), is_same = rows->to == rows->from;
  uint8_t scaled[2][SMOOTH_CHANNELS * SMOOTH_COLUMNS]; /* rows `have` and have + 1 of the image */
  int32_t have = -2;
  for (int32_t y = 0; y < rows->to; y++) {
    const int64_t place = (int64_t)y * (rows->from - 1);
    const int32_t first = is_same ? y : (int32_t)(place / rows->to);
    const int32_t share = is_same ? 0 : (int32_t)(0x100 * (place % rows->to) / rows->to);
    const int32_t second = first + 1 < rows->from ? first + 1 : first;
    uint8_t *pixels = out->pixels + out_stride * y + (size_t)channels * begin;
    if (first == have + 1)
      memcpy(scaled[0], scaled[1], sizeof scaled[0]);
    else if (first != have)
      smooth_row(columns, in->pixels + in_stride * first, channels, begin, end, scaled[0]);
    if (first != have)
      smooth_row(columns, in->pixels + in_stride * second, channels, begin, end, scaled[1]);
    have = first;
    for (int32_t k = 0; k < bytes; k++)
      pixels[k] = smooth_between(scaled[0][k], scaled[1][k], share);
  }
}

SMOOTH_INLINE void smooth_scale_channels(const smooth_image *in, const smooth_image *out, int32_t channels) {
  const smooth_side columns = smooth_side_of(in->width, out->width), rows = smooth_side_of(in->height, out->height);
  for (int32_t begin = 0; begin < out->width; begin += SMOOTH_COLUMNS) {
    const int32_t end = out->width - begin < SMOOTH_COLUMNS ? out->width : begin + SMOOTH_COLUMNS;
    if (rows.to < rows.from)
      smooth_shrink(in, out, &columns, &rows, channels, begin, end);
    else
      smooth_expand(in, out, &columns, &rows, channels, begin, end);
  }
}

/* Scales an image to the size of another with as many channels. */
static inline void smooth_scale(const smooth_image *in, const smooth_image *out) {
  if (out->width < 1 || out->height < 1)
    return;
  if (in->channels == 4)
    smooth_scale_channels(in, out, 4);
  else
    smooth_scale_channels(in, out, 3);
}

#endif /* ENVPOOL_DRAWING_SMOOTHSCALE_H */
