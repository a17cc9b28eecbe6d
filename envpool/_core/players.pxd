"""Players of envs: who is present, their rewards and ends, and their rows; see players.pyx."""

from libc.stdint cimport int32_t, int64_t, uint8_t

from envpool._core.structs cimport Block, Engine
from envpool.env cimport envpool_batch

cdef enum:      # bits of Engine.player_flags
    HAS_ROW = 1     # the player has a row in the last result of the env
    ACTS = 2        # the player needs an action for the next step, unless that starts an episode

cdef enum:      # which of Engine.players a call fills
    LAST = 0        # what users see of a step
    FIRST = 1       # SAME_STEP: the players of the next episode; its rewards and ends are not used

# By the threads that simulate, without the GIL.
cdef void begin_players(Engine* e, int which, const int32_t* ids, int32_t n, envpool_batch* batch) noexcept nogil
cdef void end_players(Engine* e, int which, const int32_t* ids, int32_t n, const uint8_t* reset, const int32_t* errors,
                      float* reward, const uint8_t* terminated, const uint8_t* truncated) noexcept nogil
cdef void write_rows_of_players(Engine* e, int which, const int32_t* ids, int32_t n, void** fields,
                                int64_t row) noexcept nogil
cdef void forget_turn(const Engine* e, void** fields, int64_t row) noexcept nogil
cdef void write_players(const Engine* e, Block* b, const int32_t* ids, int32_t n, int64_t row) noexcept nogil


cdef inline uint8_t* flags_of(const Engine* e, int32_t id) noexcept nogil:
    """Returns the flags of the players of an env (num_players)."""
    return e.player_flags + <int64_t>id * e.num_players


cdef inline int32_t mover_of(const Engine* e, int32_t id) noexcept nogil:
    """Returns the player of an env who moves next, where players move in turn: the only one who acts; -1 for nobody."""
    cdef int32_t p
    for p in range(e.num_players):
        if flags_of(e, id)[p] & ACTS:
            return p
    return -1
