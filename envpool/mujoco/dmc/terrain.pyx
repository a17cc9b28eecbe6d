"""The bumpy bowl of ``dm_control.suite.quadruped``'s escape task.

The heights are those of a smooth bowl, multiplied by random bumps: a coarse grid of uniform numbers that
``scipy.ndimage.zoom`` enlarges with cubic splines. This module follows SciPy's order of operations, so that the heights
have the same bits as upstream's.
"""

import numpy as np

from libc.math cimport pow
from libc.stdlib cimport abs

from envpool.numerics.rng_legacy cimport ep_legacy_uniform, ep_mt19937

cdef enum:
    BUMPS = 30                  # number of rows, and of columns, of the coarse grid: one per 2 m
    TAPS = 4                    # number of grid points in each direction on which a height depends
    LAST = BUMPS - 1

# The pole of the spline filter, sqrt(3) - 2, and its total gain.
cdef double POLE = -0.267949192431122706472553658494127633
cdef double GAIN = (1.0 - POLE) * (1.0 - 1.0 / POLE)
cdef double POLE_TO_LAST = pow(POLE, LAST)

cdef double[RESOLUTION * RESOLUTION] BOWL
# The grid points around each row or column of the height field, mirrored at the edges, and their weights.
cdef int[RESOLUTION][TAPS] POINTS
cdef double[RESOLUTION][TAPS] WEIGHTS


cdef int fill_bowl() except -1:
    """Fills in the heights without bumps: low in the middle and at the corners, highest halfway to the edge."""
    cdef double[::1] heights
    cdef int i
    row, column = np.ogrid[-1:1:RESOLUTION * 1j, -1:1:RESOLUTION * 1j]
    radius = np.clip(np.sqrt(column**2 + row**2), .04, 1)
    heights = (.5 - np.cos(2 * np.pi * radius) / 2).ravel()
    for i in range(RESOLUTION * RESOLUTION):
        BOWL[i] = heights[i]
    return 0


cdef void fill_weights() noexcept:
    """Evaluates the cubic B-spline at the distances of the grid points."""
    cdef double zoom = <double>LAST / (RESOLUTION - 1)
    cdef double at, near, far
    cdef int i, k, first
    for i in range(RESOLUTION):
        at = i * zoom
        first = <int>at - 1
        near = at - <int>at
        far = 1.0 - near
        WEIGHTS[i][0] = far * far * far / 6.0
        WEIGHTS[i][1] = (near * near * (near - 2.0) * 3.0 + 4.0) / 6.0
        WEIGHTS[i][2] = (far * far * (far - 2.0) * 3.0 + 4.0) / 6.0
        WEIGHTS[i][3] = 1.0 - WEIGHTS[i][0] - WEIGHTS[i][1] - WEIGHTS[i][2]
        for k in range(TAPS):
            POINTS[i][k] = LAST - abs(LAST - abs(first + k))


fill_bowl()
fill_weights()


cdef void to_coefficients(double* values, int step) noexcept nogil:
    """Replaces one row or column of the grid, mirrored at both ends, by its spline coefficients."""
    cdef double power = POLE
    cdef int i
    for i in range(BUMPS):
        values[i * step] *= GAIN
    values[0] = values[0] + POLE_TO_LAST * values[LAST * step]
    for i in range(1, LAST):
        values[0] += power * (values[i * step] + POLE_TO_LAST * values[(LAST - i) * step])
        power *= POLE
    values[0] /= 1 - POLE_TO_LAST * POLE_TO_LAST
    for i in range(1, BUMPS):
        values[i * step] += POLE * values[(i - 1) * step]
    values[LAST * step] = (POLE * values[(LAST - 1) * step] + values[LAST * step]) * POLE / (POLE * POLE - 1)
    for i in range(LAST - 1, -1, -1):
        values[i * step] = POLE * (values[(i + 1) * step] - values[i * step])


cdef void sample_terrain(ep_mt19937* random, float* out) noexcept nogil:
    cdef double grid[BUMPS * BUMPS]
    cdef const double* line
    cdef double height
    cdef int i, k, row, column
    for i in range(BUMPS * BUMPS):
        grid[i] = ep_legacy_uniform(random, 0.15, 1)
    for i in range(BUMPS):
        to_coefficients(grid + i, BUMPS)
    for i in range(BUMPS):
        to_coefficients(grid + i * BUMPS, 1)
    for row in range(RESOLUTION):
        for column in range(RESOLUTION):
            height = 0
            for i in range(TAPS):
                line = grid + POINTS[row][i] * BUMPS
                for k in range(TAPS):
                    height += line[POINTS[column][k]] * WEIGHTS[row][i] * WEIGHTS[column][k]
            out[row * RESOLUTION + column] = <float>(BOWL[row * RESOLUTION + column] * height)
