"""Publishing, claiming, waiting and waking: see scheduler.pyx."""

from libc.stdint cimport int32_t, int64_t

from envpool._core.atomic cimport ep_load_rlx64, ep_load_sc64
from envpool._core.structs cimport Engine, pthread_t, Worker

cdef extern from "threads.h" nogil:
    int pthread_join(pthread_t thread, void** result)
    int pthread_detach(pthread_t thread)
    int ep_thread_start(pthread_t* thread, int index, int k, const int32_t* cpus, int num_cpus,
                        void* (*run)(void*) noexcept nogil, void* arg)

# Results of wait_ready().
cdef enum:      # Wait
    READY
    TIMED_OUT       # check for signals and wait again
    STOPPING        # the pool is being closed

# Workers.
cdef int engine_start(Engine* e) noexcept
cdef void stop_workers(Engine* e) noexcept nogil
cdef bint await_workers(Engine* e, int64_t timeout_ns) noexcept nogil
cdef void release_workers(Engine* e) noexcept nogil
cdef bint is_worker_thread() noexcept nogil

# The consumer.
cdef void begin_rows(Engine* e) noexcept
cdef void publish(Engine* e, const int32_t* ids, int32_t n, bint returns_at_once) noexcept
cdef bint run_if_quick(Engine* e) noexcept
cdef bint help_out(Engine* e, bint* executes) noexcept nogil
cdef int wait_ready(Engine* e, int64_t timeout_ns) noexcept nogil
cdef int64_t written_rows(Engine* e) noexcept nogil
cdef void leave_to_workers(Engine* e) noexcept
cdef void wait_arrivals(Engine* e, int64_t count, int64_t seen_rows, int64_t timeout_ns) noexcept nogil
cdef bint wait_drained(Engine* e, int64_t outstanding, int64_t timeout_ns) noexcept nogil

cdef inline bint is_ready(const Engine* e) noexcept nogil:
    """Whether the next block is ready.

    Sequentially consistent: the consumer stores `recv_waiting` and then asks this, the thread that writes the last row
    counts it and then reads `recv_waiting`, and one of the two must see the other.
    """
    if e.is_sync:
        return ep_load_sc64(&e.blocks[0].written) >= ep_load_rlx64(&e.expected)
    return ep_load_sc64(&e.blocks[e.next_block % e.num_blocks].written) >= e.batch_size
