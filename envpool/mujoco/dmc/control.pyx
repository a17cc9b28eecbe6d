"""The scaffold of dm_control's suite; control.pxd documents the functions."""

import numpy as np

from libc.math cimport M_PI
from libc.stddef cimport size_t
from libc.stdint cimport uint32_t, uint64_t
from libc.stdio cimport snprintf
from libc.stdlib cimport free, malloc
from libc.string cimport memcpy, memset, strlen

from envpool.env cimport ENVPOOL_TRUNCATION_KEEPS_DISCOUNT
from envpool.mujoco.base.calls cimport (
    mj_forward, mj_resetData, mj_step, mj_step1, mj_step2, mju_axisAngle2Quat, mjv_defaultCamera, mjv_defaultFreeCamera,
)
from envpool.mujoco.base.definition cimport define_task
from envpool.mujoco.base.mujoco cimport (
    mjDSBL_ACTUATION, mjDSBL_SENSOR, mjINT_RK4, mjJNT_BALL, mjJNT_FREE, mjJNT_HINGE, mjJNT_SLIDE, mjMAXVAL, mjNWARNING,
    mjOBJ_BODY, mjOBJ_GEOM, mjOBJ_JOINT, mjOBJ_LIGHT, mjOBJ_SENSOR, mjOBJ_SITE,
)
from envpool.mujoco.base.renderer cimport CameraView
from envpool.mujoco.base.simulation cimport Outcome
from envpool.numerics.numpy_exact cimport np_norm
from envpool.numerics.rng_legacy cimport (
    ep_legacy_random_sample, ep_legacy_standard_normal, ep_mt19937_is_valid, ep_mt19937_seed,
)

from envpool.errors import ConfigError

cdef extern from *:
    """
    /* The names of the values of mjtWarning, which upstream's error texts contain. */
    static const char *const dmc_warning_names[mjNWARNING] = {
        "mjWARN_INERTIA", "mjWARN_CONTACTFULL", "mjWARN_CNSTRFULL", "mjWARN_BADQPOS",
        "mjWARN_BADQVEL", "mjWARN_BADQACC",     "mjWARN_BADCTRL",
    };
    """
    const char* const* dmc_warning_names


# ---- physics ---------------------------------------------------------------------------------------------------------

cdef inline void count_warnings(const Sim* s, int* counts) noexcept nogil:
    cdef int k
    for k in range(mjNWARNING):
        counts[k] = s.data.warning[k].number


cdef int check_warnings(Sim* s, const int* before) noexcept nogil:
    """Fails if upstream would raise a PhysicsError: if MuJoCo has warned since count_warnings()."""
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
    """Returns the model with a part of MuJoCo disabled, until enable() is called.

    The result is the shared model of that kind; the flag is set in the model of the env if it has one of its own.
    """
    if s.model == s.config.model:
        return shared
    s.model.opt.disableflags |= flag
    return s.model


cdef inline void enable(Sim* s) noexcept nogil:
    if s.model != s.config.model:
        s.model.opt.disableflags = s.config.model.opt.disableflags


cdef int physics_step(Sim* s, int n) noexcept nogil:
    """Between steps, mj_step1 has just run, so everything that depends on positions and velocities is up to date.

    mj_step consists of mj_step1 and mj_step2. A sensor that depends on accelerations gets its value from the last
    mj_step2, any other sensor from the last mj_step1. Sensors are disabled in all earlier calls, whose values nothing
    reads.
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
    enable(s)                                   # an error of MuJoCo may have prevented it
    physics_after_reset(s)                      # upstream ignores a PhysicsError here
    if task_of(s).initialize(s) or physics_after_reset(s):
        return -1
    if task_of(s).extras != NULL and s.config.initial_state >= 0:
        task_of(s).extras(s, s.info)
    return 0


cdef int step(Sim* s, const double* action, Outcome* out) noexcept nogil:
    memcpy(s.data.ctrl, action, s.model.nu * sizeof(double))
    if physics_step(s, s.config.frame_skip):
        return -1
    out.reward = task_of(s).reward(s)
    out.terminated = task_of(s).terminates != NULL and task_of(s).terminates(s)
    return 0


cdef bint is_valid(const void* task_state) noexcept nogil:
    return ep_mt19937_is_valid(&(<const Episode*>task_state).random)


cdef void recompute(Sim* s) noexcept nogil:
    """Repeats the last call of MuJoCo of a reset or of a step, which computed what the next mj_step2 reads."""
    enable(s)                                   # the env may have failed before
    if s.is_new:
        physics_after_reset(s)
    else:
        mj_step1(s.model, s.data)


cdef SuiteTask suite_task(size_t state_size, int (*initialize)(Sim* s) noexcept nogil,
                          double (*reward)(const Sim* s) noexcept nogil,
                          void (*observe)(const Sim* s, double* out) noexcept nogil) noexcept:
    cdef SuiteTask task
    memset(&task, 0, sizeof(SuiteTask))
    task.base = TaskFunctions(state_size, seed, reset, step, observe, is_valid, recompute, NULL)
    task.initialize = initialize
    task.reward = reward
    return task


cdef class Variant:
    """A copy of a model with a part of MuJoCo disabled. The copy shares all arrays with the original."""

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
    """Returns the range of each control, float64 (2, nu); upstream's bounds for controls without limits."""
    found = np.empty((2, m.nu))
    for i in range(m.nu):
        limited = m.actuator_ctrllimited[i]
        found[0, i] = m.actuator_ctrlrange[2 * i] if limited else -mjMAXVAL
        found[1, i] = m.actuator_ctrlrange[2 * i + 1] if limited else mjMAXVAL
    return found


