"""Saved states of simulations: the four functions of the environment ABI, for all MuJoCo tasks.

A snapshot consists of the parts that `Layout` lists. From mjData it contains MuJoCo's own integration state, which
determines what mj_step() does, and arrays that results and frames read before the next mj_step() computes them:

- Forces and sensors of the last mj_step(), which no task can compute again.
- In Gymnasium's tasks, the arrays that depend on positions and velocities, since they lag behind by one mj_step():
  rewards read the position before a step in them, and frames are drawn from them. dm_control ends every step with
  mj_step1(), and its tasks repeat this call (`TaskFunctions.recompute`).

A snapshot of an env whose parameters differ from the model of the task ends with all of its parameters.

Nothing else in mjData outlives a step, except in models with plug-ins, flexes, delays or sleeping bodies. Their states
cannot be saved. Contacts and constraints are not part of a snapshot: mj_step() or `recompute` finds them again.

A copy within a pool copies all of mjData.
"""

from libc.math cimport fabs
from libc.stddef cimport size_t
from libc.stdint cimport int32_t, int64_t
from libc.stdlib cimport free, malloc
from libc.string cimport memcpy, memset

from envpool.env cimport ENVPOOL_BAD_SNAPSHOT, ENVPOOL_NO_MEMORY, envpool_copies, envpool_snapshots
from envpool.mujoco.base.mujoco cimport (
    ep_mj_call, ep_mj_enter, ep_mj_handlers, ep_mj_leave, ep_num_history, mj_copyData, mj_deleteData, mj_getState,
    mj_makeData, mj_setState, mjENBL_SLEEP, mjMAXVAL, mjModel, mjSTATE_EQ_ACTIVE, mjSTATE_INTEGRATION,
    mjSTATE_MOCAP_POS, mjSTATE_WARMSTART,
)
from envpool.mujoco.base.own_models cimport (
    are_packed_params_valid, put_packed_params, put_params, read_packed_params,
)
from envpool.mujoco.base.structs cimport PrivateArray, Sim, SimConfig, SimPool
from envpool.mujoco.base.snapshot_layout cimport (
    WRAP_ADR, WRAP_NUM, Head, Layout, aligned, data_array, layout_of, pixels_size, private_part, state_part,
)


cdef const char* text_of(int code) noexcept nogil:
    if code == UNSAVABLE:
        return b"its model has plug-ins, flexes, delays or sleeping bodies, whose state cannot be saved"
    if code == OTHER_MODEL:
        return b"the files of its model differ from those of this pool"
    return NULL


cdef inline bint is_savable(const mjModel* m) noexcept nogil:
    return m.nplugin == 0 and m.nflex == 0 and ep_num_history(m) == 0 and not m.opt.enableflags & mjENBL_SLEEP


# ---- saving ----------------------------------------------------------------------------------------------------------

cdef void save(const Sim* s, const Layout* layout, char* bytes) noexcept nogil:
    """Writes the snapshot of an env to `bytes`, snapshot_size() bytes, which are aligned and zero."""
    cdef const SimConfig* c = s.config
    cdef Head* head = <Head*>bytes
    cdef char* at = bytes + layout.arrays
    cdef const PrivateArray* part
    cdef int32_t k
    head.newest = s.newest
    head.is_new = s.is_new
    head.look_at.is_set = s.look_at.is_set
    head.model_digest = c.model_digest
    memcpy(&head.look_at.point[0], &s.look_at.point[0], sizeof(head.look_at.point))
    mj_getState(s.model, s.data, <double*>(bytes + layout.state), mjSTATE_INTEGRATION)
    for k in range(layout.num_arrays):
        if layout.list[k].size:
            memcpy(at, data_array(s, &layout.list[k]), layout.list[k].size)
        at += aligned(layout.list[k].size)
    memcpy(bytes + layout.info, s.info, layout.stack - layout.info)
    if s.stack != NULL:
        memcpy(bytes + layout.stack, s.stack, layout.task - layout.stack)
    memcpy(bytes + layout.task, s.task_state, c.task.state_size)
    at = bytes + layout.private_arrays
    for k in range(c.num_private_arrays):
        part = &c.private_arrays[k]
        memcpy(at, private_part(s, part), part.last - part.first)
        at += aligned(part.last - part.first)
    if s.pixel_stack != NULL:
        memcpy(bytes + layout.pixels, s.pixel_stack, pixels_size(c))
    if s.has_params:
        read_packed_params(s, <double*>(bytes + layout.params))


