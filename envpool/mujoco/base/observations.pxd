"""Writing observations: functions that write numbers and return the address behind them."""

from libc.stdint cimport int32_t
from libc.string cimport memcpy

from envpool.mujoco.base.simulation cimport Sim


cdef inline double* put(double* to, const double* values, long n) noexcept nogil:
    """Copies n numbers; returns the address behind the copy."""
    memcpy(to, values, n * sizeof(double))
    return to + n


cdef inline double* put_state(double* to, const Sim* s, long skipped) noexcept nogil:
    """Copies all positions but the leading `skipped` ones, and all velocities; returns the address behind the copy."""
    to = put(to, s.data.qpos + skipped, s.model.nq - skipped)
    return put(to, s.data.qvel, s.model.nv)


cdef inline void observe_state(const Sim* s, double* out) noexcept nogil:
    """TaskFunctions.observe of tasks that observe all positions and all velocities."""
    put_state(out, s, 0)


cdef inline double* put_difference(double* to, const double* a, const double* b) noexcept nogil:
    """Writes the difference a - b of two vectors of length 3; returns the address behind it."""
    cdef int32_t i
    for i in range(3):
        to[i] = a[i] - b[i]
    return to + 3
