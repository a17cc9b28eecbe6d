"""The consumer's side of the scheduling core: publishing work, helping with it, waiting for it. See structs.pxd."""

from libc.stdint cimport int32_t, int64_t
from libc.string cimport memcpy

from envpool._core.atomic cimport (
    ep_add_sc32, ep_futex_wait, ep_futex_wake, ep_load_acq64, ep_load_rlx32, ep_load_rlx64, ep_load_sc32, ep_load_sc64,
    ep_now, ep_pause, ep_store_rel64, ep_store_rlx32, ep_store_rlx64, ep_store_sc32, ep_store_sc64,
)
from envpool._core.claims cimport expected_cost, help_out, run_chunk
from envpool._core.queues cimport NEVER, has_work, num_unclaimed, queue_of
from envpool._core.statistics cimport place_probe
from envpool._core.structs cimport Engine, Queue
from envpool._core.workers cimport is_any_parked, start_workers, wake

# Async pools: below the first mean cost, ns, a helping consumer pays off; above the second one, a parked consumer does.
# The two values differ, so that the policy does not flutter.
cdef int64_t CHEAP_BELOW = 4000
cdef int64_t CHEAP_ABOVE = 6000
# The longest time for which the consumer spins before it parks, ns. If it helps and usually waits for less than
# SHORT_WAIT, it spins for up to twice that: sleeping and waking take longer than what the others still have to do.
cdef int64_t CONSUMER_SPIN = 3000
cdef int64_t SHORT_WAIT = 25000
# A consumer that is usually away for longer than this between send and recv is replaced by one more worker, ns.
cdef int64_t ABSENT = 20000
# The most work that is done with the GIL held, ns.
cdef int64_t QUICK = 5000


cdef void wake_for_backlog(Engine* e) noexcept nogil:
    """Wakes as many workers beside a helping consumer as save more time than their waking costs."""
    cdef int64_t count
    if not is_any_parked(e):
        return
    count = num_unclaimed(e) * expected_cost(e) // (2 * ep_load_rlx64(&e.wake_latency))
    if count > 0:
        wake(e, min(count, e.num_threads - 1))


cdef bint is_partial(Engine* e) noexcept nogil:
    """Whether envs that are published go to partial batches."""
    return e.queues[0].partial_from != NEVER


cdef void enqueue(Engine* e, const int32_t* ids, int32_t n) noexcept:
    """Writes ids behind the published part of the rings."""
    cdef Queue* q = &e.queues[0]
    cdef int64_t at = q.tail & e.mask, room = e.mask + 1 - at
    cdef int32_t i
    if e.is_sync and not is_partial(e):
        ep_store_rlx64(&e.expected, e.expected + n)
    if e.num_queues > 1:
        distribute(e, ids, n)
        return
    if is_partial(e):
        for i in range(n):
            ep_store_rlx32(&q.partial_ring[(q.tail + i) & e.mask], ids[i])
    elif e.is_sync:
        memcpy(q.ring + at, ids, min(n, room) * sizeof(int32_t))
        if n > room:
            memcpy(q.ring, ids + room, (n - room) * sizeof(int32_t))
    else:
        for i in range(n):      # a slow claimer may read an old position at this very moment
            ep_store_rlx32(&q.ring[(q.tail + i) & e.mask], ids[i])
    q.tail += n


cdef void distribute(Engine* e, const int32_t* ids, int32_t n) noexcept:
    """Writes each id to the ring of the env's queue, and in sync pools its row beside it."""
    cdef bint partial = is_partial(e)
    cdef int64_t row = e.sent - e.base
    cdef Queue* q
    cdef int64_t at
    cdef int32_t i
    for i in range(n):
        q = queue_of(e, ids[i])
        at = q.tail & e.mask
        q.tail += 1
        ep_store_rlx32(&q.partial_ring[at] if partial else &q.ring[at], ids[i])
        if q.rows != NULL:
            ep_store_rlx32(&q.rows[at], <int32_t>(row + i))


