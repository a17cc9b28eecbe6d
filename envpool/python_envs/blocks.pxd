"""Batch blocks in memory that processes share: see blocks.pyx."""

from cpython.ref cimport PyObject
from libc.stdint cimport int64_t, uint8_t

from envpool._core.blocks cimport BlockMemory
from envpool.python_envs.arena cimport Arena

cdef struct Region:             # as the pool's process maps it
    char* base
    int64_t slot_bytes          # size of a slot; 0 before the first block
    int64_t num_used            # slots that were ever used; those behind them have no pages
    uint8_t* is_private         # (num_slots): what workers write there is not seen by the pool

cdef class SharedBlocks:
    cdef Region region
    cdef int fd
    cdef int64_t start, size, num_slots
    cdef int64_t generation     # fork_generation() of the process that may write to the file
    cdef PyObject** live        # (num_slots): the SharedMemory that has a slot, borrowed; NULL: none
    cdef list free              # slots that were used and can be used again
    cdef object __weakref__

    cdef int divide(self, int64_t slot_bytes) except -1
    cdef int share(self, SharedMemory memory, int flags) noexcept
    cdef void make_private(self, SharedMemory memory) noexcept
    cdef void abandon(self, int64_t offset) noexcept
    cdef void release(self, SharedMemory memory) noexcept

cdef class SharedMemory(BlockMemory):
    cdef SharedBlocks blocks
    cdef int64_t slot
    cdef bint is_lost           # a worker may still write to the slot, so that it cannot be used again

cdef int64_t offset_of(const Region* region, const void* at) noexcept nogil
