"""The memory of the engine, and who owns it: see engine.pyx."""

from libc.stdint cimport int32_t, int64_t

from envpool._core.calls cimport CreateFailure
from envpool._core.structs cimport Engine, Worker
from envpool.env cimport envpool_env

cdef Engine* engine_new(const envpool_env* env_def, int32_t num_envs, int32_t batch_size, int32_t num_threads,
                        int32_t affinity, int32_t num_nodes, int32_t max_episode_steps, int32_t autoreset,
                        int64_t step_timeout, CreateFailure* failure) noexcept
cdef void leave_engine(Worker* w) noexcept nogil

cdef class Orphan:
    cdef Engine* engine             # NULL while the pool owns it, and after it was freed
    cdef object capsule             # keeps the tables of the env alive
    cdef list blocks                # the blocks in flight, of whole batches
    cdef object partial             # the memory of the block of partial batches, or None
    cdef object statistics          # where the threads count
    cdef list tables                # by env id: the ParamDraws whose table the env uses, or None; None before the first

    cdef void adopt(self, Engine* e, list blocks, object partial, object statistics) noexcept
