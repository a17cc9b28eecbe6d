"""Many simulations: the environment ABI (include/envpool/env.h) once for all MuJoCo tasks."""

import numpy as np

from cpython.pycapsule cimport PyCapsule_New
from libc.stddef cimport size_t
from libc.stdint cimport int32_t, int64_t, uint8_t, uint32_t, uint64_t
from libc.stdio cimport snprintf
from libc.stdlib cimport calloc, free
from libc.string cimport memcpy, memset

from envpool.env cimport (
    ENVPOOL_CAPSULE_NAME, ENVPOOL_MAX_FIELDS, envpool_batch, envpool_env, envpool_env_init, envpool_frames,
)
from envpool.mujoco.base.model cimport Model
from envpool.mujoco.base.mujoco cimport (
    ep_mj_call, ep_mj_enter, ep_mj_leave, mj_deleteData, mj_makeData, mj_resetData, mjfLogHandler,
)
from envpool.mujoco.base.renderer cimport Picture, GLRenderer, View, draw, free_studio, new_studio

from envpool.errors import ConfigError
from envpool.native import Field, define

#: Options of every MuJoCo task, with their defaults; frame_skip differs. render_... are those of observed pictures.
OPTIONS = {
    "frame_stack": 1,
    "debug_info": False,
    "from_pixels": False,
    "render_width": 84,
    "render_height": 84,
    "render_camera_id": -1,
}

# The envs of a pool. Memory of the tasks and of info and frames is one array, with a cache line between envs.
cdef struct Sims:
    const Config* config
    int32_t n
    Sim* sims                   # (n)
    char* memory
    GLRenderer* studio

# What ep_mj_call hands to a function.
cdef struct Call:
    Sim* sim
    const double* action
    Outcome out


cdef int fail(Sim* s, const char* text) noexcept nogil:
    snprintf(s.error, sizeof(s.error), b"%s", text)
    return -1


cdef inline size_t padded(size_t size) noexcept nogil:
    return (size + 63) // 64 * 64


cdef void destroy(void* state) noexcept nogil:
    cdef Sims* all = <Sims*>state
    cdef mjfLogHandler before = ep_mj_enter()
    cdef int32_t i
    if all.sims != NULL:
        for i in range(all.n):
            mj_deleteData(all.sims[i].data)
    ep_mj_leave(before)
    if all.studio != NULL:
        free_studio(all.studio)
    free(all.sims)
    free(all.memory)
    free(all)


cdef size_t model_size(const Config* c) noexcept nogil:
    """Bytes of an env's own mjModel and its arrays; zero where the envs share one."""
    cdef size_t size = sizeof(mjModel) if c.num_changes else 0
    cdef int32_t k
    for k in range(c.num_changes):
        size += padded(c.changes[k].size)
    return size


cdef inline size_t picture_size(const Config* c) noexcept nogil:
    """Bytes of an observed picture; zero where numbers are observed."""
    return 3 * <size_t>c.pixel_height * c.pixel_width


cdef void renew_model(Sim* s) noexcept nogil:
    """Makes an env's own mjModel equal to the pool's."""
    cdef const Config* c = s.config
    cdef char* array = <char*>(s.model + 1)
    cdef char** member
    cdef int32_t k
    if c.num_changes == 0:
        return
    s.model[0] = c.model[0]
    for k in range(c.num_changes):
        member = <char**>(<char*>s.model + c.changes[k].member)
        memcpy(array, member[0], c.changes[k].size)
        member[0] = array
        array += padded(c.changes[k].size)


