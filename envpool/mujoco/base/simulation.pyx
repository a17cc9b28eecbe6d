"""The simulations of a pool: the environment ABI for all MuJoCo tasks; simulation.pxd explains how a task uses it."""

from libc.stddef cimport size_t
from libc.stdint cimport int32_t, int64_t, uint8_t
from libc.stdio cimport snprintf
from libc.stdlib cimport calloc, free
from libc.string cimport memcpy, memset

from envpool.env cimport (
    ENVPOOL_NO_MEMORY, envpool_batch, envpool_env_init, envpool_frames, envpool_rows, envpool_seeds, envpool_setup,
)
from envpool.mujoco.base.model cimport lacks_geoms, place_visual_geoms
from envpool.mujoco.base.mujoco cimport (
    ep_mj_call, ep_mj_enter, ep_mj_handlers, ep_mj_leave, mj_copyData, mj_deleteData, mj_makeData, mj_resetData,
    mjData,
)
from envpool.mujoco.base.own_models cimport (
    free_own_model, get_params, padded, put_packed_params, restore_private_arrays, set_params,
)
from envpool.mujoco.base.renderer cimport FrameJob, free_gl_renderer, new_gl_renderer, render_frame
from envpool.mujoco.base.snapshots cimport (
    copy_state, get_state, set_state, state_size, text_of,
)
from envpool.mujoco.base.structs cimport MAX_FLOAT_ACTIONS

# The argument of the functions that run inside ep_mj_call().
cdef struct SimCall:
    Sim* sim
    const double* action
    Outcome out

# The argument of make_shown().
cdef struct ShowCall:
    const Sim* sim
    mjData* shown               # output, which the caller deletes


cdef int fail(Sim* s, const char* text) noexcept nogil:
    snprintf(s.error, sizeof(s.error), b"%s", text)
    return -1


cdef void destroy(void* state) noexcept nogil:
    cdef SimPool* all = <SimPool*>state
    cdef ep_mj_handlers before = ep_mj_enter()
    cdef int32_t i
    if all.sims != NULL:
        for i in range(all.n):
            mj_deleteData(all.sims[i].data)
            if all.sims[i].config != NULL:          # otherwise create() has failed for an earlier env
                free_own_model(&all.sims[i])
    ep_mj_leave(before)
    if all.renderer != NULL:
        free_gl_renderer(all.renderer)
    free(all.sims)
    free(all.arrays)
    free(all)


cdef inline size_t frame_size(const SimConfig* c) noexcept nogil:
    """Returns the bytes of an observed frame; zero if numbers are observed."""
    return 3 * <size_t>c.pixel_height * c.pixel_width


cdef int create(const envpool_setup* setup, void** state) noexcept nogil:
    cdef const SimConfig* c = <const SimConfig*>setup.config
    cdef bint stacked = c.pixel_height == 0 and (c.num_observations > 1 or c.frame_stack > 1)
    cdef size_t task_state = padded(c.task.state_size)
    cdef size_t info = padded(c.info_size * sizeof(double))
    cdef size_t stack = padded(stacked * c.frame_stack * <size_t>c.observation_size * sizeof(double))
    cdef size_t own = padded(c.own_size) if c.num_private_arrays else 0
    cdef size_t pixels = padded(c.frame_stack * frame_size(c))
    cdef size_t size = task_state + info + stack + own + pixels + 64
    cdef SimPool* all = <SimPool*>calloc(1, sizeof(SimPool))
    cdef Sim* s
    cdef char* arrays
    cdef int32_t i, n = setup.num_envs
    if all == NULL:
        return ENVPOOL_NO_MEMORY
    all.config = c
    all.n = n
    all.sims = <Sim*>calloc(n, sizeof(Sim))
    all.arrays = <char*>calloc(n, size)
    all.renderer = new_gl_renderer(c.model, &c.view, c.has_own_terrain)
    if all.sims == NULL or all.arrays == NULL or all.renderer == NULL:
        destroy(all)
        return ENVPOOL_NO_MEMORY
    for i in range(n):
        s = &all.sims[i]
        arrays = all.arrays + i * size
        s.config = c
        s.options = c + 1
        s.task_state = arrays
        s.info = <double*>(arrays + task_state)
        s.stack = <double*>(arrays + task_state + info) if stacked else NULL
        s.model = c.model
        s.own = arrays + task_state + info + stack if own else NULL
        s.pixel_stack = <uint8_t*>(arrays + task_state + info + stack + own) if pixels else NULL
        s.renderer = all.renderer
        if c.initial != NULL and put_packed_params(s, c.initial):
            destroy(all)
            return ENVPOOL_NO_MEMORY
    state[0] = all
    return 0


cdef int reset_data(void* argument) noexcept nogil:
    """Allocates the mjData of an env if needed, and makes it what it must be before a reset."""
    cdef Sim* s = (<SimCall*>argument).sim
    if s.failed:
        mj_deleteData(s.data)
        s.data = NULL
        s.failed = 0
    if s.data != NULL:
        if s.config.prepare == NULL:
            mj_resetData(s.model, s.data)
        return 0
    s.data = mj_makeData(s.model)
    if s.data == NULL:
        return fail(s, b"not enough memory for the data of a simulation")
    if s.config.prepare != NULL:
        s.config.prepare(s.config.model, s.data)
    return 0


