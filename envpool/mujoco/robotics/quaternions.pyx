"""Conversions of quaternions; quaternions.pxd documents the functions."""

from libc.math cimport cos, sin
from libc.string cimport memset

from envpool.mujoco.robotics.goals cimport mat2euler
from envpool.numerics.numpy_exact cimport np_sum

cdef double EPSILON = 2.0**-52


cdef void quat2euler(const double* quat, double* euler) noexcept nogil:
    cdef double squares[4]
    cdef double mat[9]
    cdef double w = quat[0], x = quat[1], y = quat[2], z = quat[3], total, s, sx, sy, sz
    cdef int i
    for i in range(4):
        squares[i] = quat[i] * quat[i]
    total = np_sum(squares, 4)
    if total > EPSILON:
        s = 2.0 / total
        sx, sy, sz = x * s, y * s, z * s
        mat[0], mat[1], mat[2] = 1.0 - (y * sy + z * sz), x * sy - w * sz, x * sz + w * sy
        mat[3], mat[4], mat[5] = x * sy + w * sz, 1.0 - (x * sx + z * sz), y * sz - w * sx
        mat[6], mat[7], mat[8] = x * sz - w * sy, y * sz + w * sx, 1.0 - (x * sx + y * sy)
    else:
        memset(mat, 0, sizeof(mat))
        mat[0] = mat[4] = mat[8] = 1.0
    mat2euler(mat, euler)


cdef void euler2quat(const double* euler, double* quat) noexcept nogil:
    cdef double i = euler[2] / 2, j = -euler[1] / 2, k = euler[0] / 2
    cdef double si = sin(i), sj = sin(j), sk = sin(k), ci = cos(i), cj = cos(j), ck = cos(k)
    quat[0] = cj * (ci * ck) + sj * (si * sk)
    quat[1] = cj * (ci * sk) - sj * (si * ck)
    quat[2] = -(cj * (si * sk) + sj * (ci * ck))
    quat[3] = cj * (si * ck) - sj * (ci * sk)
