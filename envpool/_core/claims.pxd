"""Claiming and executing chunks: see claims.pyx."""

from libc.stdint cimport int32_t, int64_t

from envpool._core.atomic cimport ep_load_rlx64
from envpool._core.structs cimport Engine, Worker

cdef enum:
    MEAN_SHIFT = 12         # the mean cost is that of about the last 2**MEAN_SHIFT steps

cdef bint run_chunk(Engine* e, int32_t home, Worker* watched) noexcept nogil

cdef inline bint help_out(Engine* e, bint* executes) noexcept nogil:
    """Claims and executes one chunk in place of the last worker, whose part the consumer takes. `executes` is set
    meanwhile."""
    cdef bint found
    executes[0] = True
    found = run_chunk(e, e.num_queues - 1, NULL)
    executes[0] = False
    return found

cdef inline int64_t expected_cost(Engine* e) noexcept nogil:
    """Returns what a step is expected to cost, ns; 0: it is unknown.

    That is the low quantile, to which preemption adds nothing, unless the mean is far above it: a few steps that take
    very long make most of the work, and whoever decides to work must expect to get one of them.
    """
    cdef int64_t cost = ep_load_rlx64(&e.ns_per_env), mean = ep_load_rlx64(&e.scaled_mean) >> MEAN_SHIFT
    return mean if mean > 4 * cost else cost
