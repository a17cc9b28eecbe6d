"""The bumpy bowl of ``dm_control.suite.quadruped``'s escape task."""

from envpool.numerics.rng_legacy cimport ep_mt19937

cdef enum:
    RESOLUTION = 201            # rows and columns of the height field

# Draws a terrain: heights in [0, 1] (RESOLUTION, RESOLUTION).
cdef void draw_terrain(ep_mt19937* random, float* out) noexcept nogil
