"""The figures of envpool/drawing, one by one, for comparisons with pygame.

A picture is given as memory that is larger than it: it begins at `start`.
"""

import numpy as np

from libc.stdint cimport int32_t, uint8_t, uint32_t

from envpool.drawing.aaline cimport aaline_draw
from envpool.drawing.canvas cimport canvas, canvas_clear, canvas_flipped, canvas_of, canvas_span
from envpool.drawing.gfx cimport gfx_draw_circle, gfx_draw_polygon
from envpool.drawing.image cimport smooth_image, smooth_scale, sprite, sprite_draw


cdef canvas picture(uint8_t[::1] memory, int32_t start, int32_t height, int32_t width, bint is_flipped):
    assert start + 3 * height * width <= memory.shape[0]
    return (canvas_flipped if is_flipped else canvas_of)(&memory[start], height, width)


def clear(uint8_t[::1] memory, int32_t start, int32_t height, int32_t width, bint is_flipped, uint32_t colour):
    cdef canvas c = picture(memory, start, height, width, is_flipped)
    canvas_clear(&c, colour)


def span(uint8_t[::1] memory, int32_t start, int32_t height, int32_t width, bint is_flipped, uint32_t colour,
         int32_t y, int32_t x1, int32_t x2):
    cdef canvas c = picture(memory, start, height, width, is_flipped)
    canvas_span(&c, y, x1, x2, colour)


def polygon(uint8_t[::1] memory, int32_t start, int32_t height, int32_t width, bint is_flipped, uint32_t colour,
            double[:, ::1] vertices):
    cdef canvas c = picture(memory, start, height, width, is_flipped)
    gfx_draw_polygon(&c, <double (*)[2]>&vertices[0, 0], <int32_t>vertices.shape[0], colour)


def circle(uint8_t[::1] memory, int32_t start, int32_t height, int32_t width, bint is_flipped, uint32_t colour,
           double x, double y, double radius):
    cdef canvas c = picture(memory, start, height, width, is_flipped)
    gfx_draw_circle(&c, x, y, radius, colour)


def aaline(uint8_t[::1] memory, int32_t start, int32_t height, int32_t width, bint is_flipped, uint32_t colour,
           float x1, float y1, float x2, float y2):
    cdef canvas c = picture(memory, start, height, width, is_flipped)
    aaline_draw(&c, x1, y1, x2, y2, colour)


def image(uint8_t[::1] memory, int32_t start, int32_t height, int32_t width, bint is_flipped,
          const uint8_t[:, :, ::1] pixels, int32_t x, int32_t y, int32_t flip):
    """Lay an image (height, width, 4) over the picture."""
    cdef canvas c = picture(memory, start, height, width, is_flipped)
    cdef sprite s
    s.pixels = &pixels[0, 0, 0]
    s.height = <int32_t>pixels.shape[0]
    s.width = <int32_t>pixels.shape[1]
    sprite_draw(&c, &s, x, y, flip)


def scale(const uint8_t[:, :, ::1] pixels, uint8_t[::1] memory, int32_t start, int32_t height, int32_t width):
    """Scale an image of 3 or 4 channels."""
    cdef smooth_image source, target
    source.pixels = <uint8_t*>&pixels[0, 0, 0]
    source.height = <int32_t>pixels.shape[0]
    source.width = <int32_t>pixels.shape[1]
    source.channels = target.channels = <int32_t>pixels.shape[2]
    target.pixels = &memory[start]
    target.height = height
    target.width = width
    assert start + target.channels * height * width <= memory.shape[0]
    smooth_scale(&source, &target)
