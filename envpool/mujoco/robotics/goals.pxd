"""Shared code of the goal environments of Gymnasium-Robotics: goals, generators, distances, and their env definitions.

The module of a task takes what it needs from here. Its observation consists of ``observation``, ``achieved_goal`` and
``desired_goal``, in this order.
"""

from libc.stddef cimport size_t
from libc.stdint cimport int32_t

from envpool.env cimport envpool_params
from envpool.mujoco.base.calls cimport mj_forward, mj_step
from envpool.mujoco.base.definition cimport private_array, private_float_array
from envpool.mujoco.base.model cimport Model, run_scratch
from envpool.mujoco.base.mujoco cimport (
    mjData, mjModel, mjOBJ_BODY, mjOBJ_GEOM, mjOBJ_JOINT, mjOBJ_SENSOR, mjOBJ_SITE,
)
from envpool.mujoco.base.observations cimport put, put_difference, put_state
from envpool.mujoco.base.simulation cimport Outcome, Sim, TaskFunctions, fail
from envpool.mujoco.base.structs cimport PrepareFunction
from envpool.mujoco.gym.common cimport clip, put_clipped, rng_of, seed
from envpool.numerics.rng cimport ep_pcg64, ep_uniform

cdef enum:
    MAX_GOAL = 16               # numbers in a goal
    MAX_DOFS = 128              # degrees of freedom of a model whose site velocities are observed

# Sim.task_state of these tasks, which begins as a TaskState.
cdef struct GoalState:
    ep_pcg64 rng
    double goal[MAX_GOAL]

# TaskFunctions.is_valid.
cdef bint is_valid(const void* task_state) noexcept nogil

# The first entries of Sim.info of these tasks.
cdef enum:
    IS_SUCCESS, DISTANCE, OTHER_INFO


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

ctypedef int (*ParamsFunction)(void* state, const envpool_params* call) noexcept nogil

# Returns the capsule of a task with options of resets. They are parameters behind those of the model, which the two
# functions get and set as well.
cdef object with_reset_options(object capsule, dict options, ParamsFunction get_params,
                               ParamsFunction set_params)
