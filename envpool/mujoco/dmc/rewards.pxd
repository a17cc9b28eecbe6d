"""``dm_control.utils.rewards.tolerance``, with NumPy's rounding for scalars and for arrays.

Upstream gives a scalar's square to pow() and multiplies an array's elements: two functions where that differs. Margins
are positive; without one the value is 1 within the bounds and 0 outside, see `within`. What upstream computes of
`value_at_margin` alone is an argument here, `scale`.
"""

from libc.math cimport fabs, pow

from envpool.numerics.numpy_exact cimport np_exp

# Scale of the gaussian with upstream's default value at the margin, 0.1; of NumPy's log, so not a constant.
cdef double GAUSSIAN_SCALE
# The same of the long tail.
cdef double LONG_TAIL_SCALE


cdef inline double within(double x, double lower, double upper) noexcept nogil:
    """Without a margin."""
    return 1.0 if lower <= x and x <= upper else 0.0


cdef inline double outside(double x, double lower, double upper, double margin) noexcept nogil:
    """How far x is out of bounds, in margins; meaningless within them."""
    return (lower - x if x < lower else x - upper) / margin


cdef inline double gaussian(double x, double lower, double upper, double margin) noexcept nogil:
    """Of a scalar, 0.1 at the margin."""
    cdef double y
    if lower <= x and x <= upper:
        return 1.0
    y = -0.5 * pow(outside(x, lower, upper, margin) * GAUSSIAN_SCALE, 2.0)
    np_exp(&y, &y, 1)
    return y


cdef inline double gaussian_element(double x, double lower, double upper, double margin) noexcept nogil:
    """Of an element of an array, 0.1 at the margin."""
    cdef double y
    if lower <= x and x <= upper:
        return 1.0
    y = outside(x, lower, upper, margin) * GAUSSIAN_SCALE
    y = -0.5 * (y * y)
    np_exp(&y, &y, 1)
    return y


cdef inline double linear(double x, double lower, double upper, double margin, double scale) noexcept nogil:
    """The scale is 1 - value_at_margin; scalars and arrays are the same."""
    cdef double y
    if lower <= x and x <= upper:
        return 1.0
    y = outside(x, lower, upper, margin) * scale
    return 1 - y if fabs(y) < 1 else 0.0


cdef inline double reciprocal(double x, double lower, double upper, double margin, double scale) noexcept nogil:
    """The scale is 1 / value_at_margin - 1; scalars and arrays are the same."""
    if lower <= x and x <= upper:
        return 1.0
    return 1 / (fabs(outside(x, lower, upper, margin)) * scale + 1)


cdef inline double long_tail(double x, double lower, double upper, double margin) noexcept nogil:
    """Of a scalar, 0.1 at the margin."""
    if lower <= x and x <= upper:
        return 1.0
    return 1 / (pow(outside(x, lower, upper, margin) * LONG_TAIL_SCALE, 2.0) + 1)


cdef inline double quadratic_element(double x, double margin) noexcept nogil:
    """Of an element of an array, around 0 and 0 at the margin."""
    cdef double y
    if 0.0 <= x and x <= 0.0:
        return 1.0
    y = outside(x, 0.0, 0.0, margin)
    return 1 - y * y if fabs(y) < 1 else 0.0


# Mean over n >= 1 elements of quadratic_element(x[i], margin).
cdef double mean_quadratic(const double* x, long n, double margin) noexcept nogil
