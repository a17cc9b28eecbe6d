"""Swimmer: a chain of links in a viscous fluid (Coulom, 2002).

Source of the dynamics: ``gymnasium.envs.mujoco.swimmer_v5`` and ``swimmer_v4``; v3 equals v4.
"""

from envpool.mujoco.gym.common cimport (
    CTRL, FORWARD, OTHER_INFO, X_VELOCITY, Locomotion, Model, Outcome, Sim, TaskFunctions, TaskState, define_gym_task,
    dt, finish_run, is_valid, load_gym_model, observe_locomotion, read_locomotion, reset_uniform, seed, simulate,
)
from envpool.numerics.numpy_exact cimport np_norm

from envpool.mujoco.base.env_definition import MujocoEnvDefinition
from envpool.mujoco.gym.options import gym_options

cdef enum:
    X_POSITION = OTHER_INFO
    Y_POSITION, DISTANCE, Y_VELOCITY

INFO = {
    "reward_fwd": FORWARD, "reward_forward": FORWARD, "forward_reward": FORWARD, "reward_ctrl": CTRL,
    "x_position": X_POSITION, "y_position": Y_POSITION, "distance_from_origin": DISTANCE,
    "x_velocity": X_VELOCITY, "y_velocity": Y_VELOCITY,
}


cdef inline void report_position(Sim* s) noexcept nogil:
    s.info[X_POSITION] = s.data.qpos[0]
    s.info[Y_POSITION] = s.data.qpos[1]
    s.info[DISTANCE] = np_norm(s.data.qpos, 2)


cdef int reset(Sim* s) noexcept nogil:
    reset_uniform(s, (<const Locomotion*>s.options).reset_noise_scale)
    report_position(s)
    return 0


cdef int step(Sim* s, const double* action, Outcome* out) noexcept nogil:
    cdef double x = s.data.qpos[0], y = s.data.qpos[1]
    simulate(s, action)
    report_position(s)
    s.info[Y_VELOCITY] = (s.data.qpos[1] - y) / dt(s)
    return finish_run(s, action, x, out)


cdef TaskFunctions TASK = TaskFunctions(sizeof(TaskState), seed, reset, step, observe_locomotion, is_valid, NULL, NULL)


class GymSwimmer(MujocoEnvDefinition):
    """A swimmer of three links and two hinges, in a plane.

    Observation float64 (8,): positions without the first two, velocities. Action float64 (2,): torques in [-1, 1].
    Reward: forward velocity minus the cost of control. Episodes end at the time limit only. docs/mujoco.md describes
    the options.
    """

    options = gym_options(
        reward_threshold=360.0, frame_skip=4, exclude_current_positions_from_observation=True,
        xml_file="swimmer.xml", forward_reward_weight=1.0, ctrl_cost_weight=1e-4, reset_noise_scale=0.1,
    )

    @staticmethod
    def build(config):
        cdef Locomotion o
        cdef Model model = load_gym_model(config, 2, 1)
        read_locomotion(&o, config, 2)
        size = model.m.nq + model.m.nv - o.skipped
        return define_gym_task("GymSwimmer", &TASK, model, config, size, INFO, &o, sizeof(o))
