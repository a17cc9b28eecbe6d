/* Indices of set flags. */
#ifndef ENVPOOL_CORE_FLAGS_H
#define ENVPOOL_CORE_FLAGS_H

#include <stdint.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include "envpool/simd.h"

/* Returns a word whose bit i is set if flag i is nonzero, of n <= 64 flags. */
static inline uint64_t ep_bits_of(const uint8_t *flags, int64_t n) {
  uint64_t bits = 0;
  int64_t i = 0;
#ifdef __SSE2__
  for (; i + 16 <= n; i += 16) {
    __m128i none = _mm_cmpeq_epi8(_mm_loadu_si128((const __m128i *)(flags + i)), _mm_setzero_si128());
    bits |= (uint64_t)(uint32_t)(_mm_movemask_epi8(none) ^ 0xFFFF) << i;
  }
#endif
  for (; i < n; i++) bits |= (uint64_t)(flags[i] != 0) << i;
  return bits;
}

/* Writes the positions of the nonzero flags, of n, to `found` (n) in ascending order, and returns their number. The
 * rest of `found` is undefined: the first positions of a word are written whether or not there are as many, since a
 * branch for each would often be mispredicted. */
ENVPOOL_SIMD static int32_t ep_find_some_flags(const uint8_t *flags, int64_t n, int32_t *found) {
  const uint64_t last = (uint64_t)1 << 63; /* keeps a word nonzero, so that it has a first bit */
  int32_t k = 0;
  for (int64_t start = 0; start < n; start += 64) {
    int64_t size = n - start < 64 ? n - start : 64;
    uint64_t bits = ep_bits_of(flags + start, size);
    if (bits == 0) continue;
    int32_t count = __builtin_popcountll(bits), j = 0;
    if (size >= 4) /* k <= start, so that the positions have room */
      for (; j < 4; j++, bits &= bits - 1) found[k + j] = (int32_t)start + __builtin_ctzll(bits | last);
    for (; j < count; j++, bits &= bits - 1) found[k + j] = (int32_t)start + __builtin_ctzll(bits);
    k += count;
  }
  return k;
}

/* Like ep_find_some_flags(), without a call in the most frequent case: few flags, none of them set. */
static inline int32_t ep_find_flags(const uint8_t *flags, int64_t n, int32_t *found) {
  return n <= 64 && ep_bits_of(flags, n) == 0 ? 0 : ep_find_some_flags(flags, n, found);
}

#endif
