"""Pusher: an arm of seven joints that has to push a cylinder to a goal.

Source of the dynamics: ``gymnasium.envs.mujoco.pusher_v5`` and ``pusher_v4``. Gymnasium refuses to run v4 with MuJoCo
3; here v4 is Gymnasium's code run with the MuJoCo of this package. v2 equals v4.
"""

from libc.math cimport sqrt
from libc.stdint cimport int32_t

from envpool.mujoco.gym.common cimport (
    Model, Outcome, Sim, TaskFunctions, TaskState, body_id, define_gym_task, ep_uniform, is_valid, load_gym_model,
    mj_forward, put, put_difference, rng_of, sample_uniform_velocities, seed, step_rewarded, sum_of_squares,
)
from envpool.numerics.numpy_exact cimport np_norm

from envpool.errors import ConfigError
from envpool.mujoco.base.env_definition import MujocoEnvDefinition
from envpool.mujoco.gym.options import either, gym_options, scale

cdef struct Options:
    double ctrl_cost_weight
    double dist_cost_weight
    double near_cost_weight
    double qvel_scale
    double x_min                # the cylinder starts in this rectangle
    double x_max
    double y_min
    double y_max
    double distance_min         # lowest distance of the cylinder from the goal, exclusive (m)
    int32_t cylinder            # ids of bodies
    int32_t tip
    int32_t goal
    bint reward_after_step
    bint weighted_info          # info reports the terms of the reward times their weights

cdef enum:
    DIST, CTRL, NEAR

INFO = {"reward_dist": DIST, "reward_ctrl": CTRL, "reward_near": NEAR}


cdef int reset(Sim* s) noexcept nogil:
    """Samples the position of the cylinder. The last four positions are its own, and those of the goal, zero."""
    cdef const Options* o = <const Options*>s.options
    cdef double* cylinder = s.data.qpos + s.model.nq - 4
    cdef int32_t i
    put(s.data.qpos, s.model.qpos0, s.model.nq)
    while True:
        cylinder[0] = ep_uniform(rng_of(s), o.x_min, o.x_max)
        cylinder[1] = ep_uniform(rng_of(s), o.y_min, o.y_max)
        if np_norm(cylinder, 2) > o.distance_min:
            break
    cylinder[2] = 0
    cylinder[3] = 0
    sample_uniform_velocities(s, o.qvel_scale)
    for i in range(s.model.nv - 4, s.model.nv):
        s.data.qvel[i] = 0
    mj_forward(s.model, s.data)
    return 0


cdef inline double distance(const Sim* s, int32_t body, int32_t other) noexcept nogil:
    cdef double[3] difference
    put_difference(difference, s.data.xpos + 3 * body, s.data.xpos + 3 * other)
    return np_norm(difference, 3)


cdef void compute_reward(Sim* s, const double* action, Outcome* out) noexcept nogil:
    cdef const Options* o = <const Options*>s.options
    cdef double near = -distance(s, o.cylinder, o.tip)
    cdef double dist = -distance(s, o.cylinder, o.goal)
    cdef double ctrl = -sum_of_squares(action, s.config.num_actions)
    cdef double weighted_near = near * o.near_cost_weight
    cdef double weighted_dist = dist * o.dist_cost_weight
    cdef double weighted_ctrl = ctrl * o.ctrl_cost_weight
    s.info[NEAR] = weighted_near if o.weighted_info else near
    s.info[DIST] = weighted_dist if o.weighted_info else dist
    s.info[CTRL] = weighted_ctrl if o.weighted_info else ctrl
    out.reward = weighted_dist + weighted_ctrl + weighted_near


cdef int step(Sim* s, const double* action, Outcome* out) noexcept nogil:
    return step_rewarded(s, action, out, (<const Options*>s.options).reward_after_step, compute_reward)


cdef void observe(const Sim* s, double* out) noexcept nogil:
    cdef const Options* o = <const Options*>s.options
    out = put(out, s.data.qpos, 7)
    out = put(out, s.data.qvel, 7)
    out = put(out, s.data.xpos + 3 * o.tip, 3)
    out = put(out, s.data.xpos + 3 * o.cylinder, 3)
    put(out, s.data.xpos + 3 * o.goal, 3)