cdef int seed_many(void* state, const envpool_seeds* seeds) noexcept nogil:
    """Also allocates the simulations. An env whose simulation cannot be allocated fails in its next reset."""
    cdef SimPool* all = <SimPool*>state
    cdef ep_mj_handlers before = ep_mj_enter()
    cdef SimCall call
    cdef int32_t i
    for i in range(seeds.n):
        call.sim = &all.sims[seeds.ids[i]]
        restore_private_arrays(call.sim)
        if call.sim.data == NULL:
            ep_mj_call(reset_data, &call, call.sim.error, sizeof(call.sim.error))
        all.config.task.seed(call.sim, seeds.seeds[i])
    ep_mj_leave(before)
    return 0


cdef void push_observation(Sim* s, bint fill) noexcept nogil:
    """Appends the observation to the stack; with `fill`, the observation fills the stack."""
    cdef const SimConfig* c = s.config
    cdef size_t size = c.observation_size
    cdef double* newest
    cdef int32_t k
    s.newest = (s.newest + 1) % c.frame_stack
    newest = s.stack + s.newest * size
    c.task.observe(s, newest)
    if fill:
        for k in range(c.frame_stack):
            if k != s.newest:
                memcpy(s.stack + k * size, newest, size * sizeof(double))


cdef int make_shown(void* argument) noexcept nogil:
    """Makes a copy of the mjData of an env that has what frames show."""
    cdef ShowCall* call = <ShowCall*>argument
    call.shown = mj_copyData(NULL, call.sim.model, call.sim.data)
    if call.shown == NULL:
        return -1
    if call.sim.config.task.show != NULL:
        call.sim.config.task.show(call.sim, call.shown)
    place_visual_geoms(call.sim.model, call.shown)
    return 0


cdef int render_shown(Sim* s, FrameJob* job) noexcept nogil:
    """Renders a frame that does not show mjData as it is."""
    cdef ShowCall call = ShowCall(s, NULL)
    cdef ep_mj_handlers before = ep_mj_enter()
    cdef int result
    snprintf(s.error, sizeof(s.error), b"not enough memory for a frame of a simulation")
    result = ep_mj_call(make_shown, &call, s.error, sizeof(s.error))
    if result == 0:
        job.data = call.shown
        result = render_frame(s.renderer, job, s.error, sizeof(s.error))
    mj_deleteData(call.shown)
    ep_mj_leave(before)
    return result


cdef inline int render_one(Sim* s, int32_t height, int32_t width, int32_t camera, bint is_planar,
                           uint8_t* pixels) noexcept nogil:
    cdef FrameJob job = FrameJob(s.model, s.data, &s.look_at, s.episodes, height, width, camera, is_planar, pixels)
    if s.data != NULL and (s.config.task.show != NULL or lacks_geoms(s.model)):
        return render_shown(s, &job)
    return render_frame(s.renderer, &job, s.error, sizeof(s.error))


cdef int push_frame(Sim* s, bint fill) noexcept nogil:
    """Appends the current frame to the pixel stack, see push_observation(); returns 0, or -1 if rendering fails."""
    cdef const SimConfig* c = s.config
    cdef size_t size = frame_size(c)
    cdef uint8_t* newest
    cdef int32_t k
    s.newest = (s.newest + 1) % c.frame_stack
    newest = s.pixel_stack + s.newest * size
    if render_one(s, c.pixel_height, c.pixel_width, c.pixel_camera, True, newest):
        return -1
    if fill:
        for k in range(c.frame_stack):
            if k != s.newest:
                memcpy(s.pixel_stack + k * size, newest, size)
    return 0


cdef int reset_one(void* argument) noexcept nogil:
    cdef Sim* s = (<SimCall*>argument).sim
    cdef const SimConfig* c = s.config
    cdef int result = reset_data(argument)
    s.episodes += 1
    s.is_new = True
    if result == 0:
        memset(s.info, 0, c.info_size * sizeof(double))
        result = c.task.reset(s)
    if result == 0:
        if c.initial_state >= 0:
            memcpy(s.info + c.initial_state, s.data.qpos, s.model.nq * sizeof(double))
            memcpy(s.info + c.initial_state + s.model.nq, s.data.qvel, s.model.nv * sizeof(double))
        if s.stack != NULL:
            push_observation(s, True)
    return result


cdef int step_one(void* argument) noexcept nogil:
    cdef SimCall* call = <SimCall*>argument
    cdef int result
    call.sim.is_new = False
    result = call.sim.config.task.step(call.sim, call.action, &call.out)
    if result == 0 and call.sim.stack != NULL:
        push_observation(call.sim, False)
    return result


cdef inline const double* action_of(const SimConfig* c, const void* actions, int32_t id,
                                    double* widened) noexcept nogil:
    """Returns the action of an env; `widened` has room for MAX_FLOAT_ACTIONS numbers."""
    cdef int64_t first = id * <int64_t>c.num_actions
    cdef int32_t k
    if not c.has_float_actions:
        return <const double*>actions + first
    for k in range(c.num_actions):
        widened[k] = (<const float*>actions)[first + k]
    return widened


