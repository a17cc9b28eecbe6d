"""Games as episodes: resets and steps."""

from libc.stdint cimport int32_t, uint8_t

from envpool.env cimport envpool_batch
from envpool.vizdoom.envs cimport Env, Envs


# Returns the frame (num_planes, height, width) that was pushed `age` frames before the newest one.
cdef inline uint8_t* frame_of(const Envs* s, const Env* env, int32_t age) noexcept nogil:
    cdef int32_t count = s.config.stack_num
    return env.frames + (env.newest - age + count) % count * s.num_planes * s.plane


cdef int step_many(void* state, const envpool_batch* b) noexcept nogil
