"""Shared code of the Adroit hand tasks (Rajeswaran et al., 2018): actions, resets, sparse rewards, env definitions.

The module of a task takes everything that most tasks need from here. It contains a struct of options that begins with
an `Adroit`, `reset`, `step` and `observe`, and the class of the env definition.
"""

from libc.stddef cimport size_t
from libc.stdint cimport int32_t

from envpool.mujoco.robotics.goals cimport (
    MAX_DOFS, Model, Outcome, Sim, TaskFunctions, ep_pcg64, ep_uniform, mj_forward, mj_step, mjOBJ_BODY, mjOBJ_JOINT,
    mjOBJ_SENSOR, mjOBJ_SITE, private_array, put, put_difference, required, rng_of, seed, sensor_index,
)

cdef enum:
    MAX_ACTIONS = 64
    MAX_STATE = 80              # numbers of a state that a reset may be given

# Sim.task_state of these tasks, which begins as a TaskState.
cdef struct AdroitState:
    ep_pcg64 rng
    double lengths[2]           # of the pen and of the target (m), which AdroitHandPen measures after a reset
    double given[1 + MAX_STATE]  # nonzero in front: the next reset begins in this state, see begin()

# The first member of the struct of options of a task.
cdef struct Adroit:
    double middle[MAX_ACTIONS]  # of the range of each control
    double half[MAX_ACTIONS]    # half the width of the range
    bint is_sparse
    int32_t grasp               # id of the site in the palm
    int32_t nq                  # positions, and velocities, of the usual model
    int32_t state_size          # numbers of AdroitState.given that are in use

# The entries of Sim.info.
cdef enum:
    SUCCESS, DISTANCE


cdef inline AdroitState* adroit_state(const Sim* s) noexcept nogil:
    return <AdroitState*>s.task_state


cdef inline const double* site(const Sim* s, int32_t id) noexcept nogil:
    """Returns the position of a site (3)."""
    return s.data.site_xpos + 3 * id


# Returns np.linalg.norm(a - b) of two points.
cdef double distance(const double* a, const double* b) noexcept nogil
# Applies an action for frame_skip simulation steps.
cdef void simulate(Sim* s, const double* action) noexcept nogil
# Ends a reset. If it was given a state, the episode begins in that: positions, velocities, and `num_placed` and
# `num_more` elements of arrays of the model, which may be NULL. Returns 0, or the result of fail().
cdef int begin(Sim* s, double* placed, int32_t num_placed, double* more, int32_t num_more) noexcept nogil
# Reports the distance of an object from its goal (m or rad) and whether the task is solved. Returns whether the reward
# is still to be computed, since it is not sparse.
cdef bint report(Sim* s, double goal_distance, bint is_solved, Outcome* out) noexcept nogil

# ---- the env definition ----------------------------------------------------------------------------------------------

# TaskFunctions.is_valid.
cdef bint is_valid(const void* task_state) noexcept nogil
# Returns the compiled model of option xml_file with at least `nq` positions, and fills the struct. Raises ConfigError.
cdef Model load_adroit(Adroit* a, object config, int32_t nq)
# Returns the capsule of an env definition, see define_task().
#   size            numbers in an observation
#   sizes           see state_option() in adroit_states.py
#   options         the struct of options of the task (`options_size` bytes)
#   camera          what the task sets of Gymnasium's default camera: distance, azimuth
cdef object define_adroit(str name, const TaskFunctions* task, Model model, object config, int32_t size, dict sizes,
                          Adroit* options, size_t options_size, list private_arrays, dict camera)
