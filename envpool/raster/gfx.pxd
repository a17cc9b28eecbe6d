"""gfx.h and turn.h: filled polygons and circles with antialiased edges, and points rotated around the origin."""

from libc.stdint cimport int32_t, uint32_t

from envpool.raster.canvas cimport canvas

cdef extern from "envpool/raster/turn.h" nogil:
    ctypedef struct turn:
        pass
    turn turn_of(double angle)
    void turn_point(const turn* t, double x, double y, double* out)

cdef extern from "envpool/raster/gfx.h" nogil:
    void gfx_draw_polygon(const canvas* c, double (*vertices)[2], int32_t count, uint32_t colour)
    void gfx_draw_circle(const canvas* c, double x, double y, double radius, uint32_t colour)
    void gfx_draw_box(const canvas* c, double left, double right, double low, double high, const turn* by, double lift,
                      double x, double y, uint32_t colour)
