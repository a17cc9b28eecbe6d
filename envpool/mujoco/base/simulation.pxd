"""The simulations of a pool: the environment ABI (include/envpool/env.h), implemented once for all MuJoCo tasks.

A task supplies `TaskFunctions` (structs.pxd), a table of small functions that each work on one env; its env definition
passes the table to `define_task` (definition.pxd). This module does the rest: it allocates the mjData of each env on
the pool's threads, turns errors of MuJoCo into failures of one env, stacks observations, renders observed frames, and
writes the info arrays. snapshots.pyx saves and restores envs, and own_models.pyx keeps the models of envs that change
them or have parameters of their own.
"""

from envpool.env cimport envpool_env
from envpool.mujoco.base.structs cimport (
    FieldSlice, Outcome, PrivateArray, Sim, SimConfig, SimPool, TaskFunctions,
)

# Sets the error text of an env. Returns -1, which `reset` and `step` must return in turn.
cdef int fail(Sim* s, const char* text) noexcept nogil

# The table of functions that all env definitions of this family share.
cdef envpool_env ENV_DEF
