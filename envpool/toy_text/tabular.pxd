"""Walkers on a table of transitions: what FrozenLake, CliffWalking and Taxi have in common.

Each step and each reset takes exactly one double from the env's generator, also where only one thing can happen, as
``gymnasium.envs.toy_text.utils.categorical_sample`` does. Its comparison ``cumsum > random()`` is made on integers:
random() is a multiple of 2**-53, so a limit c becomes ceil(c * 2**53), and the result is the same for every draw.
"""

from libc.stdint cimport int32_t, int64_t, uint8_t, uint32_t, uint64_t

from envpool.env cimport envpool_batch, envpool_frames
from envpool.numerics.rng cimport ep_pcg64

cdef enum:
    MAX_ACTIONS = 6
    MAX_OUTCOMES = 3            # of one action in one state
    MAX_KINDS = 4               # of outcomes: pairs of reward and terminated; two bits of an entry

# Header of a table; `pack` lays the arrays out behind it.
#   uint64 start_limits (num_starts + 1)    start k is taken when the draw is below limit k, and not below limit k - 1
#   uint32 entries (num_entries)            4 * next state + kind: (states, actions, 1 << shift)
#   int32 start_states (num_starts + 1)     where each start is; the last one is for draws above all limits
cdef struct Table:
    int32_t num_actions
    int32_t shift               # 0: one outcome; 2: up to three, and the last entry is for draws above all limits
    int32_t num_starts
    int32_t num_entries
    uint64_t limits[MAX_ACTIONS][MAX_OUTCOMES]      # by action and outcome
    float prob[MAX_ACTIONS][MAX_OUTCOMES + 1]       # by action and outcome
    float reward[MAX_KINDS]     # by kind
    uint8_t terminated[MAX_KINDS]   # by kind

cdef struct Walkers:
    const Table* table
    const uint64_t* start_limits
    const uint32_t* entries
    const int32_t* start_states
    ep_pcg64* rng               # (n), as the arrays below
    int32_t* position           # state of the table
    float* prob                 # probability of the last transition

# The functions of include/envpool/env.h for an env whose fields are the state (int32) and the probability of the last
# transition (float32). config: a Table.
cdef void* create(const void* config, int32_t n) noexcept nogil
cdef void destroy(void* state) noexcept nogil
cdef void seed_many(void* state, const int32_t* ids, int32_t n, const uint64_t* seeds) noexcept nogil
cdef int step_many(void* state, const envpool_batch* b) noexcept nogil
cdef void write_many(void* state, const int32_t* ids, int32_t n, void* const* fields, int64_t row0) noexcept nogil
cdef int run_many(void* state, const envpool_batch* b, void* const* fields, int64_t row0) noexcept nogil

# Draws a walker over a map that does not change. Assets: a sheet with the map, which has the size of the picture, the
# walker, and for each state the place of the walker's upper left corner: x, y.
cdef int render_many(void* state, const envpool_frames* f) noexcept nogil
