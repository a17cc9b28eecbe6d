"""The figures of envpool/raster, one by one, for comparisons with pygame.

A frame is given as memory that is larger than it: it begins at `start`.
"""

import numpy as np

from libc.stdint cimport int32_t, uint8_t, uint32_t

from envpool.raster.aaline cimport aaline_draw, aaline_draw_through
from envpool.raster.canvas cimport canvas, canvas_clear, canvas_flipped, canvas_of, canvas_span
from envpool.raster.gfx cimport gfx_draw_circle, gfx_draw_polygon
from envpool.raster.image cimport smooth_image, smooth_scale, sprite, sprite_draw


cdef extern from "envpool/raster/canvas.h" nogil:
    canvas canvas_window(uint8_t* pixels, int32_t height, int32_t columns, int32_t width)

cdef extern from "envpool/raster/gfx.h" nogil:
    void gfx_draw_outline(const canvas* c, const double (*vertices)[2], int32_t count, uint32_t colour)

cdef extern from "envpool/raster/polygon.h" nogil:
    void polygon_draw(const canvas* c, const double (*vertices)[2], int32_t count, uint32_t colour)

cdef extern from "envpool/raster/disc.h" nogil:
    void disc_draw(const canvas* c, double x, double y, int32_t radius, uint32_t colour)
    void disc_ring(const canvas* c, double x, double y, int32_t radius, uint32_t colour)

cdef extern from "envpool/raster/line.h" nogil:
    """
    static void draw_double_line(const canvas *c, const double *from, const double *to, uint32_t colour) {
      line l;
      if (line_init(&l, c->width, c->height, from, to, colour))
        line_draw_spans(&l, 1, line_canvas_span, (void *)c);
    }
    """
    void line_draw(const canvas* c, const double* start, const double* end, uint32_t colour)
    void line_draw_around(const canvas* c, const double (*vertices)[2], int32_t count, uint32_t colour)
    void draw_double_line(const canvas* c, const double* start, const double* end, uint32_t colour)


cdef canvas canvas_in(uint8_t[::1] memory, int32_t start, int32_t height, int32_t width, bint is_flipped):
    assert start + 3 * height * width <= memory.shape[0]
    return (canvas_flipped if is_flipped else canvas_of)(&memory[start], height, width)


def clear(uint8_t[::1] memory, int32_t start, int32_t height, int32_t width, bint is_flipped, uint32_t colour):
    cdef canvas c = canvas_in(memory, start, height, width, is_flipped)
    canvas_clear(&c, colour)


def span(uint8_t[::1] memory, int32_t start, int32_t height, int32_t width, bint is_flipped, uint32_t colour,
         int32_t y, int32_t x1, int32_t x2):
    cdef canvas c = canvas_in(memory, start, height, width, is_flipped)
    canvas_span(&c, y, x1, x2, colour)


def polygon(uint8_t[::1] memory, int32_t start, int32_t height, int32_t width, bint is_flipped, uint32_t colour,
            double[:, ::1] vertices):
    cdef canvas c = canvas_in(memory, start, height, width, is_flipped)
    gfx_draw_polygon(&c, <double (*)[2]>&vertices[0, 0], <int32_t>vertices.shape[0], colour)


def plain_polygon(uint8_t[::1] memory, int32_t start, int32_t height, int32_t width, bint is_flipped, uint32_t colour,
                  double[:, ::1] vertices):
    cdef canvas c = canvas_in(memory, start, height, width, is_flipped)
    polygon_draw(&c, <const double (*)[2]>&vertices[0, 0], <int32_t>vertices.shape[0], colour)


def outline(uint8_t[::1] memory, int32_t start, int32_t height, int32_t width, bint is_flipped, uint32_t colour,
            double[:, ::1] vertices):
    cdef canvas c = canvas_in(memory, start, height, width, is_flipped)
    gfx_draw_outline(&c, <const double (*)[2]>&vertices[0, 0], <int32_t>vertices.shape[0], colour)


def lines(uint8_t[::1] memory, int32_t start, int32_t height, int32_t width, bint is_flipped, uint32_t colour,
          double[:, ::1] vertices, bint is_double):
    """Draw a line between the first two vertices, or around all of them."""
    cdef canvas c = canvas_in(memory, start, height, width, is_flipped)
    if is_double:
        draw_double_line(&c, &vertices[0, 0], &vertices[1, 0], colour)
    elif vertices.shape[0] == 2:
        line_draw(&c, &vertices[0, 0], &vertices[1, 0], colour)
    else:
        line_draw_around(&c, <const double (*)[2]>&vertices[0, 0], <int32_t>vertices.shape[0], colour)


def disc(uint8_t[::1] memory, int32_t start, int32_t height, int32_t width, bint is_flipped, uint32_t colour,
         double x, double y, int32_t radius):
    cdef canvas c = canvas_in(memory, start, height, width, is_flipped)
    disc_draw(&c, x, y, radius, colour)


def ring(uint8_t[::1] memory, int32_t start, int32_t height, int32_t width, bint is_flipped, uint32_t colour,
         double x, double y, int32_t radius):
    cdef canvas c = canvas_in(memory, start, height, width, is_flipped)
    disc_ring(&c, x, y, radius, colour)


def window(uint8_t[::1] memory, int32_t start, int32_t height, int32_t columns, int32_t width, uint32_t colour,
           double[:, ::1] vertices):
    """Draw a polygon with a smooth outline and a smooth line into the last columns of a frame that is upside down."""
    cdef canvas c = canvas_window(&memory[start], height, columns, width)
    assert start + 3 * height * columns <= memory.shape[0]
    polygon_draw(&c, <const double (*)[2]>&vertices[0, 0], <int32_t>vertices.shape[0], colour)
    gfx_draw_outline(&c, <const double (*)[2]>&vertices[0, 0], <int32_t>vertices.shape[0], colour)
    aaline_draw(&c, <float>vertices[0, 0], <float>vertices[0, 1], <float>vertices[2, 0], <float>vertices[2, 1], 0)


def circle(uint8_t[::1] memory, int32_t start, int32_t height, int32_t width, bint is_flipped, uint32_t colour,
           double x, double y, double radius):
    cdef canvas c = canvas_in(memory, start, height, width, is_flipped)
    gfx_draw_circle(&c, x, y, radius, colour)


def aaline(uint8_t[::1] memory, int32_t start, int32_t height, int32_t width, bint is_flipped, uint32_t colour,
           float x1, float y1, float x2, float y2):
    cdef canvas c = canvas_in(memory, start, height, width, is_flipped)
    aaline_draw(&c, x1, y1, x2, y2, colour)


def aalines(uint8_t[::1] memory, int32_t start, int32_t height, int32_t width, bint is_flipped, uint32_t colour,
            const double[:, ::1] points, bint is_closed):
    cdef canvas c = canvas_in(memory, start, height, width, is_flipped)
    aaline_draw_through(&c, <const double (*)[2]>&points[0, 0], <int32_t>points.shape[0], is_closed, colour)


def image(uint8_t[::1] memory, int32_t start, int32_t height, int32_t width, bint is_flipped,
          const uint8_t[:, :, ::1] pixels, int32_t x, int32_t y, int32_t flip):
    """Draw an image (height, width, 4) onto the frame."""
    cdef canvas c = canvas_in(memory, start, height, width, is_flipped)
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
