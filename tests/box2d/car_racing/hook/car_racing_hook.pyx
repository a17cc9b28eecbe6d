"""The parts of CarRacing's frame, one by one, for comparisons with pygame."""

import numpy as np

from libc.stdint cimport int16_t, int32_t, uint8_t, uint32_t
from libc.stdlib cimport free, malloc
from libc.string cimport memcpy

cdef extern from "canvas.h" nogil:
    enum: CANVAS_WIDTH, CANVAS_HEIGHT, OBS_SIZE, POLYGON_VERTICES
    ctypedef struct gfx_quad:
        pass
    ctypedef struct polygon:
        pass
    ctypedef struct car_racing_brush:
        uint8_t glyphs[11][46][23]
        int32_t advance[11]
        int32_t kerning[11][11]
    ctypedef struct car_racing_figures:
        pass
    ctypedef struct canvas_quads:
        const gfx_quad* quads
        int32_t count
    ctypedef struct canvas_polygons:
        const polygon* polygons
        int32_t count
    ctypedef struct canvas_text:
        const car_racing_brush* brush
        const car_racing_figures* figures
    ctypedef struct band:
        pass
    ctypedef void canvas_figures(band* b, const void* figures) noexcept nogil
    void canvas_draw_quads(band* b, const void* figures) noexcept
    void canvas_draw_polygons(band* b, const void* figures) noexcept
    void canvas_draw_text(band* b, const void* figures) noexcept
    void canvas_draw(canvas_figures* draw, const void* figures, uint32_t background, int32_t direction, uint32_t* out)
    void canvas_shrink(const uint32_t* canvas, int32_t is_mixed, uint8_t* frame)
    int32_t gfx_quad_init(gfx_quad* q, const int16_t* x, const int16_t* y, int32_t lowest, uint32_t colour)
    void polygon_init(polygon* p, const double (*vertices)[2], int32_t count, uint32_t colour)
    void car_racing_add_text(car_racing_figures* f, const car_racing_brush* brush, double reward)
    ctypedef struct turn:
        pass
    turn turn_of(double angle)
    void turn_point(const turn* t, double x, double y, double* out)


def quads(int16_t[:, :, ::1] vertices, uint32_t[::1] colours, uint32_t background):
    """Return a canvas with quadrilaterals (n, 4, 2), rows counted from the top."""
    cdef uint32_t[:, ::1] canvas = np.empty((CANVAS_HEIGHT, CANVAS_WIDTH), np.uint32)
    cdef canvas_quads f
    cdef gfx_quad* made = <gfx_quad*>malloc(vertices.shape[0] * sizeof(gfx_quad))
    cdef int16_t[4] x
    cdef int16_t[4] y
    f.quads = made
    f.count = 0
    for i in range(vertices.shape[0]):
        for k in range(4):
            x[k] = vertices[i, k, 0]
            y[k] = vertices[i, k, 1]
        f.count += gfx_quad_init(&made[f.count], x, y, 0, colours[i])
    canvas_draw(canvas_draw_quads, &f, background, 1, &canvas[0, 0])
    free(made)
    return np.asarray(canvas)


def polygons(double[:, :, ::1] vertices, int32_t[::1] counts, uint32_t[::1] colours, uint32_t background):
    """Return a canvas with polygons (n, 8, 2), of each of which the first counts[i] vertices are drawn."""
    cdef uint32_t[:, ::1] canvas = np.empty((CANVAS_HEIGHT, CANVAS_WIDTH), np.uint32)
    cdef canvas_polygons f
    cdef polygon* made = <polygon*>malloc(vertices.shape[0] * sizeof(polygon))
    assert vertices.shape[1] == POLYGON_VERTICES
    f.polygons = made
    f.count = <int32_t>vertices.shape[0]
    for i in range(vertices.shape[0]):
        polygon_init(&made[i], <const double (*)[2]>&vertices[i, 0, 0], counts[i], colours[i])
    canvas_draw(canvas_draw_polygons, &f, background, 1, &canvas[0, 0])
    free(made)
    return np.asarray(canvas)


def text(double reward, const uint8_t[::1] glyphs, int32_t[::1] advance, int32_t[::1] kerning, uint32_t background):
    """Return a canvas with a reward."""
    cdef uint32_t[:, ::1] canvas = np.empty((CANVAS_HEIGHT, CANVAS_WIDTH), np.uint32)
    cdef car_racing_brush brush
    cdef car_racing_figures* figures = <car_racing_figures*>malloc(sizeof(car_racing_figures))
    cdef canvas_text f
    assert glyphs.nbytes == sizeof(brush.glyphs) and kerning.nbytes == sizeof(brush.kerning)
    memcpy(brush.glyphs, &glyphs[0], sizeof(brush.glyphs))
    memcpy(brush.advance, &advance[0], sizeof(brush.advance))
    memcpy(brush.kerning, &kerning[0], sizeof(brush.kerning))
    f.brush = &brush
    f.figures = figures
    car_racing_add_text(figures, &brush, reward)
    canvas_draw(canvas_draw_text, &f, background, 1, &canvas[0, 0])
    free(figures)
    return np.asarray(canvas)


def shrink(uint32_t[:, ::1] canvas, bint is_mixed):
    """Return the observation that a canvas is shrunk to."""
    cdef uint8_t[:, :, ::1] obs = np.zeros((OBS_SIZE, OBS_SIZE, 3), np.uint8)
    canvas_shrink(&canvas[0, 0], is_mixed, &obs[0, 0, 0])
    return np.asarray(obs)


def rotate(double x, double y, double angle):
    """Return a point, turned by an angle."""
    cdef double[2] out
    cdef turn by = turn_of(angle)
    turn_point(&by, x, y, out)
    return out[0], out[1]
