"""What the goal environments of Gymnasium-Robotics share: goals, generators, distances, and their env definitions.

The module of a task takes what it needs from here. Its observation consists of ``observation``, ``achieved_goal`` and
``desired_goal``, in this order.
"""

from libc.stddef cimport size_t
from libc.stdint cimport int32_t

from envpool.mujoco.base.model cimport Model
from envpool.mujoco.base.mujoco cimport mjData
from envpool.mujoco.base.simulation cimport Outcome, Sim, TaskFunctions
from envpool.mujoco.base.structs cimport PrepareFunction
from envpool.numerics.rng cimport ep_pcg64

cdef enum:
    MAX_GOAL = 16               # numbers in a goal
    MAX_DOFS = 128              # degrees of freedom of a model whose site velocities are observed

# Sim.task_state of these tasks.
cdef struct GoalState:
    ep_pcg64 rng
    double goal[MAX_GOAL]

# The first entries of Sim.info of these tasks.
cdef enum:
    IS_SUCCESS, DISTANCE, OTHER_INFO


cdef inline ep_pcg64* rng_of(Sim* s) noexcept nogil:
    return &(<GoalState*>s.task_state).rng


cdef inline double* goal_of(const Sim* s) noexcept nogil:
    return &(<GoalState*>s.task_state).goal[0]


# Returns np.linalg.norm(a - b, axis=-1) of two vectors of n <= MAX_GOAL numbers.
cdef double goal_distance(const double* a, const double* b, int32_t n) noexcept nogil


cdef inline double distance_reward(double distance, double threshold, bint is_sparse) noexcept nogil:
    """Returns the reward for a distance from the goal; a sparse one is -1, or -0.0 as upstream."""
    if is_sparse:
        return -<double>(distance > threshold)
    return -distance


# Writes the velocities (m/s, rad/s) of a site, as ``mj_jacSite() @ qvel``; either may be NULL.
cdef void site_velocity(const Sim* s, int32_t site, double* linear, double* angular) noexcept nogil

# ---- the env definition ----------------------------------------------------------------------------------------------

# Returns the table of functions of a task, whose Sim.task_state is a GoalState.
cdef TaskFunctions goal_task(int (*reset)(Sim* s) noexcept nogil,
                             int (*step)(Sim* s, const double* action, Outcome* out) noexcept nogil,
                             void (*observe)(const Sim* s, double* out) noexcept nogil,
                             void (*show)(const Sim* s, mjData* shown) noexcept nogil) noexcept
# Returns the compiled model of option xml_file. Raises ConfigError.
cdef Model load_robotics_model(object config)
# Returns the id of an object of a kind (mjOBJ_...) of the model, or raises a ConfigError that names it.
cdef int32_t required(Model model, int kind, str name) except -1
# Returns where upstream reads a sensor in sensordata: at its id, which is its address if all sensors before it have one
# number. Raises ConfigError if there is no such place.
cdef int32_t sensor_index(Model model, int32_t sensor) except -1
# Returns a joint that has one degree of freedom, or raises ConfigError.
cdef int32_t single_joint(Model model, int32_t joint) except -1
# Returns the id of a free joint, or raises ConfigError.
cdef int32_t free_joint(Model model, str name) except -1
# Returns the joints whose names begin with "robot", which must have one degree of freedom each.
cdef list robot_joints(Model model)
# Returns whether the option reward_type is "sparse" rather than "dense", or raises ConfigError.
cdef bint is_sparse(object config) except? -1
# Returns the capsule of an env definition, see define_task().
#   sizes           numbers in an observation, a goal and an action; actions are float32 in [-1, 1]
#   options         the struct of options of the task, and whatever follows it
#   private_arrays, prepare     see define_task()
#   info            info arrays besides is_success and distance, see define_task()
#   camera          what the task sets of Gymnasium's default camera: distance, azimuth, elevation, lookat
cdef object define_goal_task(str name, const TaskFunctions* task, Model model, object config, tuple sizes,
                             bytes options, dict camera, dict info=*, private_arrays=*, PrepareFunction prepare=*)
