"""The scheduling policy: who works on what, and for how long anybody spins before it sleeps.

It contains every constant and every estimate of the scheduler. None of them can make a result wrong: a bad value costs
time. The estimates are accessed in relaxed order by many threads, and each thread reads some of them with every chunk;
so a change that makes no difference is not stored. All times are in ns.

Successive reads may be inconsistent, since other threads run meanwhile: with any values, no divisor may be 0, and a
claim has at least one env.
"""

from libc.stdint cimport int32_t, int64_t
from libc.stdlib cimport llabs

from envpool._core.atomic cimport ep_load_rlx32, ep_load_rlx64, ep_now, ep_store_rlx64
from envpool._core.structs cimport Engine, Queue

cdef extern from *:
    int clz "__builtin_clzll"(unsigned long long word) nogil

# ---- constants -------------------------------------------------------------------------------------------------------

cdef enum:      # queues and claims
    MAX_GROUP = 8           # workers of a queue: few enough that they seldom meet at its `claim`
    MAX_COPIED = 256        # ids that are copied from a ring with one claim
    MAX_DOUBLINGS = 4       # of a claim, for threads that keep meeting each other
    MIN_CLAIM = 2000        # work per claim: enough to hide the cost of claiming,
    MAX_CLAIM = 32000       # and little enough to balance threads and to notice Ctrl-C
    MEASURED = 1000         # of the chunks that cost less, samples are measured: two clock reads would show
    SAMPLED = 16            # one chunk of this many, a power of two, is a sample
    TRIVIAL = 500           # cost of a step below which resets are quick, too: parting a chunk does not pay

cdef enum:      # statistics
    PROBED_SENDS = 32       # one of this many sends has an env whose wait is measured: that reads the clock twice

cdef enum:      # what a step costs
    MEAN_SHIFT = 12         # the mean cost is that of about the last 2**MEAN_SHIFT steps
    MAX_WEIGHT = 256        # of a chunk in the mean
    RARE = 32               # times the mean: the cost of a rare slow step

cdef enum:      # the consumer
    QUICK = 5000            # the most work that is done with the GIL held
    ABSENT = 20000          # a consumer that is usually away for longer is replaced by one more worker
    CHEAP_BELOW = 4000      # async pools: mean cost below which a helping consumer pays off,
    CHEAP_ABOVE = 6000      # and above which a parked one does; they differ, so that the policy does not oscillate
    CONSUMER_SPIN = 3000    # how long the consumer spins before it parks. If it helps and usually waits for less than
    SHORT_WAIT = 25000      # this, it spins for up to twice that: sleeping and waking take longer than what is left

cdef enum:      # threads that spin
    PAUSES = 16             # between two looks at words that other threads write: each look may cost a cache miss

cdef enum:      # workers
    MIN_SHARE = 2000        # the least work that a worker takes from a helping consumer
    SHORT_GAP = 25000       # if batches usually follow each other faster, a worker spins for up to twice this time,
    MIN_SPIN = 500          # else for this time
    FIRST_WAKE = 8000       # estimated time that waking a parked worker takes, before the first one was woken
    MIN_WAKE = 4000         # shorter samples are not wake-ups
    MAX_WAKE = 40000        # samples above count as this
    LONG_IDLE = 1000000     # times without work count as at most this

cdef enum:      # blocking waits
    SLICE = 50000000        # interval at which a blocking wait checks for Python signals
    MIN_SLICE = 1000000     # the least interval at which it looks for stuck workers
    DRAIN_SLICE = 100000    # interval at which a call that needs every row looks for them: no worker wakes it;
    LAST_SLICE = 1000       # and in partial batches, once all envs have arrived and only the count of rows lags behind
    PATIENCE = 1000000000   # how long a pool that was not closed, or a render() that was interrupted, waits at its end

