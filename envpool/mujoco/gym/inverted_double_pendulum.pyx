"""InvertedDoublePendulum: two poles, one on the other, on a cart.

Source of the dynamics: ``gymnasium.envs.mujoco.inverted_double_pendulum_v5`` and ``inverted_double_pendulum_v4``; v2 is
v4.
"""

from libc.math cimport cos, pow, sin
from libc.stdint cimport int32_t

from envpool.mujoco.base.model cimport Model
from envpool.mujoco.base.simulation cimport Outcome, Sim, Task
from envpool.mujoco.gym.common cimport (
    Own, define_gym_task, model_of, put_clipped, require, reset_normal, seed_one, simulate,
)

from envpool.errors import ConfigError
from envpool.mujoco.base.opengl import MujocoTask
from envpool.mujoco.gym.options import COMMON, finite, limits, scale

cdef struct Options:
    double healthy_reward
    double reset_noise_scale
    double tip_height           # at or below it an episode ends
    double observation_min      # velocities and constraint forces are clipped
    double observation_max
    int32_t constraint_forces   # how many are observed
    bint if_not_terminated      # no reward for the last step

cdef enum:
    SURVIVE, DISTANCE, VELOCITY

INFO = {"reward_survive": SURVIVE, "distance_penalty": DISTANCE, "velocity_penalty": VELOCITY}


cdef int reset(Sim* s) noexcept nogil:
    cdef const Options* o = <const Options*>s.options
    reset_normal(s, o.reset_noise_scale)
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


cdef Task TASK = Task(sizeof(Own), seed_one, reset, step, observe)


V4_CAMERA = {"distance": 4.1225, "lookat": (0.0, 0.0, 0.12250000000000005)}


class GymInvertedDoublePendulum(MujocoTask):
    """Two poles on a cart.

    Observation float64 (9,): position of the cart, sines and cosines of the angles, velocities, and constraint forces.
    Action float64 (1,): force on the cart in [-1, 1]. Reward: ``healthy_reward``, less penalties for the distance of
    the tip from its highest place and for the velocities of the poles. An episode ends when the tip is too low.

    Options
    -------
    healthy_reward : float
        See above.
    reward_if_not_terminated : bool
        Whether the last step of an episode that ends so lacks it, as from v5 on.
    constraint_obs_dim : int
        Number of constraint forces in the observation.
    healthy_z_max : float
        Height of the tip (m) at or below which an episode ends.
    observation_min, observation_max : float
        Observed velocities and forces are clipped to this.
    reset_noise_scale : float
        Spread of the first state: uniform for positions, normal for velocities.
    """

    options = COMMON | {
        "reward_threshold": 9100.0,
        "frame_skip": 5,
        "healthy_reward": 10.0,
        "reward_if_not_terminated": True,
        "constraint_obs_dim": 1,
        "xml_file": "inverted_double_pendulum.xml",
        "healthy_z_max": 1.0,
        "observation_min": -10.0,
        "observation_max": 10.0,
        "reset_noise_scale": 0.1,
    }

    @staticmethod
    def build(config):
        """Return the capsule of this kind."""
        cdef Options o
        cdef Model model = model_of(config)
        require(model, 1, 3, nsite=1)
        if not 0 <= config.constraint_obs_dim <= model.m.nv:
            raise ConfigError(f"constraint_obs_dim is {config.constraint_obs_dim}, allowed are 0 to {model.m.nv}")
        o.healthy_reward, o.tip_height = finite(config, "healthy_reward", "healthy_z_max")
        o.reset_noise_scale = scale(config)
        o.observation_min, o.observation_max = limits(config, None, "observation_min", "observation_max")
        o.constraint_forces = config.constraint_obs_dim
        o.if_not_terminated = config.reward_if_not_terminated
        observation = {"obs": (2 * model.m.nq - 1 + model.m.nv + o.constraint_forces,)}
        return define_gym_task(
            "GymInvertedDoublePendulum", &TASK, model, config, observation, INFO,
            (<const char*>&o)[:sizeof(Options)], {} if config.gymnasium_v5_render_camera else V4_CAMERA,
        )
