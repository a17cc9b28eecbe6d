"""The scaffold of dm_control's suite: dm_control's loop of an episode, and what several domains share.

The module of a domain takes everything that most domains need from here, including `Model`, `Sim` and
`private_array`. It contains a struct of options that begins with `Options`, the functions of a `SuiteTask`, and the
class of the env definition. Upstream: ``dm_control.rl.control``, ``dm_control.mujoco.engine``,
``dm_control.suite.base``, ``dm_control.suite.utils.randomizers``.
"""

from libc.stddef cimport size_t

from envpool.mujoco.base.definition cimport private_array, private_float_array
from envpool.mujoco.base.model cimport Model
from envpool.mujoco.base.mujoco cimport mjModel
from envpool.mujoco.base.observations cimport observe_state, put, put_difference, put_state
from envpool.mujoco.base.renderer cimport CameraView
from envpool.mujoco.base.simulation cimport Sim, TaskFunctions, fail
from envpool.numerics.rng_legacy cimport ep_legacy_uniform, ep_mt19937

# The first member of the state of a task (Sim.task_state).
cdef struct Episode:
    ep_mt19937 random           # the RandomState of the env

# The first member of the options of a task (Sim.options).
cdef struct Options:
    const mjModel* without_actuation    # copies of the model of the pool with a part of MuJoCo disabled
    const mjModel* without_sensors

# The functions of a task. In all but `observe`, `reward` and `construct`, an error of MuJoCo ends the function.
cdef struct SuiteTask:
    TaskFunctions base                                          # set by suite_task()
    void (*construct)(Sim* s) noexcept nogil                    # samples what upstream samples when it makes the env
    int (*initialize)(Sim* s) noexcept nogil                    # initialize_episode(); returns 0, or fail()
    double (*reward)(const Sim* s) noexcept nogil               # get_reward()
    bint (*terminates)(const Sim* s) noexcept nogil             # whether get_termination() returns 0.0
    void (*extras)(const Sim* s, double* out) noexcept nogil    # writes the initial state besides qpos and qvel

# Returns a task whose optional functions (construct, terminates, extras) are NULL. state_size: bytes of the state of
# the task, which begins with an Episode.
cdef SuiteTask suite_task(size_t state_size, int (*initialize)(Sim* s) noexcept nogil,
                          double (*reward)(const Sim* s) noexcept nogil,
                          void (*observe)(const Sim* s, double* out) noexcept nogil) noexcept

# Returns the capsule of an env definition, see define_task().
#   observations    {name: shape}, in upstream's order
#   options         a struct of `size` bytes that begins with Options; define_suite_task() sets that part
#   extras          {name: size} of what SuiteTask.extras writes: info arrays of debug_info
#   private_arrays  the arrays of the model that the task changes
cdef object define_suite_task(str name, const SuiteTask* task, Model model, object config, dict observations,
                              Options* options, size_t size, dict extras=*, private_arrays=*)
# Sets the models of the options; returns the objects that own them.
cdef tuple set_variants(Model model, Options* options)
# Returns dm_control's default camera.
cdef CameraView suite_view(const mjModel* m) noexcept

# The ids of objects of the model, which must have an object of this name.
cdef int body_id(Model model, str name) except -1
cdef int geom_id(Model model, str name) except -1
cdef int joint_id(Model model, str name) except -1
cdef int light_id(Model model, str name) except -1
cdef int site_id(Model model, str name) except -1
# The index of the first number of a sensor in sensordata, and those of a joint in qpos and qvel.
cdef int sensor_address(Model model, str name) except -1
cdef int qpos_address(Model model, str name) except -1
cdef int qvel_address(Model model, str name) except -1

# For `initialize`: Physics.step(n), Physics.after_reset() and Physics.reset(). They return 0, or fail() where upstream
# raises a PhysicsError.
cdef int physics_step(Sim* s, int n) noexcept nogil
cdef int physics_after_reset(Sim* s) noexcept nogil
cdef int physics_reset(Sim* s) noexcept nogil

# Indices of the elements of a rotation matrix (row-major), and of the alpha channel of a colour.
cdef enum:
    XX = 0
    XZ = 2
    ZX = 6
    ZY = 7
    ZZ = 8
    ALPHA = 3

cdef inline ep_mt19937* random_of(Sim* s) noexcept nogil:
    return &(<Episode*>s.task_state).random


# randomizers.randomize_limited_and_rotational_joints().
cdef void randomize_joints(Sim* s) noexcept nogil
# SuiteTask.initialize of tasks that randomize the joints and change nothing else.
cdef int initialize_joints(Sim* s) noexcept nogil
# For `initialize`: samples states until there is no contact; returns 0, or fail().
cdef int sample_without_contacts(Sim* s, int (*sample)(Sim* s) noexcept nogil) noexcept nogil
# Writes a random unit vector: n normal numbers, divided by their norm.
cdef void random_unit(Sim* s, double* out, int n) noexcept nogil
