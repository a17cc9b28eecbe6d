"""scaled.h: frames that are drawn in one size, and scaled if another size is requested."""

from libc.stdint cimport int32_t

from envpool.raster.canvas cimport canvas
from envpool.env cimport envpool_frames

cdef extern from "envpool/raster/scaled.h" nogil:
    ctypedef struct scaled_frames:
        pass
    int scaled_begin(scaled_frames* s, const envpool_frames* frames, int32_t height, int32_t width)
    canvas scaled_canvas(const scaled_frames* s, int32_t i)
    void scaled_finish(const scaled_frames* s, int32_t i)
    void scaled_end(scaled_frames* s)
