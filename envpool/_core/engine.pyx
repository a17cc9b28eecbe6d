"""The scheduling core: claiming, parking, waking. structs.pxd describes the design; consumer.pyx is the other side.

Three invariants exclude lost wake-ups and deadlocks; Spin checks a model of them, tests/models/park.pml:
- A worker raises `parked`, reads `head` and `claim` once more, and only then sleeps. The consumer stores `head` and
  then reads `parked`. Both sides use sequentially consistent accesses, so that one of the two sees the other.
- A worker reads the futex word before that last look for work, so that a wake in between makes the sleep return at
  once.
- The consumer never sleeps while published work is unclaimed and a worker that may claim it is parked.
"""

from libc.stdint cimport INT64_MAX, int32_t, int64_t, uint8_t, uint64_t
from libc.stdlib cimport free
from libc.string cimport memcpy, memset

from envpool._core.atomic cimport (
    ep_add_sc32, ep_cas64, ep_futex_wait, ep_futex_wake, ep_load_acq64, ep_load_rlx32, ep_load_rlx64, ep_load_sc32,
    ep_now, ep_pause, ep_store_rlx64, ep_store_sc32,
)
from envpool._core.calls cimport CreateFailure, create_state
from envpool._core.execute cimport execute_async, execute_partial, execute_sync
from envpool._core.layout cimport field_at, row_bytes
from envpool._core.structs cimport Block, DISABLED, Engine, PENDING, REFUSED, Span, Worker
from envpool.env cimport ENVPOOL_NO_MEMORY, envpool_env

cdef extern from "stdlib.h" nogil:
    void* aligned_alloc(size_t alignment, size_t size)

# Work per claim, ns: enough to hide the cost of claiming, little enough to balance threads and to notice Ctrl-C.
cdef int64_t MIN_CLAIM = 2000
cdef int64_t MAX_CLAIM = 32000
cdef int64_t MIN_SHARE = 2000
# The longest gap between batches through which a worker spins, and the shortest time for which it spins, ns.
cdef int64_t SHORT_GAP = 25000
cdef int64_t MIN_SPIN = 500
# Bounds of the estimated time that waking a parked worker takes, ns.
cdef int64_t MIN_WAKE = 4000
cdef int64_t MAX_WAKE = 40000
# The value of Engine.partial_from while no env goes to partial batches.
cdef int64_t NEVER = INT64_MAX

cdef enum:
    ASYNC_CLAIM = 256       # ids copied to the stack per claim


# ---- memory: one arena for the ring, the slots and all per-env words ------------------------------------------------

cdef void* carve(size_t* used, char* arena, size_t size) noexcept:
    """Returns the next `size` bytes of the arena, which start a cache line; without an arena, only counts the bytes."""
    cdef void* p = NULL if arena == NULL else arena + used[0]
    used[0] += (size + 63) & ~<size_t>63
    return p


