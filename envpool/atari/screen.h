/* Conversion of screens, which consist of palette indices, to planes of one colour channel or of greyscale. */
#ifndef ENVPOOL_ATARI_SCREEN_H
#define ENVPOOL_ATARI_SCREEN_H

#include <cstddef>
#include <cstdint>

namespace envpool::atari {

/* Sets out[i] to max(table[a[i]], table[b[i]]) for n pixels. `a` may be `b`. */
void look_up_max(const uint8_t *a, const uint8_t *b, const uint8_t table[256], size_t n, uint8_t *out) noexcept;

/* As look_up_max(), but without vector instructions, for processors that lack them. */
void look_up_max_plain(const uint8_t *a, const uint8_t *b, const uint8_t table[256], size_t n, uint8_t *out) noexcept;

}  // namespace envpool::atari

#endif  // ENVPOOL_ATARI_SCREEN_H
