"""Hopper and Walker2d: one-legged and two-legged runners in a plane that may fall (Erez, Tassa and Todorov, 2011).

Source of the dynamics: ``gymnasium.envs.mujoco.hopper_v5``, ``walker2d_v5`` and their v4; v3 is v4.
"""

from libc.stdint cimport int32_t

from envpool.mujoco.base.model cimport Model
from envpool.mujoco.base.simulation cimport Outcome, Sim, Task
from envpool.mujoco.gym.common cimport (
    Own, define_gym_task, dt, model_of, put, put_clipped, require, reset_uniform, seed_one, simulate, sum_of_squares,
)

from envpool.mujoco.base.opengl import MujocoTask
from envpool.mujoco.gym.options import COMMON, finite, limits, scale

cdef struct Options:
    double forward_reward_weight
    double ctrl_cost_weight
    double healthy_reward
    double reset_noise_scale
    double state_min            # of everything but x and z, exclusive like the other ends
    double state_max
    double z_min
    double z_max
    double angle_min
    double angle_max
    double velocity_min         # observed velocities are clipped
    double velocity_max
    bint limits_state           # whether state_min and state_max count
    bint terminates             # when unhealthy
    bint legacy_healthy_reward  # given when unhealthy too, if that terminates
    int32_t skipped             # leading positions that are not observed

cdef enum:
    X_POSITION, Z_DISTANCE, X_VELOCITY, FORWARD, CTRL, SURVIVE

INFO = {
    "x_position": X_POSITION,
    "x_velocity": X_VELOCITY,
    "z_distance_from_origin": Z_DISTANCE,
    "reward_forward": FORWARD,
    "reward_ctrl": CTRL,
    "reward_survive": SURVIVE,
}


cdef inline void tell_position(Sim* s) noexcept nogil:
    s.info[X_POSITION] = s.data.qpos[0]
    s.info[Z_DISTANCE] = s.data.qpos[1] - s.model.qpos0[1]


cdef int reset(Sim* s) noexcept nogil:
    cdef const Options* o = <const Options*>s.options
    reset_uniform(s, o.reset_noise_scale)
    tell_position(s)
    return 0


cdef bint is_healthy(const Sim* s, const Options* o) noexcept nogil:
    cdef const double* q = s.data.qpos
    cdef const double* v = s.data.qvel
    cdef int32_t i
    if not (o.z_min < q[1] < o.z_max and o.angle_min < q[2] < o.angle_max):
        return False
    if o.limits_state:
        for i in range(2, s.model.nq):
            if not o.state_min < q[i] < o.state_max:
                return False
        for i in range(s.model.nv):
            if not o.state_min < v[i] < o.state_max:
                return False
    return True


cdef int step(Sim* s, const double* action, Outcome* out) noexcept nogil:
    cdef const Options* o = <const Options*>s.options
    cdef double before = s.data.qpos[0], ctrl_cost
    cdef bint healthy
    simulate(s, action)
    tell_position(s)
    healthy = is_healthy(s, o)
    s.info[X_VELOCITY] = (s.data.qpos[0] - before) / dt(s)
    s.info[FORWARD] = o.forward_reward_weight * s.info[X_VELOCITY]
    s.info[SURVIVE] = <double>(healthy or (o.legacy_healthy_reward and o.terminates)) * o.healthy_reward
    ctrl_cost = o.ctrl_cost_weight * sum_of_squares(action, s.config.num_actions)
    s.info[CTRL] = -ctrl_cost
    out.reward = s.info[FORWARD] + s.info[SURVIVE] - ctrl_cost
    out.terminated = not healthy and o.terminates
    return 0


cdef void observe(const Sim* s, double* out) noexcept nogil:
    cdef const Options* o = <const Options*>s.options
    out = put(out, s.data.qpos + o.skipped, s.model.nq - o.skipped)
    put_clipped(out, s.data.qvel, s.model.nv, o.velocity_min, o.velocity_max)


cdef Task TASK = Task(sizeof(Own), seed_one, reset, step, observe)


