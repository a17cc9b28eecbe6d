#include "screen.h"

#include <algorithm>
#include <cstring>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace envpool::atari {

// Most pixels of two consecutive frames are equal, so that a single look-up suffices.
void look_up_max_plain(const uint8_t *a, const uint8_t *b, const uint8_t table[256], size_t n, uint8_t *out) noexcept {
  size_t i = 0;
  for (; i + 8 <= n; i += 8) {
    uint64_t words[2];
    std::memcpy(&words[0], a + i, 8);
    std::memcpy(&words[1], b + i, 8);
    for (size_t k = i; k < i + 8; k++) out[k] = table[a[k]];
    if (words[0] != words[1])
      for (size_t k = i; k < i + 8; k++) out[k] = std::max(out[k], table[b[k]]);
  }
  for (; i < n; i++) out[i] = std::max(table[a[i]], table[b[i]]);
}

namespace {

#if defined(__x86_64__)

// The table fills four registers; the highest bit of an index chooses between the two halves.
__attribute__((target("avx512f,avx512bw,avx512vbmi"))) void look_up_max_vbmi(const uint8_t *a, const uint8_t *b,
                                                                             const uint8_t table[256], size_t n,
                                                                             uint8_t *out) noexcept {
  const __m512i t0 = _mm512_loadu_si512(table), t1 = _mm512_loadu_si512(table + 64);
  const __m512i t2 = _mm512_loadu_si512(table + 128), t3 = _mm512_loadu_si512(table + 192);
  for (size_t i = 0; i < n; i += 64) {
    const __mmask64 part = n - i >= 64 ? ~UINT64_C(0) : (UINT64_C(1) << (n - i)) - 1;
    const __m512i x = _mm512_maskz_loadu_epi8(part, a + i), y = _mm512_maskz_loadu_epi8(part, b + i);
    const __m512i p = _mm512_mask_blend_epi8(_mm512_movepi8_mask(x), _mm512_permutex2var_epi8(t0, x, t1),
                                             _mm512_permutex2var_epi8(t2, x, t3));
    const __m512i q = _mm512_mask_blend_epi8(_mm512_movepi8_mask(y), _mm512_permutex2var_epi8(t0, y, t1),
                                             _mm512_permutex2var_epi8(t2, y, t3));
    _mm512_mask_storeu_epi8(out + i, part, _mm512_max_epu8(p, q));
  }
}

const bool kHasVbmi = __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vbmi");

#endif

}  // namespace

void look_up_max(const uint8_t *a, const uint8_t *b, const uint8_t table[256], size_t n, uint8_t *out) noexcept {
#if defined(__x86_64__)
  if (kHasVbmi) return look_up_max_vbmi(a, b, table, n, out);
#endif
  look_up_max_plain(a, b, table, n, out);
}

}  // namespace envpool::atari
