"""Options of resets: see reset_options.pyx."""

from libc.stdint cimport int32_t

from envpool._core.structs cimport Engine

cdef class ResetOptions:
    cdef int put(self, Engine* e, const int32_t* ids, int32_t n) except -1
