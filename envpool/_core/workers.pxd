"""The worker threads: see workers.pyx."""

from libc.stdint cimport int32_t, int64_t

from envpool._core.atomic cimport ep_load_rlx32
from envpool._core.structs cimport Engine, pthread_t

cdef extern from "threads.h" nogil:
    int pthread_join(pthread_t thread, void** result)
    int pthread_detach(pthread_t thread)
    int ep_thread_start(pthread_t* thread, int index, int k, const int32_t* cpus, int num_cpus,
                        void* (*run)(void*) noexcept nogil, void* arg)
    int ep_wake_sleepers(int32_t* word, int count)

cdef object place_workers(Engine* e, object nodes)
cdef int engine_start(Engine* e) noexcept
cdef void stop_workers(Engine* e) noexcept nogil
cdef bint await_workers(Engine* e, int64_t timeout_ns) noexcept nogil
cdef void release_workers(Engine* e) noexcept nogil
cdef int start_workers(Engine* e, int32_t count) noexcept
cdef void wake(Engine* e, int64_t count) noexcept nogil
cdef bint is_worker_thread() noexcept nogil

cdef inline bint is_any_parked(Engine* e) noexcept nogil:
    cdef int32_t k
    for k in range(e.num_queues):
        if ep_load_rlx32(&e.queues[k].parked) > 0:
            return True
    return False