cdef void begin_rows(Engine* e) noexcept:
    """Sync pools: starts again with row 0 for the next env that is sent. Nothing may be in flight."""
    cdef int32_t k
    e.base = e.sent
    ep_store_rlx64(&e.expected, 0)
    for k in range(e.num_queues):
        ep_store_rlx64(&e.queues[k].base, e.queues[k].head)     # a slow claimer may read it at this very moment


cdef void publish(Engine* e, int32_t n, bint returns_at_once) noexcept:
    """Makes n enqueued ids claimable, decides who works on them, and wakes the workers that pay off.

    returns_at_once: the consumer waits next, as in step(); otherwise it is absent from now on.
    """
    cdef int64_t cost = expected_cost(e)
    cdef Queue* q
    cdef int32_t k
    cdef bint helps
    if returns_at_once:
        e.absence -= e.absence >> 2
    e.cheap = cost < (CHEAP_ABOVE if e.cheap else CHEAP_BELOW)
    helps = (e.is_sync or e.cheap) and e.absence < ABSENT and not is_partial(e) and e.step_timeout == 0
    if not helps and start_workers(e, e.num_threads) != 0:
        helps = True            # no thread can be started: the consumer keeps doing the work
    if helps != e.helps:        # a store that other threads must see costs more than this comparison
        ep_store_sc32(&e.helps, helps)
        ep_store_sc32(&e.active, e.num_threads - helps)
    e.sent += n
    for k in range(e.num_queues):
        q = &e.queues[k]
        if q.head != q.tail:
            if e.tally != NULL:
                place_probe(e.tally, q)
            ep_store_sc64(&q.head, q.tail)
    if ep_load_sc32(&e.recv_waiting):       # another thread waits in recv, and may have to act differently now
        ep_add_sc32(&e.recv_word, 1)
        ep_futex_wake(&e.recv_word, 1)
    if e.num_threads - helps == 0:
        return
    if not helps:
        wake(e, n)
    elif cost == 0 and not returns_at_once:     # the cost is unknown, and the consumer does something else next
        wake(e, 1)
    else:
        wake_for_backlog(e)


cdef void note_return(Engine* e) noexcept:
    """Updates the usual absence of the consumer, which has come back to wait."""
    if e.sent_at:
        e.absence += (ep_now() - e.sent_at - e.absence) >> 2
        e.sent_at = 0


cdef bint run_if_quick(Engine* e) noexcept:
    """Steps published envs with the GIL held if that takes less time than releasing the GIL costs.

    True: the block is ready. This function never waits, since a worker might need the GIL to continue.
    """
    cdef int64_t cost = expected_cost(e)
    if cost == 0 or not e.helps or num_unclaimed(e) * cost > QUICK:
        return False
    e.receiver_executes = True
    while run_chunk(e, e.num_queues - 1, NULL):
        pass
    e.receiver_executes = False
    return is_ready(e)


cdef int wait_ready(Engine* e, int64_t timeout_ns) noexcept nogil:
    """Waits until the next block is ready, and works in the meantime if the policy says so."""
    cdef int64_t deadline = 0, spinning_since, limit, waited
    cdef int32_t seen
    cdef int _i, woken
    while True:
        if is_ready(e):
            return READY
        if ep_load_rlx32(&e.stop):
            return CLOSED
        if ep_load_sc32(&e.helps) and help_out(e, &e.receiver_executes):
            if is_ready(e):
                return READY
            wake_for_backlog(e)
            if deadline == 0:
                deadline = ep_now() + timeout_ns
            elif ep_now() > deadline:
                return TIMED_OUT
            continue
        spinning_since = ep_now()
        limit = 2 * SHORT_WAIT if e.usual_wait < SHORT_WAIT and ep_load_sc32(&e.helps) else CONSUMER_SPIN
        while not is_ready(e) and ep_now() - spinning_since < limit:
            for _i in range(16):
                ep_pause()
        seen = ep_load_sc32(&e.recv_word)
        ep_store_sc32(&e.recv_waiting, 1)
        woken = 0
        if not is_ready(e) and not ep_load_sc32(&e.stop):
            if has_work(e):
                if ep_load_sc32(&e.helps):          # another thread has sent: the next iteration claims its envs
                    ep_store_sc32(&e.recv_waiting, 0)
                    continue
                wake(e, e.num_threads)
            woken = ep_futex_wait(&e.recv_word, seen, timeout_ns)
        ep_store_sc32(&e.recv_waiting, 0)
        waited = ep_now() - spinning_since
        e.usual_wait += (min(waited, 1000000) - e.usual_wait) >> 2
        ep_store_rlx64(&e.counters.recv_wait, e.counters.recv_wait + waited)
        if woken != 0 and not is_ready(e):
            return TIMED_OUT


