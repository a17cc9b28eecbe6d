"""canvas.h: a picture of RGB bytes to draw on."""

from libc.stdint cimport int32_t, uint8_t, uint32_t

cdef extern from "../drawing/canvas.h" nogil:
    ctypedef struct canvas:
        int32_t width
        int32_t height
    canvas canvas_of(uint8_t* pixels, int32_t height, int32_t width)
    canvas canvas_flipped(uint8_t* pixels, int32_t height, int32_t width)
    void canvas_clear(const canvas* c, uint32_t colour)
    void canvas_set(const canvas* c, int32_t x, int32_t y, uint32_t colour)
    void canvas_span(const canvas* c, int32_t y, int32_t start, int32_t end, uint32_t colour)
