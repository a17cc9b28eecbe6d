"""The parts of a saved simulation (snapshots.pyx), and where they are in its bytes."""

from libc.stddef cimport size_t
from libc.stdint cimport int32_t, uint64_t

from envpool.mujoco.base.mujoco cimport mj_stateSize, mjSTATE_INTEGRATION
from envpool.mujoco.base.renderer cimport LookAt
from envpool.mujoco.base.structs cimport PrivateArray, Sim, SimConfig

# The first part of a snapshot.
cdef struct Head:
    int32_t newest              # Sim.newest
    int32_t is_new              # Sim.is_new
    LookAt look_at
    uint64_t model_digest       # SimConfig.model_digest

cdef extern from "data_arrays.h" nogil:
    ctypedef struct ep_data_array:
        size_t member
        size_t size

cdef enum:
    MAX_ARRAYS = 40
    WRAP_ADR = 0                # the arrays with indices come first
    WRAP_NUM = 1
    WRAP_OBJ = 2

# The offset of each part of a snapshot. Parts begin at multiples of 8 bytes.
cdef struct Layout:
    size_t state                # mjSTATE_INTEGRATION, doubles
    size_t arrays               # the arrays of mjData
    size_t info                 # Sim.info
    size_t stack                # Sim.stack, if there is one
    size_t task                 # Sim.task_state
    size_t private_arrays       # what the task changes in its private arrays
    size_t pixels               # Sim.pixel_stack, if there is one
    size_t params               # all parameters, doubles, if Sim.has_params: the end of other snapshots
    size_t size                 # of a snapshot with parameters
    int32_t num_arrays
    ep_data_array list[MAX_ARRAYS]

cdef Layout layout_of(const Sim* s) noexcept nogil


cdef inline size_t aligned(size_t size) noexcept nogil:
    return (size + 7) & ~<size_t>7


cdef inline size_t pixels_size(const SimConfig* c) noexcept nogil:
    return 3 * <size_t>c.pixel_height * c.pixel_width * c.frame_stack


cdef inline double* state_part(const Sim* s, const Layout* layout, char* bytes, int component) noexcept nogil:
    """Returns where a component (mjSTATE_...) of MuJoCo's integration state is in a snapshot."""
    return <double*>(bytes + layout.state) + mj_stateSize(s.config.model, mjSTATE_INTEGRATION & (component - 1))


cdef inline char* data_array(const Sim* s, const ep_data_array* array) noexcept nogil:
    return (<char**>(<char*>s.data + array.member))[0]


cdef inline char* private_part(const Sim* s, const PrivateArray* array) noexcept nogil:
    return (<char**>(<char*>s.model + array.member))[0] + array.first
