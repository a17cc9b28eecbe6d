"""image/resize.h and image/screen.h: resizing, and screens of palette indices looked up in a palette."""

from libc.stdint cimport uint8_t

cdef extern from "image/resize.h" namespace "envpool::atari" nogil:
    cdef cppclass Resizer:
        Resizer(int from_height, int from_width, int to_height, int to_width, bint area, bint simd) except +
        void run(const uint8_t* source, uint8_t* to)

cdef extern from "image/screen.h" namespace "envpool::atari" nogil:
    void look_up_max(const uint8_t* a, const uint8_t* b, const uint8_t* table, size_t n, uint8_t* out)
    void look_up_max_plain(const uint8_t* a, const uint8_t* b, const uint8_t* table, size_t n, uint8_t* out)
