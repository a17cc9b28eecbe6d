/* A canvas of RGB bytes (height, width, 3), and the parts of every figure: pixels and spans of rows.
 *
 * Rows are counted from the top, or from the bottom if upstream draws the scene upside down and flips it at the end. No
 * function writes outside of the canvas, whatever the coordinates are. A colour is 0xBBGGRR; its highest byte is 0.
 */
#ifndef ENVPOOL_RASTER_CANVAS_H
#define ENVPOOL_RASTER_CANVAS_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "envpool/env.h"

typedef struct canvas {
  uint8_t *row0;    /* the first stored pixel of row 0                                   */
  ptrdiff_t stride; /* bytes from a row to the next; negative if rows count upwards      */
  int32_t width;
  int32_t height;
  int32_t left;     /* the first stored column; columns to its left are not drawn        */
} canvas;

static inline canvas canvas_of(uint8_t *pixels, int32_t height, int32_t width) {
  const canvas c = {pixels, 3 * (ptrdiff_t)width, width, height, 0};
  return c;
}

/* Returns a canvas whose rows are counted from the bottom. */
static inline canvas canvas_flipped(uint8_t *pixels, int32_t height, int32_t width) {
  const ptrdiff_t stride = 3 * (ptrdiff_t)width;
  const canvas c = {pixels + (height - 1) * stride, -stride, width, height, 0};
  return c;
}

/* Returns a canvas that stores only its last columns, in pixels (height, columns, 3); its rows are counted from the
 * bottom. Lines are clipped to the whole canvas. */
static inline canvas canvas_window(uint8_t *pixels, int32_t height, int32_t columns, int32_t width) {
  canvas c = canvas_flipped(pixels, height, columns);
  c.width = width;
  c.left = width - columns;
  return c;
}

/* Returns a canvas on frame i of a batch. */
static inline canvas canvas_of_frame(const envpool_frames *f, int32_t i) {
  return canvas_of(f->pixels + (size_t)3 * f->height * f->width * i, f->height, f->width);
}

static inline canvas canvas_of_frame_flipped(const envpool_frames *f, int32_t i) {
  return canvas_flipped(f->pixels + (size_t)3 * f->height * f->width * i, f->height, f->width);
}

/* Returns the address of a stored pixel. */
static inline uint8_t *canvas_pixel(const canvas *c, int32_t x, int32_t y) {
  return c->row0 + y * c->stride + 3 * ((ptrdiff_t)x - c->left);
}

static inline uint32_t canvas_colour(uint32_t red, uint32_t green, uint32_t blue) { return red | green << 8 | blue << 16; }

static inline int canvas_has(const canvas *c, int32_t x, int32_t y) {
  return x >= c->left && x < c->width && y >= 0 && y < c->height;
}

static inline void canvas_put(uint8_t *pixel, uint32_t colour) {
  pixel[0] = (uint8_t)colour;
  pixel[1] = (uint8_t)(colour >> 8);
  pixel[2] = (uint8_t)(colour >> 16);
}

static inline void canvas_set(const canvas *c, int32_t x, int32_t y, uint32_t colour) {
  if (canvas_has(c, x, y)) canvas_put(canvas_pixel(c, x, y), colour);
}

/* Colours the pixels of row y between two columns, both included and in any order. */
static inline void canvas_span(const canvas *c, int32_t y, int32_t from, int32_t to, uint32_t colour) {
  int32_t low = from < to ? from : to, high = from < to ? to : from;
  if (y < 0 || y >= c->height) return;
  low = low > c->left ? low : c->left;
  high = high < c->width ? high : c->width - 1;
  uint8_t *pixel = canvas_pixel(c, low, y);
  for (int32_t x = low; x <= high; x++, pixel += 3) canvas_put(pixel, colour);
}

/* Gives all pixels one colour: fills the first row pixel by pixel, and doubles the filled part until all rows are filled. */
static inline void canvas_clear(const canvas *c, uint32_t colour) {
  const size_t row = 3 * (size_t)(c->width - c->left), bytes = row * (size_t)c->height;
  uint8_t *top = c->stride > 0 ? c->row0 : c->row0 + (c->height - 1) * c->stride;
  if ((colour & 255) == (colour >> 8 & 255) && (colour & 255) == colour >> 16) {
    memset(top, (int)(colour & 255), bytes);
    return;
  }
  size_t done = row;
  for (size_t at = 0; at < done; at += 3) canvas_put(top + at, colour);
  for (; done < bytes; done *= 2) memcpy(top + done, top, done < bytes - done ? done : bytes - done);
}

/* Converts a double as x86 does: rounded towards zero, or INT32_MIN if the result does not fit. */
static inline int32_t canvas_coordinate(double value) {
  return value > -2147483649.0 && value < 2147483648.0 ? (int32_t)value : INT32_MIN;
}

#endif /* ENVPOOL_RASTER_CANVAS_H */
