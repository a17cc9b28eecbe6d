"""The tasks: their rewards, and when their episodes end."""

from envpool.nethack.structs cimport Config, Env

cdef bint should_abort(Env* env, const Config* config) noexcept nogil       # changes the counts of the challenge
cdef int end_status(const Env* env, const Config* config) noexcept nogil
cdef void note_before_step(Env* env) noexcept nogil
cdef double reward_of(Env* env, const Config* config) noexcept nogil
