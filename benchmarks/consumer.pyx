"""Stepping a pool from C: the functions that step() and the handler for JAX call, in a loop without Python."""

from envpool._core.guard cimport NOTHING_ELSE, RECEIVING, enter
from envpool._core.pool cimport Pool


def step_many(Pool pool, action, int count):
    """Makes `count` steps with the same actions."""
    cdef int _i, visit
    for _i in range(count):
        visit = enter(pool.guard, NOTHING_ELSE, b"step")
        try:
            pool.send_actions(action, None, None, visit, RECEIVING)
            pool.receive(pool.step_template, False, -1)
        finally:
            pool.end_visit(visit)
