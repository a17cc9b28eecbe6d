"""InvertedPendulum: a pole on a cart, moved by a force (Barto, Sutton and Anderson, 1983).

Source of the dynamics: ``gymnasium.envs.mujoco.inverted_pendulum_v5`` and ``inverted_pendulum_v4``; v2 is v4.
"""


from envpool.mujoco.base.model cimport Model
from envpool.mujoco.base.simulation cimport Outcome, Sim, Task
from envpool.mujoco.gym.common cimport (
    Own, define_gym_task, is_finite, model_of, put_state, require, reset_uniform, seed_one, simulate,
)

from envpool.mujoco.base.opengl import MujocoTask
from envpool.mujoco.gym.options import COMMON, finite, limits, scale

cdef struct Options:
    double healthy_reward
    double reset_noise_scale
    double angle_min            # inclusive
    double angle_max
    bint if_not_terminated      # no reward for the last step

cdef enum:
    SURVIVE

INFO = {"reward_survive": SURVIVE}


cdef int reset(Sim* s) noexcept nogil:
    cdef const Options* o = <const Options*>s.options
    reset_uniform(s, o.reset_noise_scale)
    return 0


cdef bint is_healthy(const Sim* s, const Options* o) noexcept nogil:
    return is_finite(s) and o.angle_min <= s.data.qpos[1] <= o.angle_max


cdef int step(Sim* s, const double* action, Outcome* out) noexcept nogil:
    cdef const Options* o = <const Options*>s.options
    simulate(s, action)
    out.terminated = not is_healthy(s, o)
    s.info[SURVIVE] = 0 if out.terminated and o.if_not_terminated else o.healthy_reward
    out.reward = s.info[SURVIVE]
    return 0


cdef void observe(const Sim* s, double* out) noexcept nogil:
    put_state(out, s, 0)


cdef Task TASK = Task(sizeof(Own), seed_one, reset, step, observe)


class GymInvertedPendulum(MujocoTask):
    """A pole on a cart.

    Observation float64 (4,): position of the cart, angle of the pole, and their velocities. Action float64 (1,): force
    on the cart in [-3, 3]. An episode ends when the pole leans too far.

    Options
    -------
    healthy_reward : float
        Reward of a step.
    reward_if_not_terminated : bool
        Whether the last step of an episode that ends so has no reward, as from v5 on.
    healthy_z_min, healthy_z_max : float
        Angles (rad) from and to which the pole may lean, with the ends.
    reset_noise_scale : float
        Half the width of the uniform distribution of the first state.
    """

    options = COMMON | {
        "reward_threshold": 950.0,
        "frame_skip": 2,
        "healthy_reward": 1.0,
        "reward_if_not_terminated": True,
        "xml_file": "inverted_pendulum.xml",
        "healthy_z_min": -0.2,
        "healthy_z_max": 0.2,
        "reset_noise_scale": 0.01,
    }

    @staticmethod
    def build(config):
        """Return the capsule of this kind."""
        cdef Options o
        cdef Model model = model_of(config)
        require(model, 2, 1)
        (o.healthy_reward,) = finite(config, "healthy_reward")
        o.reset_noise_scale = scale(config)
        o.angle_min, o.angle_max = limits(config, None, "healthy_z_min", "healthy_z_max")
        o.if_not_terminated = config.reward_if_not_terminated
        observation = {"obs": (model.m.nq + model.m.nv,)}
        return define_gym_task(
            "GymInvertedPendulum", &TASK, model, config, observation, INFO,
            (<const char*>&o)[:sizeof(Options)], {"distance": 2.04},
        )
