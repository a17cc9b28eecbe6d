"""Letting the workers write a step into memory of the caller: see placing.pyx."""

cimport numpy as cnp

from envpool._core.batch_block cimport BatchBlock
from envpool._core.pool cimport Pool
from envpool._core.results cimport ResultTemplate

cdef class PlacedSteps:
    cdef Pool pool
    cdef BatchBlock block       # its arrays are those of the caller where these fit
    cdef bint fits              # all of them do
    cdef ResultTemplate nothing

    cdef cnp.ndarray column(self, int item)
    cdef bint lend(self, str name, object array) except -1
    cdef object step(self, object action)

cdef bint place(Pool pool, BatchBlock block) noexcept
