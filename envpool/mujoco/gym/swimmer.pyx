"""Swimmer: a chain of links in a viscous fluid (Coulom, 2002).

Source of the dynamics: ``gymnasium.envs.mujoco.swimmer_v5`` and ``swimmer_v4``; v3 is v4.
"""

from libc.stdint cimport int32_t

from envpool.numerics.numpy_exact cimport np_norm
from envpool.mujoco.base.model cimport Model
from envpool.mujoco.base.simulation cimport Outcome, Sim, Task
from envpool.mujoco.gym.common cimport (
    Own, define_gym_task, dt, model_of, put_state, require, reset_uniform, seed_one, simulate, sum_of_squares,
)

from envpool.mujoco.base.opengl import MujocoTask
from envpool.mujoco.gym.options import COMMON, finite, scale

cdef struct Options:
    double forward_reward_weight
    double ctrl_cost_weight
    double reset_noise_scale
    int32_t skipped             # leading positions that are not observed

cdef enum:
    X_POSITION, Y_POSITION, DISTANCE, X_VELOCITY, Y_VELOCITY, FORWARD, CTRL

INFO = {
    "reward_fwd": FORWARD,
    "reward_forward": FORWARD,
    "forward_reward": FORWARD,
    "reward_ctrl": CTRL,
    "x_position": X_POSITION,
    "y_position": Y_POSITION,
    "distance_from_origin": DISTANCE,
    "x_velocity": X_VELOCITY,
    "y_velocity": Y_VELOCITY,
}


cdef inline void tell_position(Sim* s) noexcept nogil:
    s.info[X_POSITION] = s.data.qpos[0]
    s.info[Y_POSITION] = s.data.qpos[1]
    s.info[DISTANCE] = np_norm(s.data.qpos, 2)


cdef int reset(Sim* s) noexcept nogil:
    cdef const Options* o = <const Options*>s.options
    reset_uniform(s, o.reset_noise_scale)
    tell_position(s)
    return 0


cdef int step(Sim* s, const double* action, Outcome* out) noexcept nogil:
    cdef const Options* o = <const Options*>s.options
    cdef double x = s.data.qpos[0], y = s.data.qpos[1], ctrl_cost
    simulate(s, action)
    tell_position(s)
    s.info[X_VELOCITY] = (s.data.qpos[0] - x) / dt(s)
    s.info[Y_VELOCITY] = (s.data.qpos[1] - y) / dt(s)
    s.info[FORWARD] = o.forward_reward_weight * s.info[X_VELOCITY]
    ctrl_cost = o.ctrl_cost_weight * sum_of_squares(action, s.config.num_actions)
    s.info[CTRL] = -ctrl_cost
    out.reward = s.info[FORWARD] - ctrl_cost
    out.terminated = False
    return 0


cdef void observe(const Sim* s, double* out) noexcept nogil:
    put_state(out, s, (<const Options*>s.options).skipped)


cdef Task TASK = Task(sizeof(Own), seed_one, reset, step, observe)


class GymSwimmer(MujocoTask):
    """A swimmer of three links and two hinges, in a plane.

    Observation float64 (8,): positions without the first two, velocities. Action float64 (2,): torques in [-1, 1].
    Reward: forward velocity, less the cost of control. Episodes end by the time limit only.

    Options
    -------
    forward_reward_weight, ctrl_cost_weight : float
        Weights of velocity (m/s) and of the sum of squared actions.
    reset_noise_scale : float
        Half the width of the uniform distribution of the first state.
    exclude_current_positions_from_observation : bool
        Whether the observation lacks the coordinates x and y.
    """

    options = COMMON | {
        "reward_threshold": 360.0,
        "frame_skip": 4,
        "exclude_current_positions_from_observation": True,
        "xml_file": "swimmer.xml",
        "forward_reward_weight": 1.0,
        "ctrl_cost_weight": 1e-4,
        "reset_noise_scale": 0.1,
    }

    @staticmethod
    def build(config):
        """Return the capsule of this kind."""
        cdef Options o
        cdef Model model = model_of(config)
        require(model, 2, 1)
        o.forward_reward_weight, o.ctrl_cost_weight = finite(config, "forward_reward_weight", "ctrl_cost_weight")
        o.reset_noise_scale = scale(config)
        o.skipped = 2 * config.exclude_current_positions_from_observation
        observation = {"obs": (model.m.nq + model.m.nv - o.skipped,)}
        return define_gym_task(
            "GymSwimmer", &TASK, model, config, observation, INFO,
            (<const char*>&o)[:sizeof(Options)], {},
        )
