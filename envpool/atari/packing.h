/* Images in snapshots. Most rows of an image equal the row above, or can be computed from other images; only the remaining
 * rows are stored. */
#ifndef ENVPOOL_ATARI_PACKING_H
#define ENVPOOL_ATARI_PACKING_H

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "screen.h"

namespace envpool::atari {

/* How a row is stored: a code of two bits. */
enum RowCode : unsigned { kAsAbove = 0, kAsExpected = 1, kStored = 2 };

inline constexpr size_t kLongestRow = 160; /* of images with a table: screens have 160 columns                   */

/* An image, and what is expected of it. */
struct Image {
  uint8_t *pixels;      /* (rows, width)                                                                         */
  size_t rows, width;
  const uint8_t *one;   /* null, or the image that it is expected to equal; with a table, a screen               */
  const uint8_t *two;   /* with a table: the other screen                                                        */
  const uint8_t *table; /* null, or colours of palette indices: pixels are expected to be the maximum of both    */

  size_t code_bytes() const { return (rows + 3) / 4; }
  uint8_t *row(size_t r) const { return pixels + r * width; }

  /* Returns the row that is expected, which may be in `scratch`. */
  const uint8_t *expected_row(size_t r, uint8_t scratch[kLongestRow]) const {
    if (!table) return one + r * width;
    look_up_max(one + r * width, two + r * width, table, width, scratch);
    return scratch;
  }

  /* Writes the codes and the stored rows, and returns the end of the rows. */
  uint8_t *pack(uint8_t *codes, uint8_t *stored) const {
    uint8_t scratch[kLongestRow];
    std::memset(codes, 0, code_bytes());
    for (size_t r = 0; r < rows; r++) {
      if (r > 0 && std::memcmp(row(r), row(r - 1), width) == 0) continue;
      unsigned code = kAsExpected;
      if (!one || std::memcmp(row(r), expected_row(r, scratch), width) != 0) {
        code = kStored;
        std::memcpy(stored, row(r), width);
        stored += width;
      }
      codes[r / 4] = static_cast<uint8_t>(codes[r / 4] | code << 2 * (r % 4));
    }
    return stored;
  }

  /* Reads what pack() has written, and returns the end of the rows. */
  const uint8_t *unpack(const uint8_t *codes, const uint8_t *stored) const {
    uint8_t scratch[kLongestRow];
    for (size_t r = 0; r < rows; r++) {
      const unsigned code = codes[r / 4] >> 2 * (r % 4) & 3;
      if (code == kAsAbove) {
        std::memcpy(row(r), row(r - 1), width);
      } else if (code == kAsExpected) {
        std::memcpy(row(r), expected_row(r, scratch), width);
      } else {
        std::memcpy(row(r), stored, width);
        stored += width;
      }
    }
    return stored;
  }

  /* Returns the number of bytes of the stored rows, or -1 if the codes are not those of such an image. */
  int64_t stored_bytes(const uint8_t *codes) const {
    int64_t count = 0;
    if ((codes[0] & 3) == kAsAbove || (rows % 4 && codes[rows / 4] >> 2 * (rows % 4))) return -1;
    for (size_t k = 0; k < code_bytes(); k++) {
      const unsigned is_expected = codes[k] & 0x55, is_stored = codes[k] >> 1 & 0x55;
      if ((is_expected & is_stored) || (is_expected && !one)) return -1;
      count += __builtin_popcount(is_stored);
    }
    return count * static_cast<int64_t>(width);
  }
};

}  // namespace envpool::atari

#endif  // ENVPOOL_ATARI_PACKING_H
