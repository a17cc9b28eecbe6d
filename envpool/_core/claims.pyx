"""Claiming published envs in chunks, executing them, and estimating what they cost."""

from libc.stdint cimport int32_t, int64_t
from libc.stdlib cimport llabs

from envpool._core.atomic cimport (
    ep_cas64, ep_load_acq64, ep_load_rlx32, ep_load_rlx64, ep_now, ep_pause, ep_store_rlx32, ep_store_rlx64,
)
from envpool._core.execute cimport execute_async, execute_partial, execute_sync
from envpool._core.queues cimport MOST_COPIED
from envpool._core.statistics cimport note_claim, note_step_time
from envpool._core.structs cimport Engine, Queue, Worker
from envpool._core.watch cimport note_end, note_start

# Work per claim, ns: enough to hide the cost of claiming, little enough to balance threads and to notice Ctrl-C.
cdef int64_t MIN_CLAIM = 2000
cdef int64_t MAX_CLAIM = 32000

cdef enum:
    MOST_DOUBLINGS = 4      # of a claim, for threads that keep meeting each other
    MOST_WEIGHT = 256       # of a chunk in the mean
    RARE = 32               # times the mean: the cost of a rare slow step


# ---- what a step costs -----------------------------------------------------------------------------------------------

cdef inline int64_t low_quantile(int64_t old, int64_t sample) noexcept nogil:
    """Returns the new quantile, which rises slowly and boundedly: preemption lengthens samples."""
    if old == 0 or sample < old:
        return max(sample, 1) if old == 0 else old - ((old - sample) >> 2)
    return old + ((min(sample - old, old + 8) + 7) >> 3)


cdef void note_cost(Engine* e, int64_t sample) noexcept nogil:
    """Updates the low quantile with the cost per env of a chunk.

    Every thread reads the estimates with every chunk, so a change that makes no difference is not stored.
    """
    cdef int64_t old = ep_load_rlx64(&e.ns_per_env), cost = low_quantile(old, sample)
    if old == 0 or llabs(cost - old) > old >> 6:
        ep_store_rlx64(&e.ns_per_env, cost)


cdef void note_mean(Engine* e, int64_t first, int64_t n, int64_t sample) noexcept nogil:
    """Updates the mean with the cost per env of a chunk of n, which began at ring position `first`."""
    cdef int64_t scaled = ep_load_rlx64(&e.scaled_mean), mean = scaled >> MEAN_SHIFT
    if scaled == 0:
        ep_store_rlx64(&e.scaled_mean, sample << MEAN_SHIFT)
        return
    if sample <= 2 * mean and n < 16:
        if first & 15 and (first & 15) + n <= 16:
            return
        n = 16                  # a small chunk stands for its neighbours, which are not noted
    elif sample > RARE * mean:
        n *= 4                  # noticed at once, and remembered until the next one
    if llabs(sample - mean) > mean >> 3:
        ep_store_rlx64(&e.scaled_mean, scaled + min(n, MOST_WEIGHT) * (sample - mean))


# ---- claiming --------------------------------------------------------------------------------------------------------

cdef inline int64_t claim_size(Engine* e, Queue* q, int64_t available, int64_t cost, int32_t doublings) noexcept nogil:
    """Returns the number of envs to claim at once.

    Sync pools: a fair share of the remaining work (all of it while the workers sleep) within [MIN_CLAIM, MAX_CLAIM].
    Async pools: MIN_CLAIM of work, because a row becomes visible only when its whole chunk is done. Envs that are
    simulated in lanes are claimed in full sets of lanes, unless that leaves a thread idle: a part of a set takes nearly
    as long as all of it. Threads that meet at the queue claim more at once, up to a fair share, so that they come back
    less often.
    """
    cdef int64_t least, most, share, awake, lanes = max(e.env_def.lanes, 1)
    if cost == 0:
        return 1
    if e.is_sync and ep_load_rlx32(&e.active) == 0:
        if available * cost <= 4 * MAX_CLAIM:
            return available
        most = max(4 * MAX_CLAIM // (cost + 1) + 1, lanes)
        return min(available, most - most % lanes)
    least = MIN_CLAIM // (cost + 1) + 1
    awake = max(q.num_threads - ep_load_rlx32(&q.parked), 1)
    share = (available + awake - 1) // awake
    if e.is_sync:               # large pieces, so that a thread tends to get the envs that are in its cache
        if lanes > 1:           # of all envs of the batch, not of those that are left
            lanes = min(lanes, (ep_load_rlx64(&q.head) - ep_load_rlx64(&q.base) + awake - 1) // awake)
        most = max(MAX_CLAIM // (cost + 1) + 1, lanes) << doublings
        share = max(min(share, most), least)
        if share > 64:
            share = (share + 63) & ~<int64_t>63     # neighbours write different cache lines
        else:
            share = max(share - share % lanes, lanes)
    else:
        lanes = min(lanes, share)
        if awake > 1:
            share = max((share + 1) // 2, lanes)
        share = min(min(share, max(least, lanes) << doublings), min(e.batch_size, MOST_COPIED))
    return min(share, available)


cdef inline int64_t consecutive_rows(Engine* e, Queue* q, int64_t first, int64_t n) noexcept nogil:
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
    cdef int32_t on_stack[MOST_COPIED]
    cdef int32_t* copied = on_stack
    cdef int32_t met = 0, _i
    cdef const int32_t* ids
    cdef bint measure, is_typical
    if watched != NULL:
        copied = watched.copied
    while True:
        first = ep_load_acq64(&q.claim)
        available = ep_load_acq64(&q.head) - first
        if available <= 0:
            return False
        cost = ep_load_rlx64(&e.ns_per_env)
        n = min(claim_size(e, q, available, cost, met), e.mask + 1 - (first & e.mask))
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
        for _i in range(1 << met):
            ep_pause()
        met = min(met + 1, MOST_DOUBLINGS)
    if e.tally != NULL and first <= ep_load_rlx64(&q.probe) < first + n:
        note_claim(e.tally, q)
    # Two clock reads are expensive beside a step of 50 ns, so only one in sixteen of the smallest chunks is measured.
    measure = cost == 0 or n * cost > 1000 or (first & 15) == 0
    is_typical = ep_load_rlx32(&e.seeds_pending) == 0
    if measure or watched != NULL:
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
    if measure:
        cost = (ep_now() - start) // n
        note_cost(e, cost)
        if e.tally != NULL:
            note_step_time(e.tally, n, cost)
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
