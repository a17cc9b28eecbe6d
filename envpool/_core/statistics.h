/* The loops of statistics.pyx over the rows of a chunk. */
#ifndef ENVPOOL_CORE_STATISTICS_H
#define ENVPOOL_CORE_STATISTICS_H

#include <stdint.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include "envpool/simd.h"

/* Adds n rewards to running returns, in float64 as NumPy adds float32 to float64. */
ENVPOOL_SIMD static void ep_add_rewards(double *restrict returns, const float *restrict reward, int64_t n) {
  for (int64_t i = 0; i < n; i++) returns[i] += (double)reward[i];
}

static inline void ep_join_flags(uint8_t *restrict joined, const uint8_t *a, const uint8_t *b, int64_t n) {
  for (int64_t i = 0; i < n; i++) joined[i] = (a[i] | b[i]) != 0;
}

/* Returns a word whose bit i is flag i, of n <= 64 flags that are 0 or 1. There is no branch per flag, since the outcome
 * would be random. */
static inline uint64_t ep_bits_of(const uint8_t *flags, int64_t n) {
  uint64_t bits = 0;
  int64_t i = 0;
#ifdef __SSE2__
  for (; i + 16 <= n; i += 16) {
    __m128i some = _mm_slli_epi16(_mm_loadu_si128((const __m128i *)(flags + i)), 7);
    bits |= (uint64_t)(uint32_t)_mm_movemask_epi8(some) << i;
  }
#endif
  for (; i < n; i++) bits |= (uint64_t)flags[i] << i;
  return bits;
}

#endif
