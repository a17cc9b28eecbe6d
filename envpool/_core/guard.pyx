"""The life cycle of a pool, and the calls that are inside it: every public call enters and leaves through here.

Calls may overlap: a thread may send while another one receives, a signal handler or a destructor may call the pool from
inside a call of its own thread, and so may an object of the user's while it becomes an array. The guard records which
thread is inside which call. Receiving and rendering wait without the GIL and keep state meanwhile, so only one call at
a time may do each; a second one gets an exception instead of a race.

Invariants:
- The pool drops the engine when the last call leaves, or in close() if no call is inside. Whatever happens during
  a call, also close() by another thread or by a signal handler, the memory of the engine stays valid until the call
  leaves. Usually the engine is freed at that moment; threads that are stuck in it own it from then on, see engine.pyx.
- A function of an env may be Python code, which may make any call, also on a thread of the pool, and so may the garbage
  collector and destructors that run there. Such a call never waits: not for envs, since its own is one of them, and in
  close() not for threads. Threads that are left behind own the engine, see engine.pyx.
- After each point at which Python code may have run, a call asks check_open() before it publishes, waits, or joins a
  thread. That code may also have forked: the calls that were inside continue in the child, which has no other thread
  and must not wait for one.
- The GIL is held whenever a guard is read or written, so no access needs to be atomic.
"""

from cpython.exc cimport PyErr_CheckSignals
from libc.stdint cimport int64_t, uint64_t
from posix.unistd cimport usleep

from envpool._core.atomic cimport ep_load_sc32

from envpool.errors import PoolClosedError, PoolStateError

cdef extern from "threads.h" nogil:
    int64_t ep_fork_generation
    void ep_watch_forks()

ep_watch_forks()


cdef int64_t fork_generation() noexcept:
    """Returns the number of forks between this process and the one that loaded this module.

    Other modules must call this function: the counter is static in threads.h, so that each of them has a copy, of which
    only this one counts.
    """
    return ep_fork_generation


cdef class Guard:
    """The state of a pool and its visits."""

    def __cinit__(self):
        self.state = NEW
        self.forks = &ep_fork_generation
        self.fork_generation = ep_fork_generation

    cdef int refuse(self, int activities, const char* call) except -1:
        """Raises PoolStateError because a call may not enter."""
        self.check_open()
        if activities:
            self.check_waits(call)
        self.check_free(activities, call)
        raise PoolStateError(f"{MAX_VISITS} calls are inside of this pool already: let some of them return first")

    cdef bint is_forked(self) noexcept:
        """Whether this process is a fork of the one that made the pool."""
        return self.fork_generation != ep_fork_generation

    cdef str call_of_this_thread(self):
        """Returns the name of a call that the calling thread is inside of, "" if there is none."""
        cdef unsigned long me = PyThread_get_thread_ident()
        cdef uint64_t left = self.used
        while left:
            if self.visits[ctz(left)].thread == me:
                return self.visits[ctz(left)].call.decode()
            left &= left - 1
        return ""

    cdef bint is_in_env(self) noexcept:
        """Whether the calling thread is inside a function of an env: a worker, or a call that helps out."""
        cdef unsigned long me = PyThread_get_thread_ident()
        cdef Engine* e = self.engine
        cdef uint64_t left = self.used
        cdef Visit* visit
        cdef int32_t i
        if e == NULL:
            return False
        for i in range(e.num_threads):
            if e.workers[i].thread == me and not ep_load_sc32(&e.workers[i].has_left):
                return True
        for i in range(self.num_helpers):
            if self.helpers[i] == me:
                return True
        while left:
            visit = &self.visits[ctz(left)]
            left &= left - 1
            if visit.thread == me and ((visit.activities & RECEIVING and e.receiver_executes)
                                       or (visit.activities & RENDERING and e.renderer_executes)):
                return True
        return False

    cdef int check_waits(self, const char* call) except -1:
        """Raises PoolStateError if an env of the pool makes a call that waits; notes other threads."""
        if self.is_in_env():
            raise PoolStateError(
                f"{call.decode()}() was called by an environment of this pool, or by a function that completes its "
                f"steps, and would wait for it: let the program that steps the pool call {call.decode()}()"
            )
        self.engine.outsider = PyThread_get_thread_ident()
        return 0

    cdef int await_closed(self) except -1:
        """Waits until the last call has left a pool that is being closed, unless that would be this thread."""
        while self.state != CLOSED:
            if self.is_forked():        # the engine stays: a call of this thread may be inside, and no other thread
                self.state = CLOSED
            elif self.closer == PyThread_get_thread_ident() or self.is_in_env() or self.call_of_this_thread():
                return 0
            else:
                with nogil:
                    usleep(100)
                PyErr_CheckSignals()    # a handler may fork
        return 0

    cdef int check_open(self) except -1:
        """Raises PoolStateError unless the pool can be used."""
        if is_open(self):
            return 0
        if self.state == NEW:
            raise PoolStateError("the pool was never initialized: call __init__ of the base class first")
        if self.fork_generation != ep_fork_generation:
            raise PoolStateError(
                "the pool was made before this process was forked, and its threads exist only in the parent: make the "
                "pool in the child, or start processes with the 'spawn' method"
            )
        call = self.call_of_this_thread()
        raise PoolClosedError(f"the pool {f'was closed during {call}()' if call else 'is closed'}: make a new one")

    cdef int check_free(self, int activities, const char* call) except -1:
        """Raises PoolStateError if another call is in one of these activities."""
        cdef uint64_t left = self.used
        cdef Visit* visit
        while left:
            visit = &self.visits[ctz(left)]
            left &= left - 1
            if not visit.activities & activities:
                continue
            inner, outer = call.decode(), visit.call.decode()
            if visit.thread == PyThread_get_thread_ident():
                raise PoolStateError(
                    f"{inner}() was called while this thread was inside {outer}() of the same pool, for instance by a "
                    f"signal handler or a destructor: call {inner}() after {outer}() has returned"
                )
            if visit.activities & activities & RENDERING:
                raise PoolStateError("another thread is rendering this pool: let one thread render")
            raise PoolStateError(
                f"another thread is waiting in {outer}() of this pool: let one thread receive (recv, reset, step)"
            )
        return 0