cdef int64_t written_rows(Engine* e) noexcept nogil:
    """Returns the number of rows that have been written to the blocks in flight.

    Blocks that were full before are not visited again, and rows are only written to blocks that have allocated rows.
    `full_until` may be stored by two threads; both values are true, since no position of a block is used twice. Whoever
    reads it may read the rows of these blocks next, for instance to draw the envs, without having seen their counts.
    """
    cdef int64_t written, rows, k, end, full
    if e.is_sync:
        return ep_load_sc64(&e.blocks[0].written)
    end = (ep_load_sc64(&e.alloc) + e.batch_size - 1) // e.batch_size
    full = k = max(ep_load_acq64(&e.full_until), e.next_block)
    written = (k - e.next_block) * e.batch_size
    while k < end:
        rows = ep_load_sc64(&e.blocks[k % e.num_blocks].written)
        written += rows
        k += 1
        if full == k - 1 and rows == e.batch_size:
            full = k
    ep_store_rel64(&e.full_until, full)
    return written


cdef bint wait_drained(Engine* e, int64_t outstanding, int64_t timeout_ns) noexcept nogil:
    """Works and waits until every row in flight is written. False: this took longer than timeout_ns."""
    cdef int64_t deadline = ep_now() + timeout_ns
    while True:
        if written_rows(e) == outstanding:
            return True
        if ep_now() > deadline:
            return False
        if e.step_timeout or not help_out(e, &e.receiver_executes):
            ep_futex_wait(&e.recv_word, ep_load_sc32(&e.recv_word), 100000)


# ---- partial batches -------------------------------------------------------------------------------------------------

cdef void leave_to_workers(Engine* e) noexcept:
    """Leaves published work to the workers: a consumer that waits for some envs must not get stuck in another env."""
    if e.helps and start_workers(e, e.num_threads) == 0:
        ep_store_sc32(&e.helps, 0)
        ep_store_sc32(&e.active, e.num_threads)
        wake(e, e.num_threads)


cdef inline bint has_arrived(Engine* e, int64_t count, int64_t seen_rows) noexcept nogil:
    return ep_load_sc64(&e.arrivals) >> 32 >= count or written_rows(e) != seen_rows


cdef void wait_arrivals(Engine* e, int64_t count, int64_t seen_rows, int64_t timeout_ns) noexcept nogil:
    """Waits until `count` envs have arrived, the blocks have more than seen_rows rows, or the time is over.

    It may return early, for instance when the pool is being closed or another thread has sent: look, and call it again.
    """
    cdef int64_t began = ep_now()
    cdef int32_t seen
    cdef int _i
    while not has_arrived(e, count, seen_rows) and ep_now() - began < min(timeout_ns, CONSUMER_SPIN):
        for _i in range(16):
            ep_pause()
    seen = ep_load_sc32(&e.recv_word)
    ep_store_rlx32(&e.awaited, <int32_t>count)
    ep_store_sc32(&e.recv_waiting, 1)
    if not has_arrived(e, count, seen_rows) and not ep_load_sc32(&e.stop):
        if has_work(e):
            wake(e, e.num_threads)
        # The consumer works only if no thread could be started.
        if not (ep_load_sc32(&e.helps) and help_out(e, &e.receiver_executes)) and timeout_ns > 0:
            ep_futex_wait(&e.recv_word, seen, timeout_ns)
            ep_store_rlx64(&e.counters.recv_wait, e.counters.recv_wait + ep_now() - began)
    ep_store_sc32(&e.recv_waiting, 0)
