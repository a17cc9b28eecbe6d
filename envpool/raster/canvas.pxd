"""canvas.h: a canvas of RGB bytes."""

from libc.stdint cimport int32_t, uint8_t, uint32_t

from envpool.env cimport envpool_frames

cdef extern from "envpool/raster/canvas.h" nogil:
    ctypedef struct canvas:
        int32_t width
        int32_t height
    canvas canvas_of(uint8_t* pixels, int32_t height, int32_t width)
    canvas canvas_flipped(uint8_t* pixels, int32_t height, int32_t width)
    canvas canvas_of_frame(const envpool_frames* f, int32_t i)
    canvas canvas_of_frame_flipped(const envpool_frames* f, int32_t i)
    uint32_t canvas_colour(uint32_t red, uint32_t green, uint32_t blue)
    void canvas_clear(const canvas* c, uint32_t colour)
    void canvas_set(const canvas* c, int32_t x, int32_t y, uint32_t colour)
    void canvas_span(const canvas* c, int32_t y, int32_t start, int32_t end, uint32_t colour)
    int32_t canvas_coordinate(double value)
