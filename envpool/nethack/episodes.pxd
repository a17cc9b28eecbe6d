"""Games as episodes: resets and steps."""

from libc.stddef cimport size_t
from libc.stdint cimport int32_t

from envpool.env cimport envpool_batch
from envpool.nethack.structs cimport Config, Env
from envpool.replay cimport envpool_number_bytes
from envpool.scaffold cimport envpool_state

cdef enum:
    MAX_STARTS = 10             # games that are tried until one begins


cdef inline Env* env_of(const void* state, int32_t id) noexcept nogil:
    return <Env*>(<const envpool_state*>state).records + id


cdef inline const Config* config_of(const void* state) noexcept nogil:
    return <const Config*>(<const envpool_state*>state).config


# Returns the size of a row of Env.history: the index of an action.
cdef inline size_t row_bytes(const Config* config) noexcept nogil:
    return envpool_number_bytes(config.num_keys)


cdef int step_many(void* state, const envpool_batch* b) noexcept nogil
