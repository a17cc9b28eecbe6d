"""InvertedPendulum: a pole on a cart that is moved by a force (Barto, Sutton and Anderson, 1983).

Source of the dynamics: ``gymnasium.envs.mujoco.inverted_pendulum_v5`` and ``inverted_pendulum_v4``; v2 equals v4.
"""

from envpool.mujoco.gym.common cimport (
    Model, Outcome, Sim, TaskFunctions, TaskState, define_gym_task, is_finite, is_valid, load_gym_model, observe_state,
    reset_uniform, seed, simulate,
)

from envpool.mujoco.base.env_definition import MujocoEnvDefinition
from envpool.mujoco.gym.options import gym_options, limits, scale, weights

cdef struct Options:
    double healthy_reward
    double reset_noise_scale
    double angle_min            # inclusive, like the maximum (rad)
    double angle_max
    bint if_not_terminated      # the terminating step gets no reward

cdef enum:
    SURVIVE

INFO = {"reward_survive": SURVIVE}


cdef int reset(Sim* s) noexcept nogil:
    reset_uniform(s, (<const Options*>s.options).reset_noise_scale)
    return 0


cdef int step(Sim* s, const double* action, Outcome* out) noexcept nogil:
    cdef const Options* o = <const Options*>s.options
    simulate(s, action)
    out.terminated = not (is_finite(s) and o.angle_min <= s.data.qpos[1] <= o.angle_max)
    s.info[SURVIVE] = 0 if out.terminated and o.if_not_terminated else o.healthy_reward
    out.reward = s.info[SURVIVE]
    return 0


cdef TaskFunctions TASK = TaskFunctions(sizeof(TaskState), seed, reset, step, observe_state, is_valid, NULL, NULL)


class GymInvertedPendulum(MujocoEnvDefinition):
    """A pole on a cart.

    Observation float64 (4,): position of the cart, angle of the pole, and their velocities. Action float64 (1,): force
    on the cart in [-3, 3]. An episode terminates when the pole leans too far. docs/mujoco.md describes the other
    options.

    Options
    -------
    healthy_reward : float
        Reward of a step, by default 1.0.
    reward_if_not_terminated : bool
        If True, the default from v5 on, the terminating step gets no reward.
    healthy_z_min, healthy_z_max : float
        The pole may lean within this interval of angles (rad), both ends included; by default [-0.2, 0.2].
    """

    refuses_nan = False     # The reward does not depend on the action, and MuJoCo replaces the control by zero.
    options = gym_options(
        reward_threshold=950.0, frame_skip=2, healthy_reward=1.0, reward_if_not_terminated=True,
        xml_file="inverted_pendulum.xml", healthy_z_min=-0.2, healthy_z_max=0.2, reset_noise_scale=0.01,
    )

    @staticmethod
    def build(config):
        cdef Options o
        cdef Model model = load_gym_model(config, 2, 1)
        (o.healthy_reward,) = weights(config, "healthy_reward")
        o.reset_noise_scale = scale(config)
        o.angle_min, o.angle_max = limits(config, None, "healthy_z_min", "healthy_z_max")
        o.if_not_terminated = config.reward_if_not_terminated
        size = model.m.nq + model.m.nv
        camera = {"distance": 2.04}
        return define_gym_task("GymInvertedPendulum", &TASK, model, config, size, INFO, &o, sizeof(o), camera)