cdef int64_t state_size(void* state) noexcept nogil:
    return <int64_t>layout_of(&(<SimPool*>state).sims[0]).size


cdef inline size_t snapshot_size(const Sim* s, const Layout* layout) noexcept nogil:
    return layout.size if s.has_params else layout.params


cdef int get_state(void* state, const envpool_snapshots* snapshots) noexcept nogil:
    cdef SimPool* all = <SimPool*>state
    cdef Layout layout = layout_of(&all.sims[0])
    cdef const Sim* s
    cdef char* bytes
    cdef int32_t i
    if not is_savable(all.config.model):
        return UNSAVABLE
    bytes = <char*>malloc(layout.size)           # snapshots need not be aligned
    if bytes == NULL:
        return ENVPOOL_NO_MEMORY
    for i in range(snapshots.n):
        s = &all.sims[snapshots.ids[i]]
        snapshots.sizes[i] = <int64_t>snapshot_size(s, &layout)
        memset(bytes, 0, snapshots.sizes[i])
        save(s, &layout, bytes)
        memcpy(snapshots.bytes[i], bytes, snapshots.sizes[i])
    free(bytes)
    return 0


# ---- restoring -------------------------------------------------------------------------------------------------------

cdef bint are_moderate(const double* values, size_t n) noexcept nogil:
    """Returns whether all numbers are finite, and no larger than what MuJoCo accepts as a position."""
    cdef size_t i
    for i in range(n):
        if not fabs(values[i]) <= mjMAXVAL:
            return False
    return True


cdef bint are_moderate_floats(const float* values, size_t n) noexcept nogil:
    cdef size_t i
    for i in range(n):
        if not fabs(values[i]) <= mjMAXVAL:
            return False
    return True


cdef bint has_valid_tendons(const mjModel* m, const Layout* layout, const char* bytes) noexcept nogil:
    """Returns whether the paths of tendons, which frames show, are inside of their arrays."""
    cdef const int* adr = <const int*>(bytes + layout.arrays)
    cdef const int* num = <const int*>(<const char*>adr + aligned(layout.list[WRAP_ADR].size))
    cdef const int* obj = <const int*>(<const char*>num + aligned(layout.list[WRAP_NUM].size))
    cdef int64_t i, points = 2 * m.nwrap
    for i in range(m.ntendon):
        if not (0 <= adr[i] <= points and 0 <= num[i] <= points - adr[i]):
            return False
    for i in range(points):
        if not -2 <= obj[i] < m.ngeom:
            return False
    return True


cdef bint has_valid_state(const Sim* s, const Layout* layout, char* bytes) noexcept nogil:
    """Returns whether MuJoCo can step from the integration state. It resets non-finite positions itself."""
    cdef const mjModel* m = s.config.model
    cdef const double* active = state_part(s, layout, bytes, mjSTATE_EQ_ACTIVE)
    cdef int64_t i
    for i in range(m.neq):
        if active[i] != 0 and active[i] != 1:
            return False
    return are_moderate(state_part(s, layout, bytes, mjSTATE_MOCAP_POS), 7 * m.nmocap)


