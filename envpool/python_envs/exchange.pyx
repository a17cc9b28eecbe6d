# optimize: -Og
"""The pool's side of the shared memory: publishing entries in the rings of the workers, and waiting for the answers.

A thread that waits looks after the worker: every TICK it asks the supervisor whether the process has died or hangs. In
an async pool, several threads may wait for different envs of the same worker.
"""

from cpython.exc cimport PyErr_CheckSignals
from libc.stdint cimport int32_t, int64_t

from envpool._core.failures cimport give_interruption
from envpool.python_envs.arena cimport (
    epy_add32, EPY_ID, epy_load, epy_load32, epy_lock, epy_mailbox, epy_note_wait, epy_now, epy_sleep, epy_spin,
    epy_store, epy_unlock, epy_wake,
)

cdef extern from "Python.h":
    int PyGILState_Check() nogil

# How often a thread that waits looks after the worker, ns.
cdef int64_t TICK = 20000000


cdef void publish(Exchange* x, const int32_t* entries, int32_t n, int64_t* at, int64_t* last) noexcept nogil:
    """Appends entries to the rings of the workers of their envs, and wakes the workers that sleep.

    Parameters
    ----------
    entries
        (n) env ids, with the bits of their kinds.
    at
        Out, (n): the tail at which an entry is answered; or 0 if the ring is full, since the env is still busy with
        entries that a Ctrl-C has left.
    last
        Out, (num_workers): the tail at which all entries of a worker are answered; 0 if it has none.
    """
    cdef epy_mailbox* m
    cdef int32_t i, w
    for w in range(x.v.num_workers):
        last[w] = 0
    epy_lock(&x.lock)
    for i in range(n):
        w = (entries[i] & EPY_ID) % x.v.num_workers
        m = &x.v.boxes[w]
        at[i] = append(x, w, last[w] or m.head, entries[i])
        last[w] = at[i] or last[w]
    for w in range(x.v.num_workers):
        if last[w]:
            epy_store(&x.v.boxes[w].head, last[w])
    epy_unlock(&x.lock)
    for w in range(x.v.num_workers):
        if last[w]:
            epy_wake(&x.v.boxes[w].bell, &x.v.boxes[w].parked)


cdef inline int64_t append(Exchange* x, int32_t w, int64_t next, int32_t entry) noexcept nogil:
    """Writes an entry at a position of a ring that is not published yet. Returns the next one, or 0: the ring is full.

    `announced` is a lower bound of the number of answered entries, in a cache line that is read anyway.
    """
    if next - epy_load(&x.v.boxes[w].announced) > x.v.mask:
        return 0
    x.v.rings[<int64_t>w * (x.v.mask + 1) + (next & x.v.mask)] = entry
    return next + 1


cdef int wait_for(Exchange* x, int32_t w, int64_t at) noexcept nogil:
    """Waits until a worker has answered all entries before position `at`."""
    cdef epy_mailbox* m = &x.v.boxes[w]
    cdef int64_t began = epy_now()
    cdef int result = ANSWERED
    epy_spin(&m.announced, at, &x.pace)
    if epy_load(&m.tail) < at:
        if PyGILState_Check():  # the pool keeps the GIL during a step that is usually quick
            with gil:
                with nogil:
                    result = sleep_until(x, w, at, began)
        else:
            result = sleep_until(x, w, at, began)
    epy_note_wait(&x.pace, epy_now() - began)
    return result


cdef int sleep_until(Exchange* x, int32_t w, int64_t at, int64_t began) noexcept nogil:
    """Sleeps until a worker has answered all entries before position `at`; `began`: since when the thread waits."""
    cdef epy_mailbox* m = &x.v.boxes[w]
    cdef int64_t tail = epy_load(&m.tail), quiet = began, now
    cdef int32_t seen
    cdef int result = ANSWERED
    while epy_load(&m.tail) < at and result == ANSWERED:
        seen = epy_load32(&m.reply)
        epy_add32(&m.waiting, 1)
        if epy_load(&m.announced) < at and epy_load(&m.tail) < at and not epy_load32(&x.is_closing):
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
    return result


cdef int look_after(Exchange* x, int32_t w, int64_t quiet) noexcept:
    """Checks for signals, and whether the worker has died or hangs. Negative: its time starts again.

    An exception of a signal handler ends the wait, and the pool raises it. If the handler raises none, the wait
    continues.
    """
    try:
        PyErr_CheckSignals()
        return -1 if (<object>x.supervisor).look_after(w, quiet / 1e9) else ANSWERED
    except BaseException as error:
        give_interruption(error)
        return INTERRUPTED
