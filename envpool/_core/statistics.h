/* The loops of statistics.pyx over the rows of a chunk. */
#ifndef ENVPOOL_CORE_STATISTICS_H
#define ENVPOOL_CORE_STATISTICS_H

#include <stdint.h>

#include "envpool/simd.h"

/* Adds n rewards to running returns, in float64 as NumPy adds float32 to float64. */
ENVPOOL_SIMD static void ep_add_rewards(double *restrict returns, const float *restrict reward, int64_t n) {
  for (int64_t i = 0; i < n; i++) returns[i] += (double)reward[i];
}

static inline void ep_join_flags(uint8_t *restrict joined, const uint8_t *a, const uint8_t *b, int64_t n) {
  for (int64_t i = 0; i < n; i++) joined[i] = (a[i] | b[i]) != 0;
}

#endif
