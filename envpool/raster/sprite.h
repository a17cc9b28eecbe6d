/* Images with transparency, drawn over a canvas as pygame's Surface.blit does. */
#ifndef ENVPOOL_RASTER_SPRITE_H
#define ENVPOOL_RASTER_SPRITE_H

#include "canvas.h"

/* An image of uint8 (height, width, 4): red, green, blue, opacity. */
typedef struct sprite {
  const uint8_t *pixels;
  int32_t height, width;
} sprite;

enum sprite_flip { SPRITE_MIRRORED = 1, SPRITE_UPSIDE_DOWN = 2 };

static inline void sprite_blend(uint8_t *pixel, const uint8_t *over) {
  const int32_t opacity = over[3];
  for (int32_t k = 0; k < 3; k++)
    pixel[k] = (uint8_t)((((over[k] - pixel[k]) * opacity + over[k]) >> 8) + pixel[k]);
}

/* Draws an image with its upper left corner at (x, y). `flip` is a combination of sprite_flip bits. */
static inline void sprite_draw(const canvas *c, const sprite *s, int32_t x, int32_t y, int32_t flip) {
  const int64_t left = x < c->left ? (int64_t)c->left - x : 0, top = y < 0 ? -(int64_t)y : 0;
  const int64_t right = (int64_t)c->width - x < s->width ? (int64_t)c->width - x : s->width;
  const int64_t bottom = (int64_t)c->height - y < s->height ? (int64_t)c->height - y : s->height;
  for (int64_t row = top; row < bottom; row++) {
    const int64_t from = flip & SPRITE_UPSIDE_DOWN ? s->height - 1 - row : row;
    const uint8_t *line = s->pixels + 4 * from * s->width;
    for (int64_t column = left; column < right; column++) {
      const uint8_t *over = line + 4 * (flip & SPRITE_MIRRORED ? s->width - 1 - column : column);
      uint8_t *pixel = canvas_pixel(c, (int32_t)(x + column), (int32_t)(y + row));
      if (over[3] == 255)
        memcpy(pixel, over, 3);
      else if (over[3])
        sprite_blend(pixel, over);
    }
  }
}

#endif /* ENVPOOL_RASTER_SPRITE_H */
