"""The common part of the recorders of rollouts and of replay buffers: see driver.pyx."""

cimport numpy as cnp
from libc.stdint cimport int32_t, int64_t

from envpool._core.pool cimport Pool, SendPart
from envpool._core.results cimport ResultTemplate

cdef class PoolDriver(SendPart):
    cdef Pool pool
    cdef str what                           # of messages: "rollout"
    cdef int autoreset
    cdef int64_t num_envs
    cdef ResultTemplate reset_template      # these return (result, arrays): the form of the API style, and a tuple
    cdef ResultTemplate step_template
    cdef object add_errors                  # of the API style, or None
    cdef int env_id                         # number of the array of the ids
    cdef bint is_busy                       # a call is inside
    cdef bint is_entered_again              # the pool has opponents: its own methods enter it again
    cdef int64_t known                      # actions and resets that the pool had been sent after the last call
    cdef set failed                         # ids of envs in flight whose step failed

    cdef int64_t sent_by_pool(self) noexcept
    cdef int begin_call(self) except -1
    cdef int enter_pool(self, int activities, const char* call) except -1
    cdef void leave_pool(self, int visit) noexcept
    cdef int check_begun(self) except -1
    cdef int check_known(self, str rest) except -1
    cdef object outdated(self, str rest)
    cdef int check_pool_idle(self) except -1
    cdef bint are_all_envs(self, const int32_t* ids, int32_t n) noexcept
    cdef bint may_reset(self, int32_t id) noexcept
    cdef cnp.ndarray check_ended(self, object env_id)
