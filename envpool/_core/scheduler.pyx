"""The scheduler: workers and the consumer publish, claim, wait for and wake each other. structs.pxd has the design.

Invariants, which exclude lost wake-ups and deadlocks; Spin checks a model of them, tests/models/park.pml:
- A worker raises `parked`, reads `head` and `claim` of every queue once more, and only then sleeps. The consumer stores
  `head` and then reads `parked`. Both sides use sequentially consistent accesses, so that one of them sees the other.
- A worker reads the futex word before that last look for work, so that a wake in between makes the sleep return at
  once.
- The consumer never sleeps while published work is unclaimed and a worker that may claim it is parked.

policy.pxd decides who works and for how long anybody spins; nothing here depends on its decisions for correctness.
Waking is a tree if there are several queues: the consumer wakes one worker of each group, which wakes the others.
"""

from libc.stdint cimport INT32_MAX, int32_t, int64_t, uint64_t
from libc.string cimport memcpy

from envpool._core.atomic cimport (
    ep_add_sc32, ep_add_sc64, ep_cas64, ep_futex_wait, ep_futex_wake, ep_load_acq64, ep_load_rlx32, ep_load_rlx64,
    ep_load_sc32, ep_load_sc64, ep_now, ep_pause, ep_store_rel64, ep_store_rlx32, ep_store_rlx64, ep_store_sc32,
    ep_store_sc64, ep_swap_sc32, ep_use_parking_lot, ep_wake_sleepers,
)
from envpool._core.engine cimport leave_engine
from envpool._core.execute cimport execute_async, execute_partial, execute_sync
from envpool._core.policy cimport (
    CONSUMER_SPIN, DRAIN_SLICE, LONG_IDLE, MAX_COPIED, MAX_DOUBLINGS, MIN_SHARE, PAUSES, QUICK, claim_size,
    consumer_helps, consumer_spin, expected_cost, interval, measured_chunks, moving_mean, note_cost, note_mean,
    note_wake_up, worker_spin,
)
from envpool._core.statistics cimport note_claim, note_step_time, set_probe
from envpool._core.structs cimport Engine, NEVER, Queue, Worker
from envpool._core.watch cimport is_overdue, note_end, note_start

from envpool.errors import PoolStateError

cdef extern from "floats.h" nogil:
    uint64_t ep_floats_enter()
    void ep_floats_leave(uint64_t bits)


# ---- queues ----------------------------------------------------------------------------------------------------------

cdef inline bint is_filled(const Queue* q) noexcept nogil:
    return ep_load_sc64(&q.head) > ep_load_sc64(&q.claim)


cdef inline bint has_work(const Engine* e) noexcept nogil:
    """Whether an env is published and not claimed. Sequentially consistent, for a thread that is about to sleep."""
    cdef int32_t k
    for k in range(e.num_queues):
        if is_filled(&e.queues[k]):
            return True
    return False


cdef inline int64_t num_unclaimed(const Engine* e) noexcept nogil:
    """Returns how many envs are published and not claimed. The number may be stale, which costs time only."""
    cdef int64_t n = 0
    cdef int32_t k
    for k in range(e.num_queues):
        n += ep_load_rlx64(&e.queues[k].head) - ep_load_rlx64(&e.queues[k].claim)
    return n