cdef CameraView suite_view(const mjModel* m) noexcept:
    """Returns the default camera of ``dm_control.mujoco.engine.Camera`` and ``wrapper.core``."""
    cdef CameraView view
    cdef long frames = max(m.nbody, m.ngeom, m.nsite, m.ncam, m.nlight)
    cdef long geoms = (3 * frames + 4 * m.ngeom + 3 * m.nbody + m.nsite + m.ntendon + m.njnt + m.nu + m.nskin + m.ncam
                       + m.nlight)
    view.height = 240
    view.width = 320
    view.max_geom = <int>max(1000, geoms)
    view.shows_rangefinders = False
    view.aims_at_median = False
    mjv_defaultCamera(&view.camera)
    mjv_defaultFreeCamera(m, &view.camera)
    return view


cdef tuple set_variants(Model model, Options* options):
    cdef Variant without_actuation = Variant(model, mjDSBL_ACTUATION)
    cdef Variant without_sensors = Variant(model, mjDSBL_SENSOR)
    options.without_actuation = without_actuation.m
    options.without_sensors = without_sensors.m
    return without_actuation, without_sensors


cdef object define_suite_task(str name, const SuiteTask* task, Model model, object config, dict observations,
                              Options* options, size_t size, dict extras=None, private_arrays=()):
    cdef CameraView view = suite_view(model.m)
    variants = set_variants(model, options)
    info, index = {}, 0
    for key, length in (extras or {}).items() if config.debug_info else ():
        info[key] = (index, length)
        index += length
    observations = {f"obs:{key}": shape for key, shape in observations.items()}
    return define_task(name, <const TaskFunctions*>task, model, config, observations, info, action_range(model.m),
                       (<const char*>options)[:size], &view, private_arrays, variants,
                       ENVPOOL_TRUNCATION_KEEPS_DISCOUNT)


cdef int object_id(Model model, int kind, str name) except -1:
    cdef int found = model.find(kind, name)
    if found < 0:
        raise ConfigError(
            f"{model.source} has no object called {name!r}: it comes from a dm_control that these tasks do not support"
        )
    return found


cdef int body_id(Model model, str name) except -1:
    return object_id(model, mjOBJ_BODY, name)


cdef int geom_id(Model model, str name) except -1:
    return object_id(model, mjOBJ_GEOM, name)


cdef int joint_id(Model model, str name) except -1:
    return object_id(model, mjOBJ_JOINT, name)


cdef int light_id(Model model, str name) except -1:
    return object_id(model, mjOBJ_LIGHT, name)


cdef int site_id(Model model, str name) except -1:
    return object_id(model, mjOBJ_SITE, name)


cdef int sensor_address(Model model, str name) except -1:
    return model.m.sensor_adr[object_id(model, mjOBJ_SENSOR, name)]


cdef int qpos_address(Model model, str name) except -1:
    return model.m.jnt_qposadr[joint_id(model, name)]


cdef int qvel_address(Model model, str name) except -1:
    return model.m.jnt_dofadr[joint_id(model, name)]


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
        elif kind == mjJNT_FREE:            # upstream samples uniform numbers here, and keeps the position
            for k in range(4):
                qpos[3 + k] = ep_legacy_random_sample(random)
            divide(qpos + 3, 4, np_norm(qpos + 3, 4))


cdef int initialize_joints(Sim* s) noexcept nogil:
    randomize_joints(s)
    return 0


cdef int sample_without_contacts(Sim* s, int (*sample)(Sim* s) noexcept nogil) noexcept nogil:
    while True:
        if sample(s) or physics_after_reset(s):
            return -1
        if s.data.ncon <= 0:
            return 0