cdef enum:      # frames
    START = 200000          # the least drawing for which a thread is started
    CLAIM = 100000          # drawing per chunk: hides the cost of claiming, and balances the threads
    MAX_CHUNK = 64          # frames of a chunk
    NAP = 50                # interval at which a renderer looks whether other threads are done, microseconds


# ---- estimates -------------------------------------------------------------------------------------------------------

cdef inline int64_t moving_mean(int64_t mean, int64_t sample, int shift) noexcept nogil:
    """Returns a moving mean with a weight of 2**-shift for the sample."""
    return mean + ((sample - mean) >> shift)


cdef inline int64_t low_quantile(int64_t old, int64_t sample) noexcept nogil:
    """Returns the new quantile, which rises slowly and boundedly: preemption lengthens samples."""
    if old == 0 or sample < old:
        return max(sample, 1) if old == 0 else old - ((old - sample) >> 2)
    return old + ((min(sample - old, old + 8) + 7) >> 3)


cdef inline int floor_log2(int64_t n) noexcept nogil:
    """Returns the position of the highest bit of n > 0."""
    return 63 - clz(n)


cdef inline bint is_sampled(int64_t first, int64_t n) noexcept nogil:
    """Whether a chunk of n envs from ring position `first` on is a sample, as one in SAMPLED is, whatever its size."""
    return (first >> floor_log2(n) & (SAMPLED - 1)) == 0


cdef inline void note_cost(Engine* e, int64_t sample) noexcept nogil:
    """Updates the low quantile with the cost per env of a chunk."""
    cdef int64_t old = ep_load_rlx64(&e.ns_per_env), cost = low_quantile(old, sample)
    if old == 0 or llabs(cost - old) > old >> 6:
        ep_store_rlx64(&e.ns_per_env, cost)


cdef inline void note_mean(Engine* e, int64_t first, int64_t n, int64_t sample) noexcept nogil:
    """Updates the mean with the cost per env of a chunk of n, which began at ring position `first`."""
    cdef int64_t scaled = ep_load_rlx64(&e.scaled_mean), mean = scaled >> MEAN_SHIFT
    if scaled == 0:
        ep_store_rlx64(&e.scaled_mean, sample << MEAN_SHIFT)
        return
    if sample <= 2 * mean and n < 16:
        if not is_sampled(first, n):
            return
        n *= SAMPLED            # a small chunk also counts for those that are not sampled
    elif sample > RARE * mean:
        n *= 4                  # outlier: weight x4
    if llabs(sample - mean) > mean >> 3:
        ep_store_rlx64(&e.scaled_mean, scaled + min(n, MAX_WEIGHT) * (sample - mean))


cdef inline int64_t expected_cost(const Engine* e) noexcept nogil:
    """Returns what a step is expected to cost; 0: unknown.

    That is the low quantile, to which preemption adds nothing, unless the mean is far above it: a few slow steps make
    most of the work, and a thread that claims may get one.
    """
    cdef int64_t cost = ep_load_rlx64(&e.ns_per_env), mean = ep_load_rlx64(&e.scaled_mean) >> MEAN_SHIFT
    return mean if mean > 4 * cost else cost


