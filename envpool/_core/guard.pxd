"""The life cycle of a pool, and the calls that are inside it: see guard.pyx."""

from libc.stdint cimport int64_t, uint64_t

# What only one call may do at a time; bits.
cdef enum:      # Activity
    NOTHING_ELSE = 0
    RECEIVING = 1
    RENDERING = 2

cdef enum:      # PoolState
    NEW             # __init__ has not finished
    OPEN
    CLOSING         # close() has begun: calls that are inside end, and no call may enter
    STOPPED         # the workers have ended; the last call that leaves frees the engine
    CLOSED          # the engine is gone

cdef enum:
    MAX_VISITS = 64

cdef struct Visit:                  # a call that is inside
    unsigned long thread
    int activities
    const char* call                # name of the public call

cdef int64_t fork_generation() noexcept

cdef class Guard:
    cdef int state                  # PoolState
    cdef int activities             # those of all visits
    cdef uint64_t used              # bit k: visits[k] is in use
    cdef Visit visits[MAX_VISITS]
    cdef int64_t fork_generation

    cdef int enter(self, int activities, const char* call) except -1
    cdef int begin(self, int visit, int activities) except -1
    cdef bint leave(self, int visit) noexcept
    cdef bint is_forked(self) noexcept
    cdef str call_of_this_thread(self)
    cdef int check_open(self) except -1
    cdef int check_free(self, int activities, const char* call) except -1
