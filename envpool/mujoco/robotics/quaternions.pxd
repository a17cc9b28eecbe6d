"""Conversions of quaternions, with the bits of ``gymnasium_robotics.utils.rotations``."""

# Writes the Euler angles (3) of a quaternion (4).
cdef void quat2euler(const double* quat, double* euler) noexcept nogil
# Writes the quaternion (4) of Euler angles (3).
cdef void euler2quat(const double* euler, double* quat) noexcept nogil
