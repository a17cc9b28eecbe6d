"""dm_control's loop of an episode, and what the tasks of its suite share; control.pxd says more."""

import numpy as np

from libc.math cimport M_PI
from libc.stddef cimport size_t
from libc.stdint cimport uint32_t, uint64_t
from libc.stdio cimport snprintf
from libc.stdlib cimport free, malloc
from libc.string cimport memcpy, memset, strlen

from envpool.numerics.numpy_exact cimport np_norm
from envpool.env cimport ENVPOOL_TRUNCATION_KEEPS_DISCOUNT
from envpool.mujoco.base.calls cimport (
    mj_forward, mj_resetData, mj_step, mj_step1, mj_step2, mju_axisAngle2Quat, mjv_defaultCamera, mjv_defaultFreeCamera,
)
from envpool.mujoco.base.model cimport Model
from envpool.mujoco.base.mujoco cimport (
    mjDSBL_ACTUATION, mjDSBL_SENSOR, mjINT_RK4, mjJNT_BALL, mjJNT_FREE, mjJNT_HINGE, mjJNT_SLIDE, mjMAXVAL, mjModel,
    mjNWARNING, mjOBJ_JOINT, mjOBJ_SENSOR,
)
from envpool.mujoco.base.renderer cimport View
from envpool.mujoco.base.simulation cimport Outcome, Sim, Task, define_task
from envpool.numerics.rng_legacy cimport (
    ep_legacy_random_sample, ep_legacy_standard_normal, ep_legacy_uniform, ep_mt19937, ep_mt19937_seed,
)

from envpool.errors import ConfigError
from envpool.mujoco.base.simulation import OPTIONS

cdef extern from *:
    """
    /* Names of mjtWarning's values, as upstream's error texts have them. */
    static const char *const dmc_warning_names[mjNWARNING] = {
        "mjWARN_INERTIA", "mjWARN_CONTACTFULL", "mjWARN_CNSTRFULL", "mjWARN_BADQPOS",
        "mjWARN_BADQVEL", "mjWARN_BADQACC",     "mjWARN_BADCTRL",
    };
    """
    const char* const* dmc_warning_names


def suite_options(str task_name, int frame_skip):
    """Return the options of a domain; frame_skip is upstream's number of physics steps in a control step."""
    return OPTIONS | {"frame_skip": frame_skip, "task_name": task_name}


# ---- physics ---------------------------------------------------------------------------------------------------------

cdef inline void count_warnings(const Sim* s, int* counts) noexcept nogil:
    cdef int k
    for k in range(mjNWARNING):
        counts[k] = s.data.warning[k].number


cdef int check_warnings(Sim* s, const int* before) noexcept nogil:
    """Fails where upstream raises a PhysicsError: for warnings that came since count_warnings()."""
    cdef size_t size = sizeof(s.error), used
    cdef int k
    cdef bint is_new = False
    for k in range(mjNWARNING):
        if s.data.warning[k].number > before[k]:
            if not is_new:
                snprintf(s.error, size, b"PhysicsError: Physics state is invalid. Warning(s) raised: ")
            used = strlen(s.error)
            snprintf(s.error + used, size - used, b"%s%s", b", " if is_new else b"", dmc_warning_names[k])
            is_new = True
    return -1 if is_new else 0


cdef inline const mjModel* disable(Sim* s, const mjModel* shared, int flag) noexcept nogil:
    """The model without what the flag stands for, until enable(): an env with a model of its own changes that."""
    if s.model == s.config.model:
        return shared
    s.model.opt.disableflags |= flag
    return s.model


cdef inline void enable(Sim* s) noexcept nogil:
    if s.model != s.config.model:
        s.model.opt.disableflags = s.config.model.opt.disableflags