cdef inline void note_wake_up(Engine* e) noexcept nogil:
    """Updates the estimated time that waking takes."""
    cdef int64_t late = ep_now() - ep_load_rlx64(&e.published_at), usual
    if late >= MIN_WAKE:
        usual = ep_load_rlx64(&e.wake_latency)
        ep_store_rlx64(&e.wake_latency, usual + (min(late, MAX_WAKE) - usual) // 8)


cdef inline void note_return(Engine* e) noexcept:
    """Updates the usual absence of the consumer, which has come back to wait."""
    if e.sent_at:
        e.absence = moving_mean(e.absence, ep_now() - e.sent_at, 2)
        e.sent_at = 0


cdef inline int64_t drawing_cost(int64_t old, int64_t sample) noexcept nogil:
    """Returns the new cost of a frame; 0: unknown. It falls at once and rises slowly: preemption lengthens samples."""
    return sample if old == 0 or sample < old else moving_mean(old, sample, 3)


# ---- decisions -------------------------------------------------------------------------------------------------------

cdef inline int64_t claim_size(const Engine* e, const Queue* q, int64_t available, int64_t cost,
                               int32_t doublings) noexcept nogil:
    """Returns the number of envs to claim at once.

    Sync pools: a fair share of the remaining work (all of it while the workers sleep) within [MIN_CLAIM, MAX_CLAIM].
    Async pools: MIN_CLAIM of work, because a row becomes visible only when its whole chunk is done. Envs that are
    simulated in lanes are claimed in full sets of lanes, unless that leaves a thread idle: a part of a set takes nearly
    as long as all of it. Threads that meet at the queue claim more at once, up to a fair share, so that they come back
    less often.
    """
    cdef int64_t least, limit, share, awake, lanes = max(e.env_def.lanes, 1)
    if cost == 0:
        return 1
    if e.is_sync and ep_load_rlx32(&e.active) == 0:
        if available * cost <= 4 * MAX_CLAIM:
            return available
        limit = max(4 * MAX_CLAIM // (cost + 1) + 1, lanes)
        return min(available, limit - limit % lanes)
    least = MIN_CLAIM // (cost + 1) + 1
    awake = max(q.num_threads - ep_load_rlx32(&q.parked), 1)
    share = (available + awake - 1) // awake
    if e.is_sync:               # large pieces, so that a thread tends to get the envs that are in its cache
        if lanes > 1:           # of all envs of the batch, not of those that are left
            lanes = min(lanes, (ep_load_rlx64(&q.head) - ep_load_rlx64(&q.base) + awake - 1) // awake)
            lanes = max(lanes, 1)       # the two may be of different batches
        limit = max(MAX_CLAIM // (cost + 1) + 1, lanes) << doublings
        share = max(min(share, limit), least)
        if share > 64:
            share = (share + 63) & ~<int64_t>63     # neighbours write different cache lines
        else:
            share = max(share - share % lanes, lanes)
    else:
        lanes = min(lanes, share)
        if awake > 1:
            share = max((share + 1) // 2, lanes)
        share = min(min(share, max(least, lanes) << doublings), min(e.batch_size, MAX_COPIED))
    return min(share, available)


cdef inline int32_t measured_chunks(int64_t first, int64_t n, int64_t cost) noexcept nogil:
    """Returns for how many chunks that of n envs from ring position `first` on is measured, or 0 if it is not."""
    if cost == 0 or n * cost > MEASURED:
        return 1
    return SAMPLED if is_sampled(first, n) else 0


cdef inline bint consumer_helps(Engine* e, int64_t cost, bint is_partial) noexcept nogil:
    """Returns whether the consumer works while it waits. With a step timeout, it could get stuck itself."""
    e.cheap = cost < (CHEAP_ABOVE if e.cheap else CHEAP_BELOW)
    return (e.is_sync or e.cheap) and e.absence < ABSENT and not is_partial and e.step_timeout == 0


cdef inline int64_t consumer_spin(const Engine* e, bint helps) noexcept nogil:
    """Returns how long the consumer spins before it parks."""
    return 2 * SHORT_WAIT if e.usual_wait < SHORT_WAIT and helps else CONSUMER_SPIN


cdef inline int64_t worker_spin(int64_t gap) noexcept nogil:
    """Returns how long a worker spins before it parks, after the usual gap between batches."""
    return 2 * SHORT_GAP if gap < SHORT_GAP else MIN_SPIN


cdef inline int64_t interval(const Engine* e) noexcept nogil:
    """Returns the interval at which a blocking wait looks for signals and stuck workers."""
    return max(min(<int64_t>SLICE, e.step_timeout), <int64_t>MIN_SLICE) if e.step_timeout else SLICE
