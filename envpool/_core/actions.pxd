"""Moving actions from the user's arrays into the slots of the engine: see actions.pyx."""

cimport numpy as cnp
from libc.stdint cimport int32_t, int64_t

from envpool._core.engine cimport Engine

cdef class ActionField:
    cdef object name
    cdef object dtype
    cdef tuple shape            # of one env's row, without the player dimension
    cdef int ndim
    cdef int typenum
    cdef int64_t itemsize
    cdef bint is_signed
    cdef int64_t items
    cdef bint is_checked        # an integer with both bounds
    cdef int64_t low
    cdef int64_t high
    cdef object lows            # bounds per element where they differ, else None
    cdef object highs

    cdef int load(self, Engine* e, int index, object action, const int32_t* ids, int32_t n, bint cast) except -1
    cdef int load_checked(self, Engine* e, int index, cnp.ndarray action, const int32_t* ids, int32_t n) except -1
    cdef int refuse(self, Engine* e, int index, cnp.ndarray values, const int32_t* ids, int32_t n) except -1

cdef class ActionTable:
    cdef readonly tuple fields
    cdef int load(self, Engine* e, object action, const int32_t* ids, int32_t n) except -1
