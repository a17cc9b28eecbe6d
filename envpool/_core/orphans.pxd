"""Engines that threads own after their pool has been closed: see orphans.pyx."""

from envpool._core.block_memory cimport BlockMemory
from envpool._core.structs cimport Engine, Worker

cdef void leave_engine(Worker* w) noexcept nogil

cdef class Orphan:
    cdef Engine* engine             # NULL until the pool lets go of it, and after it was freed
    cdef object capsule             # keeps the tables of the env alive
    cdef list blocks                # the blocks in flight, of whole batches
    cdef BlockMemory partial        # the block of partial batches; None if there is none
    cdef object statistics          # where the threads count

    cdef void adopt(self, Engine* e, list blocks, BlockMemory partial, object statistics) noexcept
