"""aaline.h: antialiased lines."""

from libc.stdint cimport uint32_t

from envpool.raster.canvas cimport canvas

cdef extern from "envpool/raster/aaline.h" nogil:
    void aaline_draw(const canvas* c, float x1, float y1, float x2, float y2, uint32_t colour)
