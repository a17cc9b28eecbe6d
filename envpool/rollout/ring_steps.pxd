"""The steps in a ring: see ring_steps.pyx."""

from libc.stdint cimport int32_t, int64_t, uint8_t
from libc.string cimport memcpy

from envpool.numerics.rng cimport ep_pcg64
from envpool.rollout.row_store cimport Rows, row_at, take_row

cdef struct Leaf:               # an array of observations or actions (num_slots, num_envs, ...)
    char* data                  # NULL: stacks, whose frames are stored once
    int64_t row_bytes
    int64_t at                  # bytes from the start of a row of last observations

cdef struct Steps:
    int64_t num_envs
    int64_t num_steps           # K  steps of each env that the ring keeps
    int64_t num_slots           # K  slots: some more, see ring_steps.pyx
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


cdef inline int64_t position(const Steps* s, int64_t step, int64_t env) noexcept nogil:
    """Returns the position of a row in the arrays of the ring."""
    return (step % s.num_slots) * s.num_envs + env


cdef inline const char* frame_of(const Steps* s, int32_t number) noexcept nogil:
    if number >= 0:
        return s.frames + number * s.frame_bytes
    return row_at(s.strays, -1 - number)


cdef inline int32_t add_stray(Steps* s, const char* frame) noexcept nogil:
    cdef int32_t row = take_row(s.strays)
    memcpy(row_at(s.strays, row), frame, s.frame_bytes)
    return -1 - row


cdef inline int32_t share(Steps* s, int32_t number) noexcept nogil:
    """Returns a number that one more stack uses."""
    if number < 0:
        s.strays.words[-1 - number] += 1
    return number


cdef inline bint is_ready(const Steps* s, int64_t index) noexcept nogil:
    cdef int64_t step = index // s.num_envs
    return (index >= 0 and s.head - s.live <= step < s.head
            and s.flags[position(s, step, index % s.num_envs)] & READY != 0)


cdef inline int64_t index_at(const Steps* s, int64_t at) noexcept nogil:
    """Returns the number of the transition that the ring has at a position."""
    cdef int64_t first = s.head - s.live, slot = at // s.num_envs
    cdef int64_t step = first + (slot - first % s.num_slots + s.num_slots) % s.num_slots
    return step * s.num_envs + at % s.num_envs


cdef void release_stack(Steps* s, int32_t* numbers) noexcept nogil
cdef void store_stack(Steps* s, int32_t* numbers, const int32_t* before, int64_t home, const char* stack) noexcept nogil
cdef void find_ready(Steps* s, int64_t step, int64_t env) noexcept nogil
cdef void drop_oldest(Steps* s) noexcept nogil
cdef void draw_uniform(const Steps* s, ep_pcg64* g, int64_t* index, int64_t n) noexcept nogil
cdef void fill_rows(const void* job, int64_t first, int64_t last) noexcept nogil
