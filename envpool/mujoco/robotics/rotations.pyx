"""Rotations as upstream computes them; rotations.pxd documents the functions."""

import numpy as np

from libc.math cimport cos, sin, sqrt

from envpool.numerics.numpy_exact cimport np_arccos, np_arctan2, np_norm, np_sum

cdef double EPS = np.finfo(np.float64).eps
cdef double EPS4 = EPS * 4.0


cdef inline double arctan2(double y, double x) noexcept nogil:
    cdef double angle
    np_arctan2(&y, &x, &angle, 1)
    return angle


cdef void mat2euler(const double* mat, double* euler) noexcept nogil:
    cdef double cy = sqrt(mat[8] * mat[8] + mat[5] * mat[5])
    euler[1] = -arctan2(-mat[2], cy)
    if cy > EPS4:
        euler[2] = -arctan2(mat[1], mat[0])
        euler[0] = -arctan2(mat[5], mat[8])
    else:
        euler[2] = -arctan2(-mat[3], mat[4])
        euler[0] = 0.0


cdef void quat2euler(const double* quat, double* euler) noexcept nogil:
    cdef double mat[9]
    cdef double squares[4]
    cdef double norm, s, w, x, y, z
    cdef int i
    for i in range(4):
        squares[i] = quat[i] * quat[i]
    norm = np_sum(squares, 4)
    for i in range(9):
        mat[i] = 1.0 if i % 4 == 0 else 0.0
    if norm > EPS:
        s = 2.0 / norm
        w, x, y, z = quat[0], quat[1], quat[2], quat[3]
        mat[0] = 1.0 - (y * (y * s) + z * (z * s))
        mat[1] = x * (y * s) - w * (z * s)
        mat[2] = x * (z * s) + w * (y * s)
        mat[3] = x * (y * s) + w * (z * s)
        mat[4] = 1.0 - (x * (x * s) + z * (z * s))
        mat[5] = y * (z * s) - w * (x * s)
        mat[6] = x * (z * s) - w * (y * s)
        mat[7] = y * (z * s) + w * (x * s)
        mat[8] = 1.0 - (x * (x * s) + y * (y * s))
    mat2euler(mat, euler)


cdef void euler2quat(const double* euler, double* quat) noexcept nogil:
    cdef double i = euler[2] / 2, j = -euler[1] / 2, k = euler[0] / 2
    cdef double si = sin(i), sj = sin(j), sk = sin(k), ci = cos(i), cj = cos(j), ck = cos(k)
    cdef double cc = ci * ck, cs = ci * sk, sc = si * ck, ss = si * sk
    quat[0] = cj * cc + sj * ss
    quat[3] = cj * sc - sj * cs
    quat[2] = -(cj * ss + sj * cc)
    quat[1] = cj * cs - sj * sc


cdef void quat_mul(const double* a, const double* b, double* out) noexcept nogil:
    cdef double w0 = a[0], x0 = a[1], y0 = a[2], z0 = a[3]
    cdef double w1 = b[0], x1 = b[1], y1 = b[2], z1 = b[3]
    out[0] = w0 * w1 - x0 * x1 - y0 * y1 - z0 * z1
    out[1] = w0 * x1 + x0 * w1 + y0 * z1 - z0 * y1
    out[2] = w0 * y1 + y0 * w1 + z0 * x1 - x0 * z1
    out[3] = w0 * z1 + z0 * w1 + x0 * y1 - y0 * x1


cdef void normalize(double* x, int n) noexcept nogil:
    cdef double norm = np_norm(x, n)
    cdef int i
    for i in range(n):
        x[i] /= norm


cdef void quat_about(double angle, double* axis, double* quat) noexcept nogil:
    cdef double scale = sin(angle / 2.0)
    cdef int i
    normalize(axis, 3)
    quat[0] = cos(angle / 2.0)
    for i in range(3):
        quat[1 + i] = scale * axis[i]
    normalize(quat, 4)


cdef double angle_between(const double* quat, const double* other) noexcept nogil:
    cdef double inverse[4]
    cdef double difference[4]
    cdef double half
    cdef int i
    inverse[0] = other[0]
    for i in range(1, 4):
        inverse[i] = -other[i]
    quat_mul(quat, inverse, difference)
    difference[0] = min(max(difference[0], -1.0), 1.0)
    np_arccos(difference, &half, 1)
    return 2 * half
