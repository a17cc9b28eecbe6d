/* Frames that upstream draws in one size only: they are drawn in this size, and scaled if another size is requested. */
#ifndef ENVPOOL_RASTER_SCALED_H
#define ENVPOOL_RASTER_SCALED_H

#include <stdlib.h>

#include "canvas.h"
#include "smoothscale.h"

typedef struct scaled_frames {
  const envpool_frames *frames;
  int32_t height, width; /* upstream's size in pixels */
  uint8_t *scratch;      /* canvas of upstream's size; NULL if this size is requested */
} scaled_frames;

/* Prepares a batch of frames. Returns 0 if memory is exhausted. */
static inline int scaled_begin(scaled_frames *s, const envpool_frames *frames, int32_t height, int32_t width) {
  const int is_other = frames->height != height || frames->width != width;
  s->frames = frames;
  s->height = height;
  s->width = width;
  s->scratch = is_other ? (uint8_t *)malloc((size_t)3 * height * width) : NULL;
  return !is_other || s->scratch != NULL;
}

/* Returns the canvas on which frame i must be drawn. */
static inline canvas scaled_canvas(const scaled_frames *s, int32_t i) {
  return s->scratch ? canvas_of(s->scratch, s->height, s->width) : canvas_of_frame(s->frames, i);
}

/* Scales frame i after it has been drawn, if necessary. */
static inline void scaled_finish(const scaled_frames *s, int32_t i) {
  const envpool_frames *f = s->frames;
  const smooth_image drawn = {s->scratch, s->height, s->width, 3};
  const smooth_image out = {f->pixels + (size_t)3 * f->height * f->width * i, f->height, f->width, 3};
  if (s->scratch)
    smooth_scale(&drawn, &out);
}

static inline void scaled_end(scaled_frames *s) { free(s->scratch); }

#endif /* ENVPOOL_RASTER_SCALED_H */
