"""The parts of a saved simulation, and where they are in its bytes; snapshots.pyx explains what they are for."""

from libc.stddef cimport size_t
from libc.stdint cimport int32_t

from envpool.mujoco.base.mujoco cimport mj_stateSize, mjData, mjModel, mjSTATE_INTEGRATION
from envpool.mujoco.base.structs cimport Sim, SimConfig


# Offsets of members are taken in this object, which is never used otherwise.
cdef mjData ORIGIN


cdef inline size_t add(Layout* layout, const void* member, size_t size) noexcept nogil:
    """Adds an array, given by its pointer in ORIGIN; returns the bytes that it takes up."""
    layout.list[layout.num_arrays] = DataArray(<size_t>(<const char*>member - <const char*>&ORIGIN), size)
    layout.num_arrays += 1
    return aligned(size)


cdef size_t list_arrays(const mjModel* m, bint lagging, Layout* layout) noexcept nogil:
    """Lists the arrays of mjData in a snapshot; returns their size."""
    cdef mjData* d = &ORIGIN
    cdef size_t number = sizeof(double), size = 0
    cdef size_t vector = 3 * number, matrix = 9 * number, spatial = 6 * number
    layout.num_arrays = 0
    if lagging:
        size += add(layout, &d.ten_wrapadr, m.ntendon * sizeof(int))
        size += add(layout, &d.ten_wrapnum, m.ntendon * sizeof(int))
        size += add(layout, &d.wrap_obj, 2 * m.nwrap * sizeof(int))
        size += add(layout, &d.wrap_xpos, m.nwrap * spatial)
        size += add(layout, &d.ten_length, m.ntendon * number)
        size += add(layout, &d.ten_velocity, m.ntendon * number)
        size += add(layout, &d.xpos, m.nbody * vector)
        size += add(layout, &d.xquat, m.nbody * 4 * number)
        size += add(layout, &d.xmat, m.nbody * matrix)
        size += add(layout, &d.xipos, m.nbody * vector)
        size += add(layout, &d.ximat, m.nbody * matrix)
        size += add(layout, &d.xanchor, m.njnt * vector)
        size += add(layout, &d.xaxis, m.njnt * vector)
        size += add(layout, &d.geom_xpos, m.ngeom * vector)
        size += add(layout, &d.geom_xmat, m.ngeom * matrix)
        size += add(layout, &d.site_xpos, m.nsite * vector)
        size += add(layout, &d.site_xmat, m.nsite * matrix)
        size += add(layout, &d.cam_xpos, m.ncam * vector)
        size += add(layout, &d.cam_xmat, m.ncam * matrix)
        size += add(layout, &d.light_xpos, m.nlight * vector)
        size += add(layout, &d.light_xdir, m.nlight * vector)
        size += add(layout, &d.subtree_com, m.nbody * vector)
        size += add(layout, &d.cinert, m.nbody * 10 * number)
        size += add(layout, &d.cvel, m.nbody * spatial)
    size += add(layout, &d.sensordata, m.nsensordata * number)
    size += add(layout, &d.qfrc_actuator, m.nv * number)
    size += add(layout, &d.qfrc_constraint, m.nv * number)
    size += add(layout, &d.cfrc_ext, m.nbody * spatial)
    return size


cdef Layout layout_of(const Sim* s) noexcept nogil:
    cdef const SimConfig* c = s.config
    cdef size_t stack = c.frame_stack * <size_t>c.observation_size * sizeof(double) if s.stack != NULL else 0
    cdef Layout layout
    cdef int32_t k
    layout.state = aligned(sizeof(Head))
    layout.arrays = layout.state + mj_stateSize(c.model, mjSTATE_INTEGRATION) * sizeof(double)
    layout.info = layout.arrays + list_arrays(c.model, c.task.recompute == NULL, &layout)
    layout.stack = layout.info + c.info_size * sizeof(double)
    layout.task = layout.stack + stack
    layout.private_arrays = layout.task + aligned(c.task.state_size)
    layout.pixels = layout.private_arrays
    for k in range(c.num_private_arrays):
        layout.pixels += aligned(c.private_arrays[k].last - c.private_arrays[k].first)
    layout.params = layout.pixels + aligned(pixels_size(c))
    layout.size = layout.params + c.num_param_values * sizeof(double)
    return layout
