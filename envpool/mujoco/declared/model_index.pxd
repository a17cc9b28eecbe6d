"""Names and arrays of a compiled model."""

from envpool.mujoco.base.model cimport Model


cdef class ModelIndex:
    cdef readonly Model model
