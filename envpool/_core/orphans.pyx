# optimize: -O1
"""Engines that threads own after their pool has been closed, since they are still inside of an env.

A native env cannot be interrupted, and a Python env may itself close its pool or drop the last reference to it. The
thread returns from the env at any time, and then touches the engine, the state of the envs and the blocks in flight.
Whoever ends the pool does not wait for it, and so must leave all of this to it. The pool and the threads of its workers
share the engine; `owners` counts them, and the last one frees it. Usually that is the pool, which has joined its
threads. If a thread is the last one, Python frees the engine in the main thread, as a pending call: a block is a Python
object, and a thread of the engine must not wait for the GIL.

What must hold:
- An Orphan has everything that the threads may touch, and a reference to itself, so that nothing frees it earlier: not
  the garbage collector, and not the end of the interpreter. What is never freed ends with the process.
- No thread asks for a pending call once the interpreter exits. `stopped` and `inside` are sequentially consistent: the
  exit sees a thread in `inside` and waits for it, or the thread sees `stopped`.
"""

import atexit

cimport cython
from cpython.ref cimport Py_DECREF, Py_INCREF
from libc.stdint cimport INT32_MAX, int32_t, int64_t
from posix.unistd cimport usleep

from envpool._core.atomic cimport ep_add_sc32, ep_futex_wake, ep_load_sc32, ep_store_sc32
from envpool._core.block_memory cimport BlockMemory
from envpool._core.engine cimport engine_free
from envpool._core.guard cimport fork_generation
from envpool._core.structs cimport Engine, Worker

cdef extern from "Python.h":
    int Py_AddPendingCall(int (*function)(void*) noexcept, void* argument) nogil

cdef int32_t stopped = 0            # nonzero: the interpreter exits
cdef int32_t inside = 0             # number of threads that may be asking for a pending call
cdef int64_t born = fork_generation()
cdef int64_t num_orphans = 0        # engines that only threads own; accessed with the GIL only


# Hidden from the garbage collector, as are the pools: threads may write to the blocks.
@cython.no_gc
cdef class Orphan:
    """The owner of an engine that its pool has let go of, and of what threads that are still in it may touch.

    Parameters
    ----------
    capsule : PyCapsule
        The env definition.
    """

    def __init__(self, capsule):
        self.capsule = capsule

    cdef void adopt(self, Engine* e, list blocks, BlockMemory partial, object statistics) noexcept:
        """Takes the engine over from a pool that was stopped, and frees it unless threads are still in it."""
        global num_orphans
        self.engine = e
        self.blocks = blocks
        self.partial = partial
        self.statistics = statistics
        e.orphan = <void*>self
        Py_INCREF(self)
        num_orphans += 1
        if ep_add_sc32(&e.owners, -1) == 1:
            free_orphan(<void*>self)


cdef int free_orphan(void* argument) noexcept:
    """Frees an engine that has no owner any more."""
    global num_orphans
    cdef Orphan orphan = <Orphan>argument
    engine_free(orphan.engine)
    orphan.engine = NULL
    orphan.blocks = None
    orphan.partial = None
    orphan.statistics = None
    num_orphans -= 1
    Py_DECREF(orphan)
    return 0


cdef void leave_engine(Worker* w) noexcept nogil:
    """Ends the ownership of a worker's thread, which must not touch the engine afterwards."""
    cdef Engine* e = <Engine*>w.engine
    cdef int32_t* owners = &e.owners
    cdef void* orphan
    ep_store_sc32(&w.has_left, 1)
    if ep_add_sc32(owners, -1) > 1:
        ep_futex_wake(owners, INT32_MAX)        # this only uses the address: the engine may be gone
        return
    orphan = e.orphan
    while True:
        ep_add_sc32(&inside, 1)
        if ep_load_sc32(&stopped) or Py_AddPendingCall(free_orphan, orphan) == 0:
            ep_add_sc32(&inside, -1)
            return
        ep_add_sc32(&inside, -1)
        usleep(1000)                            # the interpreter's list of pending calls is full


def count():
    """Return the number of closed pools whose memory is still in use by threads that are inside of an env."""
    return num_orphans


@atexit.register
def stop():
    """Leave engines that threads still own to the end of the process."""
    ep_store_sc32(&stopped, 1)
    while fork_generation() == born and ep_load_sc32(&inside) > 0:
        with nogil:
            usleep(100)
