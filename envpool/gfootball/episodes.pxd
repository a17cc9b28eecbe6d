"""Games as episodes: seeds, resets, steps and rewards."""

from libc.stdint cimport int32_t

from envpool.env cimport envpool_batch, envpool_seeds, envpool_setup
from envpool.gfootball.structs cimport Envs, Game

cdef enum:
    NO_ENGINE = 1               # error codes; text of the env
    STUCK = 2


cdef int create(const envpool_setup* setup, void** state) noexcept nogil
cdef void destroy(void* state) noexcept nogil
cdef int seed_many(void* state, const envpool_seeds* seeds) noexcept nogil
cdef int step_many(void* state, const envpool_batch* b) noexcept nogil

# Gives a game an engine if it has none. Returns an error code.
cdef int need_engine(Envs* s, Game* g) noexcept nogil
# Frees the engine of a game that has failed, whose next episode gets a new one. Returns `code`.
cdef int fail(Game* g, int code) noexcept nogil
cdef int32_t steps_left(const Envs* s, const Game* g) noexcept nogil
