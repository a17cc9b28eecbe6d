"""Walkers on a table of transitions, on which FrozenLake, CliffWalking and Taxi are built.

Each step and each reset draws exactly one double from the environment's generator, even if there is only one outcome,
as ``gymnasium.envs.toy_text.utils.categorical_sample`` does. Its comparison ``cumsum > random()`` is made on integers:
random() is a multiple of 2**-53, so a limit c becomes ceil(c * 2**53), and the result is the same for every draw.
"""

from libc.stdint cimport int32_t, uint8_t, uint32_t, uint64_t

from envpool.env cimport envpool_batch, envpool_env, envpool_frames, envpool_rows, envpool_setup
from envpool.scaffold cimport envpool_state

cdef enum:
    MAX_ACTIONS = 6
    MAX_OUTCOMES = 3            # of one action in one state
    MAX_KINDS = 4               # of outcomes: pairs of reward and terminated; two bits of an entry
    NUM_MOVES = 4               # of an environment whose moves have odds of their own
    PAST_END = 3                # kind of the outcomes in a state that ends a walk on cells
    IS_START = 4                # bit of a cell

# Header of a table, behind which `pack` puts these arrays:
#   uint64 start_limits (num_starts + 1)    start k is taken when the draw is below limit k, and not below limit k - 1
#   uint32 entries (num_entries)            4 * next state + kind: (states, actions, 1 << shift)
#   int32 start_states (num_starts + 1)     state of each start; the last one is for draws above all limits
cdef struct Table:
    int32_t num_actions
    int32_t shift               # 0: one outcome; 2: up to three, and the last entry is for draws above all limits
    int32_t num_starts
    int32_t num_entries
    uint64_t limits[MAX_ACTIONS][MAX_OUTCOMES]      # by action and outcome
    float prob[MAX_ACTIONS][MAX_OUTCOMES + 1]       # by action and outcome
    float reward[MAX_KINDS]     # by kind
    uint8_t terminated[MAX_KINDS]   # by kind

cdef struct Odds:               # of the outcomes of a move
    uint64_t limits[MAX_OUTCOMES]
    float prob[MAX_OUTCOMES + 1]

cdef struct Walkers:
    envpool_state head          # the records are the generators
    const Table* table
    const uint64_t* start_limits
    const uint32_t* entries
    const int32_t* start_states
    int32_t* position           # (num_envs): state of the table
    float* prob                 # (num_envs): probability of the last transition
    # Of environments with parameters, used while envpool_params_vary(); they may be NULL.
    Odds* odds                  # (num_envs): of the first NUM_MOVES actions, unless the table has one outcome
    # (num_envs, states): kind of an outcome by the state that it leads to, | IS_START. A walk has ended in cells of
    # every kind but 0.
    uint8_t* cells
    int32_t columns             # of the grid of cells

# Returns the odds of three outcomes, in the order of the table.
cdef Odds odds_of(double first, double second, double third) noexcept nogil

# Allocates `size` bytes of state that begin with Walkers on a table. Pass the result to envpool_finish_state after
# allocating further arrays; it is NULL when there is not enough memory for the state itself.
cdef void* new_walkers(const envpool_setup* setup, size_t size, const Table* table) noexcept nogil

# Functions of include/envpool/env.h and scaffold.h for a state that begins with Walkers. The fields are the state of
# the table (int32) and the probability of the last transition (float32).
cdef int is_valid(const envpool_state* state, int32_t id, int32_t resets) noexcept nogil
cdef int step_many(void* state, const envpool_batch* b) noexcept nogil
cdef void write_many(void* state, const envpool_rows* rows) noexcept nogil
cdef int render_many(void* state, const envpool_frames* f) noexcept nogil

# The definition of an environment that is nothing but Walkers, whose config is a Table. Its frames are a walker over a
# map that does not change. The assets are a sheet: the map, which has the size of the frame, the walker, and for each
# state the position of the walker's upper left corner (x, y).
cdef envpool_env definition(const char* name) noexcept
