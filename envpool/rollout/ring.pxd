"""The memory of a replay buffer: see ring.pyx."""

cimport numpy as cnp
from libc.stdint cimport int32_t, int64_t, uint8_t

from envpool._core.blocks cimport BlockMemory
from envpool.numerics.rng cimport ep_pcg64
from envpool.rollout.row_store cimport RowStore, Rows

cdef struct Leaf:               # an array of observations or actions (num_slots, num_envs, ...)
    char* data                  # NULL: stacks, whose frames are stored once
    int64_t row_bytes
    int64_t at                  # bytes from the start of a row of last observations

cdef struct Steps:
    int64_t num_envs
    int64_t num_steps           # K  steps of each env that the ring keeps
    int64_t num_slots           # K  slots: some more, see ring.pyx
    int64_t n_step
    double gamma
    int64_t head                # steps that were ever added: the number of the next one
    int64_t live                # steps that the ring has: those from head - live to head - 1
    int64_t num_ready           # transitions that can be sampled
    int num_obs
    int num_actions
    Leaf* obs                   # (num_obs)
    Leaf* actions               # (num_actions)
    float* rewards              # (num_slots, num_envs), as are the following
    uint8_t* flags              # Flag
    int32_t* lasts              # row of `last` with the observation after the step + 1; 0: the next slot has it
    Rows* last                  # last observations that no slot has: all arrays, or numbers of frames (depth)
    int64_t depth               # frames of a stack; 0 if the observations are not stacks
    int64_t frame_bytes
    char* frames                # (num_slots, num_envs, frame): the newest frame of each stack
    int32_t* numbers            # (num_slots, num_envs, depth): a position in `frames`, or -1 - the row of a stray
    Rows* strays                # frames of stacks that are nowhere in `frames`
    double* tree                # priorities, see sum_tree.pxd; NULL: sampling is uniform
    int64_t leaves              # of the tree
    double highest              # priority of new transitions

cdef enum:      # Flag
    VALID = 1       # the step is a transition
    DONE = 2        # it ended an episode
    TERMINATED = 4  # in a terminal state
    READY = 8       # the transition from here can be sampled

cdef struct Batch:              # the arrays of a minibatch; each has a row for each transition
    const Steps* s
    const int64_t* index        # (count)
    int64_t count
    char** obs                  # (num_obs)
    char** next_obs
    char** actions              # (num_actions)
    float* rewards
    uint8_t* terminated
    float* discounts

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
    cdef int check_size(self, list parts) except -1
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
