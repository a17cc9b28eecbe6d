// Each method has the order and the precision of OpenCV's arithmetic, and cv::resize determines which method is used.

#include "resize.h"

#include <algorithm>
#include <cfloat>
#include <cmath>
#include <cstddef>
#include <cstring>

#include "envpool/simd.h"
#include "resize_84.h"

namespace envpool::raster {
namespace {

constexpr int kTile = 512;   // columns per tile, so that rows of sums fit on the stack
constexpr int kOne = 2048;   // weight 1 in fixed point

// OpenCV inverts the inverse. For 210 to 1 the result is not 210, which affects the choice of the method.
double scale_of(int from, int to) { return 1.0 / (static_cast<double>(to) / from); }

bool is_whole(double scale) { return std::abs(scale - std::nearbyint(scale)) < DBL_EPSILON; }

// Rounds values from 0 to 255, half to even: adding 1.5 * 2**23 leaves no bits for fractions.
inline uint8_t to_byte(float value) {
  return static_cast<uint8_t>(static_cast<int>((value + 12582912.0f) - 12582912.0f));
}

// a * b + c. OpenCV's packages for aarch64 use the fused multiply-add, which rounds once; those for x86-64 round twice.
inline float multiply_add(float a, float b, float c) {
#if defined(__aarch64__)
  return __builtin_fmaf(a, b, c);
#else
  return a * b + c;
#endif
}

ENVPOOL_SIMD void to_bytes(const float *values, int n, uint8_t *to) {
  for (int k = 0; k < n; k++) to[k] = to_byte(values[k]);
}

// Sets sums[k] to the weighted sum of one source row for column k.
ENVPOOL_SIMD void weigh_row(const uint8_t *row, const int32_t *index, const float *weight, int taps, int stride, int n,
                            float *sums) {
  for (int k = 0; k < n; k++) sums[k] = static_cast<float>(row[index[k]]) * weight[k];
  for (int t = 1; t < taps; t++) {
    index += stride;
    weight += stride;
    for (int k = 0; k < n; k++) sums[k] = multiply_add(static_cast<float>(row[index[k]]), weight[k], sums[k]);
  }
}

ENVPOOL_SIMD void add_row(const float *row, float weight, int n, float *sums) {
  for (int k = 0; k < n; k++) sums[k] = multiply_add(row[k], weight, sums[k]);
}

ENVPOOL_SIMD void blend_rows(const int32_t *upper, const int32_t *lower, int32_t a, int32_t b, int n, uint8_t *to) {
  for (int k = 0; k < n; k++)
    to[k] = static_cast<uint8_t>((((a * (upper[k] >> 4)) >> 16) + ((b * (lower[k] >> 4)) >> 16) + 2) >> 2);
}

}  // namespace

Resizer::Resizer(int from_height, int from_width, int to_height, int to_width, bool area, bool simd)
    : from_height_(from_height), from_width_(from_width), to_height_(to_height), to_width_(to_width), y_(), x_() {
  const double sy = scale_of(from_height, to_height), sx = scale_of(from_width, to_width);
  const bool whole = is_whole(sy) && is_whole(sx);
  if (from_height == to_height && from_width == to_width) {
    method_ = Method::copy;
  } else if (whole && std::min(sy, sx) >= 1 && (area || (sy == 2 && sx == 2))) {
    method_ = Method::means;
  } else if (area && std::min(sy, sx) >= 1) {
    const bool is_usual = from_height == k84FromHeight && from_width == k84FromWidth && to_height == 84 && to_width == 84;
    method_ = is_usual && simd && has_resize_84() ? Method::areas_84 : Method::areas;
    y_ = areas(from_height, to_height);
    x_ = areas(from_width, to_width);
  } else {
    method_ = Method::lines;
    y_ = lines(from_height, to_height, area, false);
    x_ = lines(from_width, to_width, area, true);
  }
}

void Resizer::run(const uint8_t *from, uint8_t *to) const noexcept {
  switch (method_) {
    case Method::copy: std::memcpy(to, from, static_cast<size_t>(to_height_) * to_width_); break;
    case Method::means: run_means(from, to); break;
    case Method::areas: run_areas(from, to); break;
    case Method::areas_84: run_areas_84(from, to); break;
    case Method::lines: run_lines(from, to); break;
  }
}

// --- Whole ratios: means of blocks -----------------------------------------------------------------------------------

void Resizer::run_means(const uint8_t *from, uint8_t *to) const noexcept {
  const int high = from_height_ / to_height_, wide = from_width_ / to_width_;
  const float scale = 1.0f / static_cast<float>(high * wide);
  for (int y = 0; y < to_height_; y++) {
    for (int x = 0; x < to_width_; x++) {
      const uint8_t *block = from + static_cast<ptrdiff_t>(y) * high * from_width_ + static_cast<ptrdiff_t>(x) * wide;
      int sum = 0;
      for (int r = 0; r < high; r++, block += from_width_)
        for (int c = 0; c < wide; c++) sum += block[c];
      // The means of blocks of four pixels are rounded half up, other means half to even.
      *to++ = high == 2 && wide == 2 ? static_cast<uint8_t>((sum + 2) >> 2) : to_byte(static_cast<float>(sum) * scale);
    }
  }
}

// --- Other ratios: means weighted by the area covered ----------------------------------------------------------------

Resizer::Axis Resizer::areas(int from, int to) {
  const double scale = scale_of(from, to), least = 1e-3;  // smaller parts of an element do not count
  struct Tap {
    int32_t index;
    float weight;
  };
  std::vector<std::vector<Tap>> all(static_cast<size_t>(to));
  size_t most = 1;
  for (int i = 0; i < to; i++) {
    const double start = i * scale, end = start + scale, size = std::min(scale, from - start);
    const int last = std::min(static_cast<int>(std::floor(end)), from - 1);
    const int first = std::min(static_cast<int>(std::ceil(start)), last);
    std::vector<Tap> &taps = all[static_cast<size_t>(i)];
    if (first - start > least) taps.push_back({first - 1, static_cast<float>((first - start) / size)});
    for (int k = first; k < last; k++) taps.push_back({k, static_cast<float>(1.0 / size)});
    if (end - last > least)
      taps.push_back({last, static_cast<float>(std::min(std::min(end - last, 1.0), size) / size)});
    most = std::max(most, taps.size());
  }
  Axis axis{to, static_cast<int>(most), {}, {}, {}};
  for (size_t t = 0; t < most; t++) {
    for (const std::vector<Tap> &taps : all) {
      axis.index.push_back(t < taps.size() ? taps[t].index : 0);
      axis.weight.push_back(t < taps.size() ? taps[t].weight : 0.0f);
    }
  }
  return axis;
}

void Resizer::run_areas(const uint8_t *from, uint8_t *to) const noexcept {
  float row[kTile], sums[kTile];
  for (int x = 0; x < to_width_; x += kTile) {
    const int n = std::min(kTile, to_width_ - x);
    int in_row = -1;  // the source row of `row`; adjacent rows of the result share source rows
    for (int y = 0; y < to_height_; y++) {
      std::fill_n(sums, n, 0.0f);
      for (int t = 0; t < y_.taps; t++) {
        const float weight = y_.weight[static_cast<size_t>(t) * to_height_ + y];
        if (weight == 0) break;
        const int source = y_.index[static_cast<size_t>(t) * to_height_ + y];
        if (source != in_row)
          weigh_row(from + static_cast<ptrdiff_t>(source) * from_width_, &x_.index[x], &x_.weight[x], x_.taps, to_width_,
                    n, row);
        in_row = source;
        add_row(row, weight, n, sums);
      }
      to_bytes(sums, n, to + static_cast<ptrdiff_t>(y) * to_width_ + x);
    }
  }
}

void Resizer::run_areas_84(const uint8_t *from, uint8_t *to) const noexcept {
  uint16_t ties[84 * 84];
  const int num_ties = resize_84(from, to, ties);
  for (int i = 0; i < num_ties; i++) {
    const int x = ties[i] % 84, y = ties[i] / 84;
    float sum = 0;
    for (int s = 0; s < y_.taps; s++) {
      const uint8_t *row = from + y_.index[static_cast<size_t>(s) * 84 + y] * from_width_;
      float in_row = 0;
      for (int t = 0; t < x_.taps; t++)
        in_row += static_cast<float>(row[x_.index[static_cast<size_t>(t) * 84 + x]]) * x_.weight[static_cast<size_t>(t) * 84 + x];
      sum += in_row * y_.weight[static_cast<size_t>(s) * 84 + y];
    }
    to[ties[i]] = to_byte(sum);
  }
}

// --- Linear interpolation in fixed point -----------------------------------------------------------------------------

Resizer::Axis Resizer::lines(int from, int to, bool area, bool zero_at_end) {
  const double inverse = static_cast<double>(to) / from, scale = 1.0 / inverse;
  Axis axis{to, 2, std::vector<int32_t>(2 * static_cast<size_t>(to)), {}, std::vector<int32_t>(2 * static_cast<size_t>(to))};
  for (int i = 0; i < to; i++) {
    float part;
    int at;
    if (area) {
      at = static_cast<int>(std::floor(i * scale));
      part = static_cast<float>((i + 1) - (at + 1) * inverse);
      part = part <= 0 ? 0.0f : part - std::floor(part);
    } else {
      part = static_cast<float>((i + 0.5) * scale - 0.5);
      at = static_cast<int>(std::floor(part));
      part -= static_cast<float>(at);
    }
    if (zero_at_end && (at < 0 || at >= from - 1)) {
      part = 0.0f;
      at = std::clamp(at, 0, from - 1);
    }
    const size_t first = static_cast<size_t>(i), second = first + static_cast<size_t>(to);
    axis.index[first] = std::clamp(at, 0, from - 1);
    axis.index[second] = std::clamp(at + 1, 0, from - 1);
    axis.fixed[first] = static_cast<int32_t>(std::nearbyint((1.0f - part) * kOne));
    axis.fixed[second] = static_cast<int32_t>(std::nearbyint(part * kOne));
  }
  return axis;
}

void Resizer::run_lines(const uint8_t *from, uint8_t *to) const noexcept {
  int32_t rows[2][kTile];
  for (int x = 0; x < to_width_; x += kTile) {
    const int n = std::min(kTile, to_width_ - x);
    const int32_t *left = &x_.index[x], *right = left + to_width_;
    const int32_t *a = &x_.fixed[x], *b = a + to_width_;
    int in_row[2] = {-1, -1};  // the source rows of `rows`
    for (int y = 0; y < to_height_; y++) {
      for (int t = 0; t < 2; t++) {
        const int source = y_.index[static_cast<size_t>(t) * to_height_ + y];
        if (source == in_row[t]) continue;
        if (t == 0 && source == in_row[1]) {
          std::memcpy(rows[0], rows[1], sizeof(int32_t) * static_cast<size_t>(n));
        } else {
          const uint8_t *row = from + static_cast<ptrdiff_t>(source) * from_width_;
          for (int k = 0; k < n; k++) rows[t][k] = row[left[k]] * a[k] + row[right[k]] * b[k];
        }
        in_row[t] = source;
      }
      blend_rows(rows[0], rows[1], y_.fixed[y], y_.fixed[static_cast<size_t>(to_height_) + y], n,
                 to + static_cast<ptrdiff_t>(y) * to_width_ + x);
    }
  }
}

}  // namespace envpool::raster
