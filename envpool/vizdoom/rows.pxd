"""The rows of a history: an action, or a reset in the same engine.

A row is the index of a combined action, where the number of actions stands for a reset, and the next number for a reset
with which the user gave a game up; or it has a double for each button, where bytes of 255, which are NaN, stand for a
reset, and a first byte of 254 for a game that was given up.
"""

from libc.stddef cimport size_t
from libc.stdint cimport int32_t, int64_t, uint8_t, uint32_t
from libc.string cimport memcpy, memset

from envpool.env cimport ENVPOOL_NEW_GAME, ENVPOOL_NEXT_EPISODE, envpool_batch
from envpool.replay cimport (
    envpool_history_add, envpool_history_add_number, envpool_number_bytes, envpool_number_of,
)
from envpool.vizdoom.envs cimport Config, Env, Envs

cdef enum:
    MAX_ROWS = 100_000          # of a history, which restoring plays again in minutes


cdef inline size_t row_bytes(const Config* c) noexcept nogil:
    return envpool_number_bytes(c.num_actions + 2) if c.num_actions > 0 else c.num_buttons * sizeof(double)


cdef inline bint can_be_added(Envs* s, Env* env) noexcept nogil:
    if env.history.num_rows >= MAX_ROWS:
        env.history.is_lost = 1
    return not env.history.is_lost


cdef inline void note_action(Envs* s, Env* env, const envpool_batch* b, int32_t id) noexcept nogil:
    cdef size_t size = row_bytes(&s.config)
    if not can_be_added(s, env):
        return
    if s.config.num_actions > 0:
        envpool_history_add_number(&env.history, (<const int32_t*>b.actions[0])[id], size)
    else:
        envpool_history_add(&env.history, <const double*>b.actions[0] + id * s.config.num_buttons, size)


cdef inline void note_reset(Envs* s, Env* env, uint8_t how) noexcept nogil:
    """Record a reset; `how` is the value of envpool_batch.reset."""
    cdef bint is_new_game = how == ENVPOOL_NEW_GAME
    cdef double row[43]                         # of all buttons
    if not can_be_added(s, env):
        return
    if s.config.num_actions > 0:
        envpool_history_add_number(&env.history, s.config.num_actions + is_new_game, row_bytes(&s.config))
    else:
        memset(row, 255, sizeof(row))
        (<uint8_t*>row)[0] -= is_new_game
        envpool_history_add(&env.history, row, row_bytes(&s.config))


cdef inline uint8_t reset_of(const Config* c, const uint8_t* row) noexcept nogil:
    """Return the value of envpool_batch.reset that a row stands for, 0 if it is an action."""
    cdef int64_t number
    cdef size_t k
    if c.num_actions > 0:
        number = <int64_t>envpool_number_of(row, row_bytes(c)) - c.num_actions
    else:
        for k in range(1, row_bytes(c)):
            if row[k] != 255:
                return 0
        number = 255 - row[0]
    return ENVPOOL_NEXT_EPISODE if number == 0 else ENVPOOL_NEW_GAME if number == 1 else 0


cdef inline bint is_valid_row(const Config* c, const uint8_t* row) noexcept nogil:
    """Return whether a row is an action that the pool accepts, or a reset."""
    cdef double number
    cdef int32_t i
    if reset_of(c, row):
        return True
    if c.num_actions > 0:
        return envpool_number_of(row, row_bytes(c)) < <uint32_t>c.num_actions
    for i in range(c.num_buttons):
        memcpy(&number, row + i * sizeof(double), sizeof(double))
        if number != number:
            return False
    return True


cdef inline int read_row(const void* state, const uint8_t* row, void* action) noexcept nogil:
    """The read_row of replay.h."""
    cdef const Config* c = &(<const Envs*>state).config
    cdef uint8_t how = reset_of(c, row)
    cdef int32_t number
    if how:
        return how
    if c.num_actions > 0:
        number = envpool_number_of(row, row_bytes(c))
        memcpy(action, &number, sizeof(number))
    else:
        memcpy(action, row, row_bytes(c))
    return 0