cdef int physics_step(Sim* s, int n) noexcept nogil:
    """The state is always that of a finished mj_step1, so that what depends on position and velocity is up to date.

    A sensor's value comes from the last mj_step2 if it depends on accelerations, else from the last mj_step1. Nothing
    reads those before, so they are not computed: mj_step is mj_step1 and mj_step2.
    """
    cdef const mjModel* without_sensors
    cdef int before[mjNWARNING]
    cdef int _
    count_warnings(s, before)
    if s.model.opt.integrator == mjINT_RK4:
        for _ in range(n):
            mj_step(s.model, s.data)
    elif n > 1:
        without_sensors = disable(s, (<const Options*>s.options).without_sensors, mjDSBL_SENSOR)
        mj_step2(without_sensors, s.data)
        for _ in range(n - 2):
            mj_step(without_sensors, s.data)
        mj_step1(without_sensors, s.data)
        enable(s)
        mj_step2(s.model, s.data)
    else:
        mj_step2(s.model, s.data)
    mj_step1(s.model, s.data)
    return check_warnings(s, before)


cdef int physics_after_reset(Sim* s) noexcept nogil:
    cdef int before[mjNWARNING]
    count_warnings(s, before)
    mj_forward(disable(s, (<const Options*>s.options).without_actuation, mjDSBL_ACTUATION), s.data)
    enable(s)
    return check_warnings(s, before)


cdef int physics_reset(Sim* s) noexcept nogil:
    mj_resetData(s.model, s.data)
    return physics_after_reset(s)


# ---- the episode -----------------------------------------------------------------------------------------------------

cdef inline const SuiteTask* task_of(const Sim* s) noexcept nogil:
    return <const SuiteTask*>s.config.task


cdef void seed(Sim* s, uint64_t value) noexcept nogil:
    ep_mt19937_seed(random_of(s), <uint32_t>value)
    if task_of(s).construct != NULL:
        task_of(s).construct(s)


cdef int reset(Sim* s) noexcept nogil:
    enable(s)                                   # after an error of MuJoCo
    physics_after_reset(s)                      # upstream ignores a PhysicsError here
    if task_of(s).initialize(s) or physics_after_reset(s):
        return -1
    if task_of(s).extras != NULL and s.config.state0 >= 0:
        task_of(s).extras(s, s.info)
    return 0


cdef int step(Sim* s, const double* action, Outcome* out) noexcept nogil:
    memcpy(s.data.ctrl, action, s.model.nu * sizeof(double))
    if physics_step(s, s.config.frame_skip):
        return -1
    out.reward = task_of(s).reward(s)
    out.terminated = task_of(s).terminates != NULL and task_of(s).terminates(s)
    return 0


cdef SuiteTask suite_task(size_t own_size, int (*initialize)(Sim* s) noexcept nogil,
                          double (*reward)(const Sim* s) noexcept nogil,
                          void (*observe)(const Sim* s, double* out) noexcept nogil) noexcept:
    cdef SuiteTask task
    memset(&task, 0, sizeof(SuiteTask))
    task.base.own_size = own_size
    task.base.seed = seed
    task.base.reset = reset
    task.base.step = step
    task.base.observe = observe
    task.initialize = initialize
    task.reward = reward
    return task


cdef void observe_state(const Sim* s, double* out) noexcept nogil:
    memcpy(out, s.data.qpos, s.model.nq * sizeof(double))
    memcpy(out + s.model.nq, s.data.qvel, s.model.nv * sizeof(double))


cdef class Variant:
    """A model without what a flag stands for: an mjModel that shares all arrays with another."""

    cdef mjModel* m
    cdef Model original

    def __cinit__(self, Model original, int flag):
        self.original = original
        self.m = <mjModel*>malloc(sizeof(mjModel))
        if self.m == NULL:
            raise MemoryError
        self.m[0] = original.m[0]
        self.m.opt.disableflags |= flag

    def __dealloc__(self):
        free(self.m)


cdef object action_range(const mjModel* m):
    """Range of each control; upstream's bounds for those without limits."""
    found = np.empty((2, m.nu))
    for i in range(m.nu):
        limited = m.actuator_ctrllimited[i]
        found[0, i] = m.actuator_ctrlrange[2 * i] if limited else -mjMAXVAL
        found[1, i] = m.actuator_ctrlrange[2 * i + 1] if limited else mjMAXVAL
    return found