cdef void* create(const void* config, int32_t n) noexcept nogil:
    cdef const Config* c = <const Config*>config
    cdef bint stacked = c.pixel_height == 0 and (c.num_observations > 1 or c.frame_stack > 1)
    cdef size_t own = padded(c.task.own_size)
    cdef size_t info = padded(c.info_size * sizeof(double))
    cdef size_t frames = padded(stacked * c.frame_stack * <size_t>c.observation_size * sizeof(double))
    cdef size_t model = padded(model_size(c))
    cdef size_t pixels = padded(c.frame_stack * picture_size(c))
    cdef size_t size = own + info + frames + model + pixels + 64
    cdef Sims* all = <Sims*>calloc(1, sizeof(Sims))
    cdef Sim* s
    cdef char* memory
    cdef int32_t i
    if all == NULL:
        return NULL
    all.config = c
    all.n = n
    all.sims = <Sim*>calloc(n, sizeof(Sim))
    all.memory = <char*>calloc(n, size)
    all.studio = new_studio(c.model, &c.view, c.changes_terrain)
    if all.sims == NULL or all.memory == NULL or all.studio == NULL:
        destroy(all)
        return NULL
    for i in range(n):
        s = &all.sims[i]
        memory = all.memory + i * size
        s.config = c
        s.options = c + 1
        s.model = <mjModel*>(memory + own + info + frames) if model else c.model
        s.own = memory
        s.info = <double*>(memory + own)
        s.frames = <double*>(memory + own + info) if stacked else NULL
        s.pixels = <uint8_t*>(memory + own + info + frames + model) if pixels else NULL
        s.studio = all.studio
    return all


cdef int prepare(void* argument) noexcept nogil:
    """Makes what an env lacks; afterwards its data are as mj_resetData leaves them."""
    cdef Sim* s = (<Call*>argument).sim
    if s.failed:
        mj_deleteData(s.data)
        s.data = NULL
        s.failed = 0
    if s.data != NULL:
        mj_resetData(s.model, s.data)
        return 0
    s.data = mj_makeData(s.model)
    return 0 if s.data != NULL else fail(s, b"no memory for the data of a simulation")


cdef void seed_many(void* state, const int32_t* ids, int32_t n, const uint64_t* seeds) noexcept nogil:
    """Also makes the simulations; one that cannot be made fails when it is reset."""
    cdef Sims* all = <Sims*>state
    cdef mjfLogHandler before = ep_mj_enter()
    cdef Call call
    cdef int32_t i
    for i in range(n):
        call.sim = &all.sims[ids[i]]
        renew_model(call.sim)
        if call.sim.data == NULL:
            ep_mj_call(prepare, &call, call.sim.error, sizeof(call.sim.error))
        all.config.task.seed(call.sim, seeds[i])
    ep_mj_leave(before)


cdef void push_frame(Sim* s, bint fill) noexcept nogil:
    """Adds the observation to the frames; `fill`: makes it all of them."""
    cdef const Config* c = s.config
    cdef size_t size = c.observation_size
    cdef double* newest
    cdef int32_t k
    s.newest = (s.newest + 1) % c.frame_stack
    newest = s.frames + s.newest * size
    c.task.observe(s, newest)
    if fill:
        for k in range(c.frame_stack):
            if k != s.newest:
                memcpy(s.frames + k * size, newest, size * sizeof(double))


cdef inline int draw_one(Sim* s, int32_t height, int32_t width, int32_t camera, bint is_planar,
                         uint8_t* pixels) noexcept nogil:
    cdef Picture picture = Picture(s.model, s.data, &s.aim, s.episodes, height, width, camera, is_planar, pixels)
    return draw(s.studio, &picture, s.error, sizeof(s.error))


cdef int push_picture(Sim* s, bint fill) noexcept nogil:
    """As push_frame, for pictures; 0, or fail()."""
    cdef const Config* c = s.config
    cdef size_t size = picture_size(c)
    cdef uint8_t* newest
    cdef int32_t k
    s.newest = (s.newest + 1) % c.frame_stack
    newest = s.pixels + s.newest * size
    if draw_one(s, c.pixel_height, c.pixel_width, c.pixel_camera, True, newest):
        return -1
    if fill:
        for k in range(c.frame_stack):
            if k != s.newest:
                memcpy(s.pixels + k * size, newest, size)
    return 0


cdef int reset_one(void* argument) noexcept nogil:
    cdef Sim* s = (<Call*>argument).sim
    cdef const Config* c = s.config
    cdef int result = prepare(argument)
    s.episodes += 1
    if result == 0:
        memset(s.info, 0, c.info_size * sizeof(double))
        result = c.task.reset(s)
    if result == 0:
        if c.state0 >= 0:
            memcpy(s.info + c.state0, s.data.qpos, s.model.nq * sizeof(double))
            memcpy(s.info + c.state0 + s.model.nq, s.data.qvel, s.model.nv * sizeof(double))
        if s.frames != NULL:
            push_frame(s, True)
    return result