cdef inline int run_one(SimPool* all, const envpool_batch* b, int32_t i) noexcept nogil:
    """Steps or resets the env at position i of a batch; returns nonzero if it failed."""
    cdef SimCall call
    cdef double widened[MAX_FLOAT_ACTIONS]
    cdef int result
    call.sim = &all.sims[b.ids[i]]
    if b.reset[i]:
        result = ep_mj_call(reset_one, &call, call.sim.error, sizeof(call.sim.error))
    else:
        call.action = action_of(all.config, b.actions[0], b.ids[i], widened)
        call.out.truncated = 0
        result = ep_mj_call(step_one, &call, call.sim.error, sizeof(call.sim.error))
        if result == 0:
            b.reward[i] = <float>call.out.reward
            b.terminated[i] = call.out.terminated
            b.truncated[i] = call.out.truncated
    if result == 0 and call.sim.pixel_stack != NULL:
        result = push_frame(call.sim, b.reset[i])
    if result:
        call.sim.failed = 1
        b.errors[i] = 1
    return result


cdef int step_many(void* state, const envpool_batch* b) noexcept nogil:
    cdef ep_mj_handlers before = ep_mj_enter()
    cdef int failures = 0
    cdef int32_t i
    for i in range(b.n):
        failures |= run_one(<SimPool*>state, b, i)
    ep_mj_leave(before)
    return failures


cdef inline void copy(double* to, const double* source, int32_t size) noexcept nogil:
    if size == 1:
        to[0] = source[0]
    else:
        memcpy(to, source, size * sizeof(double))


cdef inline void write_one(const Sim* s, void* const* fields, int64_t row) noexcept nogil:
    cdef const SimConfig* c = s.config
    cdef const FieldSlice* field
    cdef double* to
    cdef size_t size
    cdef int32_t f, k
    if s.pixel_stack != NULL:
        size = frame_size(c)
        for k in range(c.frame_stack):
            memcpy(<uint8_t*>fields[0] + (row * c.frame_stack + k) * size,
                   s.pixel_stack + (s.newest + 1 + k) % c.frame_stack * size, size)
    elif s.stack == NULL:
        c.task.observe(s, <double*>fields[0] + row * c.observation_size)
    else:
        for f in range(c.num_observations):
            field = &c.fields[f]
            to = <double*>fields[f] + row * field.size * c.frame_stack
            for k in range(c.frame_stack):          # oldest first
                copy(to + k * field.size,
                     s.stack + (s.newest + 1 + k) % c.frame_stack * c.observation_size + field.offset, field.size)
    for f in range(c.num_observations, c.num_fields):
        field = &c.fields[f]
        copy(<double*>fields[f] + row * field.size, s.info + field.offset, field.size)


cdef void write_many(void* state, const envpool_rows* rows) noexcept nogil:
    cdef SimPool* all = <SimPool*>state
    cdef int32_t i
    for i in range(rows.n):
        write_one(&all.sims[rows.ids[i]], rows.fields, rows.row0 + i)


cdef int run_many(void* state, const envpool_batch* b, const envpool_rows* rows) noexcept nogil:
    """Steps and writes one env after another, so that the data of an env are written while they are in the cache."""
    cdef SimPool* all = <SimPool*>state
    cdef ep_mj_handlers before = ep_mj_enter()
    cdef int failures = 0
    cdef int32_t i
    for i in range(b.n):
        if run_one(all, b, i):
            failures = 1
        else:
            write_one(&all.sims[b.ids[i]], rows.fields, rows.row0 + i)
    ep_mj_leave(before)
    return failures


cdef int render_many(void* state, const envpool_frames* f) noexcept nogil:
    cdef SimPool* all = <SimPool*>state
    cdef size_t size = 3 * <size_t>f.height * f.width
    cdef int failures = 0
    cdef int32_t i
    for i in range(f.n):
        if render_one(&all.sims[f.ids[i]], f.height, f.width, f.camera, False, f.pixels + i * size):
            f.errors[i] = failures = 1
    return failures


cdef void error_text(void* state, int32_t id, int32_t code, char* text, size_t size) noexcept nogil:
    cdef const char* known = text_of(code)
    snprintf(text, size, b"%s", known if known != NULL else (<SimPool*>state).sims[id].error)


envpool_env_init(&ENV_DEF, "MuJoCo")
ENV_DEF.create, ENV_DEF.destroy, ENV_DEF.error_text = create, destroy, error_text
ENV_DEF.seed_many, ENV_DEF.step_many, ENV_DEF.write_many = seed_many, step_many, write_many
ENV_DEF.run_many, ENV_DEF.render_many = run_many, render_many
ENV_DEF.state_size, ENV_DEF.get_state, ENV_DEF.set_state, ENV_DEF.copy_state = (
    state_size, get_state, set_state, copy_state
)
ENV_DEF.get_params, ENV_DEF.set_params = get_params, set_params
