"""The models of envs that have one of their own: own_models.pyx explains when they do."""

from libc.stddef cimport size_t
from libc.stdint cimport int32_t

from envpool.env cimport envpool_params
from envpool.mujoco.base.mujoco cimport mjModel
from envpool.mujoco.base.structs cimport Sim, SimConfig


cdef inline size_t padded(size_t size) noexcept nogil:
    """Rounds a size up to whole cache lines."""
    return (size + 63) // 64 * 64


# Undoes what the task has changed in its private arrays. Must be called before the task changes these arrays again.
cdef void restore_private_arrays(Sim* s) noexcept nogil
# Frees the env's own model.
cdef void free_own_model(Sim* s) noexcept nogil

# Puts parameters into force: the parameters of `source` if `rows` is NULL, otherwise arrays (rows, columns), one for
# each parameter. Returns 0, or ENVPOOL_NO_MEMORY with a text in Sim.error: the env has not changed.
cdef int put_params(Sim* s, const mjModel* source, const double** rows) noexcept nogil
# put_params() from all parameters in one array (num_param_values); NULL: those of the pool's model.
cdef int put_packed_params(Sim* s, const double* values) noexcept nogil
# Writes the parameters in force to one array (num_param_values).
cdef void read_packed_params(const Sim* s, double* values) noexcept nogil
# Whether parameters in one array, which may be forged, are allowed.
cdef bint are_packed_params_valid(const SimConfig* c, const double* values) noexcept nogil

# The functions of the environment ABI.
cdef int get_params(void* state, const envpool_params* call) noexcept nogil
cdef int set_params(void* state, const envpool_params* call) noexcept nogil
