"""Shared code of the MinAtar games: sticky actions, the pace at which games get harder, and boards of 10 x 10 cells.

A game is a record that begins with an `Agent`, and a table of `Rules`. `define_game` makes an environment of them.
"""

from libc.stddef cimport size_t
from libc.stdint cimport int32_t, int8_t, uint8_t

from envpool.env cimport envpool_env
from envpool.numerics.rng_legacy cimport ep_mt19937

cdef enum:
    SIDE = 10                   # rows and columns of a board
    LAST = SIDE - 1
    CELLS = SIDE * SIDE
    MAX_CHANNELS = 10
    NUM_ACTIONS = 6

cdef enum Action:
    STAY, LEFT, UP, RIGHT, DOWN, FIRE

# The head of the record of each game.
cdef struct Agent:
    ep_mt19937 rng              # upstream's RandomState
    int32_t action              # the last one that was taken, which a sticky step repeats; a reset keeps it
    int32_t is_over             # whether the last step ended the episode

# One game. `game` is always a record of `size` bytes.
cdef struct Rules:
    size_t size
    int32_t channels            # of an observation
    void (*reset)(void* game) noexcept nogil
    int32_t (*step)(void* game, int32_t action, bint is_ramping) noexcept nogil     # the reward; may set Agent.is_over
    void (*write)(const void* game, uint8_t* obs) noexcept nogil    # sets cells of a board (10, 10, channels) of zeros
    # Whether the later calls are safe, for any bytes behind the Agent. If `is_over` is 0, the next call is a step.
    bint (*is_valid)(const void* game, bint is_over) noexcept nogil

# How fast enemies appear and move, in steps; lower is faster.
cdef struct Pace:
    int32_t spawn               # interval at which they appear, at least 1
    int32_t move                # interval at which they move
    int32_t level               # how often the pace was raised


cdef inline void put(uint8_t* obs, int32_t channels, int32_t row, int32_t column, int32_t channel) noexcept nogil:
    """Set one cell of a board (10, 10, channels)."""
    obs[(row * SIDE + column) * channels + channel] = 1


cdef inline bint is_inside(int32_t coordinate) noexcept nogil:
    return 0 <= coordinate < SIDE


cdef inline void put_trail(uint8_t* obs, int32_t channels, int32_t row, int32_t column, bint is_rightward,
                           int32_t channel) noexcept nogil:
    """Mark the cell behind something at row, column, if the board has it."""
    column += -1 if is_rightward else 1
    if is_inside(column):
        put(obs, channels, row, column, channel)


cdef inline int32_t columns_of(int32_t action) noexcept nogil:
    """Return what an action adds to the column of a player, without a branch that actions would make unpredictable."""
    return (action == RIGHT) - (action == LEFT)


cdef inline int32_t rows_of(int32_t action) noexcept nogil:
    """Return what an action adds to the row of a player."""
    return (action == DOWN) - (action == UP)


cdef inline int32_t count_down(int32_t timer) noexcept nogil:
    return timer - (timer > 0)


cdef inline bint can_rise(const Pace* pace, int32_t fastest_move) noexcept nogil:
    return pace.spawn > 1 or pace.move > fastest_move


cdef inline void raise_pace(Pace* pace, int32_t fastest_move) noexcept nogil:
    """Raise the pace by one level: enemies appear sooner each time, and move faster every second time."""
    if pace.level % 2 != 0 and pace.move > fastest_move:
        pace.move -= 1
    if pace.spawn > 1:
        pace.spawn -= 1
    pace.level += 1


# An environment definition with everything but the game; its module keeps it forever.
cdef envpool_env new_game(const char* name) noexcept

# The capsule of a game under a configuration. `minimal` are the actions of the minimal action set, in upstream's order.
cdef object define_game(const envpool_env* env_def, const Rules* rules, object config, object minimal)
