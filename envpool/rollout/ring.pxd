"""The memory of a replay buffer: see ring.pyx."""

cimport numpy as cnp
from libc.stdint cimport int32_t, int64_t, uint8_t

from envpool._core.blocks cimport BlockMemory
from envpool.numerics.rng cimport ep_pcg64
from envpool.rollout.ring_steps cimport Batch, Steps
from envpool.rollout.row_store cimport RowStore

cdef extern from "helper.h" nogil:
    ctypedef void (*ep_items_fn)(const void* job, int64_t first, int64_t last) noexcept nogil
    ctypedef struct ep_helper:
        pass
    int ep_helper_start(ep_helper* h)
    void ep_helper_give(ep_helper* h, ep_items_fn run, const void* job, int64_t count)
    void ep_helper_wait(ep_helper* h)
    void ep_helper_stop(ep_helper* h)

cdef class Ring:
    cdef Steps s
    cdef readonly tuple obs     # (name, dtype, shape of one row) of each array of observations
    cdef readonly tuple actions
    cdef readonly int64_t num_bytes         # of the arrays, apart from the rows below
    cdef BlockMemory memory
    cdef RowStore last
    cdef RowStore strays
    cdef list batches           # memory of minibatches that were handed out
    cdef int64_t planned        # transitions of the minibatches that the following describe; -1: none
    cdef list parts             # start in the memory, dtype and shape of one row of each array
    cdef size_t plan_bytes
    cdef ep_pcg64 generator
    cdef Batch batch            # the minibatch that is being gathered
    cdef char** pointers        # to its arrays
    cdef ep_helper helper
    cdef bint has_helper
    cdef int64_t helper_generation      # of the process that has it
    cdef bint is_gathering      # the helper may be at work
    cdef cnp.ndarray prepared   # numbers of the transitions that the helper gathers or has gathered; None: no ones
    cdef list prepared_arrays
    cdef object prepared_priorities
    cdef bint has_obs           # slot `head` has the observations after the last step

    cdef int lay_out(self, bint prioritized) except -1
    cdef str described(self, list parts)
    cdef int reserve(self) except -1
    cdef void put_actions(self, int k, const char* rows) noexcept
    cdef void put_obs(self, const char* const* rows) noexcept
    cdef void put_obs_of(self, int64_t env, const char* const* rows) noexcept
    cdef void put_step(self, const float* rewards, const uint8_t* flags, const char* const* obs,
                       const uint8_t* ended, const char* const* last_obs) noexcept
    cdef void cut(self) noexcept
    cdef bint has_newest(self, const char* const* rows) noexcept
    cdef bint has_step_before(self) noexcept
    cdef bint can_draw(self) noexcept
    cdef int prepare(self, int64_t n) except -1
    cdef void settle(self) noexcept
    cdef list new_batch(self, cnp.ndarray index)
    cdef void fill(self, int threads) noexcept
    cdef object priorities_of(self, cnp.ndarray index)
    cdef tuple finished(self, list arrays, object priorities, double beta)
    cdef int plan(self, int64_t n) except -1
    cdef BlockMemory batch_memory(self, size_t size)
    cdef int check_rows(self, int64_t head, int64_t live, bint has_obs, dict arrays, cnp.ndarray last,
                        int64_t num_strays) except -1
    cdef int restore(self, int64_t head, int64_t live, cnp.ndarray last, cnp.ndarray strays) except -1
