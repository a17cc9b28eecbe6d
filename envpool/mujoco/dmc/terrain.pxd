"""The bumpy bowl of ``dm_control.suite.quadruped``'s escape task."""

from envpool.numerics.rng_legacy cimport ep_mt19937

cdef enum:
    RESOLUTION = 201            # number of rows, and of columns, of the height field

# Samples a terrain: heights in [0, 1], (RESOLUTION, RESOLUTION).
cdef void sample_terrain(ep_mt19937* random, float* out) noexcept nogil
