"""aaline.h: antialiased lines."""

from libc.stdint cimport int32_t, uint32_t

from envpool.raster.canvas cimport canvas

cdef extern from "envpool/raster/aaline.h" nogil:
    void aaline_draw(const canvas* c, float x1, float y1, float x2, float y2, uint32_t colour)
    void aaline_draw_through(const canvas* c, const double (*points)[2], int32_t count, int32_t is_closed,
                             uint32_t colour)
