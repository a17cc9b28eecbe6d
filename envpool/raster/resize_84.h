/* The usual case of resizing, 210 x 160 to 84 x 84, in integer arithmetic. */
#ifndef ENVPOOL_RASTER_RESIZE_84_H
#define ENVPOOL_RASTER_RESIZE_84_H

#include <cstdint>

namespace envpool::raster {

inline constexpr int k84FromHeight = 210, k84FromWidth = 160;

/* Returns whether this processor has the instructions that resize_84() uses. */
bool has_resize_84() noexcept;

/* Resizes `from` (210 x 160) to `to` (84 x 84). The result equals cv2.INTER_AREA except for ties, pixels whose exact value
 * lies half-way between two results: their rounding depends on the order of OpenCV's additions. Returns the number of ties,
 * and writes their indices in `to` to `ties` (84 * 84). Requires has_resize_84(). */
int resize_84(const uint8_t *from, uint8_t *to, uint16_t *ties) noexcept;

}  // namespace envpool::raster

#endif  // ENVPOOL_RASTER_RESIZE_84_H
