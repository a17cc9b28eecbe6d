"""What is published and not yet claimed, over all queues."""

from libc.stdint cimport int32_t, int64_t

from envpool._core.atomic cimport ep_load_rlx64, ep_load_sc64
from envpool._core.structs cimport Engine, Queue

cdef extern from *:
    """
    #define EP_NEVER INT64_MAX
    """
    const int64_t NEVER "EP_NEVER"      # the value of Queue.partial_from while no env goes to partial batches

cdef enum:
    MAX_GROUP = 8           # workers of a queue: few enough that they seldom meet at its `claim`
    MOST_COPIED = 256       # ids that are copied from a ring with one claim

cdef inline bint has_work(Engine* e) noexcept nogil:
    """Whether an env is published and not claimed. Sequentially consistent, for a thread that is about to sleep."""
    cdef int32_t k
    for k in range(e.num_queues):
        if ep_load_sc64(&e.queues[k].head) > ep_load_sc64(&e.queues[k].claim):
            return True
    return False

cdef inline int64_t num_unclaimed(Engine* e) noexcept nogil:
    """Returns how many envs are published and not claimed. The number may be stale, which costs time only."""
    cdef int64_t n = 0
    cdef int32_t k
    for k in range(e.num_queues):
        n += ep_load_rlx64(&e.queues[k].head) - ep_load_rlx64(&e.queues[k].claim)
    return n

cdef inline Queue* queue_of(Engine* e, int32_t id) noexcept nogil:
    """Returns the queue of an env. The queues have contiguous ranges of ids whose lengths differ by at most one."""
    return &e.queues[<int64_t>id * e.num_queues // e.num_envs]
