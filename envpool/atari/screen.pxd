"""screen.h: screens of palette indices looked up in a palette."""

from libc.stdint cimport uint8_t

cdef extern from "screen.h" namespace "envpool::atari" nogil:
    void look_up_max(const uint8_t* a, const uint8_t* b, const uint8_t* table, size_t n, uint8_t* out)
    void look_up_max_plain(const uint8_t* a, const uint8_t* b, const uint8_t* table, size_t n, uint8_t* out)
