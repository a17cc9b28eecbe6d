"""Recording what a pool returns into the memory of a rollout: see recorder.pyx."""

cimport numpy as cnp
from libc.stdint cimport int32_t, int64_t, uint8_t

from envpool._core.batch_block cimport BatchBlock
from envpool._core.blocks cimport BlockStore
from envpool._core.pool cimport Pool
from envpool._core.results cimport ResultTemplate
from envpool._core.rollout_frames cimport FrameStore
from envpool._core.rollout_layout cimport RolloutLayout, RolloutMemory
from envpool._core.rollout_rows cimport Marks, Progress

cdef class Recorder:
    cdef Pool pool
    cdef readonly RolloutLayout layout
    cdef ResultTemplate reset_template      # these return (result, arrays): the form of the API style, and a tuple
    cdef ResultTemplate step_template
    cdef object add_errors                  # of the API style, or None
    cdef tuple extra_names
    cdef list memories                      # of this rollout and of earlier ones
    cdef readonly RolloutMemory memory      # of this rollout; None before the first reset
    cdef bint is_sync
    cdef bint places                        # the workers write in place
    cdef FrameStore frames                  # None unless each frame of stacked observations is stored once
    cdef int autoreset
    cdef int64_t num_envs
    cdef int64_t num_steps
    cdef int64_t num_slots
    cdef bint is_busy                       # a call is inside
    cdef bint is_finished                   # finish() was called: the next call begins the next rollout
    cdef readonly int64_t recorded          # steps of envs in this rollout
    cdef int64_t longest                    # largest entry of `lengths`
    cdef int64_t in_flight                  # envs that were sent and not received
    cdef int64_t known                      # actions and resets that the pool had been sent after the last call
    cdef readonly object received           # async: env ids of the last batch, int32; None before the first one
    cdef set failed                         # ids of envs in flight whose step failed
    cdef cnp.ndarray words                  # behind the arrays below, by env
    cdef Progress envs
    # Numbers of arrays.
    cdef Marks marks
    cdef int env_id
    cdef int reward
    cdef int first_action
    cdef int num_actions
    cdef int first_extra

    cdef list frame_arrays(self, BlockStore store, int64_t depth)
    cdef void find_arrays(self)
    cdef int64_t sent_by_pool(self) noexcept
    cdef int enter_rollout(self) except -1
    cdef int check_begun(self) except -1
    cdef int check_has_room(self) except -1
    cdef RolloutMemory take_memory(self, bint fresh)
    cdef int begin_next(self) except -1
    cdef void carry(self, RolloutMemory source, RolloutMemory target) noexcept
    cdef int32_t send_now(self, object action, object env_id, tuple values, int visit, int activities) except -1
    cdef int check_send(self, const int32_t* ids, int32_t n, tuple values, bint receives) except -1
    cdef int check_unchanged(self, int k, cnp.ndarray a) except -1
    cdef void store_sent(self, const int32_t* ids, int32_t n, tuple values) noexcept
    cdef object receive_now(self, ResultTemplate template)
    cdef object store(self, tuple pair)
    cdef list take_failed(self, const int32_t* ids, int64_t n)