cdef View view_of(const mjModel* m) noexcept:
    """``dm_control.mujoco.engine.Camera`` and what it takes from ``wrapper.core``."""
    cdef View view
    cdef long frames = max(m.nbody, m.ngeom, m.nsite, m.ncam, m.nlight)
    cdef long geoms = (3 * frames + 4 * m.ngeom + 3 * m.nbody + m.nsite + m.ntendon + m.njnt + m.nu + m.nskin + m.ncam
                       + m.nlight)
    view.height = 240
    view.width = 320
    view.max_geom = <int>max(1000, geoms)
    view.shows_rangefinders = False
    view.finds_middle = False
    mjv_defaultCamera(&view.camera)
    mjv_defaultFreeCamera(m, &view.camera)
    return view


cdef object define_suite_task(str name, const SuiteTask* task, Model model, object config, dict observations,
                              Options* options, size_t size, dict extras=None, changes=()):
    cdef Variant without_actuation = Variant(model, mjDSBL_ACTUATION)
    cdef Variant without_sensors = Variant(model, mjDSBL_SENSOR)
    cdef View view = view_of(model.m)
    options.without_actuation = without_actuation.m
    options.without_sensors = without_sensors.m
    info, index = {}, 0
    for key, length in (extras or {}).items() if config.debug_info else ():
        info[key] = (index, length)
        index += length
    observations = {f"obs:{key}": shape for key, shape in observations.items()}
    return define_task(name, <const Task*>task, model, config, observations, info, action_range(model.m),
                       (<const char*>options)[:size], &view, changes, (without_actuation, without_sensors),
                       ENVPOOL_TRUNCATION_KEEPS_DISCOUNT)


cdef int object_id(Model model, int kind, str name) except -1:
    cdef int found = model.find(kind, name)
    if found < 0:
        raise ConfigError(f"{model.source} has no object called {name!r}: it is of another version")
    return found


cdef int sensor_address(Model model, str name) except -1:
    return model.m.sensor_adr[object_id(model, mjOBJ_SENSOR, name)]


cdef int qpos_address(Model model, str name) except -1:
    return model.m.jnt_qposadr[object_id(model, mjOBJ_JOINT, name)]


cdef int qvel_address(Model model, str name) except -1:
    return model.m.jnt_dofadr[object_id(model, mjOBJ_JOINT, name)]


# ---- random states ---------------------------------------------------------------------------------------------------

cdef inline void divide(double* x, int n, double by) noexcept nogil:
    cdef int i
    for i in range(n):
        x[i] /= by


cdef void random_unit(Sim* s, double* out, int n) noexcept nogil:
    cdef int i
    for i in range(n):
        out[i] = ep_legacy_standard_normal(random_of(s))
    divide(out, n, np_norm(out, n))


cdef void randomize_joints(Sim* s) noexcept nogil:
    cdef const mjModel* m = s.model
    cdef ep_mt19937* random = random_of(s)
    cdef double axis[3]
    cdef double* qpos
    cdef int i, k, kind
    for i in range(<int>m.njnt):
        kind = m.jnt_type[i]
        qpos = s.data.qpos + m.jnt_qposadr[i]
        if m.jnt_limited[i] and (kind == mjJNT_HINGE or kind == mjJNT_SLIDE):
            qpos[0] = ep_legacy_uniform(random, m.jnt_range[2 * i], m.jnt_range[2 * i + 1])
        elif m.jnt_limited[i] and kind == mjJNT_BALL:
            random_unit(s, axis, 3)
            mju_axisAngle2Quat(qpos, axis, ep_legacy_random_sample(random) * m.jnt_range[2 * i + 1])
        elif kind == mjJNT_HINGE:
            qpos[0] = ep_legacy_uniform(random, -M_PI, M_PI)
        elif kind == mjJNT_BALL:
            random_unit(s, qpos, 4)
        elif kind == mjJNT_FREE:            # upstream draws uniform numbers here, and leaves the position
            for k in range(4):
                qpos[3 + k] = ep_legacy_random_sample(random)
            divide(qpos + 3, 4, np_norm(qpos + 3, 4))