cdef TaskFunctions TASK = TaskFunctions(sizeof(TaskState), seed, reset, step, observe, is_valid, NULL, NULL)


class GymPusher(MujocoEnvDefinition):
    """An arm with shoulder, elbow and wrist, and a cylinder on a table.

    Observation float64 (23,): positions and velocities of the joints, positions of fingertip, cylinder and goal. Action
    float64 (7,): torques in [-2, 2]. The reward is negative: the distance from the fingertip to the cylinder, that from
    the cylinder to the goal, and the cost of control. Episodes end at the time limit only.

    Options
    -------
    ctrl_cost_weight, dist_cost_weight, near_cost_weight : float
        Weights of the sum of squared actions (0.1 by default), of the distance (m) from cylinder to goal (1.0) and of
        that from fingertip to cylinder (0.5). Synonyms are ``reward_control_weight``, ``reward_dist_weight`` and
        ``reward_near_weight``.
    reward_after_step : bool
        If True, the default from v5 on, the reward uses the distances after the step, otherwise those before it.
    weighted_reward_info : bool
        If True, the default from v5 on, info reports the terms of the reward times their weights.
    reset_qvel_scale : float
        Half the width of the uniform distribution of the initial velocities, by default 0.005.
    cylinder_x_min, cylinder_x_max, cylinder_y_min, cylinder_y_max : float
        The rectangle (m) in which the cylinder starts.
    cylinder_dist_min : float
        The cylinder starts farther than this from the goal (m), by default 0.17.
    """

    options = gym_options(
        reward_threshold=0.0, frame_skip=5, ctrl_cost_weight=0.1, reward_control_weight=None, dist_cost_weight=1.0,
        reward_dist_weight=None, near_cost_weight=0.5, reward_near_weight=None, xml_file="pusher_v5.xml",
        reward_after_step=True, weighted_reward_info=True, reset_qvel_scale=0.005, cylinder_x_min=-0.3,
        cylinder_x_max=0.0, cylinder_y_min=-0.2, cylinder_y_max=0.2, cylinder_dist_min=0.17,
    )

    @staticmethod
    def build(config):
        cdef Options o
        cdef Model model = load_gym_model(config, 11, 11)
        o.ctrl_cost_weight = either(config, "reward_control_weight", "ctrl_cost_weight")
        o.dist_cost_weight = either(config, "reward_dist_weight", "dist_cost_weight")
        o.near_cost_weight = either(config, "reward_near_weight", "near_cost_weight")
        o.qvel_scale = scale(config, "reset_qvel_scale")
        o.x_min, o.x_max, o.distance_min = config.cylinder_x_min, config.cylinder_x_max, config.cylinder_dist_min
        o.y_min, o.y_max = config.cylinder_y_min, config.cylinder_y_max
        for low, high, axis in ((o.x_min, o.x_max, "x"), (o.y_min, o.y_max, "y")):
            if not 0 <= high - low <= 1e100:
                raise ConfigError(
                    f"cylinder_{axis}_max must be between cylinder_{axis}_min and cylinder_{axis}_min + 1e100, got "
                    f"cylinder_{axis}_min={low} and cylinder_{axis}_max={high}"
                )
        # Starts are sampled until one is far enough, which would take forever if only a tiny corner is.
        farthest = sqrt(max(o.x_min ** 2, o.x_max ** 2) + max(o.y_min ** 2, o.y_max ** 2))
        if o.distance_min > 0.99 * farthest:
            raise ConfigError(
                f"cylinder_dist_min must be at most {0.99 * farthest}, 0.99 times the distance of the farthest corner "
                f"of the rectangle in which the cylinder starts, got {o.distance_min}"
            )
        o.cylinder = body_id(model, "object")
        o.tip = body_id(model, "tips_arm")
        o.goal = body_id(model, "goal")
        o.reward_after_step = config.reward_after_step
        o.weighted_info = config.weighted_reward_info
        return define_gym_task("GymPusher", &TASK, model, config, 23, INFO, &o, sizeof(o), {"distance": 4.0})
