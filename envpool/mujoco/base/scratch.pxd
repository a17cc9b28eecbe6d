"""A simulation that runs once, when a pool is made: for example to find the state in which all episodes begin."""

from envpool.mujoco.base.model cimport Model
from envpool.mujoco.base.mujoco cimport mjData, mjModel

ctypedef int (*ScratchFunction)(mjModel* m, mjData* d, void* argument) noexcept nogil

# Calls a function with a new mjData. An error of MuJoCo, or a nonzero result, is raised as a ConfigError, which names
# the model. The function may change the model if no pool uses it yet, or if it was changed like that before.
cdef int run_scratch(Model model, ScratchFunction function, void* argument) except -1
