"""The thrust of the engines of LunarLander for an action."""

from libc.math cimport fabs
from libc.stdint cimport int32_t

cdef struct Thrust:
    double main                         # power of the main engine, 0 or 0.5 to 1
    double side                         # power of the side engines, 0 or 0.5 to 1
    double direction                    # -1: the left engine, 1: the right engine


cdef inline Thrust discrete_thrust(int32_t action) noexcept nogil:
    cdef Thrust t
    t.main = 1.0 if action == 2 else 0.0
    t.side = 1.0 if action == 1 or action == 3 else 0.0
    t.direction = action - 2
    return t


cdef inline Thrust continuous_thrust(const float* action) noexcept nogil:
    """Return the thrust of an action; an engine whose throttle is NaN stays off."""
    cdef Thrust t
    cdef double main = action[0], side = action[1]
    t.main = t.side = t.direction = 0.0
    if main > 0.0:
        t.main = ((1.0 if main > 1.0 else main) + 1.0) * 0.5
    if fabs(side) > 0.5:
        t.side = 1.0 if fabs(side) > 1.0 else fabs(side)
        t.direction = 1.0 if side > 0 else -1.0
    return t
