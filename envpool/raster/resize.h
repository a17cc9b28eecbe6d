/* Resizing of planes of bytes, bit for bit as cv2.resize (OpenCV 5.0). */
#ifndef ENVPOOL_RASTER_RESIZE_H
#define ENVPOOL_RASTER_RESIZE_H

#include <cstdint>
#include <new>
#include <vector>

namespace envpool::raster {

/* Resizes planes from one size to another. An object is immutable: any number of threads may use it. */
class Resizer {
 public:
  /* Sizes must be at least 1. `area` chooses between INTER_AREA and INTER_LINEAR. Without `simd`, the usual size has no
   * special treatment, as on processors that lack the instructions. May throw std::bad_alloc. */
  Resizer(int from_height, int from_width, int to_height, int to_width, bool area, bool simd = true);

  /* Resizes `from` (from_height x from_width) to `to` (to_height x to_width), both row by row. */
  void run(const uint8_t *from, uint8_t *to) const noexcept;

 private:
  /* The algorithms of OpenCV. */
  enum class Method { copy, means, areas, areas_84, lines };

  /* The source elements of each element of one axis, and their weights: (taps x size). Elements with fewer taps are padded
   * with zeros. */
  struct Axis {
    int size, taps;
    std::vector<int32_t> index;
    std::vector<float> weight;    /* Method::areas */
    std::vector<int32_t> fixed;   /* Method::lines: in units of 1 / 2048 */
  };

  static Axis areas(int from, int to);
  static Axis lines(int from, int to, bool area, bool zero_at_end);

  void run_means(const uint8_t *from, uint8_t *to) const noexcept;
  void run_areas(const uint8_t *from, uint8_t *to) const noexcept;
  void run_areas_84(const uint8_t *from, uint8_t *to) const noexcept;
  void run_lines(const uint8_t *from, uint8_t *to) const noexcept;

  int from_height_, from_width_, to_height_, to_width_;
  Method method_;
  Axis y_, x_;
};

/* Returns a new object; NULL if memory is exhausted. */
inline Resizer *new_resizer(int from_height, int from_width, int height, int width, bool area) {
  try {
    return new Resizer(from_height, from_width, height, width, area);
  } catch (const std::bad_alloc &) {
    return nullptr;
  }
}

}  // namespace envpool::raster

#endif  // ENVPOOL_RASTER_RESIZE_H
