"""dm_control's loop of an episode, and what the tasks of its suite share.

A task's own memory begins with an `Episode`, its options with `Options`. Upstream: ``dm_control.rl.control``,
``dm_control.mujoco.engine``, ``dm_control.suite.base``, ``dm_control.suite.utils.randomizers``.
"""

from libc.stddef cimport size_t

from envpool.mujoco.base.model cimport Model
from envpool.mujoco.base.mujoco cimport mjModel
from envpool.mujoco.base.simulation cimport Sim, Task
from envpool.numerics.rng_legacy cimport ep_mt19937

# Head of a task's own memory.
cdef struct Episode:
    ep_mt19937 random           # the RandomState of the env

# Head of a task's options.
cdef struct Options:
    const mjModel* without_actuation    # models of the pool
    const mjModel* without_sensors

# What a task says. An error of MuJoCo may end any function but `observe`, `reward` and `construct`.
cdef struct SuiteTask:
    Task base                                                   # made by suite_task
    void (*construct)(Sim* s) noexcept nogil                    # what upstream draws when it makes the env; or NULL
    int (*initialize)(Sim* s) noexcept nogil                    # initialize_episode; 0, or fail()
    double (*reward)(const Sim* s) noexcept nogil               # get_reward
    bint (*terminates)(const Sim* s) noexcept nogil             # whether get_termination is 0.0; NULL: never
    void (*extras)(const Sim* s, double* out) noexcept nogil    # reset state besides qpos and qvel; NULL: none

# A task whose optional functions are NULL. own_size: bytes of its own memory, which begins with an Episode.
cdef SuiteTask suite_task(size_t own_size, int (*initialize)(Sim* s) noexcept nogil,
                          double (*reward)(const Sim* s) noexcept nogil,
                          void (*observe)(const Sim* s, double* out) noexcept nogil) noexcept

# Makes the kind of env of a task.
#   observations    {name: shape}, in upstream's order
#   options         a struct of `size` bytes that begins with Options, which is set here
#   extras          {name: size} of what SuiteTask.extras writes; info arrays with debug_info
#   changes         arrays of the model that the task changes, made by change()
cdef object define_suite_task(str name, const SuiteTask* task, Model model, object config, dict observations,
                              Options* options, size_t size, dict extras=*, changes=*)

# The id of an object (mjOBJ_...) that the model must have; address of a sensor's first number.
cdef int object_id(Model model, int kind, str name) except -1
cdef int sensor_address(Model model, str name) except -1
# Addresses of a joint's first position and velocity.
cdef int qpos_address(Model model, str name) except -1
cdef int qvel_address(Model model, str name) except -1

# For `initialize`. Physics.step(n), Physics.after_reset() and Physics.reset(); 0, or fail() where upstream raises a
# PhysicsError.
cdef int physics_step(Sim* s, int n) noexcept nogil
cdef int physics_after_reset(Sim* s) noexcept nogil
cdef int physics_reset(Sim* s) noexcept nogil

cdef inline ep_mt19937* random_of(Sim* s) noexcept nogil:
    return &(<Episode*>s.own).random

# Vectors of three.
cdef inline void subtract(const double* a, const double* b, double* out) noexcept nogil:
    out[0] = a[0] - b[0]
    out[1] = a[1] - b[1]
    out[2] = a[2] - b[2]

# SuiteTask.observe for tasks that show all positions, then all velocities.
cdef void observe_state(const Sim* s, double* out) noexcept nogil

# randomizers.randomize_limited_and_rotational_joints()
cdef void randomize_joints(Sim* s) noexcept nogil
# A vector of n normal numbers, divided by its norm.
cdef void random_unit(Sim* s, double* out, int n) noexcept nogil
