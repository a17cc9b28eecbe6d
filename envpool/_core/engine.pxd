"""Claiming, parking and waking: see engine.pyx, and structs.pxd for the data and the design."""

from libc.stdint cimport int32_t, int64_t

from envpool._core.atomic cimport ep_load_sc64
from envpool._core.calls cimport CreateFailure
from envpool._core.structs cimport Engine, pthread_t
from envpool.env cimport envpool_env

cdef extern from "threads.h" nogil:
    int pthread_join(pthread_t thread, void** result)
    int ep_available_cpus()
    int ep_thread_start(pthread_t* thread, int index, int k, void* (*run)(void*) noexcept nogil, void* arg)

cdef int64_t NEVER

cdef Engine* engine_new(const envpool_env* env_def, int32_t num_envs, int32_t batch_size, int32_t num_threads,
                        int32_t affinity, int32_t max_episode_steps, int32_t autoreset,
                        CreateFailure* failure) noexcept
cdef int engine_start(Engine* e) noexcept
cdef void engine_stop(Engine* e) noexcept nogil
cdef void engine_free(Engine* e) noexcept
cdef bint run_chunk(Engine* e) noexcept nogil
cdef int start_workers(Engine* e, int32_t count) noexcept
cdef void wake(Engine* e, int64_t count) noexcept nogil

cdef inline bint has_work(Engine* e) noexcept nogil:
    return ep_load_sc64(&e.head) > ep_load_sc64(&e.claim)