cdef int step_one(void* argument) noexcept nogil:
    cdef Call* call = <Call*>argument
    cdef int result = call.sim.config.task.step(call.sim, call.action, &call.out)
    if result == 0 and call.sim.frames != NULL:
        push_frame(call.sim, False)
    return result


cdef inline int run_one(Sims* all, const envpool_batch* b, int32_t i) noexcept nogil:
    """Steps or resets the env at position i; returns whether it failed."""
    cdef Call call
    cdef int result
    call.sim = &all.sims[b.ids[i]]
    if b.reset[i]:
        result = ep_mj_call(reset_one, &call, call.sim.error, sizeof(call.sim.error))
    else:
        call.action = <const double*>b.actions[0] + b.ids[i] * <int64_t>all.config.num_actions
        call.out.truncated = 0
        result = ep_mj_call(step_one, &call, call.sim.error, sizeof(call.sim.error))
        if result == 0:
            b.reward[i] = <float>call.out.reward
            b.terminated[i] = call.out.terminated
            b.truncated[i] = call.out.truncated
    if result == 0 and call.sim.pixels != NULL:
        result = push_picture(call.sim, b.reset[i])
    if result:
        call.sim.failed = 1
        b.errors[i] = 1
    return result


cdef int step_many(void* state, const envpool_batch* b) noexcept nogil:
    cdef mjfLogHandler before = ep_mj_enter()
    cdef int failures = 0
    cdef int32_t i
    for i in range(b.n):
        failures |= run_one(<Sims*>state, b, i)
    ep_mj_leave(before)
    return failures


cdef inline void copy(double* to, const double* source, int32_t size) noexcept nogil:
    if size == 1:
        to[0] = source[0]
    else:
        memcpy(to, source, size * sizeof(double))


cdef inline void write_one(const Sim* s, void* const* fields, int64_t row) noexcept nogil:
    cdef const Config* c = s.config
    cdef const Part* part
    cdef double* to
    cdef size_t size
    cdef int32_t f, k
    if s.pixels != NULL:
        size = picture_size(c)
        for k in range(c.frame_stack):
            memcpy(<uint8_t*>fields[0] + (row * c.frame_stack + k) * size,
                   s.pixels + (s.newest + 1 + k) % c.frame_stack * size, size)
    elif s.frames == NULL:
        c.task.observe(s, <double*>fields[0] + row * c.observation_size)
    else:
        for f in range(c.num_observations):
            part = &c.parts[f]
            to = <double*>fields[f] + row * part.size * c.frame_stack
            for k in range(c.frame_stack):          # oldest first
                copy(to + k * part.size,
                     s.frames + (s.newest + 1 + k) % c.frame_stack * c.observation_size + part.offset, part.size)
    for f in range(c.num_observations, c.num_fields):
        part = &c.parts[f]
        copy(<double*>fields[f] + row * part.size, s.info + part.offset, part.size)


cdef void write_many(void* state, const int32_t* ids, int32_t n, void* const* fields, int64_t row0) noexcept nogil:
    cdef Sims* all = <Sims*>state
    cdef int32_t i
    for i in range(n):
        write_one(&all.sims[ids[i]], fields, row0 + i)


cdef int run_many(void* state, const envpool_batch* b, void* const* fields, int64_t row0) noexcept nogil:
    """Writes each env while its data are still in the cache."""
    cdef Sims* all = <Sims*>state
    cdef mjfLogHandler before = ep_mj_enter()
    cdef int failures = 0
    cdef int32_t i
    for i in range(b.n):
        if run_one(all, b, i):
            failures = 1
        else:
            write_one(&all.sims[b.ids[i]], fields, row0 + i)
    ep_mj_leave(before)
    return failures


cdef int render_many(void* state, const envpool_frames* f) noexcept nogil:
    cdef Sims* all = <Sims*>state
    cdef size_t size = 3 * <size_t>f.height * f.width
    cdef int failures = 0
    cdef int32_t i
    for i in range(f.n):
        if draw_one(&all.sims[f.ids[i]], f.height, f.width, f.camera, False, f.pixels + i * size):
            f.errors[i] = failures = 1
    return failures


cdef void error_text(void* state, int32_t id, int32_t code, char* text, size_t size) noexcept nogil:
    snprintf(text, size, b"%s", (<Sims*>state).sims[id].error)


