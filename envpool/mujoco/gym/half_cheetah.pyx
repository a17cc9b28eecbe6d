"""HalfCheetah: a two-legged runner in a plane (Wawrzynski, 2009).

Source of the dynamics: ``gymnasium.envs.mujoco.half_cheetah_v5`` and ``half_cheetah_v4``; v3 equals v4.
"""

from envpool.mujoco.gym.common cimport (
    CTRL, FORWARD, OTHER_INFO, X_VELOCITY, Locomotion, Model, Outcome, Sim, TaskFunctions, TaskState, define_gym_task,
    finish_run, is_valid, load_gym_model, observe_locomotion, read_locomotion, reset_normal, seed, simulate,
)

from envpool.mujoco.base.env_definition import MujocoEnvDefinition
from envpool.mujoco.gym.options import gym_options

cdef enum:
    X_POSITION = OTHER_INFO

INFO = {
    "reward_run": FORWARD, "reward_forward": FORWARD, "reward_ctrl": CTRL,
    "x_position": X_POSITION, "x_velocity": X_VELOCITY,
}


cdef int reset(Sim* s) noexcept nogil:
    reset_normal(s, (<const Locomotion*>s.options).reset_noise_scale)
    s.info[X_POSITION] = s.data.qpos[0]
    return 0


cdef int step(Sim* s, const double* action, Outcome* out) noexcept nogil:
    cdef double x = s.data.qpos[0]
    simulate(s, action)
    s.info[X_POSITION] = s.data.qpos[0]
    return finish_run(s, action, x, out)


cdef TaskFunctions TASK = TaskFunctions(sizeof(TaskState), seed, reset, step, observe_locomotion, is_valid, NULL, NULL)


class GymHalfCheetah(MujocoEnvDefinition):
    """A runner with two legs and six hinges, in a plane.

    Observation float64 (17,): positions without the first one, velocities. Action float64 (6,): torques in [-1, 1].
    Reward: forward velocity minus the cost of control. Episodes end at the time limit only. docs/mujoco.md describes
    the options.
    """

    options = gym_options(
        reward_threshold=4800.0, frame_skip=5, exclude_current_positions_from_observation=True,
        xml_file="half_cheetah.xml", ctrl_cost_weight=0.1, forward_reward_weight=1.0, reset_noise_scale=0.1,
    )

    @staticmethod
    def build(config):
        cdef Locomotion o
        cdef Model model = load_gym_model(config, 1, 1)
        read_locomotion(&o, config, 1)
        size = model.m.nq + model.m.nv - o.skipped
        return define_gym_task("GymHalfCheetah", &TASK, model, config, size, INFO, &o, sizeof(o), {"distance": 4.0})
