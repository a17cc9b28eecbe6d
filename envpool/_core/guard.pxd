"""The life cycle of a pool, and the calls that are inside it: see guard.pyx."""

from libc.stdint cimport int32_t, int64_t, uint64_t

from envpool._core.structs cimport Engine, pthread_t

# Activities as bits; only one call at a time may be RECEIVING, and only one RENDERING.
cdef enum:      # Activity
    NOTHING_ELSE = 0
    RECEIVING = 1
    RENDERING = 2
    WAITING = 4     # for enter() only: the call will wait, as the other two do, but any number of calls may

cdef enum:      # PoolState
    NEW             # __init__ has not finished
    OPEN
    CLOSING         # close() has begun: calls that are inside end, and no call may enter
    STOPPED         # the workers have ended, or are left behind; the last call that leaves drops the engine
    CLOSED          # the pool has no engine any more

cdef enum:
    MAX_VISITS = 64

cdef struct Visit:                  # a call that is inside
    unsigned long thread
    int activities
    const char* call                # name of the public call

cdef extern from "pythread.h":
    unsigned long PyThread_get_thread_ident()

cdef extern from *:
    int ctz "__builtin_ctzll"(unsigned long long word) nogil

cdef int64_t fork_generation() noexcept

cdef class Guard:
    cdef int state                  # PoolState
    cdef int activities             # those of all visits
    cdef uint64_t used              # bit k: visits[k] is in use
    cdef Visit visits[MAX_VISITS]
    cdef const int64_t* forks       # counts the forks of this process
    cdef int64_t fork_generation    # that count when the pool was made
    cdef Engine* engine             # NULL while the pool has none
    cdef unsigned long closer       # the thread that is inside close(); 0: none is
    cdef const pthread_t* helpers   # the threads that draw beside the one that renders (num_helpers)
    cdef int32_t num_helpers

    cdef bint is_forked(self) noexcept
    cdef str call_of_this_thread(self)
    cdef bint is_in_env(self) noexcept
    cdef int check_waits(self, const char* call) except -1
    cdef int await_closed(self) except -1
    cdef int check_open(self) except -1
    cdef int check_free(self, int activities, const char* call) except -1
    cdef int refuse(self, int activities, const char* call) except -1

# Inline, since every call of a pool passes through these.

cdef inline bint is_open(Guard g) noexcept:
    """Whether the pool can be used: check_open() raises if not."""
    return g.state == OPEN and g.fork_generation == g.forks[0]

cdef inline int enter(Guard g, int activities, const char* call) except -1:
    """Enters a call and returns the number of its visit, or raises PoolStateError. `call` is for messages."""
    cdef unsigned long thread = PyThread_get_thread_ident()
    cdef int visit
    if not is_open(g) or g.activities & activities or ~g.used == 0:
        g.refuse(activities, call)
    # Without other activities, only the pool's own threads execute its envs.
    if activities and (g.activities or g.engine.outsider != thread):
        g.check_waits(call)
    visit = ctz(~g.used)
    activities &= ~WAITING
    g.used |= <uint64_t>1 << visit
    g.activities |= activities
    g.visits[visit].thread = thread
    g.visits[visit].activities = activities
    g.visits[visit].call = call
    return visit

cdef inline int begin(Guard g, int visit, int activities) except -1:
    """Begins further activities in a visit, or raises PoolStateError."""
    if g.activities & activities:
        g.check_free(activities, g.visits[visit].call)
    g.activities |= activities
    g.visits[visit].activities |= activities
    return 0

cdef inline bint leave(Guard g, int visit) noexcept:
    """Ends a visit. True: it was the last one in a stopped pool, so the caller must drop the engine."""
    g.activities &= ~g.visits[visit].activities
    g.used &= ~(<uint64_t>1 << visit)
    return g.state == STOPPED and g.used == 0
