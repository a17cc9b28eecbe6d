"""disc.h: discs and rings."""

from libc.stdint cimport int32_t, uint32_t

from envpool.raster.canvas cimport canvas

cdef extern from "envpool/raster/disc.h" nogil:
    void disc_draw(const canvas* c, double x, double y, int32_t radius, uint32_t colour)
    void disc_ring(const canvas* c, double x, double y, int32_t radius, uint32_t colour)
