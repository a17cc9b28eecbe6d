"""The memory of the scheduling core: see engine.pyx."""

from libc.stdint cimport int32_t, int64_t

from envpool._core.calls cimport CreateFailure
from envpool._core.structs cimport Engine
from envpool.env cimport envpool_env

cdef Engine* engine_new(const envpool_env* env_def, int32_t num_envs, int32_t batch_size, int32_t num_threads,
                        int32_t affinity, int32_t num_nodes, int32_t max_episode_steps, int32_t autoreset,
                        int64_t step_timeout, CreateFailure* failure) noexcept
cdef void engine_free(Engine* e) noexcept