cdef envpool_env ENV_DEF
envpool_env_init(&ENV_DEF, "MuJoCo")
ENV_DEF.create = create
ENV_DEF.destroy = destroy
ENV_DEF.seed_many = seed_many
ENV_DEF.step_many = step_many
ENV_DEF.write_many = write_many
ENV_DEF.run_many = run_many
ENV_DEF.error_text = error_text
ENV_DEF.render_many = render_many


cdef int32_t check_count(str name, object value) except -1:
    """An option that counts frames, or pixels."""
    if not 1 <= value <= 10000:
        raise ConfigError(f"{name} is {value}, allowed are 1 to 10000")
    return value


cdef object observe_pixels(Config* c, object config):
    """Lets pictures take the place of observations; returns their field."""
    c.pixel_height = check_count("render_height", config.render_height)
    c.pixel_width = check_count("render_width", config.render_width)
    c.pixel_camera = config.render_camera_id
    if not -1 <= c.pixel_camera < c.model.ncam:
        raise ConfigError(f"render_camera_id is {c.pixel_camera}, allowed are -1 to {c.model.ncam - 1}")
    c.num_observations = 1
    shape = (3 * c.frame_stack, c.pixel_height, c.pixel_width)
    return Field("obs:pixels", np.uint8, shape, 0, 255)


cdef object define_task(str name, const Task* task, Model model, object config, dict observations, dict info,
                        object action_range, bytes options, const View* view, changes=(), object keep=None,
                        uint32_t flags=0):
    cdef Config c
    cdef int32_t size
    memset(&c, 0, sizeof(Config))
    c.task = task
    c.model = model.m
    for member, array_bytes in changes:
        c.changes[c.num_changes] = Change(member, array_bytes)
        c.num_changes += 1
        c.changes_terrain |= member == <size_t>(<char*>&model.m.hfield_data - <char*>model.m)
    c.view = view[0]
    c.frame_skip = check_count("frame_skip", config.frame_skip)
    c.frame_stack = check_count("frame_stack", config.frame_stack)
    c.num_actions = np.shape(action_range)[1]
    if c.num_actions == 0:
        raise ConfigError(f"{model.source} has no actuators, so that there would be no action")
    fields = []
    stack = () if c.frame_stack == 1 else (c.frame_stack,)
    if config.from_pixels:
        fields.append(observe_pixels(&c, config))
        observations = {}
    for field, shape in observations.items():
        size = int(np.prod(shape, dtype=np.int64))
        c.parts[c.num_observations] = Part(c.observation_size, size)
        c.num_observations += 1
        c.observation_size += size
        fields.append(Field(field, np.float64, (*stack, *shape)))
    places = {key: (place, 0) if isinstance(place, int) else place for key, place in info.items()}
    c.info_size = max([index + max(size, 1) for index, size in places.values()], default=0)
    c.state0 = c.info_size if config.debug_info else -1
    if config.debug_info:
        places |= {"qpos0": (c.info_size, model.m.nq), "qvel0": (c.info_size + model.m.nq, model.m.nv)}
        c.info_size += model.m.nq + model.m.nv
    if len(fields) + len(places) > ENVPOOL_MAX_FIELDS:
        raise ConfigError(f"{name} has {len(fields) + len(places)} arrays, allowed are {ENVPOOL_MAX_FIELDS}")
    for key, (index, width) in places.items():
        c.parts[len(fields)] = Part(index, max(width, 1))
        fields.append(Field(f"info:{key}", np.float64, (width,) if width else (-1,)))
    c.num_fields = <int32_t>len(fields)
    low, high = np.asarray(action_range, np.float64)
    actions = [Field("action", np.float64, (-1, c.num_actions), low, high)]
    template = PyCapsule_New(&ENV_DEF, ENVPOOL_CAPSULE_NAME, NULL)
    header = (<const char*>&c)[:sizeof(Config)]
    return define(template, fields, actions, header + options, name=name, keep=(model, keep), flags=flags,
                  frame_size=(c.pixel_height, c.pixel_width) if config.from_pixels else (view.height, view.width))


cdef tuple change(Model model, double** member, size_t n):
    return <size_t>(<char*>member - <char*>model.m), n * sizeof(double)


cdef tuple change_floats(Model model, float** member, size_t n):
    return <size_t>(<char*>member - <char*>model.m), n * sizeof(float)
