// A column of the result covers 40/21 columns of the source, a row 5/2 rows. So with weights in units of 1/40 and 1/5, a
// result is (sum of weight * pixel) / 200, where the sum fits in 16 bits. OpenCV adds floats. Its error is far below 1/200,
// so that both results are equal unless the sum lies exactly between two results.

#include "resize_84.h"

#include <algorithm>
#include <cstring>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace envpool::raster {

#if defined(__x86_64__)

#define AVX2 __attribute__((target("avx2")))

namespace {

constexpr int kTo = 84, kUnits = 40, kSteps = 21;  // a source column is 21 units wide, a result column 40
constexpr int kTaps = 3;                           // largest number of source columns that a result column overlaps
constexpr int kLane = 7;                           // result columns per register of 16 source columns
constexpr int kLanes = kTo / kLane;
constexpr int kPadded = 96;                        // sums of a row, including the unused eighth sum of each lane

struct Tables {
  int start[kLanes];                         // first of the 16 source columns
  alignas(16) uint8_t pair[kLanes][16];      // shuffle of the first two taps of each result column
  alignas(16) uint8_t third[kLanes][16];     // shuffle of the third tap
  alignas(16) int8_t pair_weight[kLanes][16];
  alignas(16) int8_t third_weight[kLanes][16];

  Tables() {
    std::memset(this, 0, sizeof(*this));
    std::memset(pair, 0x80, sizeof(pair));  // 0x80 gives zero
    std::memset(third, 0x80, sizeof(third));
    for (int l = 0; l < kLanes; l++) {
      start[l] = std::min(l * kLane * kUnits / kSteps, k84FromWidth - 16);
      for (int k = 0; k < kLane; k++) {
        const int begin = (l * kLane + k) * kUnits, end = begin + kUnits;
        for (int t = 0; t < kTaps; t++) {
          const int column = begin / kSteps + t, left = column * kSteps;
          const int weight = std::min(end, left + kSteps) - std::max(begin, left);
          if (weight <= 0) continue;
          (t < 2 ? pair : third)[l][2 * k + t % 2] = static_cast<uint8_t>(column - start[l]);
          (t < 2 ? pair_weight : third_weight)[l][2 * k + t % 2] = static_cast<int8_t>(weight);
        }
      }
    }
  }
};

const Tables kTables;

AVX2 inline __m256i load(const void *at) { return _mm256_loadu_si256(static_cast<const __m256i *>(at)); }

// Sets sums[l * 8 + k] to the sum, in units, of one source row for result column l * 7 + k.
AVX2 inline void add_columns(const uint8_t *row, uint16_t *sums) {
  for (int l = 0; l < kLanes; l += 2) {
    const __m256i from = _mm256_loadu2_m128i(reinterpret_cast<const __m128i *>(row + kTables.start[l + 1]),
                                             reinterpret_cast<const __m128i *>(row + kTables.start[l]));
    const __m256i two =
        _mm256_maddubs_epi16(_mm256_shuffle_epi8(from, load(kTables.pair[l])), load(kTables.pair_weight[l]));
    const __m256i one =
        _mm256_maddubs_epi16(_mm256_shuffle_epi8(from, load(kTables.third[l])), load(kTables.third_weight[l]));
    _mm256_storeu_si256(reinterpret_cast<__m256i *>(sums + 8 * l), _mm256_add_epi16(two, one));
  }
}

// Computes a row of results from three rows of sums with the weights 2, 2, 1 or 1, 2, 2; `doubled` is the outer row with
// weight 2.
AVX2 inline void add_rows(const uint16_t *doubled, const uint16_t *middle,
                                                     const uint16_t *single, uint8_t *results, uint32_t *between) {
  const __m256i half = _mm256_set1_epi16(100), whole = _mm256_set1_epi16(200), inverse = _mm256_set1_epi16(5243);
  for (int k = 0; k < kPadded; k += 16) {
    const __m256i twice = _mm256_add_epi16(load(doubled + k), load(middle + k));
    const __m256i sum = _mm256_add_epi16(_mm256_add_epi16(_mm256_add_epi16(twice, twice), load(single + k)), half);
    // sum / 200 as (sum / 8) / 25, exact for all sums up to 51100
    const __m256i result = _mm256_srli_epi16(_mm256_mulhi_epu16(_mm256_srli_epi16(sum, 3), inverse), 1);
    const __m256i rest = _mm256_sub_epi16(sum, _mm256_mullo_epi16(result, whole));
    const __m256i zero = _mm256_setzero_si256();
    *between++ = static_cast<uint32_t>(_mm256_movemask_epi8(_mm256_cmpeq_epi16(rest, zero)));
    const __m256i bytes = _mm256_packus_epi16(result, zero);  // each half of the register separately
    _mm_storel_epi64(reinterpret_cast<__m128i *>(results + k), _mm256_castsi256_si128(bytes));
    _mm_storel_epi64(reinterpret_cast<__m128i *>(results + k + 8), _mm256_extracti128_si256(bytes, 1));
  }
}

}  // namespace

bool has_resize_84() noexcept { return __builtin_cpu_supports("avx2"); }

AVX2 int resize_84(const uint8_t *from, uint8_t *to, uint16_t *ties) noexcept {
  alignas(32) uint16_t sums[5][kPadded];
  alignas(32) uint8_t results[kPadded];
  uint32_t between[kPadded / 16];
  int num_ties = 0;
  for (int y = 0; y < kTo; y++, to += kTo) {
    if (y % 2 == 0) {
      for (int r = 0; r < 5; r++) add_columns(from + r * k84FromWidth, sums[r]);
      from += 5 * k84FromWidth;
      add_rows(sums[0], sums[1], sums[2], results, between);
    } else {
      add_rows(sums[4], sums[3], sums[2], results, between);
    }
    for (int l = 0; l < kLanes; l++) std::memcpy(to + l * kLane, results + l * 8, kLane);
    for (int part = 0; part < kPadded / 16; part++) {
      for (uint32_t bits = between[part] & 0x15551555u; bits; bits &= bits - 1) {  // two bits per sum, without the unused ones
        const int k = part * 16 + __builtin_ctz(bits) / 2;
        ties[num_ties++] = static_cast<uint16_t>(y * kTo + k / 8 * kLane + k % 8);
      }
    }
  }
  return num_ties;
}

#else

bool has_resize_84() noexcept { return false; }

int resize_84(const uint8_t *, uint8_t *, uint16_t *) noexcept { return 0; }

#endif

}  // namespace envpool::raster
