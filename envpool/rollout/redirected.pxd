"""Letting the workers write steps into memory of the caller: see redirected.pyx."""

cimport numpy as cnp
from libc.stdint cimport int32_t

from envpool._core.blocks cimport BatchBlock
from envpool._core.pool cimport Pool, SendPart
from envpool._core.results cimport ResultTemplate

cdef class RedirectedSteps(SendPart):
    cdef Pool pool
    cdef BatchBlock block       # its arrays are the arrays of the caller that fit
    cdef bint fits              # all of them do
    cdef bint is_redirected     # the last step was written to the block
    cdef ResultTemplate nothing

    cdef cnp.ndarray column(self, int item)
    cdef bint lend(self, str name, object array) except -1
    cdef object step(self, object action)
