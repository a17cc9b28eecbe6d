/* A sheet: images and numbers that sheet.py has packed. The layout is: int32 number of images and number of numbers; int32
 * height, width, channels and offset in bytes of each image; the numbers, int32; the pixels.
 */
#ifndef ENVPOOL_RASTER_SHEET_H
#define ENVPOOL_RASTER_SHEET_H

#include "sprite.h"

static inline const int32_t *sheet_entry(const void *sheet, int32_t image) { return (const int32_t *)sheet + 2 + 4 * image; }

static inline const int32_t *sheet_numbers(const void *sheet) { return sheet_entry(sheet, *(const int32_t *)sheet); }

/* Returns an image with 4 channels. */
static inline sprite sheet_sprite(const void *sheet, int32_t image) {
  const int32_t *entry = sheet_entry(sheet, image);
  const sprite s = {(const uint8_t *)sheet + entry[3], entry[0], entry[1]};
  return s;
}

/* Draws an image with 4 channels over a canvas. */
static inline void sheet_draw(const canvas *c, const void *sheet, int32_t image, int32_t x, int32_t y) {
  const sprite s = sheet_sprite(sheet, image);
  sprite_draw(c, &s, x, y, 0);
}

/* Copies an image with 3 channels, which must have the size of the canvas. */
static inline void sheet_copy(const canvas *c, const void *sheet, int32_t image) {
  const int32_t *entry = sheet_entry(sheet, image);
  uint8_t *top = c->stride > 0 ? c->row0 : c->row0 + (c->height - 1) * c->stride;
  memcpy(top, (const uint8_t *)sheet + entry[3], (size_t)3 * entry[0] * entry[1]);
}

#endif /* ENVPOOL_RASTER_SHEET_H */
