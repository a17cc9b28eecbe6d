"""Reacher: an arm of two links that has to touch a target.

Source of the dynamics: ``gymnasium.envs.mujoco.reacher_v5`` and ``reacher_v4``; v2 equals v4.
"""

from libc.math cimport cos, sin
from libc.stdint cimport int32_t

from envpool.mujoco.gym.common cimport (
    Model, Outcome, Sim, TaskFunctions, TaskState, body_id, define_gym_task, ep_uniform, is_valid, load_gym_model,
    mj_forward, put, put_difference, rng_of, sample_positions, sample_uniform_velocities, seed, step_rewarded,
    sum_of_squares,
)
from envpool.numerics.numpy_exact cimport np_norm

from envpool.mujoco.base.env_definition import MujocoEnvDefinition
from envpool.mujoco.gym.options import either, gym_options, scale

cdef struct Options:
    double ctrl_cost_weight
    double dist_cost_weight
    double qpos_scale
    double qvel_scale
    double goal_scale
    int32_t fingertip           # ids of bodies
    int32_t target
    int32_t distances           # number of observed coordinates of the vector between them
    bint reward_after_step

cdef enum:
    DIST, CTRL

INFO = {"reward_dist": DIST, "reward_ctrl": CTRL}


cdef int reset(Sim* s) noexcept nogil:
    cdef const Options* o = <const Options*>s.options
    cdef double* goal = s.data.qpos + s.model.nq - 2
    sample_positions(s, o.qpos_scale)
    while True:
        goal[0] = ep_uniform(rng_of(s), -o.goal_scale, o.goal_scale)
        goal[1] = ep_uniform(rng_of(s), -o.goal_scale, o.goal_scale)
        if np_norm(goal, 2) < o.goal_scale:
            break
    sample_uniform_velocities(s, o.qvel_scale)
    s.data.qvel[s.model.nv - 2] = 0
    s.data.qvel[s.model.nv - 1] = 0
    mj_forward(s.model, s.data)
    return 0


cdef void compute_reward(Sim* s, const double* action, Outcome* out) noexcept nogil:
    cdef const Options* o = <const Options*>s.options
    cdef double[3] distance
    put_difference(distance, s.data.xpos + 3 * o.fingertip, s.data.xpos + 3 * o.target)
    s.info[DIST] = -np_norm(distance, 3) * o.dist_cost_weight
    s.info[CTRL] = -sum_of_squares(action, s.config.num_actions) * o.ctrl_cost_weight
    out.reward = s.info[DIST] + s.info[CTRL]


cdef int step(Sim* s, const double* action, Outcome* out) noexcept nogil:
    return step_rewarded(s, action, out, (<const Options*>s.options).reward_after_step, compute_reward)


cdef void observe(const Sim* s, double* out) noexcept nogil:
    cdef const Options* o = <const Options*>s.options
    cdef double[3] distance
    cdef int32_t i
    for i in range(2):
        out[i] = cos(s.data.qpos[i])
        out[2 + i] = sin(s.data.qpos[i])
    out = put(out + 4, s.data.qpos + 2, s.model.nq - 2)
    out = put(out, s.data.qvel, 2)
    put_difference(distance, s.data.xpos + 3 * o.fingertip, s.data.xpos + 3 * o.target)
    put(out, distance, o.distances)


cdef TaskFunctions TASK = TaskFunctions(sizeof(TaskState), seed, reset, step, observe, is_valid, NULL, NULL)


class GymReacher(MujocoEnvDefinition):
    """An arm of two links in a plane, and a target.

    Observation float64 (10,): cosines and sines of the joints, coordinates of the target, velocities of the joints,
    x and y of the vector from target to fingertip. Action float64 (2,): torques in [-1, 1]. The reward is negative:
    the distance of the fingertip from the target and the cost of control. Episodes end at the time limit only.

    Options
    -------
    ctrl_cost_weight, dist_cost_weight : float
        Weights of the sum of squared actions and of the distance (m), by default 1.0. Synonyms are
        ``reward_control_weight`` and ``reward_dist_weight``.
    reward_after_step : bool
        If True, the default from v5 on, the reward uses the distance after the step, otherwise that before it.
    obs_include_z_distance : bool
        If True, the default before v5, z of the vector from target to fingertip is observed as well.
    reset_qpos_scale, reset_qvel_scale : float
        Half the widths of the uniform distributions of the initial positions (0.1 by default) and velocities (0.005).
    reset_goal_scale : float
        Radius (m) of the disc from which the target is sampled, by default 0.2.
    """

    options = gym_options(
        reward_threshold=-3.75, frame_skip=2, ctrl_cost_weight=1.0, reward_control_weight=None, reward_after_step=True,
        obs_include_z_distance=False, dist_cost_weight=1.0, reward_dist_weight=None, xml_file="reacher.xml",
        reset_qpos_scale=0.1, reset_qvel_scale=0.005, reset_goal_scale=0.2,
    )

    @staticmethod
    def build(config):
        cdef Options o
        cdef Model model = load_gym_model(config, 4, 4)
        o.ctrl_cost_weight = either(config, "reward_control_weight", "ctrl_cost_weight")
        o.dist_cost_weight = either(config, "reward_dist_weight", "dist_cost_weight")
        o.qpos_scale = scale(config, "reset_qpos_scale")
        o.qvel_scale = scale(config, "reset_qvel_scale")
        o.goal_scale = scale(config, "reset_goal_scale", lowest=1e-100)
        o.fingertip = body_id(model, "fingertip")
        o.target = body_id(model, "target")
        o.distances = 3 if config.obs_include_z_distance else 2
        o.reward_after_step = config.reward_after_step
        size = 4 + model.m.nq + o.distances
        return define_gym_task("GymReacher", &TASK, model, config, size, INFO, &o, sizeof(o))
