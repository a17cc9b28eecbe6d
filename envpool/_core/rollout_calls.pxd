"""The calls of a rollout: see rollout_calls.pyx."""

cimport numpy as cnp
from libc.stdint cimport int32_t, int64_t

from envpool._core.recorder cimport Recorder
from envpool._core.rollout_layout cimport RolloutMemory

cdef class RolloutCalls(Recorder):
    cdef void start_over(self, RolloutMemory memory) noexcept
    cdef object reset_all(self, object seeds, int visit)
    cdef object reset_some(self, object env_id, object seeds, int visit)
    cdef void keep_final_stacks(self, const int32_t* ids, int64_t n) noexcept
    cdef cnp.ndarray check_ended(self, object env_id)
    cdef int check_complete(self, tuple values) except -1
