/* Running means and variances of batches, and normalisation by them: the arithmetic of gymnasium's RunningMeanStd,
 * NormalizeObservation and NormalizeReward on NumPy arrays, bit for bit.
 *
 * Invariants:
 * - A sum over the rows of an array (n, size) adds row after row, as NumPy does; a single column NumPy adds pairwise.
 * - float32 arrays are summed in float32 and keep float32 moments; all others use float64. NumPy divides by the number
 *   of rows in float64 and rounds the quotient.
 * - The moments of observations begin as float32 arrays; the first batch of another dtype turns them into float64.
 * - Nothing is fused or reordered: see the flags in setup.py. */
#ifndef ENVPOOL_TRANSFORMS_MOMENTS_H
#define ENVPOOL_TRANSFORMS_MOMENTS_H

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "envpool/_core/dtypes.h"
#include "envpool/env.h"
#include "envpool/simd.h"

enum { EP_TILE = 64 }; /* least number of elements in a loop that the compiler vectorises */
enum { EP_PART = 512 }; /* rewards that are transformed at a time, so that they stay in the fastest cache */

/* The running mean and variance of an array. */
typedef struct ep_moments {
  double *mean;   /* (size) */
  double *var;    /* (size) */
  double *center; /* (2 * (size + EP_TILE)): mean and variance of a batch; means and deviations of a tile */
  double count;   /* observations so far, plus a small number */
  int64_t size;
  int32_t single; /* 1: mean and var are float32 arrays, whose values are stored as doubles */
  int32_t pad;
} ep_moments;

/* Sums of W columns of x (n, stride), or of the squares of their differences from `center`, in registers. */
#define EP_COLUMNS(NAME, S, T, W)                                                                      \
  static inline void NAME(const S *x, int64_t n, int64_t stride, const T *center, T *sums) {           \
    T s[W], c[W];                                                                                      \
    for (int k = 0; k < W; k++) s[k] = 0, c[k] = center ? center[k] : 0;                               \
    for (int64_t i = 0; i < n && !center; i++, x += stride)                                            \
      for (int k = 0; k < W; k++) s[k] += (T)x[k];                                                     \
    for (int64_t i = 0; i < n && center; i++, x += stride)                                             \
      for (int k = 0; k < W; k++) s[k] += ((T)x[k] - c[k]) * ((T)x[k] - c[k]);                         \
    for (int k = 0; k < W; k++) sums[k] = s[k];                                                        \
  }

/* For arrays of dtype S that NumPy sums in T. ep_pairwise_: the sum of n elements in the order of NumPy's pairwise
 * summation, in which parts of at most 128 elements have eight partial sums (ep_part_). ep_sums_: the sums of all
 * columns of x (n, size). With `center`, of squared differences from it. */
