"""Page-locked memory: see pinning.pyx."""

from libc.stdint cimport int64_t

ctypedef int (*unregister_t)(void* base) noexcept nogil

cdef unregister_t pin(void* base, size_t size) except NULL
