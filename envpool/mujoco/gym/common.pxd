"""The scaffold of Gymnasium's MuJoCo tasks: ``gymnasium.envs.mujoco.mujoco_env``, and what several tasks share.

The module of a task takes everything that most tasks need from here, including `Model`, `Outcome`, `Sim` and
`TaskFunctions`. It contains a struct of options, `reset`, `step` and `observe`, and the class of the env definition.
"""

from libc.math cimport isfinite
from libc.stddef cimport size_t
from libc.stdint cimport int32_t, uint64_t
from libc.string cimport memcpy

from envpool.mujoco.base.calls cimport mj_forward, mj_step
from envpool.mujoco.base.model cimport Model
from envpool.mujoco.base.observations cimport observe_state, put, put_difference, put_state
from envpool.mujoco.base.simulation cimport Outcome, Sim, TaskFunctions
from envpool.numerics.rng cimport ep_pcg64, ep_uniform

# Sim.task_state of all these tasks; that of other tasks with NumPy's Generator begins with it.
cdef struct TaskState:
    ep_pcg64 rng

# TaskFunctions.seed and TaskFunctions.is_valid.
cdef void seed(Sim* s, uint64_t value) noexcept nogil
cdef bint is_valid(const void* task_state) noexcept nogil

# ---- the env definition ----------------------------------------------------------------------------------------------

# Returns the compiled model of option xml_file, which must have at least `nq` positions, `nv` velocities and `nsite`
# sites. Raises ConfigError.
cdef Model load_gym_model(object config, int nq, int nv, int nsite=*)
# Returns the id of a body, given by its name or its id, or raises ConfigError.
cdef int32_t body_id(Model model, object body) except -1
# Returns the lowest and the highest control of each actuator: float64 (2, nu).
cdef object action_range_of(Model model)
# Returns the capsule of an env definition, see define_task().
#   observation_size    numbers in an observation
#   options             the struct of options of the task (`options_size` bytes)
#   camera              what the task sets of Gymnasium's default camera: distance, elevation, lookat
cdef object define_gym_task(str name, const TaskFunctions* task, Model model, object config, int32_t observation_size,
                            dict info, const void* options, size_t options_size, dict camera=*)

# ---- resets ----------------------------------------------------------------------------------------------------------

cdef inline ep_pcg64* rng_of(Sim* s) noexcept nogil:
    return &(<TaskState*>s.task_state).rng


cdef inline void sample_positions(Sim* s, double scale) noexcept nogil:
    """Sets the positions to the initial ones plus uniform noise from [-scale, scale)."""
    cdef int32_t i
    for i in range(s.model.nq):
        s.data.qpos[i] = s.model.qpos0[i] + ep_uniform(rng_of(s), -scale, scale)


cdef inline void sample_uniform_velocities(Sim* s, double scale) noexcept nogil:
    cdef int32_t i
    for i in range(s.model.nv):
        s.data.qvel[i] = 0.0 + ep_uniform(rng_of(s), -scale, scale)


cdef inline void reset_uniform(Sim* s, double scale) noexcept nogil:
    sample_positions(s, scale)
    sample_uniform_velocities(s, scale)
    mj_forward(s.model, s.data)


# As reset_uniform(), with velocities from a normal distribution. It is not inline, so that NumPy's library of
# distributions is linked once.
cdef void reset_normal(Sim* s, double noise_scale) noexcept nogil

# ---- steps -----------------------------------------------------------------------------------------------------------

cdef inline void simulate(Sim* s, const double* action) noexcept nogil:
    """Applies the action for frame_skip simulation steps."""
    cdef int32_t _k
    memcpy(s.data.ctrl, action, s.config.num_actions * sizeof(double))
    for _k in range(s.config.frame_skip):
        mj_step(s.model, s.data)


cdef inline int step_rewarded(Sim* s, const double* action, Outcome* out, bint after,
                              void (*compute_reward)(Sim* s, const double* action, Outcome* out) noexcept nogil
                              ) noexcept nogil:
    """Steps a task that never terminates; its reward depends on the state after the step, or else before it."""
    if not after:
        compute_reward(s, action, out)
    simulate(s, action)
    if after:
        compute_reward(s, action, out)
    out.terminated = False
    return 0


cdef inline bint is_finite(const Sim* s) noexcept nogil:
    """Returns whether all positions and velocities are finite."""
    cdef int32_t i
    for i in range(s.model.nq):
        if not isfinite(s.data.qpos[i]):
            return False
    for i in range(s.model.nv):
        if not isfinite(s.data.qvel[i]):
            return False
    return True


cdef inline double dt(const Sim* s) noexcept nogil:
    """Returns the duration of a step (s)."""
    return s.model.opt.timestep * s.config.frame_skip


cdef inline double clip(double x, double low, double high) noexcept nogil:
    """Returns np.clip(x, low, high); NaN stays NaN."""
    x = low if x < low else x
    return high if x > high else x


# Returns np.sum(np.square(np.clip(x, low, high))) of a contiguous array. Infinite limits clip nothing.
cdef double sum_of_squares(const double* x, int32_t n, double low=*, double high=*) noexcept nogil

# ---- locomotion ------------------------------------------------------------------------------------------------------

# Options of the tasks that reward forward velocity.
cdef struct Locomotion:
    double forward_reward_weight
    double ctrl_cost_weight
    double reset_noise_scale
    int32_t skipped             # number of leading positions that are not observed

# Fills the struct. `hidden` is the number of positions that exclude_current_positions_from_observation excludes.
cdef int read_locomotion(Locomotion* l, object config, int hidden) except -1

# Options of the tasks that end when the robot becomes unhealthy.
cdef struct Health:
    double reward
    double z_min
    double z_max
    bint terminates             # when unhealthy
    bint legacy_reward          # the terminating step is rewarded like a healthy one

cdef int read_health(Health* h, object config) except -1


cdef inline double survive_reward(const Health* h, bint is_healthy) noexcept nogil:
    return <double>(is_healthy or (h.legacy_reward and h.terminates)) * h.reward


# The first entries of Sim.info of the tasks that call reward_planar_run().
cdef enum:
    X_VELOCITY, FORWARD, CTRL, OTHER_INFO


cdef inline double reward_planar_run(Sim* s, const Locomotion* l, const double* action, double x_before) noexcept nogil:
    """Writes the velocity along x, its reward and the cost of control to info; returns the cost."""
    cdef double ctrl_cost
    s.info[X_VELOCITY] = (s.data.qpos[0] - x_before) / dt(s)
    s.info[FORWARD] = l.forward_reward_weight * s.info[X_VELOCITY]
    ctrl_cost = l.ctrl_cost_weight * sum_of_squares(action, s.config.num_actions)
    s.info[CTRL] = -ctrl_cost
    return ctrl_cost


cdef inline int finish_run(Sim* s, const double* action, double x_before, Outcome* out) noexcept nogil:
    """Ends the step of a task whose reward is that of planar running and that never terminates."""
    cdef double ctrl_cost = reward_planar_run(s, <const Locomotion*>s.options, action, x_before)
    out.reward = s.info[FORWARD] - ctrl_cost
    out.terminated = False
    return 0


# ---- observations ----------------------------------------------------------------------------------------------------

cdef inline double* put_clipped(double* to, const double* values, int32_t n, double low, double high) noexcept nogil:
    cdef int32_t i
    for i in range(n):
        to[i] = clip(values[i], low, high)
    return to + n


# TaskFunctions.observe of tasks whose options are a Locomotion.
cdef void observe_locomotion(const Sim* s, double* out) noexcept nogil
