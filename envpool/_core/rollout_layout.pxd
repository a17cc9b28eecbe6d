"""Where the arrays of a rollout lie in its memory: see rollout_layout.pyx."""

cimport numpy as cnp
from libc.stdint cimport int32_t, int64_t, uint8_t

from envpool._core.batch_block cimport BatchBlock
from envpool._core.block_memory cimport BlockMemory
from envpool._core.blocks cimport BlockStore
from envpool._core.pinning cimport unregister_t

cdef struct Lane:               # an array of a rollout (slots, num_envs, ...)
    int64_t offset              # bytes from the start of the memory; negative: the rollout does not have this array
    int64_t row_bytes           # of one env
    int64_t slot_bytes          # of all envs
    int64_t num_slots
    int32_t shift               # step t of the pool writes to slot t + shift: 1 for what describes the next observation
    int32_t ndim                # of the array of one slot
    cnp.npy_intp dims[8]

cdef class RolloutMemory(BlockMemory):
    cdef bint clears_final      # the final arrays may hold old data: whoever writes a row clears it
    cdef unregister_t unlock    # unlocks the pages; NULL if they are not locked
    cdef int64_t fork_generation    # of the process that has locked them

cdef class RolloutLayout:
    cdef readonly tuple names   # of the arrays, first those of the pool's blocks in their order
    cdef readonly tuple dtypes
    cdef dict index             # number of each array
    cdef Lane* lanes
    cdef int num_columns        # arrays of the pool's blocks
    cdef int first_core         # number of the first array of the core
    cdef tuple core_columns
    cdef int num_fields
    cdef int num_final          # fields that the pool's blocks have for the last step of an episode
    cdef bint same_step
    cdef int64_t num_envs
    cdef readonly int64_t num_slots
    cdef readonly int64_t num_bytes
    cdef int64_t final_from     # where the final arrays begin, bytes from the start; they come last
    cdef int64_t needed         # bytes that rollouts are expected to touch, final arrays apart; these are locked

    cdef int lay_out(self, list shapes, list shifts, list left_out) except -1
    cdef bint pins              # new memory is page-locked
    cdef RolloutMemory new_memory(self)
    cdef void clean(self, RolloutMemory memory) noexcept
    cdef BatchBlock place(self, RolloutMemory memory, int64_t step)
    cdef int find(self, str name) except -2

cdef inline char* slot_of(const Lane* lane, RolloutMemory memory, int64_t slot) noexcept:
    """Returns where a slot of an array begins."""
    return memory.base + lane.offset + slot * lane.slot_bytes

cdef inline char* row_of(const Lane* lane, RolloutMemory memory, int64_t slot, int64_t env) noexcept:
    return memory.base + lane.offset + slot * lane.slot_bytes + env * lane.row_bytes
