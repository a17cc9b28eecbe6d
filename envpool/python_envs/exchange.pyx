"""The pool's side of the shared memory: publishing entries in the rings of the workers, and waiting for the answers.

A thread that waits looks after the worker: every TICK it asks the supervisor whether the process has died or hangs. In
an async pool, several threads may wait for different envs of the same worker.
"""

from cpython.exc cimport PyErr_CheckSignals, PyErr_SetInterrupt
from libc.stdint cimport int32_t, int64_t

from envpool.python_envs.arena cimport (
    epy_add32, epy_load, epy_load32, epy_lock, epy_mailbox, epy_note_wait, epy_now, epy_ring, epy_sleep, epy_spin,
    epy_store, epy_unlock,
)

cdef extern from "Python.h":
    int PyOS_InterruptOccurred()

# How often a thread that waits looks after the worker, ns.
cdef int64_t TICK = 20000000


cdef void wake_worker(Exchange* x, int32_t w) noexcept nogil:
    """Wakes a worker that sleeps."""
    epy_ring(&x.v.boxes[w].bell, &x.v.boxes[w].parked)


cdef int64_t publish(Exchange* x, int32_t id, int32_t kind) noexcept nogil:
    """Appends an entry to the ring of an env's worker.

    Returns the tail at which it is answered; or 0 if the ring is full, since the env is still busy with entries that a
    Ctrl-C has left.
    """
    cdef int32_t w = id % x.v.num_workers
    cdef epy_mailbox* m = &x.v.boxes[w]
    cdef int64_t at = 0
    epy_lock(&x.lock)
    if m.head - epy_load(&m.tail) <= x.v.mask:
        x.v.rings[<int64_t>w * (x.v.mask + 1) + (m.head & x.v.mask)] = id | kind
        at = m.head + 1
        epy_store(&m.head, at)
    epy_unlock(&x.lock)
    return at


cdef int wait_for(Exchange* x, int32_t w, int64_t at) noexcept nogil:
    """Waits until a worker has answered all entries before position `at`."""
    cdef epy_mailbox* m = &x.v.boxes[w]
    cdef int64_t began = epy_now(), tail = epy_load(&m.tail), quiet = began, now
    cdef int32_t seen
    cdef int result = ANSWERED
    epy_spin(&m.tail, at, &x.pace)
    while epy_load(&m.tail) < at and result == ANSWERED:
        seen = epy_load32(&m.reply)
        epy_add32(&m.waiting, 1)
        if epy_load(&m.tail) < at and not epy_load32(&x.is_closing):
            epy_sleep(&m.reply, seen, TICK)
        epy_add32(&m.waiting, -1)
        if epy_load32(&x.is_closing):
            return CLOSING
        now = epy_now()
        if epy_load(&m.tail) != tail:
            tail, quiet = epy_load(&m.tail), now
        elif now - quiet > TICK >> 1:
            with gil:
                result = look_after(x, w, now - quiet)
            if result < 0:      # a successor was started, or is starting
                quiet, result = epy_now(), ANSWERED
    epy_note_wait(&x.pace, epy_now() - began)
    return result


cdef int look_after(Exchange* x, int32_t w, int64_t quiet) noexcept:
    """Looks for Ctrl-C, and for a worker that has died or hangs. Negative: its time begins anew.

    If the program's own handler of Ctrl-C does not raise, the wait continues. If it raises, it is called once more, by
    the pool, which can raise.
    """
    if PyOS_InterruptOccurred():
        PyErr_SetInterrupt()        # it was consumed
        try:
            PyErr_CheckSignals()
        except BaseException:
            PyErr_SetInterrupt()
            return INTERRUPTED
    try:
        return -1 if (<object>x.supervisor).look_after(w, quiet / 1e9) else ANSWERED
    except KeyboardInterrupt:
        PyErr_SetInterrupt()
        return INTERRUPTED