cdef size_t lay_out(Engine* e, char* arena) noexcept:
    cdef size_t used = 0, size, n = e.num_envs
    cdef void* p
    cdef int32_t a
    carve(&used, arena, sizeof(Engine))
    e.ring = <int32_t*>carve(&used, arena, (e.mask + 1) * sizeof(int32_t))
    e.partial_ring = <int32_t*>carve(&used, arena, (e.mask + 1) * sizeof(int32_t))
    e.spans = <Span*>carve(&used, arena, (e.mask + 1) * sizeof(Span))
    e.next = <int32_t*>carve(&used, arena, n * sizeof(int32_t))
    e.all_ids = <int32_t*>carve(&used, arena, n * sizeof(int32_t))
    e.field_bytes = <int64_t*>carve(&used, arena, e.env_def.num_fields * sizeof(int64_t))
    e.action_bytes = <int64_t*>carve(&used, arena, e.env_def.num_actions * sizeof(int64_t))
    e.actions = <void**>carve(&used, arena, e.env_def.num_actions * sizeof(void*))
    e.reset = <uint8_t*>carve(&used, arena, n)
    e.busy = <uint8_t*>carve(&used, arena, n)
    e.elapsed = <int32_t*>carve(&used, arena, n * sizeof(int32_t))
    e.errors = <int32_t*>carve(&used, arena, n * sizeof(int32_t))
    e.broken = <uint8_t*>carve(&used, arena, n)
    e.drawn = <uint8_t*>carve(&used, arena, n)
    e.seeds = <uint64_t*>carve(&used, arena, n * sizeof(uint64_t))
    e.seed_pending = <uint8_t*>carve(&used, arena, n)
    e.blocks = <Block**>carve(&used, arena, e.num_blocks * sizeof(Block*))
    e.scratch = <int32_t*>carve(&used, arena, n * sizeof(int32_t))
    e.workers = <Worker*>carve(&used, arena, e.num_threads * sizeof(Worker))
    for a in range(e.env_def.num_actions):
        size = row_bytes(field_at(e.env_def, e.env_def.actions, a))
        p = carve(&used, arena, n * size)
        if arena != NULL:
            e.action_bytes[a] = size
            e.actions[a] = p
    return used


cdef Engine* engine_new(const envpool_env* env_def, int32_t num_envs, int32_t batch_size, int32_t num_threads,
                        int32_t affinity, int32_t max_episode_steps, int32_t autoreset,
                        CreateFailure* failure) noexcept:
    """Returns an engine with its env state, but without blocks and threads; or NULL, and why, in `failure`."""
    cdef Engine plan
    cdef Engine* e
    cdef size_t size
    cdef int32_t i
    memset(&plan, 0, sizeof(Engine))
    plan.env_def = env_def
    plan.num_envs = num_envs
    plan.batch_size = batch_size
    plan.num_threads = num_threads
    plan.affinity = affinity
    plan.max_episode_steps = max_episode_steps
    plan.autoreset = autoreset
    plan.is_sync = batch_size == num_envs
    plan.num_blocks = 1 if plan.is_sync else num_envs // batch_size + 2
    plan.expected = 0 if plan.is_sync else batch_size
    plan.partial_from = NEVER
    plan.wake_latency = 8000
    plan.seeds_pending = num_envs
    plan.mask = 1
    while plan.mask < 2 * <int64_t>num_envs:
        plan.mask *= 2
    plan.mask -= 1
    size = lay_out(&plan, NULL)
    e = <Engine*>aligned_alloc(64, size)
    if e == NULL:
        failure.status = ENVPOOL_NO_MEMORY
        return NULL
    memset(e, 0, size)
    memcpy(e, &plan, sizeof(Engine))
    lay_out(e, <char*>e)
    for i in range(env_def.num_fields):
        e.field_bytes[i] = row_bytes(field_at(env_def, env_def.fields, i))
    for i in range(num_envs):
        e.all_ids[i] = i
    memset(e.seed_pending, 1, num_envs)
    memset(e.reset, REFUSED if autoreset == DISABLED else PENDING, num_envs)
    e.state = create_state(env_def, num_envs, failure)
    if e.state == NULL:
        free(e)
        return NULL
    return e


cdef void engine_free(Engine* e) noexcept:
    e.env_def.destroy(e.state)
    free(e)


# ---- claiming -------------------------------------------------------------------------------------------------------

cdef inline int64_t estimate(int64_t old, int64_t sample) noexcept nogil:
    """Returns the new mean, which rises slowly and boundedly: preemption lengthens samples, and never shortens them."""
    if old == 0 or sample < old:
        return max(sample, 1) if old == 0 else old - ((old - sample) >> 2)
    return old + ((min(sample - old, old + 8) + 7) >> 3)


