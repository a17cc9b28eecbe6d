"""Writing observations: functions that copy numbers and return the address behind the copy."""

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
