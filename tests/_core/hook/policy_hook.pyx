"""Decisions of envpool/_core/policy.pxd."""

from libc.stdint cimport int64_t
from libc.string cimport memset

from envpool._core.policy cimport claim_size
from envpool._core.structs cimport Engine, Queue
from envpool.env cimport envpool_env


def claim(int64_t head, int64_t base, int64_t available, int64_t cost, *, int lanes, bint is_sync, int batch_size,
          int doublings, int active, int num_threads, int parked):
    """Return the number of environments that a thread claims when it reads these numbers."""
    cdef envpool_env env
    cdef Engine engine
    cdef Queue queue
    memset(&env, 0, sizeof(env))
    memset(&engine, 0, sizeof(engine))
    memset(&queue, 0, sizeof(queue))
    env.lanes = lanes
    engine.env_def = &env
    engine.is_sync = is_sync
    engine.batch_size = batch_size
    engine.active = active
    queue.head, queue.base, queue.num_threads, queue.parked = head, base, num_threads, parked
    return claim_size(&engine, &queue, available, cost, doublings)
