"""``dm_control.utils.rewards.tolerance``: the parts that rewards.pxd cannot define inline."""

import numpy as np

from envpool.numerics.numpy_exact cimport np_sum

GAUSSIAN_SCALE = np.sqrt(-2 * np.log(0.1))
LONG_TAIL_SCALE = np.sqrt(1 / 0.1 - 1)

cdef enum:
    CHUNK = 128         # NumPy splits longer sums


cdef double mean_quadratic(const double* x, long n, double margin) noexcept nogil:
    cdef double values[CHUNK]
    cdef long i
    for i in range(n):
        values[i] = quadratic_element(x[i], margin)
    return np_sum(values, n) / n
