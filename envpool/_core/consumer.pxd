"""Publishing and waiting: see consumer.pyx."""

from libc.stdint cimport int32_t, int64_t

from envpool._core.atomic cimport ep_load_rlx64, ep_load_sc64
from envpool._core.structs cimport Engine

# Results of wait_ready().
cdef enum:      # Wait
    READY
    TIMED_OUT       # check for signals and wait again
    CLOSED

cdef void enqueue(Engine* e, const int32_t* ids, int32_t n) noexcept
cdef void begin_rows(Engine* e) noexcept
cdef void publish(Engine* e, int32_t n, bint returns_at_once) noexcept
cdef void note_return(Engine* e) noexcept
cdef bint run_if_quick(Engine* e) noexcept
cdef int wait_ready(Engine* e, int64_t timeout_ns) noexcept nogil
cdef int64_t written_rows(Engine* e) noexcept nogil
cdef void leave_to_workers(Engine* e) noexcept
cdef void wait_arrivals(Engine* e, int64_t count, int64_t seen_rows, int64_t timeout_ns) noexcept nogil
cdef bint wait_drained(Engine* e, int64_t outstanding, int64_t timeout_ns) noexcept nogil

cdef inline bint is_ready(Engine* e) noexcept nogil:
    """Whether the next block is ready.

    Sequentially consistent: the consumer stores `recv_waiting` and then asks this, the thread that writes the last row
    counts it and then reads `recv_waiting`, and one of the two must see the other.
    """
    if e.is_sync:
        return ep_load_sc64(&e.blocks[0].written) >= ep_load_rlx64(&e.expected)
    return ep_load_sc64(&e.blocks[e.next_block % e.num_blocks].written) >= e.batch_size
