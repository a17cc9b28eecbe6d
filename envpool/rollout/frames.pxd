"""Stacked observations of a rollout with each frame stored once: see frames.pyx."""

from libc.stdint cimport int32_t, int64_t

from envpool.rollout.layout cimport Track, RolloutLayout, RolloutMemory

cdef class FrameStore:
    cdef RolloutLayout layout
    cdef int column             # number of the array of the stacks, which the rollout does not have
    cdef Track* stacks           # its entry: the layout of one stack
    cdef Track* frames           # the frames
    cdef Track* numbers          # by slot and env, the numbers of the frames in its stack
    cdef int64_t depth          # frames of a stack
    cdef int64_t frame_bytes
    cdef int64_t count          # frames that are stored

    cdef void store(self, RolloutMemory memory, int64_t slot, int64_t env, const char* stack) noexcept
    cdef void load(self, RolloutMemory memory, int64_t slot, int64_t env, char* stack) noexcept
    cdef void store_rows(self, RolloutMemory memory, const char* stacks, const int32_t* ids,
                         const int64_t* slots, int64_t n) noexcept
    cdef void carry(self, RolloutMemory source, RolloutMemory target, const int64_t* lengths) noexcept
    cdef int32_t append(self, RolloutMemory memory, const char* frame) noexcept