cdef bint has_valid_private_arrays(const SimConfig* c, const char* at) noexcept nogil:
    cdef const PrivateArray* part
    cdef size_t size
    cdef bint is_valid
    cdef int32_t k
    for k in range(c.num_private_arrays):
        part = &c.private_arrays[k]
        size = part.last - part.first
        if part.itemsize == sizeof(double):
            is_valid = are_moderate(<const double*>at, size // sizeof(double))
        else:
            is_valid = are_moderate_floats(<const float*>at, size // sizeof(float))
        if not is_valid:
            return False
        at += aligned(size)
    return True


cdef bint is_valid(const Sim* s, const Layout* layout, char* bytes, bint has_params) noexcept nogil:
    """Returns whether an env can continue from a snapshot of the right size."""
    cdef const Head* head = <const Head*>bytes
    cdef int32_t is_set
    memcpy(&is_set, &head.look_at.is_set, sizeof(int32_t))
    return (
        0 <= head.newest < s.config.frame_stack and 0 <= head.is_new <= 1 and 0 <= is_set <= 1
        and has_valid_state(s, layout, bytes)
        and (s.config.task.recompute != NULL or has_valid_tendons(s.config.model, layout, bytes))
        and has_valid_private_arrays(s.config, bytes + layout.private_arrays)
        and s.config.task.is_valid(bytes + layout.task)
        and (not has_params or are_packed_params_valid(s.config, <const double*>(bytes + layout.params)))
    )


# The argument of the functions that run inside ep_mj_call().
cdef struct RestoreCall:
    Sim* sim
    const Sim* source           # for a copy
    const Layout* layout        # for a snapshot
    char* bytes
    const double* params        # in `bytes`; NULL: those of the pool's model


cdef int ensure_data(Sim* s) noexcept nogil:
    """Allocates the mjData of an env if it has none that can be used; returns 0, or ENVPOOL_NO_MEMORY."""
    if s.failed:
        mj_deleteData(s.data)
        s.data = NULL
    if s.data == NULL:
        s.data = mj_makeData(s.model)
    s.failed = s.data == NULL
    return ENVPOOL_NO_MEMORY if s.failed else 0


cdef int restore(void* argument) noexcept nogil:
    """Restores an env from a valid snapshot."""
    cdef RestoreCall* call = <RestoreCall*>argument
    cdef Sim* s = call.sim
    cdef const Layout* layout = call.layout
    cdef char* bytes = call.bytes
    cdef const Head* head = <const Head*>bytes
    cdef const SimConfig* c = s.config
    cdef const PrivateArray* part
    cdef char* at = bytes + layout.private_arrays
    cdef int32_t k
    if put_packed_params(s, call.params) or ensure_data(s):
        return ENVPOOL_NO_MEMORY
    s.newest, s.is_new, s.look_at = head.newest, head.is_new, head.look_at
    s.episodes += 1                         # a new version of the height fields
    for k in range(c.num_private_arrays):
        part = &c.private_arrays[k]
        memcpy(private_part(s, part), at, part.last - part.first)
        at += aligned(part.last - part.first)
    memcpy(s.info, bytes + layout.info, layout.stack - layout.info)
    if s.stack != NULL:
        memcpy(s.stack, bytes + layout.stack, layout.task - layout.stack)
    memcpy(s.task_state, bytes + layout.task, c.task.state_size)
    if s.pixel_stack != NULL:
        memcpy(s.pixel_stack, bytes + layout.pixels, pixels_size(c))
    mj_setState(s.model, s.data, <double*>(bytes + layout.state), mjSTATE_INTEGRATION)
    if c.task.recompute != NULL:
        c.task.recompute(s)
        memcpy(s.data.qacc_warmstart, state_part(s, layout, bytes, mjSTATE_WARMSTART), c.model.nv * sizeof(double))
    at = bytes + layout.arrays
    for k in range(layout.num_arrays):
        if layout.list[k].size:
            memcpy(data_array(s, &layout.list[k]), at, layout.list[k].size)
        at += aligned(layout.list[k].size)
    return 0


cdef int finish(int result, Sim* s) noexcept nogil:
    """Returns the error code of a restored or copied env. After an error of MuJoCo, its mjData must be replaced."""
    if result == 0 or result == ENVPOOL_NO_MEMORY:
        return result
    s.failed = 1
    return 1


cdef int set_state(void* state, const envpool_snapshots* snapshots) noexcept nogil:
    cdef SimPool* all = <SimPool*>state
    cdef Layout layout = layout_of(&all.sims[0])
    cdef ep_mj_handlers before
    cdef RestoreCall call
    cdef size_t size
    cdef int status = 0
    cdef int32_t i
    if not is_savable(all.config.model):
        return UNSAVABLE
    call.layout = &layout
    call.bytes = <char*>malloc(layout.size)
    if call.bytes == NULL:
        return ENVPOOL_NO_MEMORY
    before = ep_mj_enter()
    for i in range(snapshots.n):
        call.sim = &all.sims[snapshots.ids[i]]
        size = <size_t>snapshots.sizes[i]
        if size != layout.params and size != layout.size:
            status = snapshots.errors[i] = ENVPOOL_BAD_SNAPSHOT
            continue
        memcpy(call.bytes, snapshots.bytes[i], size)
        call.params = <const double*>(call.bytes + layout.params) if size > layout.params else NULL
        if (<const Head*>call.bytes).model_digest != all.config.model_digest:
            status = snapshots.errors[i] = OTHER_MODEL
        elif not is_valid(call.sim, &layout, call.bytes, size > layout.params):
            status = snapshots.errors[i] = ENVPOOL_BAD_SNAPSHOT
        elif not snapshots.only_checks:
            snapshots.errors[i] = finish(
                ep_mj_call(restore, &call, call.sim.error, sizeof(call.sim.error)), call.sim
            )
            status |= snapshots.errors[i]
    ep_mj_leave(before)
    free(call.bytes)
    return 1 if status else 0


# ---- copying ---------------------------------------------------------------------------------------------------------

cdef int copy_sim(void* argument) noexcept nogil:
    """Makes an env a copy of another env."""
    cdef RestoreCall* call = <RestoreCall*>argument
    cdef Sim* s = call.sim
    cdef const Sim* source = call.source
    cdef const SimConfig* c = s.config
    cdef const PrivateArray* part
    cdef int32_t k
    if (s.has_params or source.has_params) and put_params(s, source.model, NULL):
        return ENVPOOL_NO_MEMORY
    if ensure_data(s):
        return ENVPOOL_NO_MEMORY
    s.newest, s.is_new, s.look_at = source.newest, source.is_new, source.look_at
    s.episodes += 1                         # a new version of the height fields
    for k in range(c.num_private_arrays):
        part = &c.private_arrays[k]
        memcpy(private_part(s, part), private_part(source, part), part.last - part.first)
    memcpy(s.info, source.info, c.info_size * sizeof(double))
    if s.stack != NULL:
        memcpy(s.stack, source.stack, c.frame_stack * <size_t>c.observation_size * sizeof(double))
    memcpy(s.task_state, source.task_state, c.task.state_size)
    if s.pixel_stack != NULL:
        memcpy(s.pixel_stack, source.pixel_stack, pixels_size(c))
    mj_copyData(s.data, s.model, source.data)
    return 0


cdef int copy_state(void* state, const envpool_copies* copies) noexcept nogil:
    cdef SimPool* all = <SimPool*>state
    cdef ep_mj_handlers before
    cdef RestoreCall call
    cdef int status = 0
    cdef int32_t i
    if not is_savable(all.config.model):
        return UNSAVABLE
    before = ep_mj_enter()
    for i in range(copies.n):
        call.sim = &all.sims[copies.targets[i]]
        call.source = &all.sims[copies.sources[i]]
        copies.errors[i] = finish(ep_mj_call(copy_sim, &call, call.sim.error, sizeof(call.sim.error)), call.sim)
        status |= copies.errors[i]
    ep_mj_leave(before)
    return 1 if status else 0
