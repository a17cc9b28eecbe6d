"""resize.h: resizing of planes of bytes."""

from libc.stdint cimport uint8_t

cdef extern from "envpool/raster/resize.h" namespace "envpool::raster" nogil:
    cdef cppclass Resizer:
        Resizer(int from_height, int from_width, int to_height, int to_width, bint area, bint simd) except +
        void run(const uint8_t* source, uint8_t* to)
    Resizer* new_resizer(int from_height, int from_width, int height, int width, bint area)
