/* The usual shrinking, 210 x 160 to 84 x 84, in integers. */
#ifndef ENVPOOL_ATARI_RESIZE_84_H
#define ENVPOOL_ATARI_RESIZE_84_H

#include <cstdint>

namespace envpool::atari {

inline constexpr int k84FromHeight = 210, k84FromWidth = 160;

/* Whether this processor has the instructions. */
bool has_resize_84() noexcept;

/* `from` (210 x 160) to `to` (84 x 84), with the bits of cv2.INTER_AREA but for those whose exact value lies half-way
 * between two results: it depends on OpenCV's order of additions how they are rounded. Returns how many there are, and
 * their places in `to` in `ties` (84 * 84). Only where has_resize_84(). */
int resize_84(const uint8_t *from, uint8_t *to, uint16_t *ties) noexcept;

}  // namespace envpool::atari

#endif  // ENVPOOL_ATARI_RESIZE_84_H
