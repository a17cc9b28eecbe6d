"""aaline.h: smooth lines."""

from libc.stdint cimport uint32_t

from envpool.drawing.canvas cimport canvas

cdef extern from "../drawing/aaline.h" nogil:
    void aaline_draw(const canvas* c, float x1, float y1, float x2, float y2, uint32_t colour)
