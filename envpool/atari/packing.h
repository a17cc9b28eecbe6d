/* Screens in snapshots. Most rows of a screen equal the row above, and most rows of one screen those of the screen before,
 * so that only the others are stored. */
#ifndef ENVPOOL_ATARI_PACKING_H
#define ENVPOOL_ATARI_PACKING_H

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace envpool::atari {

inline constexpr size_t kRow = 160; /* bytes of a row: every screen has 160 columns                                */

/* Bytes of the bits that tell which of the rows of an image are stored. */
inline size_t row_bits(size_t rows) { return (rows + 7) / 8; }

inline bool equal_rows(const uint8_t *a, const uint8_t *b) {
  uint64_t x[kRow / 8], y[kRow / 8], difference = 0;
  std::memcpy(x, a, kRow);
  std::memcpy(y, b, kRow);
  for (size_t k = 0; k < kRow / 8; k++) difference |= x[k] ^ y[k];
  return difference == 0;
}

/* Returns the row that row r of an image is compared with: that of another image, or without one the row above. */
inline const uint8_t *reference_row(const uint8_t *image, const uint8_t *other, size_t r) {
  static constexpr uint8_t kBlack[kRow] = {};
  return other ? other + r * kRow : r > 0 ? image + (r - 1) * kRow : kBlack;
}

/* Writes an image: one bit per row to `bits`, and the stored rows to `stored`. Returns the end of the rows. */
inline uint8_t *pack(const uint8_t *image, const uint8_t *other, size_t rows, uint8_t *bits, uint8_t *stored) {
  std::memset(bits, 0, row_bits(rows));
  for (size_t r = 0; r < rows; r++) {
    if (equal_rows(image + r * kRow, reference_row(image, other, r))) continue;
    bits[r / 8] = static_cast<uint8_t>(bits[r / 8] | 1u << r % 8);
    std::memcpy(stored, image + r * kRow, kRow);
    stored += kRow;
  }
  return stored;
}

/* Reads an image; the arguments are those of pack(). */
inline const uint8_t *unpack(uint8_t *image, const uint8_t *other, size_t rows, const uint8_t *bits,
                             const uint8_t *stored) {
  for (size_t r = 0; r < rows; r++) {
    if (bits[r / 8] >> r % 8 & 1) {
      std::memcpy(image + r * kRow, stored, kRow);
      stored += kRow;
    } else {
      std::memcpy(image + r * kRow, reference_row(image, other, r), kRow);
    }
  }
  return stored;
}

/* Returns the number of stored rows, or more than `rows` if the bits are not those of an image with so many rows. */
inline size_t count_stored(const uint8_t *bits, size_t rows) {
  size_t count = rows % 8 && bits[rows / 8] >> rows % 8 ? rows + 1 : 0;
  for (size_t k = 0; k < row_bits(rows); k++) count += static_cast<size_t>(__builtin_popcount(bits[k]));
  return count;
}

}  // namespace envpool::atari

#endif  // ENVPOOL_ATARI_PACKING_H
