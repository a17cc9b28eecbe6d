"""Noticing workers that are stuck in an env, in pools with a step timeout.

Each worker notes the chunk that it begins: when, and which envs. A consumer that waits in vain compares the times with
the clock. Nobody else reads the notes, so that they cost a worker a few stores to a cache line of its own, and one look
at the clock. A native env cannot be interrupted: all that the consumer can do is to tell the user.

Invariants:
- With a step timeout, no thread but the workers executes envs: the consumer could get stuck itself, and then nobody
  would notice.
- A wait raises only if it needs the stuck envs, so that an async pool continues without them. The rows that
  are ready stay in the pool, and the wait may be repeated; it raises again after another step timeout.
- The stores of a note are ordered: `since` is cleared before the ids of the next chunk are stored, and set after that.
  A reader that finds the same `since` before and after it has read the ids has read those of this chunk.
"""

from libc.stdint cimport int32_t, int64_t

from envpool._core.atomic cimport ep_add_sc64, ep_load_acq64, ep_load_rlx32, ep_now
from envpool._core.structs cimport Engine, Worker

from envpool.errors import EnvTimeoutError


cdef inline bint is_since(Worker* w, int64_t since) noexcept nogil:
    """Whether the note still describes the chunk begun at `since`."""
    return ep_add_sc64(&w.since, 0) == since        # a read-modify-write, which no earlier read may pass


cdef int read_chunk(const Engine* e, Worker* w, int64_t now, dict running) except -1:
    """Adds the envs of an overdue worker to `running`, each with the seconds for which the chunk has been executed."""
    cdef int64_t since = ep_load_acq64(&w.since), n
    cdef const int32_t* ids = <const int32_t*>ep_load_acq64(<const int64_t*>&w.ids)
    cdef int64_t i
    n = ep_load_acq64(&w.num_ids)
    if since == 0 or not is_since(w, since):
        return 0
    found = [ep_load_rlx32(&ids[i]) for i in range(n)]
    if is_since(w, since):
        running.update({id: (now - since) / 1e9 for id in found if e.busy[<int32_t>id]})
    return 0


cdef int check_progress(const Engine* e, const int32_t* ids, int64_t n, int64_t need) except -1:
    """Raises EnvTimeoutError if a wait for `need` envs must wait for stuck ones, unless it was raised recently.

    The wait is for any of n envs in flight with these ids; if `ids` is NULL, for any env in flight. Without a step
    timeout, this does nothing.
    """
    cdef int64_t now = ep_now(), possible = n if ids != NULL else e.outstanding, i
    cdef int32_t k, num_overdue = 0, num_workers = ep_load_rlx32(&e.started)     # close() may be changing it
    cdef bint is_due = False
    cdef Worker* w
    if e.step_timeout == 0:
        return 0
    for k in range(num_workers):
        w = &e.workers[k]
        if is_overdue(e, w, now):
            num_overdue += 1
            is_due |= now - w.warned_at > e.step_timeout
    if not is_due:
        return 0
    running = {}
    for k in range(num_workers):
        if is_overdue(e, &e.workers[k], now):
            read_chunk(e, &e.workers[k], now, running)
    if ids == NULL:
        possible -= <int64_t>len(running)
    else:
        for i in range(n):
            possible -= ids[i] in running
    # If every worker is stuck, envs that nobody has claimed do not continue either.
    if not running or (possible >= need and num_overdue < num_workers):
        return 0
    for k in range(num_workers):
        if is_overdue(e, &e.workers[k], now):
            e.workers[k].warned_at = now
    raise EnvTimeoutError(running, e.step_timeout / 1e9, num_overdue == num_workers)