cdef object build_legged(str name, object config, bint limits_state, dict camera):
    cdef Options o
    cdef Model model = model_of(config)
    require(model, 3, 1)
    o.forward_reward_weight, o.ctrl_cost_weight, o.healthy_reward = finite(
        config, "forward_reward_weight", "ctrl_cost_weight", "healthy_reward"
    )
    o.reset_noise_scale = scale(config)
    o.limits_state = limits_state
    o.state_min = o.state_max = 0
    if limits_state:
        o.state_min, o.state_max = limits(config, "healthy_state_range", "healthy_state_min", "healthy_state_max")
    o.z_min, o.z_max = limits(config, "healthy_z_range", "healthy_z_min", "healthy_z_max")
    o.angle_min, o.angle_max = limits(config, "healthy_angle_range", "healthy_angle_min", "healthy_angle_max")
    o.velocity_min, o.velocity_max = limits(config, None, "velocity_min", "velocity_max")
    o.terminates = config.terminate_when_unhealthy
    o.legacy_healthy_reward = config.legacy_healthy_reward
    o.skipped = config.exclude_current_positions_from_observation
    observation = {"obs": (model.m.nq + model.m.nv - o.skipped,)}
    return define_gym_task(
        name, &TASK, model, config, observation, INFO, (<const char*>&o)[:sizeof(Options)], camera
    )


CAMERA = {"lookat": (0.0, 0.0, 1.15), "elevation": -20.0}
OPTIONS = COMMON | {
    "frame_skip": 4,
    "terminate_when_unhealthy": True,
    "legacy_healthy_reward": False,
    "exclude_current_positions_from_observation": True,
    "ctrl_cost_weight": 1e-3,
    "forward_reward_weight": 1.0,
    "healthy_reward": 1.0,
    "velocity_min": -10.0,
    "velocity_max": 10.0,
    "healthy_z_range": None,
    "healthy_angle_range": None,
    "reset_noise_scale": 5e-3,
}


class GymHopper(MujocoTask):
    """A leg of four links and three hinges, in a plane.

    Observation float64 (11,): positions without the first one, velocities. Action float64 (3,): torques in [-1, 1].
    Reward: forward velocity and ``healthy_reward``, less the cost of control. An episode ends when the hopper is
    unhealthy.

    Options
    -------
    forward_reward_weight, ctrl_cost_weight, healthy_reward : float
        Weights of velocity (m/s) and of the sum of squared actions, and the reward for a healthy step.
    healthy_z_range, healthy_angle_range, healthy_state_range : pair of float
        Where height (m), angle of the torso (rad), and all positions and velocities but x and z are healthy, without
        the ends. ``healthy_z_min``, ``healthy_z_max`` and the like give them one by one.
    terminate_when_unhealthy : bool
        Whether an episode ends then.
    legacy_healthy_reward : bool
        Whether the last step of such an episode has the reward too, as before v5.
    velocity_min, velocity_max : float
        Observed velocities are clipped to this.
    reset_noise_scale : float
        Half the width of the uniform distribution of the first state.
    exclude_current_positions_from_observation : bool
        Whether the observation lacks the x-coordinate.
    """

    options = OPTIONS | {
        "reward_threshold": 6000.0,
        "xml_file": "hopper.xml",
        "healthy_state_min": -100.0,
        "healthy_state_max": 100.0,
        "healthy_state_range": None,
        "healthy_angle_min": -0.2,
        "healthy_angle_max": 0.2,
        "healthy_z_min": 0.7,
        "healthy_z_max": float("inf"),
    }

    @staticmethod
    def build(config):
        """Return the capsule of this kind."""
        return build_legged("GymHopper", config, True, CAMERA | {"distance": 3.0})


class GymWalker2d(MujocoTask):
    """Two legs of three links each under a torso, in a plane.

    Observation float64 (17,): positions without the first one, velocities. Action float64 (6,): torques in [-1, 1].
    Reward: forward velocity and ``healthy_reward``, less the cost of control. An episode ends when the walker is
    unhealthy. Options: those of Hopper, but for ``healthy_state_range``.
    """

    options = OPTIONS | {
        "xml_file": "walker2d_v5.xml",
        "healthy_z_min": 0.8,
        "healthy_z_max": 2.0,
        "healthy_angle_min": -1.0,
        "healthy_angle_max": 1.0,
    }

    @staticmethod
    def build(config):
        """Return the capsule of this kind."""
        return build_legged("GymWalker2d", config, False, CAMERA | {"distance": 4.0})
