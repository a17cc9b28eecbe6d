"""A loop that steps a pool from C, with the same two functions that step() and the handler for JAX call."""

from envpool._core.pool cimport Pool
from envpool._core.results cimport ResultTemplate


def step_many(Pool pool, action, int count):
    """Makes `count` steps with the same actions."""
    cdef ResultTemplate form = pool.step_form
    cdef int _i
    for _i in range(count):
        pool.put(action, None, True)
        pool.get(form, False)
