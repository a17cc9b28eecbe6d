"""The pendulum of dm_control's suite (``dm_control.suite.pendulum``)."""

import numpy as np

from libc.math cimport M_PI

from envpool.mujoco.dmc.control cimport (
    XZ, ZZ, Episode, Model, Options, Sim, SuiteTask, define_suite_task, ep_legacy_uniform, random_of, suite_task,
)
from envpool.mujoco.dmc.rewards cimport within

from envpool.mujoco.dmc.env_definition import SuiteEnvDefinition, load_model, suite_tasks

cdef enum:
    POLE = 9                    # index of the first element of the rotation matrix of body 1, the pole

ANGLE_BOUND = 8                 # greatest rewarded angle from upright (degrees)

cdef struct PendulumOptions:
    Options head
    double lowest_cosine        # cosine of ANGLE_BOUND


cdef int initialize(Sim* s) noexcept nogil:
    s.data.qpos[0] = ep_legacy_uniform(random_of(s), -M_PI, M_PI)
    return 0


cdef double reward(const Sim* s) noexcept nogil:
    return within(s.data.xmat[POLE + ZZ], (<const PendulumOptions*>s.options).lowest_cosine, 1)


cdef void observe(const Sim* s, double* out) noexcept nogil:
    out[0] = s.data.xmat[POLE + ZZ]     # cosine of the angle
    out[1] = s.data.xmat[POLE + XZ]     # sine
    out[2] = s.data.qvel[0]


cdef SuiteTask TASK = suite_task(sizeof(Episode), initialize, reward, observe)


class DmcPendulum(SuiteEnvDefinition):
    """Swing up a pendulum with a motor that is too weak to lift it in one go.

    Observations float64: orientation (2,), cosine and sine of the angle from upright; velocity (1,) (rad/s). Action
    float64 (1,) in [-1, 1]: torque. The reward is 1 within 8 degrees of upright, otherwise 0.
    """

    options, tasks = suite_tasks(1, swingup=None)

    @staticmethod
    def define(config, _):
        cdef PendulumOptions o
        cdef Model model = load_model("pendulum")
        o.lowest_cosine = np.cos(np.deg2rad(ANGLE_BOUND))
        observations = {"orientation": (2,), "velocity": (1,)}
        return define_suite_task("DmcPendulum", &TASK, model, config, observations, &o.head, sizeof(o))
