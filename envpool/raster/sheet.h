/* Images and numbers that sheet.py packed: int32 number of images, number of numbers; int32 height, width, channels and
 * offset in bytes of each image; the numbers, int32; the pixels.
 */
#ifndef ENVPOOL_DRAWING_SHEET_H
#define ENVPOOL_DRAWING_SHEET_H

#include "sprite.h"

static inline const int32_t *sheet_entry(const void *sheet, int32_t image) { return (const int32_t *)sheet + 2 + 4 * image; }

static inline const int32_t *sheet_numbers(const void *sheet) { return sheet_entry(sheet, *(const int32_t *)sheet); }

/* An image of 4 channels. */
static inline sprite sheet_sprite(const void *sheet, int32_t image) {
  const int32_t *entry = sheet_entry(sheet, image);
  const sprite s = {(const uint8_t *)sheet + entry[3], entry[0], entry[1]};
  return s;
}

/* Lays an image of 4 channels over a picture. */
static inline void sheet_draw(const canvas *c, const void *sheet, int32_t image, int32_t x, int32_t y) {
  const sprite s = sheet_sprite(sheet, image);
  sprite_draw(c, &s, x, y, 0);
}

/* Copies an image of 3 channels, which has the size of the picture. */
static inline void sheet_copy(const canvas *c, const void *sheet, int32_t image) {
  const int32_t *entry = sheet_entry(sheet, image);
  uint8_t *top = c->stride > 0 ? c->row0 : c->row0 + (c->height - 1) * c->stride;
  memcpy(top, (const uint8_t *)sheet + entry[3], (size_t)3 * entry[0] * entry[1]);
}

#endif /* ENVPOOL_DRAWING_SHEET_H */
