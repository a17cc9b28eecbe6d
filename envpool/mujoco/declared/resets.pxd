"""The resets of declared tasks."""

from envpool.mujoco.base.simulation cimport Sim
from envpool.mujoco.declared.program cimport Program

# Runs the parts of a reset in their order; returns 0, or fail().
cdef int run_resets(Sim* s, const Program* p) noexcept nogil
