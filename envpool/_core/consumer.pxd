"""Publishing and waiting: see consumer.pyx."""

from libc.stdint cimport int32_t, int64_t

from envpool._core.structs cimport Engine

# The interval at which a blocking wait checks for Python signals, ns.
cdef enum:
    SLICE = 50000000

# Results of wait_ready().
cdef enum:      # Wait
    READY
    TIMED_OUT       # check for signals and wait again
    CLOSED

cdef void enqueue(Engine* e, const int32_t* ids, int32_t n) noexcept
cdef void begin_rows(Engine* e) noexcept
cdef void publish(Engine* e, int32_t n, bint returns_at_once) noexcept
cdef void note_return(Engine* e) noexcept
cdef bint is_ready(Engine* e) noexcept nogil
cdef bint run_if_quick(Engine* e) noexcept
cdef int wait_ready(Engine* e, int64_t timeout_ns) noexcept nogil
cdef int64_t written_rows(Engine* e) noexcept nogil
cdef void leave_to_workers(Engine* e) noexcept
cdef void wait_arrivals(Engine* e, int64_t count, int64_t seen_rows, int64_t timeout_ns) noexcept nogil
cdef bint wait_drained(Engine* e, int64_t outstanding, int64_t timeout_ns) noexcept nogil
