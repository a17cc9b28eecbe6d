"""``dm_control.utils.rewards.tolerance``, with NumPy's rounding for scalars and for arrays.

NumPy squares a scalar with pow(), and an element of an array by multiplication. Where the results differ, there are two
functions. Margins must be positive; `within` is the tolerance without a margin. The argument `scale` is the number that
upstream computes from `value_at_margin`.
"""

from libc.math cimport fabs, pow

from envpool.numerics.numpy_exact cimport np_exp

# Scale of the gaussian for upstream's default value at the margin, 0.1. It depends on NumPy's log, so it is a variable.
cdef double GAUSSIAN_SCALE
# Scale of the long tail for the default value at the margin.
cdef double LONG_TAIL_SCALE


cdef inline double within(double x, double lower, double upper) noexcept nogil:
    """Returns 1 if x is within the bounds, otherwise 0."""
    return 1.0 if lower <= x and x <= upper else 0.0


cdef inline double outside(double x, double lower, double upper, double margin) noexcept nogil:
    """Returns the distance of x from the nearest bound in units of the margin; x must be out of bounds."""
    return (lower - x if x < lower else x - upper) / margin


cdef inline double gaussian(double x, double lower, double upper, double margin) noexcept nogil:
    """Returns the gaussian tolerance of a scalar, 0.1 at the margin."""
    cdef double y
    if lower <= x and x <= upper:
        return 1.0
    y = -0.5 * pow(outside(x, lower, upper, margin) * GAUSSIAN_SCALE, 2.0)
    np_exp(&y, &y, 1)
    return y


cdef inline double gaussian_element(double x, double lower, double upper, double margin) noexcept nogil:
    """Returns the gaussian tolerance of an element of an array, 0.1 at the margin."""
    cdef double y
    if lower <= x and x <= upper:
        return 1.0
    y = outside(x, lower, upper, margin) * GAUSSIAN_SCALE
    y = -0.5 * (y * y)
    np_exp(&y, &y, 1)
    return y


cdef inline double linear(double x, double lower, double upper, double margin, double scale) noexcept nogil:
    """Returns the linear tolerance of a scalar or an element; `scale` is 1 - value_at_margin."""
    cdef double y
    if lower <= x and x <= upper:
        return 1.0
    y = outside(x, lower, upper, margin) * scale
    return 1 - y if fabs(y) < 1 else 0.0


cdef inline double reciprocal(double x, double lower, double upper, double margin, double scale) noexcept nogil:
    """Returns the reciprocal tolerance of a scalar or an element; `scale` is 1 / value_at_margin - 1."""
    if lower <= x and x <= upper:
        return 1.0
    return 1 / (fabs(outside(x, lower, upper, margin)) * scale + 1)


cdef inline double long_tail(double x, double lower, double upper, double margin) noexcept nogil:
    """Returns the long-tail tolerance of a scalar, 0.1 at the margin."""
    if lower <= x and x <= upper:
        return 1.0
    return 1 / (pow(outside(x, lower, upper, margin) * LONG_TAIL_SCALE, 2.0) + 1)


cdef inline double quadratic_element(double x, double margin) noexcept nogil:
    """Returns the quadratic tolerance of an element of an array, with both bounds 0 and the value 0 at the margin."""
    cdef double y
    if 0.0 <= x and x <= 0.0:
        return 1.0
    y = outside(x, 0.0, 0.0, margin)
    return 1 - y * y if fabs(y) < 1 else 0.0


# Returns the mean of quadratic_element(x[i], margin) over n >= 1 elements.
cdef double mean_quadratic(const double* x, long n, double margin) noexcept nogil
