"""InvertedDoublePendulum: two poles, one on top of the other, on a cart.

Source of the dynamics: ``gymnasium.envs.mujoco.inverted_double_pendulum_v5`` and ``inverted_double_pendulum_v4``; v2
equals v4.
"""

from libc.math cimport cos, pow, sin
from libc.stdint cimport int32_t

from envpool.mujoco.gym.common cimport (
    Model, Outcome, Sim, TaskFunctions, TaskState, define_gym_task, is_valid, load_gym_model, put_clipped, reset_normal,
    seed, simulate,
)

from envpool._support.text import shown
from envpool.errors import ConfigError
from envpool.mujoco.base.env_definition import MujocoEnvDefinition
from envpool.mujoco.gym.options import gym_options, limits, scale, weights

cdef struct Options:
    double healthy_reward
    double reset_noise_scale
    double tip_height           # an episode terminates when the tip is at this height or below (m)
    double observation_min      # velocities and constraint forces are clipped
    double observation_max
    int32_t constraint_forces   # number of observed forces
    bint if_not_terminated      # the terminating step gets no healthy_reward

cdef enum:
    SURVIVE, DISTANCE, VELOCITY

INFO = {"reward_survive": SURVIVE, "distance_penalty": DISTANCE, "velocity_penalty": VELOCITY}


cdef int reset(Sim* s) noexcept nogil:
    reset_normal(s, (<const Options*>s.options).reset_noise_scale)
    return 0


cdef int step(Sim* s, const double* action, Outcome* out) noexcept nogil:
    cdef const Options* o = <const Options*>s.options
    cdef const double* tip = s.data.site_xpos
    cdef double distance, velocity
    simulate(s, action)
    out.terminated = tip[2] <= o.tip_height
    distance = 0.01 * pow(tip[0], 2.0) + pow(tip[2] - 2.0, 2.0)
    velocity = 1e-3 * pow(s.data.qvel[1], 2.0) + 5e-3 * pow(s.data.qvel[2], 2.0)
    s.info[SURVIVE] = o.healthy_reward * <double>(not (out.terminated and o.if_not_terminated))
    s.info[DISTANCE] = -distance
    s.info[VELOCITY] = -velocity
    out.reward = s.info[SURVIVE] - distance - velocity
    return 0


cdef void observe(const Sim* s, double* out) noexcept nogil:
    cdef const Options* o = <const Options*>s.options
    cdef int32_t i, angles = s.model.nq - 1
    out[0] = s.data.qpos[0]
    for i in range(1, angles + 1):
        out[i] = sin(s.data.qpos[i])
        out[angles + i] = cos(s.data.qpos[i])
    out = put_clipped(out + 1 + 2 * angles, s.data.qvel, s.model.nv, o.observation_min, o.observation_max)
    put_clipped(out, s.data.qfrc_constraint, o.constraint_forces, o.observation_min, o.observation_max)


cdef TaskFunctions TASK = TaskFunctions(sizeof(TaskState), seed, reset, step, observe, is_valid, NULL, NULL)


V4_CAMERA = {"distance": 4.1225, "lookat": (0.0, 0.0, 0.12250000000000005)}


class GymInvertedDoublePendulum(MujocoEnvDefinition):
    """Two poles on a cart.

    Observation float64 (9,): position of the cart, sines and cosines of the angles, velocities, and constraint forces.
    Action float64 (1,): force on the cart in [-1, 1]. Reward: ``healthy_reward``, minus penalties for the distance of
    the tip from its highest position and for the velocities of the poles. An episode terminates when the tip is too
    low. docs/mujoco.md describes the other options.

    Options
    -------
    healthy_reward : float
        Reward of a step before the penalties, by default 10.0.
    reward_if_not_terminated : bool
        If True, the default from v5 on, the terminating step gets no ``healthy_reward``.
    constraint_obs_dim : int
        Number of observed constraint forces: 1 by default, 3 before v5.
    healthy_z_max : float
        Height (m) at or below which the tip terminates the episode, by default 1.0.
    observation_min, observation_max : float
        Observed velocities and forces are clipped to this interval, by default [-10.0, 10.0].
    """

    refuses_nan = False     # The reward does not depend on the action, and MuJoCo replaces the control by zero.
    options = gym_options(
        reward_threshold=9100.0, frame_skip=5, healthy_reward=10.0, reward_if_not_terminated=True,
        constraint_obs_dim=1, xml_file="inverted_double_pendulum.xml", healthy_z_max=1.0,
        observation_min=-10.0, observation_max=10.0, reset_noise_scale=0.1,
    )

    @staticmethod
    def build(config):
        cdef Options o
        cdef Model model = load_gym_model(config, 1, 3, 1)
        if not 0 <= config.constraint_obs_dim <= model.m.nv:
            raise ConfigError(
                f"constraint_obs_dim must be between 0 and {model.m.nv}, got {shown(config.constraint_obs_dim)}"
            )
        o.healthy_reward, o.tip_height = weights(config, "healthy_reward", "healthy_z_max")
        o.reset_noise_scale = scale(config)
        o.observation_min, o.observation_max = limits(config, None, "observation_min", "observation_max")
        o.constraint_forces = config.constraint_obs_dim
        o.if_not_terminated = config.reward_if_not_terminated
        size = 2 * model.m.nq - 1 + model.m.nv + o.constraint_forces
        camera = {} if config.gymnasium_v5_render_camera else V4_CAMERA
        return define_gym_task(
            "GymInvertedDoublePendulum", &TASK, model, config, size, INFO, &o, sizeof(o), camera
        )
