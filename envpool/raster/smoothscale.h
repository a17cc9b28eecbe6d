/* Scaling of images with the rounding of pygame.transform.smoothscale on x86 (its back end "SSE2"): columns first, then rows;
 * by area if the image shrinks, by linear interpolation if it grows.
 *
 * A shrunk pixel is the sum of the pixels that it covers, times 0x10000 / (their number), divided by 0x10000; a pixel on a
 * border contributes a part to each side. All intermediate results are uint16 and rounded down immediately.
 */
#ifndef ENVPOOL_RASTER_SMOOTHSCALE_H
#define ENVPOOL_RASTER_SMOOTHSCALE_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define SMOOTH_ONE 0x4000  /* a pixel's width in the units of borders */
#define SMOOTH_COLUMNS 64  /* columns of the result that are processed together */
#define SMOOTH_CHANNELS 4  /* largest number of channels */
#define SMOOTH_INLINE static inline __attribute__((always_inline)) /* makes the number of channels a constant */

/* An image of uint8 (height, width, channels) with 3 or 4 channels, contiguous. */
typedef struct smooth_image {
  uint8_t *pixels;
  int32_t height, width, channels;
} smooth_image;

/* One side of an image: its old and its new size in pixels. */
typedef struct smooth_side {
  int32_t from, to;
  int32_t space;        /* old pixels per new pixel, in 1 / SMOOTH_ONE, if the image shrinks */
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

/* Returns a value times a part in 1 / SMOOTH_ONE, rounded down: 4 * value * part / 0x10000. */
static inline uint16_t smooth_part(uint8_t value, int32_t part) { return (uint16_t)((uint32_t)(4 * value) * (uint32_t)part >> 16); }

static inline uint8_t smooth_mean(uint16_t sum, uint16_t reciprocal) {
  const uint32_t mean = (uint32_t)sum * reciprocal >> 16;
  return (uint8_t)(mean > 255 ? 255 : mean);
}

static inline uint8_t smooth_between(uint8_t a, uint8_t b, int32_t share) {
  return (uint8_t)((uint32_t)(a * (256 - share) + b * share) >> 8);
}

/* Returns the last old pixel that new pixel k overlaps, and the part of it, 1 to SMOOTH_ONE, that new pixel k covers. New
 * pixel -1 ends before the first old pixel. */
static inline int32_t smooth_border(const smooth_side *s, int32_t k, int32_t *part) {
  const int64_t end = (int64_t)s->space * (k + 1);
  const int32_t last = (int32_t)((end + SMOOTH_ONE - 1) / SMOOTH_ONE) - 1;
  *part = (int32_t)(end - (int64_t)last * SMOOTH_ONE);
  return last;
}

/* Returns the old pixel before the position of new pixel k, and the weight, 0 to 255, of the next old pixel. */
static inline int32_t smooth_place(const smooth_side *s, int32_t k, int32_t *share) {
  const int64_t place = (int64_t)k * (s->from - 1);
  *share = s->to == s->from ? 0 : (int32_t)(0x100 * (place % s->to) / s->to);
  return s->to == s->from ? k : (int32_t)(place / s->to);
}

/* Some columns of the result, and their positions in the image. */
typedef struct smooth_strip {
  smooth_side side;
  int32_t begin, count;
  int32_t at[SMOOTH_COLUMNS + 1];   /* shrinking: borders, from that of the column before the first; growing: positions */
  int32_t part[SMOOTH_COLUMNS + 1]; /* the parts or weights of these borders or positions                               */
} smooth_strip;

static inline void smooth_strip_init(smooth_strip *s, const smooth_side *side, int32_t begin) {
  s->side = *side;
  s->begin = begin;
  s->count = side->to - begin < SMOOTH_COLUMNS ? side->to - begin : SMOOTH_COLUMNS;
  for (int32_t k = 0; k <= s->count; k++)
    s->at[k] = side->to < side->from ? smooth_border(side, begin + k - 1, &s->part[k])
                                     : smooth_place(side, begin + k, &s->part[k]);
}

/* Scales a row of the image to a strip. */
SMOOTH_INLINE void smooth_row(const smooth_strip *s, const uint8_t *row, int32_t channels, uint8_t *out) {
  if (s->side.to == s->side.from) {
    memcpy(out, row + (size_t)channels * s->begin, (size_t)channels * s->count);
    return;
  }
  if (s->side.to > s->side.from) {
    for (int32_t x = 0; x < s->count; x++, out += channels) {
      const uint8_t *p = row + (size_t)channels * s->at[x];
      const uint8_t *next = s->part[x] ? p + channels : p; /* the last pixel has no next one, and its weight is 0 */
      for (int32_t k = 0; k < channels; k++)
        out[k] = smooth_between(p[k], next[k], s->part[x]);
    }
    return;
  }
  uint16_t rest[SMOOTH_CHANNELS] = {0, 0, 0, 0}; /* the part of a border's pixel that lies to the right of the border */
  const uint8_t *p = row + (ptrdiff_t)channels * s->at[0];
  if (s->at[0] >= 0)
    for (int32_t k = 0; k < channels; k++)
      rest[k] = smooth_part(p[k], SMOOTH_ONE - s->part[0]);
  p += channels;
  for (int32_t x = 1; x <= s->count; x++, out += channels) {
    uint32_t sum[SMOOTH_CHANNELS] = {rest[0], rest[1], rest[2], rest[3]};
    const uint8_t *last = row + (size_t)channels * s->at[x];
    for (; p < last; p += channels)
      for (int32_t k = 0; k < channels; k++)
        sum[k] += p[k];
    for (int32_t k = 0; k < channels; k++) {
      out[k] = smooth_mean((uint16_t)(sum[k] + smooth_part(p[k], s->part[x])), s->side.reciprocal);
      rest[k] = smooth_part(p[k], SMOOTH_ONE - s->part[x]);
    }
    p += channels;
  }
}

/* Computes a strip of the result if the result has fewer rows than the image. */
SMOOTH_INLINE void smooth_shrink(const smooth_image *in, const smooth_image *out, const smooth_strip *columns,
                                 const smooth_side *rows, int32_t channels) {
  const size_t in_stride = (size_t)channels * in->width, out_stride = (size_t)channels * out->width;
  const int32_t bytes = channels * columns->count;
  uint8_t scaled[SMOOTH_CHANNELS * SMOOTH_COLUMNS];
  uint16_t sum[SMOOTH_CHANNELS * SMOOTH_COLUMNS];
  memset(sum, 0, sizeof sum);
  for (int32_t y = 0, at = 0; y < rows->to; y++) {
    int32_t part;
    const int32_t last = smooth_border(rows, y, &part);
    uint8_t *pixels = out->pixels + out_stride * y + (size_t)channels * columns->begin;
    for (; at < last; at++) {
      smooth_row(columns, in->pixels + in_stride * at, channels, scaled);
      for (int32_t k = 0; k < bytes; k++)
        sum[k] = (uint16_t)(sum[k] + scaled[k]);
    }
    smooth_row(columns, in->pixels + in_stride * at++, channels, scaled);
    for (int32_t k = 0; k < bytes; k++) {
      pixels[k] = smooth_mean((uint16_t)(sum[k] + smooth_part(scaled[k], part)), rows->reciprocal);
      sum[k] = smooth_part(scaled[k], SMOOTH_ONE - part);
    }
  }
}

/* Computes a strip of the result if the result has at least as many rows as the image. */
SMOOTH_INLINE void smooth_expand(const smooth_image *in, const smooth_image *out, const smooth_strip *columns,
                                 const smooth_side *rows, int32_t channels) {
  const size_t in_stride = (size_t)channels * in->width, out_stride = (size_t)channels * out->width;
  const int32_t bytes = channels * columns->count;
  uint8_t scaled[2][SMOOTH_CHANNELS * SMOOTH_COLUMNS]; /* rows `have` and have + 1 of the image */
  int32_t have = -2;
  for (int32_t y = 0; y < rows->to; y++) {
    int32_t share;
    const int32_t first = smooth_place(rows, y, &share);
    const int32_t second = first + 1 < rows->from ? first + 1 : first;
    uint8_t *pixels = out->pixels + out_stride * y + (size_t)channels * columns->begin;
    if (first == have + 1)
      memcpy(scaled[0], scaled[1], sizeof scaled[0]);
    else if (first != have)
      smooth_row(columns, in->pixels + in_stride * first, channels, scaled[0]);
    if (first != have)
      smooth_row(columns, in->pixels + in_stride * second, channels, scaled[1]);
    have = first;
    for (int32_t k = 0; k < bytes; k++)
      pixels[k] = smooth_between(scaled[0][k], scaled[1][k], share);
  }
}

SMOOTH_INLINE void smooth_scale_channels(const smooth_image *in, const smooth_image *out, int32_t channels) {
  const smooth_side columns = smooth_side_of(in->width, out->width), rows = smooth_side_of(in->height, out->height);
  smooth_strip strip;
  for (int32_t begin = 0; begin < out->width; begin += SMOOTH_COLUMNS) {
    smooth_strip_init(&strip, &columns, begin);
    if (rows.to < rows.from)
      smooth_shrink(in, out, &strip, &rows, channels);
    else
      smooth_expand(in, out, &strip, &rows, channels);
  }
}

/* Scales an image to the size of another image with the same number of channels. */
static inline void smooth_scale(const smooth_image *in, const smooth_image *out) {
  if (out->width < 1 || out->height < 1)
    return;
  if (in->channels == 4)
    smooth_scale_channels(in, out, 4);
  else
    smooth_scale_channels(in, out, 3);
}

#endif /* ENVPOOL_RASTER_SMOOTHSCALE_H */