cdef inline int64_t claim_size(Engine* e, int64_t available, int64_t cost) noexcept nogil:
    """Returns the number of envs to claim at once.

    Sync pools: a fair share of the remaining work (all of it while the workers sleep) within [MIN_CLAIM, MAX_CLAIM].
    Async pools: MIN_CLAIM of work, because a row becomes visible only when its whole chunk is done. Envs that are
    simulated in lanes are claimed in full sets of lanes if a fair share contains one.
    """
    cdef int64_t least, most, share, awake, lanes = max(e.env_def.lanes, 1)
    if cost == 0:
        return 1
    least = MIN_CLAIM // (cost + 1) + 1
    if e.is_sync and ep_load_rlx32(&e.active) == 0:
        most = max(4 * MAX_CLAIM // (cost + 1) + 1, lanes)
        return min(available, most - most % lanes)
    awake = e.num_threads - ep_load_rlx32(&e.parked)
    if awake <= 1:
        share = available
    elif e.is_sync:             # large pieces, so that a thread tends to get the envs that are in its cache
        share = (available + awake - 1) // awake
    else:
        share = (available + 2 * awake - 1) // (2 * awake)
    if e.is_sync:
        most = max(MAX_CLAIM // (cost + 1) + 1, lanes)
        share = max(min(share, most), least)
        if share > 64:
            share = (share + 63) & ~<int64_t>63     # neighbours write different cache lines
        elif share > lanes:
            share -= share % lanes
    else:
        share = min(min(share, max(least, lanes)), min(e.batch_size, ASYNC_CLAIM))
    return min(share, available)


cdef bint run_chunk(Engine* e) noexcept nogil:
    """Claims one chunk and executes it. False: there was nothing to claim."""
    cdef int64_t first, available, n, i, cost, start = 0, partial_from
    cdef int32_t copied[ASYNC_CLAIM]
    cdef const int32_t* ids
    cdef bint measure
    while True:
        first = ep_load_acq64(&e.claim)
        available = ep_load_acq64(&e.head) - first
        if available <= 0:
            return False
        cost = ep_load_rlx64(&e.ns_per_env)
        n = min(claim_size(e, available, cost), e.mask + 1 - (first & e.mask))
        partial_from = ep_load_rlx64(&e.partial_from)
        if first + n > partial_from:
            # One env at a time, so that a consumer which waits for some envs does not wait for their neighbours.
            n = max(partial_from - first, 1)
        if first >= partial_from:
            copied[0] = ep_load_rlx32(&e.partial_ring[first & e.mask])
            ids = copied
        elif e.is_sync:
            ids = e.ring + (first & e.mask)         # cannot be overwritten: the next send follows the delivery
        else:
            for i in range(n):
                copied[i] = ep_load_rlx32(&e.ring[(first + i) & e.mask])
            ids = copied
        if ep_cas64(&e.claim, first, first + n):
            break
        ep_pause()
    # Two clock reads are expensive beside a step of 50 ns, so only one in sixteen of the smallest chunks is measured.
    measure = cost == 0 or n * cost > 1000 or (first & 15) == 0
    if measure:
        start = ep_now()
    if first >= partial_from:
        execute_partial(e, ids)
    elif e.is_sync:
        execute_sync(e, ids, n, first - e.base)
    else:
        execute_async(e, ids, <int32_t>n)
    if measure:
        ep_store_rlx64(&e.ns_per_env, estimate(cost, (ep_now() - start) // n))
    return True


# ---- workers --------------------------------------------------------------------------------------------------------

cdef void park(Engine* e, bint reserve) noexcept nogil:
    """Sleeps until it is woken, unless there is work or the pool is being stopped."""
    cdef int32_t* word = &e.reserve_word if reserve else &e.wake_word
    cdef int32_t* parked = &e.reserve_parked if reserve else &e.parked
    cdef int32_t seen = ep_load_sc32(word)
    cdef int64_t late
    ep_add_sc32(parked, 1)
    if not ep_load_sc32(&e.stop) and not (has_work(e) and may_claim(e, reserve)):
        ep_futex_wait(word, seen, -1)
        late = ep_now() - ep_load_rlx64(&e.published_at)
        if late >= MIN_WAKE:
            late = min(late, MAX_WAKE) - ep_load_rlx64(&e.wake_latency)
            ep_store_rlx64(&e.wake_latency, ep_load_rlx64(&e.wake_latency) + late // 8)
    ep_add_sc32(parked, -1)


cdef inline bint may_claim(Engine* e, bint reserve) noexcept nogil:
    """Whether this worker should claim published work. It leaves to a helping consumer what that does faster alone:
    moving a few cheap envs to another core costs more than stepping them."""
    cdef int64_t cost = ep_load_rlx64(&e.ns_per_env)
    if reserve and ep_load_sc32(&e.active) != e.num_threads:
        return False
    if cost == 0 or not ep_load_sc32(&e.helps):
        return True
    return (ep_load_rlx64(&e.head) - ep_load_rlx64(&e.claim)) * cost >= MIN_SHARE


cdef void* run_worker(void* arg) noexcept nogil:
    """Runs a worker: executes chunks, spins while batches follow each other closely, and parks otherwise."""
    cdef Worker* w = <Worker*>arg
    cdef Engine* e = <Engine*>w.engine
    # The last worker replaces the consumer: it works only while the consumer does not help.
    cdef bint reserve = w.index == e.num_threads - 1
    cdef int64_t gap = 1000000, idle_since, limit, waited
    cdef int _i
    while not ep_load_rlx32(&e.stop):
        if may_claim(e, reserve) and run_chunk(e):
            continue
        idle_since = ep_now()
        limit = 2 * gap if gap < SHORT_GAP else MIN_SPIN
        while not ep_load_rlx32(&e.stop) and not (has_work(e) and may_claim(e, reserve)):
            for _i in range(16):
                ep_pause()
            if ep_now() - idle_since > limit:
                park(e, reserve)
                break
        waited = min(ep_now() - idle_since, 1000000)
        gap += (waited - gap) >> 2
    return NULL


cdef void wake(Engine* e, int64_t count) noexcept nogil:
    """Wakes at most `count` parked workers that may claim."""
    ep_store_rlx64(&e.published_at, ep_now())
    if ep_load_sc32(&e.parked) > 0:
        ep_add_sc32(&e.wake_word, 1)
        ep_futex_wake(&e.wake_word, <int>min(count, 1 << 30))
    if ep_load_sc32(&e.reserve_parked) > 0 and (ep_load_sc32(&e.active) == e.num_threads or ep_load_sc32(&e.stop)):
        ep_add_sc32(&e.reserve_word, 1)
        ep_futex_wake(&e.reserve_word, 1)


cdef int start_workers(Engine* e, int32_t count) noexcept:
    """Starts workers until `count` are running. Returns 0, or the errno of the first one that could not be started."""
    cdef Worker* w
    cdef int failed
    while e.started < count:
        w = &e.workers[e.started]
        w.engine = e
        w.index = e.started
        failed = ep_thread_start(&w.thread, w.index, e.affinity + w.index if e.affinity >= 0 else -1, run_worker, w)
        if failed:
            return failed
        e.started += 1
    return 0


cdef int engine_start(Engine* e) noexcept:
    """Starts all workers but the last one, which is started on its first use. Returns 0 or an errno."""
    ep_store_sc32(&e.active, e.num_threads - 1)
    ep_store_sc32(&e.helps, 1)
    e.cheap = True
    return start_workers(e, e.num_threads - 1)


cdef void engine_stop(Engine* e) noexcept nogil:
    """Ends and joins the workers. They finish the chunks that they are executing; unclaimed work is dropped."""
    cdef int32_t i
    ep_store_sc32(&e.stop, 1)
    wake(e, e.num_threads)
    ep_add_sc32(&e.recv_word, 1)
    ep_futex_wake(&e.recv_word, 1)
    for i in range(e.started):
        pthread_join(e.workers[i].thread, NULL)
    e.started = 0