#define EP_SUMS(NAME, S, T)                                                                            \
  EP_COLUMNS(ep_columns8_##NAME, S, T, 8)                                                              \
  EP_COLUMNS(ep_columns4_##NAME, S, T, 4)                                                              \
  EP_COLUMNS(ep_columns1_##NAME, S, T, 1)                                                              \
  typedef S ep_eight_##NAME __attribute__((vector_size(8 * sizeof(S))));                               \
  typedef T ep_sums8_##NAME __attribute__((vector_size(8 * sizeof(T))));                               \
  ENVPOOL_SIMD static T ep_part_##NAME(const S *x, int64_t n, const T *center) {                       \
    ep_sums8_##NAME r = {0}, c = {0}, v;                                                               \
    ep_eight_##NAME s;                                                                                 \
    T sum, d;                                                                                          \
    int64_t i = 0, end = n - n % 8;                                                                    \
    if (center) c += *center;                                                                          \
    for (; i < end && !center; i += 8) {                                                               \
      memcpy(&s, x + i, sizeof s);                                                                     \
      r += __builtin_convertvector(s, ep_sums8_##NAME);                                                \
    }                                                                                                  \
    for (; i < end && center; i += 8) {                                                                \
      memcpy(&s, x + i, sizeof s);                                                                     \
      v = __builtin_convertvector(s, ep_sums8_##NAME) - c;                                             \
      r += v * v;                                                                                      \
    }                                                                                                  \
    sum = ((r[0] + r[1]) + (r[2] + r[3])) + ((r[4] + r[5]) + (r[6] + r[7]));                           \
    for (; i < n; i++) {                                                                               \
      d = (T)x[i] - c[0];                                                                              \
      sum += center ? d * d : (T)x[i];                                                                 \
    }                                                                                                  \
    return sum;                                                                                        \
  }                                                                                                    \
  static T ep_pairwise_##NAME(const S *x, int64_t n, const T *center) {                                \
    int64_t half = n / 2 - n / 2 % 8;                                                                  \
    if (n <= 128) return ep_part_##NAME(x, n, center);                                                 \
    return ep_pairwise_##NAME(x, half, center) + ep_pairwise_##NAME(x + half, n - half, center);       \
  }                                                                                                    \
  ENVPOOL_SIMD static void ep_add_row_##NAME(T *sums, const S *x, int64_t size, const T *center) {     \
    if (center)                                                                                        \
      for (int64_t k = 0; k < size; k++) sums[k] += ((T)x[k] - center[k]) * ((T)x[k] - center[k]);     \
    else                                                                                               \
      for (int64_t k = 0; k < size; k++) sums[k] += (T)x[k];                                           \
  }                                                                                                    \
  static void ep_sums_##NAME(const S *x, int64_t n, int64_t size, const T *center, T *sums) {          \
    int64_t k = 0;                                                                                     \
    if (size == 1) {                                                                                   \
      sums[0] = ep_pairwise_##NAME(x, n, center);                                                      \
    } else if (size >= EP_TILE) {                                                                      \
      for (; k < size; k++) sums[k] = 0;                                                               \
      for (int64_t i = 0; i < n; i++) ep_add_row_##NAME(sums, x + i * size, size, center);             \
    } else {                                                                                           \
      for (; k + 8 <= size; k += 8) ep_columns8_##NAME(x + k, n, size, center ? center + k : 0, sums + k); \
      for (; k + 4 <= size; k += 4) ep_columns4_##NAME(x + k, n, size, center ? center + k : 0, sums + k); \
      for (; k < size; k++) ep_columns1_##NAME(x + k, n, size, center ? center + k : 0, sums + k);     \
    }                                                                                                  \
  }

/* Adds the rows of x (n, size) to moments. */
#define EP_UPDATE(NAME, S, T)                                                                          \
  EP_SUMS(NAME, S, T)                                                                                  \
  static void ep_update_##NAME(ep_moments *m, const S *x, int64_t n) {                                 \
    T *mean = (T *)m->center, *var = mean + m->size, rows = (T)n, count = (T)m->count;                 \
    double total_rows = m->count + (double)n;                                                          \
    T total = (T)total_rows;                                                                           \
    if (n == 0) return;                                                                                \
    ep_sums_##NAME(x, n, m->size, 0, mean);                                                            \
    for (int64_t k = 0; k < m->size; k++) mean[k] = (T)((double)mean[k] / (double)n);                  \
    ep_sums_##NAME(x, n, m->size, mean, var);                                                          \
    for (int64_t k = 0; k < m->size; k++) {                                                            \
      T delta = mean[k] - (T)m->mean[k], batch_var = (T)((double)var[k] / (double)n);                  \
      T a = m->single ? (T)((float)m->var[k] * (float)m->count) : (T)m->var[k] * count;                \
      T sum = (a + batch_var * rows) + delta * delta * count * rows / total;                           \
      m->mean[k] = (T)m->mean[k] + delta * rows / total;                                               \
      m->var[k] = sum / total;                                                                         \
    }                                                                                                  \
    m->count = total_rows;                                                                             \
    m->single = sizeof(T) == sizeof(float);                                                            \
  }

EP_UPDATE(float32, float, float)
EP_UPDATE(float64, double, double)
#define EP_UPDATE_INTEGERS(DTYPE, NAME, S) EP_UPDATE(NAME, S, double)
EP_INTEGERS(EP_UPDATE_INTEGERS)

/* Adds n float32 values to float64 moments of size 1, as RunningMeanStd(shape=()) does. */
static void ep_update_scalar(ep_moments *m, const float *x, int64_t n) {
  float mean, var;
  double delta, total = m->count + (double)n;
  if (n == 0) return;
  mean = (float)((double)ep_pairwise_float32(x, n, 0) / (double)n);
  var = (float)((double)ep_pairwise_float32(x, n, &mean) / (double)n);
  delta = (double)mean - m->mean[0];
  m->var[0] = ((m->var[0] * m->count + (double)(var * (float)n)) + delta * delta * m->count * (double)n / total) / total;
  m->mean[0] += delta * (double)n / total;
  m->count = total;
}

/* One tile of elements in a loop that the compiler vectorises: its columns repeat. `io` may be changed in place. */
ENVPOOL_SIMD static void ep_normalize_tile(float *io, int64_t n, const float *mean, const float *deviation) {
  for (int64_t j = 0; j < n; j++) io[j] = (io[j] - mean[j]) / deviation[j];
}

#define EP_NORMALIZE(DTYPE, NAME, S)                                                                   \
  ENVPOOL_SIMD static void ep_tile_##NAME(const S *restrict x, float *restrict out, int64_t n,         \
                                          const double *restrict mean, const double *restrict deviation) { \
    for (int64_t j = 0; j < n; j++) out[j] = (float)(((double)x[j] - mean[j]) / deviation[j]);         \
  }                                                                                                    \
  static void ep_normalize_##NAME(const ep_moments *m, const S *x, float *out, int64_t n, double epsilon) { \
    int64_t tile = ep_tile_rows(m, n) * m->size, items = n * m->size;                                  \
    double *mean = m->center, *deviation = mean + tile;                                                \
    for (int64_t k = 0; k < tile; k++) {                                                               \
      double var = m->var[k % m->size];                                                                \
      mean[k] = m->mean[k % m->size];                                                                  \
      deviation[k] = m->single ? (double)sqrtf((float)var + (float)epsilon) : sqrt(var + epsilon);     \
    }                                                                                                  \
    for (int64_t j = 0; j < items; j += tile)                                                          \
      ep_tile_##NAME(x + j, out + j, items - j < tile ? items - j : tile, mean, deviation);            \
  }

