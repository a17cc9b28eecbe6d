"""Where the arrays of a rollout lie in its memory: see layout.pyx."""

cimport numpy as cnp
from libc.stdint cimport int32_t, int64_t, uint8_t

from envpool._core.blocks cimport BatchBlock, BlockMemory, BlockStore
from envpool.rollout.pinning cimport unregister_t

cdef struct Track:               # an array of a rollout (slots, num_envs, ...)
    int64_t offset              # bytes from the start of the memory; negative: the rollout does not have this array
    int64_t row_bytes           # of one env
    int64_t slot_bytes          # of all envs
    int64_t num_slots
    int32_t shift               # step t of the pool writes to slot t + shift: 1 for what describes the next observation
    int32_t ndim                # of the array of one slot
    cnp.npy_intp dims[8]

cdef class RolloutMemory(BlockMemory):
    cdef bint clears_final      # the final arrays may hold old data: the writer of a row clears it
    cdef unregister_t unlock    # unlocks the pages; NULL if they are not locked
    cdef int64_t fork_generation    # of the process that has locked them

cdef class RolloutLayout:
    cdef readonly tuple names   # of the arrays, first those of the pool's blocks in their order
    cdef readonly tuple dtypes
    cdef dict index             # number of each array
    cdef Track* tracks
    cdef int num_columns        # arrays of the pool's blocks
    cdef int first_core         # number of the first array of the core
    cdef BlockStore store       # of the pool
    cdef int num_fields
    cdef int64_t num_envs
    cdef readonly int64_t num_slots
    cdef readonly int64_t num_bytes
    cdef int64_t final_from     # where the final arrays begin, bytes from the start; they come last
    cdef int64_t needed         # bytes that rollouts are expected to touch, final arrays apart; these are locked

    cdef bint pins              # new memory is page-locked

    cdef int lay_out(self, list shapes, list shifts, list left_out) except -1
    cdef RolloutMemory new_memory(self)
    cdef void clean(self, RolloutMemory memory) noexcept
    cdef BatchBlock block_of(self, RolloutMemory memory, int64_t step)
    cdef int find(self, str name) except -2

cdef inline char* slot_of(const Track* track, RolloutMemory memory, int64_t slot) noexcept:
    """Returns where a slot of an array begins."""
    return memory.base + track.offset + slot * track.slot_bytes

cdef inline char* row_of(const Track* track, RolloutMemory memory, int64_t slot, int64_t env) noexcept:
    """Returns where the row of an env in a slot begins."""
    return memory.base + track.offset + slot * track.slot_bytes + env * track.row_bytes
