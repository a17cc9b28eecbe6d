"""Rotations as ``gymnasium_robotics.utils.rotations`` computes them: quaternions (w, x, y, z), Euler angles (rad)."""

cdef void mat2euler(const double* mat, double* euler) noexcept nogil
cdef void quat2euler(const double* quat, double* euler) noexcept nogil
cdef void euler2quat(const double* euler, double* quat) noexcept nogil
# Writes the product; `out` may be one of the factors.
cdef void quat_mul(const double* a, const double* b, double* out) noexcept nogil
# Divides a vector (n) by its norm, as NumPy does.
cdef void normalize(double* x, int n) noexcept nogil
# Writes the quaternion of a rotation about an axis, which it normalizes in place (``quat_from_angle_and_axis``).
cdef void quat_about(double angle, double* axis, double* quat) noexcept nogil
# Returns the angle between two orientations (rad).
cdef double angle_between(const double* quat, const double* other) noexcept nogil
