"""The parts of a saved simulation, and where they are in its bytes; snapshots.pyx explains what they are for."""

from libc.stdint cimport int32_t

from envpool.mujoco.base.mujoco cimport mj_stateSize, mjModel, mjSTATE_INTEGRATION
from envpool.mujoco.base.structs cimport Sim, SimConfig

cdef extern from "data_arrays.h" nogil:
    int ep_list_arrays(const mjModel* m, bint lagging, ep_data_array* list)


cdef Layout layout_of(const Sim* s) noexcept nogil:
    cdef const SimConfig* c = s.config
    cdef size_t stack = c.frame_stack * <size_t>c.observation_size * sizeof(double) if s.stack != NULL else 0
    cdef Layout layout
    cdef int32_t k
    layout.state = aligned(sizeof(Head))
    layout.arrays = layout.state + mj_stateSize(c.model, mjSTATE_INTEGRATION) * sizeof(double)
    layout.num_arrays = ep_list_arrays(c.model, c.task.recompute == NULL, layout.list)
    layout.info = layout.arrays
    for k in range(layout.num_arrays):
        layout.info += aligned(layout.list[k].size)
    layout.stack = layout.info + c.info_size * sizeof(double)
    layout.task = layout.stack + stack
    layout.private_arrays = layout.task + aligned(c.task.state_size)
    layout.pixels = layout.private_arrays
    for k in range(c.num_private_arrays):
        layout.pixels += aligned(c.private_arrays[k].last - c.private_arrays[k].first)
    layout.params = layout.pixels + aligned(pixels_size(c))
    layout.size = layout.params + c.num_param_values * sizeof(double)
    return layout