/* Rows of a tile: enough for EP_TILE elements. */
static inline int64_t ep_tile_rows(const ep_moments *m, int64_t n) {
  int64_t rows = (EP_TILE + m->size - 1) / m->size;
  return rows < n ? rows : n;
}

/* Normalises float32 rows io (n, size) in place. */
static void ep_normalize_float32(const ep_moments *m, const float *x, float *io, int64_t n, double epsilon) {
  (void)x; /* is io */
  int64_t tile = ep_tile_rows(m, n) * m->size, items = n * m->size;
  float *mean = (float *)m->center, *deviation = mean + tile;
  for (int64_t k = 0; k < tile; k++) {
    mean[k] = (float)m->mean[k % m->size];
    deviation[k] = sqrtf((float)m->var[k % m->size] + (float)epsilon);
  }
  for (int64_t j = 0; j < items; j += tile)
    ep_normalize_tile(io + j, items - j < tile ? items - j : tile, mean, deviation);
}

EP_INTEGERS(EP_NORMALIZE)
EP_NORMALIZE(ENVPOOL_FLOAT64, float64, double)

/* Adds the rewards of steps, as opposed to resets, to the discounted sums of their rows. A row is a step if it has
 * elapsed steps or, with `resets_at_once`, if it ends an episode; in this case its sum starts again. Puts the sums of
 * the steps into `chosen` (n), in their order, and returns their number. No branch depends on a row.
 *
 * NumPy adds in float64 here and rounds the result to float32. This is the float32 sum: rounding the sum of two float32
 * values to float64 first does not change the result. */
ENVPOOL_SIMD static int64_t ep_discount(float *restrict sums, const float *restrict reward,
                                        const int32_t *restrict elapsed, const uint8_t *restrict terminated,
                                        const uint8_t *restrict truncated, int64_t n, float gamma,
                                        int32_t resets_at_once, float *restrict chosen) {
  float totals[EP_PART];
  uint8_t is_step[EP_PART];
  int64_t count = 0;
  for (int64_t part; n > 0; n -= part) {
    part = n < EP_PART ? n : EP_PART;
    for (int64_t i = 0; i < part; i++) totals[i] = sums[i] * gamma * (float)(1 - terminated[i]) + reward[i];
    for (int64_t i = 0; i < part; i++) sums[i] = elapsed[i] > 0 ? totals[i] : sums[i];
    for (int64_t i = 0; i < part; i++) is_step[i] = elapsed[i] > 0;
    for (int64_t i = 0; i < part && resets_at_once; i++) {
      uint8_t ended = terminated[i] | truncated[i];
      sums[i] = ended ? 0 : sums[i];
      is_step[i] |= ended;
    }
    for (int64_t i = 0; i < part; i++) {
      chosen[count] = totals[i];
      count += is_step[i];
    }
    sums += part, reward += part, elapsed += part, terminated += part, truncated += part;
  }
  return count;
}

ENVPOOL_SIMD static void ep_divide(float *io, int64_t n, double deviation) {
  for (int64_t i = 0; i < n; i++) io[i] = (float)((double)io[i] / deviation);
}

/* np.clip with scalar bounds that are not NaN: NaN stays. */
#define EP_CLIP(NAME, T)                                                                               \
  ENVPOOL_SIMD static void ep_clip_##NAME(T *io, int64_t n, T low, T high) {                           \
    for (int64_t j = 0; j < n; j++) {                                                                  \
      T x = io[j], above = x > low ? x : low, within = above < high ? above : high;                    \
      io[j] = x != x ? x : within;                                                                     \
    }                                                                                                  \
  }

EP_CLIP(float32, float)
EP_CLIP(float64, double)

static void ep_update(ep_moments *m, int32_t dtype, const void *x, int64_t n) {
#define EP_CASE(DTYPE, NAME, T) \
  case DTYPE: ep_update_##NAME(m, (const T *)x, n); break;
  switch (EP_STORED(dtype)) { EP_NUMBERS(EP_CASE) }
#undef EP_CASE
}

/* float32 rows are normalised in place. */
static void ep_normalize(const ep_moments *m, int32_t dtype, const void *x, float *out, int64_t n, double epsilon) {
#define EP_CASE(DTYPE, NAME, T) \
  case DTYPE: ep_normalize_##NAME(m, (const T *)x, out, n, epsilon); break;
  switch (EP_STORED(dtype)) { EP_NUMBERS(EP_CASE) }
#undef EP_CASE
}

#endif /* ENVPOOL_TRANSFORMS_MOMENTS_H */