cdef inline Queue* queue_of(const Engine* e, int32_t id) noexcept nogil:
    """Returns the queue of an env. The queues have contiguous ranges of ids whose lengths differ by at most one."""
    return &e.queues[<int64_t>id * e.num_queues // e.num_envs]


cdef inline bint is_any_parked(const Engine* e) noexcept nogil:
    cdef int32_t k
    for k in range(e.num_queues):
        if ep_load_rlx32(&e.queues[k].parked) > 0:
            return True
    return False


# ---- claiming --------------------------------------------------------------------------------------------------------

cdef inline int64_t consecutive_rows(const Engine* e, const Queue* q, int64_t first, int64_t n) noexcept nogil:
    """Returns how many of n envs from ring position `first` on have consecutive rows, as every chunk must."""
    cdef int64_t i
    cdef int32_t row = ep_load_rlx32(&q.rows[first & e.mask])
    for i in range(1, n):
        if ep_load_rlx32(&q.rows[(first + i) & e.mask]) != row + i:
            return i
    return n


cdef bint run_from(Engine* e, Queue* q, Worker* watched) noexcept nogil:
    """Claims one chunk of a queue and executes it. False: there was nothing to claim.

    `watched` is the worker that does so if the pool has a step timeout, else NULL.
    """
    cdef int64_t first, available, n, i, cost, start = 0, partial_from, row = 0
    cdef int32_t on_stack[MAX_COPIED]
    cdef int32_t* copied = on_stack
    cdef int32_t collisions = 0, measured, _i
    cdef const int32_t* ids
    cdef bint is_typical
    if watched != NULL:
        copied = watched.copied
    while True:
        first = ep_load_acq64(&q.claim)
        available = ep_load_acq64(&q.head) - first
        if available <= 0:
            return False
        cost = ep_load_rlx64(&e.ns_per_env)
        n = min(claim_size(e, q, available, cost, collisions), e.mask + 1 - (first & e.mask))
        partial_from = ep_load_rlx64(&q.partial_from)
        if first + n > partial_from:
            # One env at a time, so that a consumer which waits for some envs does not wait for their neighbours.
            n = max(partial_from - first, 1)
        if first >= partial_from:
            ep_store_rlx32(copied, ep_load_rlx32(&q.partial_ring[first & e.mask]))
            ids = copied
        elif e.is_sync:
            ids = q.ring + (first & e.mask)         # cannot be overwritten: the next send follows the delivery
            row = first - ep_load_rlx64(&q.base)
            if q.rows != NULL:
                n = consecutive_rows(e, q, first, n)
                row = ep_load_rlx32(&q.rows[first & e.mask])
        else:
            for i in range(n):
                ep_store_rlx32(&copied[i], ep_load_rlx32(&q.ring[(first + i) & e.mask]))
            ids = copied
        if ep_cas64(&q.claim, first, first + n):
            break
        for _i in range(1 << collisions):
            ep_pause()
        collisions = min(collisions + 1, MAX_DOUBLINGS)
    if e.tally != NULL and first <= ep_load_rlx64(&q.probe) < first + n:
        note_claim(e.tally, q)
    measured = measured_chunks(first, n, cost)
    is_typical = ep_load_rlx32(&e.seeds_pending) == 0
    if measured or watched != NULL:
        start = ep_now()
    if watched != NULL:
        note_start(watched, ids, n, start)
    if first >= partial_from:
        execute_partial(e, ids, start)
    elif e.is_sync:
        execute_sync(e, ids, n, row, start)
    else:
        execute_async(e, ids, <int32_t>n, start, watched)
    if watched != NULL:
        note_end(watched)
    if measured:
        cost = (ep_now() - start) // n
        note_cost(e, cost)
        if e.tally != NULL:
            note_step_time(e.tally, measured * n, cost)
        if is_typical:
            note_mean(e, first, n, cost)
    return True


cdef bint run_chunk(Engine* e, int32_t home, Worker* watched) noexcept nogil:
    """Claims and executes one chunk, of queue `home` or, if that is empty, of another one. False: all are empty.

    For `watched` see run_from().
    """
    cdef int32_t k
    if run_from(e, &e.queues[home], watched):
        return True
    for k in range(home + 1, home + e.num_queues):
        if run_from(e, &e.queues[k % e.num_queues], watched):
            return True
    return False

# ---- workers ---------------------------------------------------------------------------------------------------------

cdef inline bint may_claim(const Engine* e, bint reserve) noexcept nogil:
    """Whether this worker should claim published work. It leaves to a helping consumer what that does faster alone:
    moving a few cheap envs to another core costs more than stepping them."""
    cdef int64_t cost
    if reserve and ep_load_sc32(&e.active) != e.num_threads:
        return False
    if not ep_load_sc32(&e.helps):
        return True
    cost = expected_cost(e)
    return cost == 0 or num_unclaimed(e) * cost >= MIN_SHARE


cdef extern from *:
    """
    #include <pthread.h>
    /* Not NULL in a worker of a pool. A thread-local variable would be allocated when a thread first touches it. */
    static pthread_key_t ep_worker_key;
    static int ep_make_worker_key(void) { return pthread_key_create(&ep_worker_key, NULL); }
    static void ep_mark_worker(void *worker) { pthread_setspecific(ep_worker_key, worker); }
    static int ep_is_worker(void) { return pthread_getspecific(ep_worker_key) != NULL; }
    """
    int ep_make_worker_key()
    void ep_mark_worker(void* worker) nogil
    bint ep_is_worker() nogil

ep_use_parking_lot()

if ep_make_worker_key() != 0:
    raise PoolStateError("envpool needs a key for thread-specific data, but the process has none left")


cdef void park(Engine* e, Queue* q, bint reserve) noexcept nogil:
    """Sleeps until it is woken, unless there is work or the pool is being stopped."""
    cdef int32_t* word = &e.reserve_word if reserve else &q.wake_word
    cdef int32_t* parked = &e.reserve_parked if reserve else &q.parked
    cdef int32_t seen = ep_load_sc32(word), others
    ep_add_sc32(parked, 1)
    if not ep_load_sc32(&e.stop) and not (has_work(e) and may_claim(e, reserve)):
        ep_futex_wait(word, seen, -1)
        note_wake_up(e)
    ep_add_sc32(parked, -1)
    if not reserve and ep_load_rlx32(&q.to_wake) > 0:
        others = ep_swap_sc32(&q.to_wake, 0)
        if others > 0:
            wake_sleepers(e, &q.wake_word, others)


cdef inline int32_t home_of(const Worker* w) noexcept nogil:
    """Returns the number of the queue of a worker's group."""
    cdef const Engine* e = <const Engine*>w.engine
    return <int32_t>(<int64_t>w.index * e.num_queues // e.num_threads)


cdef void* run_worker(void* arg) noexcept nogil:
    """Runs a worker: executes chunks, spins while batches follow each other closely, and parks otherwise."""
    cdef Worker* w = <Worker*>arg
    cdef Engine* e = <Engine*>w.engine
    cdef Worker* watched = w if e.step_timeout else NULL
    cdef int32_t home = home_of(w)
    # The last worker replaces the consumer: it works only while the consumer does not help.
    cdef bint reserve = w.index == e.num_threads - 1
    cdef int64_t gap = LONG_IDLE, idle_since, limit
    cdef int _i
    ep_mark_worker(arg)
    ep_floats_enter()           # a thread begins in the mode of the one that has started it
    while not ep_load_rlx32(&e.stop):
        if may_claim(e, reserve) and run_chunk(e, home, watched):
            continue
        idle_since = ep_now()
        limit = worker_spin(gap)
        while not ep_load_rlx32(&e.stop) and not (has_work(e) and may_claim(e, reserve)):
            for _i in range(PAUSES):
                ep_pause()
            if ep_now() - idle_since > limit:
                park(e, &e.queues[home], reserve)
                break
        gap = moving_mean(gap, min(ep_now() - idle_since, LONG_IDLE), 2)
    leave_engine(w)
    return NULL


cdef bint is_worker_thread() noexcept nogil:
    """Returns whether the calling thread is a worker of a pool."""
    return ep_is_worker()


cdef void wake(Engine* e, int64_t count) noexcept nogil:
    """Wakes at most `count` parked workers that may claim."""
    ep_store_rlx64(&e.published_at, ep_now())
    if e.num_queues == 1:
        wake_group(e, &e.queues[0], count, False)
    else:
        wake_groups(e, count)
    if ep_load_sc32(&e.reserve_parked) > 0 and ep_load_sc32(&e.active) == e.num_threads:
        ep_add_sc32(&e.reserve_word, 1)
        wake_sleepers(e, &e.reserve_word, 1)


cdef void wake_groups(Engine* e, int64_t count) noexcept nogil:
    """Wakes the groups whose queues have work in equal parts, then others, which will help them."""
    cdef int32_t k, left = 0
    for k in range(e.num_queues):
        left += is_filled(&e.queues[k])
    for k in range(e.num_queues):
        if left > 0 and is_filled(&e.queues[k]):
            count -= wake_group(e, &e.queues[k], (count + left - 1) // left, True)
            left -= 1
    for k in range(e.num_queues):
        if count > 0 and not is_filled(&e.queues[k]):
            count -= wake_group(e, &e.queues[k], count, True)


cdef int64_t wake_group(Engine* e, Queue* q, int64_t limit, bint in_turn) noexcept nogil:
    """Wakes at most `limit` workers and returns their number; in_turn: the first one wakes the others.

    The workers that an earlier call left to be woken in turn may still be asleep, so theirs is added.
    """
    cdef int64_t count = min(limit, <int64_t>ep_load_sc32(&q.parked))
    if count <= 0:
        return 0
    if in_turn and count > 1:
        ep_add_sc32(&q.to_wake, <int32_t>count - 1)
    ep_add_sc32(&q.wake_word, 1)
    wake_sleepers(e, &q.wake_word, 1 if in_turn else <int>count)
    return count


cdef inline void wake_sleepers(Engine* e, int32_t* word, int count) noexcept nogil:
    """Wakes at most `count` workers that sleep on a word, and counts those that did."""
    cdef int woken = ep_wake_sleepers(word, count)
    if woken > 0:
        ep_add_sc64(&e.counters.wakes, woken)


cdef int start_workers(Engine* e, int32_t count) noexcept:
    """Starts workers until `count` are running. Returns 0, or the errno of the first one that could not be started."""
    cdef Worker* w
    cdef int32_t node, first
    cdef int failed
    while e.started < count:
        w = &e.workers[e.started]
        w.engine = e
        w.index = e.started
        node = <int32_t>(<int64_t>home_of(w) * e.num_nodes // e.num_queues)
        first = 0 if node == 0 else e.node_ends[node - 1]
        ep_add_sc32(&e.owners, 1)
        failed = ep_thread_start(&w.thread, w.index, e.affinity + w.index if e.affinity >= 0 else -1,
                                 e.cpus + first, e.node_ends[node] - first, run_worker, w)
        e.outsider = 0          # it may have been a thread with this number, which has ended
        if failed:
            w.thread = 0        # it is undefined
            ep_add_sc32(&e.owners, -1)
            return failed
        e.started += 1
    return 0


cdef int engine_start(Engine* e) noexcept:
    """Starts all workers but the last one, which is started on its first use. Returns 0 or an errno.

    With a step timeout, it starts all of them: the consumer never works, since it could get stuck itself.
    """
    cdef bint helps = e.step_timeout == 0
    ep_store_sc32(&e.active, e.num_threads - helps)
    ep_store_sc32(&e.helps, helps)
    e.cheap = True
    return start_workers(e, e.num_threads - helps)


cdef void stop_workers(Engine* e) noexcept nogil:
    """Tells the workers to leave the engine. They finish the chunks that they are executing, and drop the rest."""
    cdef int32_t i
    ep_store_sc32(&e.stop, 1)
    for i in range(e.num_queues):
        ep_add_sc32(&e.queues[i].wake_word, 1)
        ep_futex_wake(&e.queues[i].wake_word, INT32_MAX)
    ep_add_sc32(&e.reserve_word, 1)
    ep_futex_wake(&e.reserve_word, 1)
    ep_add_sc32(&e.recv_word, 1)
    ep_futex_wake(&e.recv_word, 1)


cdef bint await_workers(Engine* e, int64_t timeout_ns) noexcept nogil:
    """Waits until every worker has left the engine that is not stuck. False: this took longer than timeout_ns."""
    cdef int64_t deadline = ep_now() + timeout_ns, now
    cdef Worker* w
    cdef int32_t seen, i
    cdef bint is_leaving
    while True:
        is_leaving = False
        now = ep_now()
        seen = ep_load_sc32(&e.owners)      # before the look at `has_left`, which each worker sets before it counts
        for i in range(e.started):
            w = &e.workers[i]
            is_leaving |= not ep_load_sc32(&w.has_left) and not is_overdue(e, w, now)
        if not is_leaving:
            return True
        if now >= deadline:
            return False
        ep_futex_wait(&e.owners, seen, min(deadline - now, interval(e)))


cdef void release_workers(Engine* e) noexcept nogil:
    """Joins the workers that have left the engine, and detaches the others, which remain owners of the engine."""
    cdef int32_t i
    for i in range(e.started):
        if ep_load_sc32(&e.workers[i].has_left):
            pthread_join(e.workers[i].thread, NULL)
        else:
            pthread_detach(e.workers[i].thread)
    ep_store_rlx32(&e.started, 0)       # the consumer may be reading it

# ---- the consumer ----------------------------------------------------------------------------------------------------

cdef void wake_for_backlog(Engine* e) noexcept nogil:
    """Wakes as many workers beside a helping consumer as save more time than their waking costs."""
    cdef int64_t count
    if not is_any_parked(e):
        return
    count = num_unclaimed(e) * expected_cost(e) // (2 * ep_load_rlx64(&e.wake_latency))
    if count > 0:
        wake(e, min(count, e.num_threads - 1))


cdef inline bint is_partial(const Engine* e) noexcept nogil:
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


cdef void publish(Engine* e, const int32_t* ids, int32_t n, bint returns_at_once) noexcept:
    """Makes n envs claimable, decides who works on them, and wakes the workers that pay off.

    returns_at_once: the consumer waits next, as in step(); otherwise it is absent from now on.
    """
    cdef int64_t cost = expected_cost(e)
    cdef Queue* q
    cdef int32_t k
    cdef bint helps
    enqueue(e, ids, n)
    if returns_at_once:
        e.absence -= e.absence >> 2
    helps = consumer_helps(e, cost, is_partial(e))
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
                set_probe(e.tally, q)
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


cdef bint help_out(Engine* e, bint* executes) noexcept nogil:
    """Claims and executes one chunk in place of the last worker, whose part the consumer takes; `executes` is set
    meanwhile."""
    cdef uint64_t bits = ep_floats_enter()
    cdef bint found
    executes[0] = True
    found = run_chunk(e, e.num_queues - 1, NULL)
    executes[0] = False
    ep_floats_leave(bits)
    return found


cdef bint run_if_quick(Engine* e) noexcept:
    """Steps published envs with the GIL held if that takes less time than releasing the GIL costs.

    True: the block is ready. This function never waits, since a worker might need the GIL to continue.
    """
    cdef int64_t cost = expected_cost(e)
    cdef uint64_t bits
    if cost == 0 or not e.helps or num_unclaimed(e) * cost > QUICK:
        return False
    bits = ep_floats_enter()
    e.receiver_executes = True
    while run_chunk(e, e.num_queues - 1, NULL):
        pass
    e.receiver_executes = False
    ep_floats_leave(bits)
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
            return STOPPING
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
        limit = consumer_spin(e, ep_load_sc32(&e.helps))
        while not is_ready(e) and ep_now() - spinning_since < limit:
            for _i in range(PAUSES):
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
        e.usual_wait = moving_mean(e.usual_wait, min(waited, LONG_IDLE), 2)
        ep_store_rlx64(&e.counters.recv_wait, e.counters.recv_wait + waited)
        if woken != 0 and not is_ready(e):
            return TIMED_OUT


cdef int64_t written_rows(Engine* e) noexcept nogil:
    """Returns the number of rows that have been written to the blocks in flight.

    Blocks that were full before are not visited again, and rows are only written to blocks that have allocated rows.
    Two threads may store `full_until`; either value is a valid lower bound, since no position of a block is used twice.
    Its reader may read the rows of these blocks next, for instance to draw the envs, without having seen their counts.
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
            ep_futex_wait(&e.recv_word, ep_load_sc32(&e.recv_word), DRAIN_SLICE)


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
        for _i in range(PAUSES):
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
