"""The worker threads: working, parking, waking. structs.pxd describes the design; consumer.pyx is the other side.

Three invariants exclude lost wake-ups and deadlocks; Spin checks a model of them, tests/models/park.pml:
- A worker raises `parked`, reads `head` and `claim` of every queue once more, and only then sleeps. The consumer stores
  `head` and then reads `parked`. Both sides use sequentially consistent accesses, so that one of them sees the other.
- A worker reads the futex word before that last look for work, so that a wake in between makes the sleep return at
  once.
- The consumer never sleeps while published work is unclaimed and a worker that may claim it is parked.

Waking is a tree if there are several queues: the consumer wakes one worker of each group, which wakes the others.
"""

import numpy as np

cimport numpy as cnp
from libc.stdint cimport INT32_MAX, int32_t, int64_t

from envpool._core.atomic cimport (
    ep_add_sc32, ep_add_sc64, ep_futex_wait, ep_futex_wake, ep_load_rlx32, ep_load_rlx64, ep_load_sc32, ep_load_sc64,
    ep_now, ep_pause, ep_store_rlx32, ep_store_rlx64, ep_store_sc32, ep_swap_sc32,
)
from envpool._core.claims cimport expected_cost, run_chunk
from envpool._core.orphans cimport leave_engine
from envpool._core.queues cimport has_work, num_unclaimed
from envpool._core.structs cimport Engine, Queue, Worker
from envpool._core.watch cimport interval, is_overdue

cnp.import_array()

# The least work that a worker takes from a helping consumer, ns.
cdef int64_t MIN_SHARE = 2000
# If batches usually follow each other within SHORT_GAP, a worker spins for up to twice that, else for MIN_SPIN, ns.
cdef int64_t SHORT_GAP = 25000
cdef int64_t MIN_SPIN = 500
# Bounds of the estimated time that waking a parked worker takes, ns.
cdef int64_t MIN_WAKE = 4000
cdef int64_t MAX_WAKE = 40000


cdef inline bint may_claim(Engine* e, bint reserve) noexcept nogil:
    """Whether this worker should claim published work. It leaves to a helping consumer what that does faster alone:
    moving a few cheap envs to another core costs more than stepping them."""
    cdef int64_t cost
    if reserve and ep_load_sc32(&e.active) != e.num_threads:
        return False
    if not ep_load_sc32(&e.helps):
        return True
    cost = expected_cost(e)
    return cost == 0 or num_unclaimed(e) * cost >= MIN_SHARE


cdef void note_wake_up(Engine* e) noexcept nogil:
    """Updates the estimate of the time that waking takes."""
    cdef int64_t late = ep_now() - ep_load_rlx64(&e.published_at), usual
    if late >= MIN_WAKE:
        usual = ep_load_rlx64(&e.wake_latency)
        ep_store_rlx64(&e.wake_latency, usual + (min(late, MAX_WAKE) - usual) // 8)


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

if ep_make_worker_key() != 0:
    raise RuntimeError("the process has no key for thread-specific data left, of which envpool needs one")


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


cdef inline int32_t home_of(Worker* w) noexcept nogil:
    """Returns the number of the queue of a worker's group."""
    cdef Engine* e = <Engine*>w.engine
    return <int32_t>(<int64_t>w.index * e.num_queues // e.num_threads)


cdef void* run_worker(void* arg) noexcept nogil:
    """Runs a worker: executes chunks, spins while batches follow each other closely, and parks otherwise."""
    cdef Worker* w = <Worker*>arg
    cdef Engine* e = <Engine*>w.engine
    cdef Worker* watched = w if e.step_timeout else NULL
    cdef int32_t home = home_of(w)
    # The last worker replaces the consumer: it works only while the consumer does not help.
    cdef bint reserve = w.index == e.num_threads - 1
    cdef int64_t gap = 1000000, idle_since, limit, waited
    cdef int _i
    ep_mark_worker(arg)
    while not ep_load_rlx32(&e.stop):
        if may_claim(e, reserve) and run_chunk(e, home, watched):
            continue
        idle_since = ep_now()
        limit = 2 * SHORT_GAP if gap < SHORT_GAP else MIN_SPIN
        while not ep_load_rlx32(&e.stop) and not (has_work(e) and may_claim(e, reserve)):
            for _i in range(16):
                ep_pause()
            if ep_now() - idle_since > limit:
                park(e, &e.queues[home], reserve)
                break
        waited = min(ep_now() - idle_since, 1000000)
        gap += (waited - gap) >> 2
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


cdef inline bint is_filled(Queue* q) noexcept nogil:
    return ep_load_sc64(&q.head) > ep_load_sc64(&q.claim)


cdef int64_t wake_group(Engine* e, Queue* q, int64_t most, bint in_turn) noexcept nogil:
    """Wakes at most `most` workers and returns their number; in_turn: the first one wakes the others.

    The workers that an earlier call left to be woken in turn may still be asleep, so theirs is added.
    """
    cdef int64_t count = min(most, <int64_t>ep_load_sc32(&q.parked))
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


cdef object place_workers(Engine* e, object nodes):
    """Sets the CPUs of the workers, by NUMA node; returns what must live as long as the engine."""
    cpus = np.concatenate(nodes).astype(np.int32)
    ends = np.cumsum([len(node) for node in nodes[: e.num_nodes]], dtype=np.int32)
    e.cpus = <const int32_t*>cnp.PyArray_DATA(cpus)
    e.num_cpus = <int32_t>cnp.PyArray_SIZE(cpus)
    e.node_ends = <const int32_t*>cnp.PyArray_DATA(ends)
    return cpus, ends


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
