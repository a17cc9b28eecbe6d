"""HalfCheetah: a two-legged runner in a plane (Wawrzynski, 2009).

Source of the dynamics: ``gymnasium.envs.mujoco.half_cheetah_v5`` and ``half_cheetah_v4``; v3 is v4.
"""

from libc.stdint cimport int32_t

from envpool.mujoco.base.model cimport Model
from envpool.mujoco.base.simulation cimport Outcome, Sim, Task
from envpool.mujoco.gym.common cimport (
    Own, define_gym_task, dt, model_of, put_state, require, reset_normal, seed_one, simulate, sum_of_squares,
)

from envpool.mujoco.base.opengl import MujocoTask
from envpool.mujoco.gym.options import COMMON, finite, scale

cdef struct Options:
    double forward_reward_weight
    double ctrl_cost_weight
    double reset_noise_scale
    int32_t skipped             # leading positions that are not observed

cdef enum:
    X_POSITION, X_VELOCITY, FORWARD, CTRL

INFO = {
    "reward_run": FORWARD,
    "reward_forward": FORWARD,
    "reward_ctrl": CTRL,
    "x_position": X_POSITION,
    "x_velocity": X_VELOCITY,
}


cdef int reset(Sim* s) noexcept nogil:
    cdef const Options* o = <const Options*>s.options
    reset_normal(s, o.reset_noise_scale)
    s.info[X_POSITION] = s.data.qpos[0]
    return 0


cdef int step(Sim* s, const double* action, Outcome* out) noexcept nogil:
    cdef const Options* o = <const Options*>s.options
    cdef double before = s.data.qpos[0], ctrl_cost
    simulate(s, action)
    s.info[X_POSITION] = s.data.qpos[0]
    s.info[X_VELOCITY] = (s.data.qpos[0] - before) / dt(s)
    s.info[FORWARD] = o.forward_reward_weight * s.info[X_VELOCITY]
    ctrl_cost = o.ctrl_cost_weight * sum_of_squares(action, s.config.num_actions)
    s.info[CTRL] = -ctrl_cost
    out.reward = s.info[FORWARD] - ctrl_cost
    out.terminated = False
    return 0


cdef void observe(const Sim* s, double* out) noexcept nogil:
    put_state(out, s, (<const Options*>s.options).skipped)


cdef Task TASK = Task(sizeof(Own), seed_one, reset, step, observe)


class GymHalfCheetah(MujocoTask):
    """A runner with two legs and six hinges, in a plane.

    Observation float64 (17,): positions without the first one, velocities. Action float64 (6,): torques in [-1, 1].
    Reward: forward velocity, less the cost of control. Episodes end by the time limit only.

    Options
    -------
    forward_reward_weight, ctrl_cost_weight : float
        Weights of velocity (m/s) and of the sum of squared actions.
    reset_noise_scale : float
        Spread of the first state: uniform for positions, normal for velocities.
    exclude_current_positions_from_observation : bool
        Whether the observation lacks the x-coordinate.
    """

    options = COMMON | {
        "reward_threshold": 4800.0,
        "frame_skip": 5,
        "exclude_current_positions_from_observation": True,
        "xml_file": "half_cheetah.xml",
        "ctrl_cost_weight": 0.1,
        "forward_reward_weight": 1.0,
        "reset_noise_scale": 0.1,
    }

    @staticmethod
    def build(config):
        """Return the capsule of this kind."""
        cdef Options o
        cdef Model model = model_of(config)
        require(model, 1, 1)
        o.forward_reward_weight, o.ctrl_cost_weight = finite(config, "forward_reward_weight", "ctrl_cost_weight")
        o.reset_noise_scale = scale(config)
        o.skipped = config.exclude_current_positions_from_observation
        observation = {"obs": (model.m.nq + model.m.nv - o.skipped,)}
        return define_gym_task(
            "GymHalfCheetah", &TASK, model, config, observation, INFO,
            (<const char*>&o)[:sizeof(Options)], {"distance": 4.0},
        )
