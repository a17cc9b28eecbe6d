"""Hopper and Walker2d: one-legged and two-legged robots that walk in a plane and may fall (Erez, Tassa, Todorov, 2011).

Source of the dynamics: ``gymnasium.envs.mujoco.hopper_v5``, ``walker2d_v5`` and their v4; v3 equals v4.
"""

from libc.stdint cimport int32_t

from envpool.mujoco.gym.common cimport (
    CTRL, FORWARD, OTHER_INFO, X_VELOCITY, Health, Locomotion, Model, Outcome, Sim, TaskFunctions, TaskState,
    define_gym_task, is_valid, load_gym_model, put, put_clipped, read_health, read_locomotion, reset_uniform,
    reward_planar_run, seed, simulate, survive_reward,
)

from envpool.mujoco.base.env_definition import MujocoEnvDefinition
from envpool.mujoco.gym.options import gym_options, limits

# The ends of all intervals of healthy values are exclusive.
cdef struct Options:
    Locomotion locomotion
    Health health
    bint limits_state           # state_min and state_max apply
    double state_min            # of all velocities, and of all positions but x and z
    double state_max
    double angle_min            # of the torso
    double angle_max
    double velocity_min         # observed velocities are clipped
    double velocity_max

cdef enum:
    X_POSITION = OTHER_INFO
    Z_DISTANCE, SURVIVE

INFO = {
    "x_position": X_POSITION, "x_velocity": X_VELOCITY, "z_distance_from_origin": Z_DISTANCE,
    "reward_forward": FORWARD, "reward_ctrl": CTRL, "reward_survive": SURVIVE,
}


cdef inline void report_position(Sim* s) noexcept nogil:
    s.info[X_POSITION] = s.data.qpos[0]
    s.info[Z_DISTANCE] = s.data.qpos[1] - s.model.qpos0[1]


cdef int reset(Sim* s) noexcept nogil:
    reset_uniform(s, (<const Options*>s.options).locomotion.reset_noise_scale)
    report_position(s)
    return 0


cdef bint is_healthy(const Sim* s, const Options* o) noexcept nogil:
    cdef const double* q = s.data.qpos
    cdef const double* v = s.data.qvel
    cdef int32_t i
    if not (o.health.z_min < q[1] < o.health.z_max and o.angle_min < q[2] < o.angle_max):
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
    cdef double x = s.data.qpos[0], ctrl_cost
    cdef bint healthy
    simulate(s, action)
    report_position(s)
    healthy = is_healthy(s, o)
    ctrl_cost = reward_planar_run(s, &o.locomotion, action, x)
    s.info[SURVIVE] = survive_reward(&o.health, healthy)
    out.reward = s.info[FORWARD] + s.info[SURVIVE] - ctrl_cost
    out.terminated = not healthy and o.health.terminates
    return 0


cdef void observe(const Sim* s, double* out) noexcept nogil:
    cdef const Options* o = <const Options*>s.options
    out = put(out, s.data.qpos + o.locomotion.skipped, s.model.nq - o.locomotion.skipped)
    put_clipped(out, s.data.qvel, s.model.nv, o.velocity_min, o.velocity_max)


cdef TaskFunctions TASK = TaskFunctions(sizeof(TaskState), seed, reset, step, observe, is_valid, NULL, NULL)


cdef object build_walker(str name, object config, bint limits_state, double camera_distance):
    cdef Options o
    cdef Model model = load_gym_model(config, 3, 1)
    read_locomotion(&o.locomotion, config, 1)
    read_health(&o.health, config)
    o.limits_state = limits_state
    o.state_min = o.state_max = 0
    if limits_state:
        o.state_min, o.state_max = limits(config, "healthy_state_range", "healthy_state_min", "healthy_state_max")
    o.angle_min, o.angle_max = limits(config, "healthy_angle_range", "healthy_angle_min", "healthy_angle_max")
    o.velocity_min, o.velocity_max = limits(config, None, "velocity_min", "velocity_max")
    size = model.m.nq + model.m.nv - o.locomotion.skipped
    camera = {"lookat": (0.0, 0.0, 1.15), "elevation": -20.0, "distance": camera_distance}
    return define_gym_task(name, &TASK, model, config, size, INFO, &o, sizeof(o), camera)


OPTIONS = gym_options(
    frame_skip=4, terminate_when_unhealthy=True, legacy_healthy_reward=False,
    exclude_current_positions_from_observation=True, ctrl_cost_weight=1e-3, forward_reward_weight=1.0,
    healthy_reward=1.0, velocity_min=-10.0, velocity_max=10.0, healthy_z_range=None, healthy_angle_range=None,
    reset_noise_scale=5e-3,
)


class GymHopper(MujocoEnvDefinition):
    """A leg of four links and three hinges, in a plane.

    Observation float64 (11,): positions without the first one, velocities. Action float64 (3,): torques in [-1, 1].
    Reward: forward velocity and ``healthy_reward``, minus the cost of control. An episode terminates when the hopper
    becomes unhealthy. docs/mujoco.md describes the other options.

    Options
    -------
    healthy_angle_range : pair of float, optional
        Angles of the torso (rad) that are healthy, both ends excluded. By default the pair of ``healthy_angle_min``
        (-0.2) and ``healthy_angle_max`` (0.2).
    healthy_state_range : pair of float, optional
        Values of all velocities and of all positions but x and z that are healthy, both ends excluded. By default the
        pair of ``healthy_state_min`` (-100.0) and ``healthy_state_max`` (100.0).
    velocity_min, velocity_max : float
        Observed velocities are clipped to this interval, by default [-10.0, 10.0].
    """

    options = OPTIONS | {
        "reward_threshold": 6000.0, "xml_file": "hopper.xml",
        "healthy_state_min": -100.0, "healthy_state_max": 100.0, "healthy_state_range": None,
        "healthy_angle_min": -0.2, "healthy_angle_max": 0.2, "healthy_z_min": 0.7, "healthy_z_max": float("inf"),
    }

    @staticmethod
    def build(config):
        return build_walker("GymHopper", config, True, 3.0)


class GymWalker2d(MujocoEnvDefinition):
    """Two legs of three links each under a torso, in a plane.

    Observation float64 (17,): positions without the first one, velocities. Action float64 (6,): torques in [-1, 1].
    Reward: forward velocity and ``healthy_reward``, minus the cost of control. An episode terminates when the walker
    becomes unhealthy. The options are those of GymHopper except ``healthy_state_range``; healthy angles are (-1.0, 1.0)
    by default.
    """

    options = OPTIONS | {
        "xml_file": "walker2d_v5.xml", "healthy_z_min": 0.8, "healthy_z_max": 2.0,
        "healthy_angle_min": -1.0, "healthy_angle_max": 1.0,
    }

    @staticmethod
    def build(config):
        return build_walker("GymWalker2d", config, False, 4.0)
