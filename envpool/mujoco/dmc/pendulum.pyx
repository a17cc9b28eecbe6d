"""The pendulum of dm_control's suite (``dm_control.suite.pendulum``)."""

import numpy as np

from libc.math cimport M_PI

from envpool.mujoco.base.model cimport Model
from envpool.mujoco.base.simulation cimport Sim
from envpool.mujoco.dmc.control cimport Episode, Options, SuiteTask, define_suite_task, random_of, suite_task
from envpool.mujoco.dmc.rewards cimport within
from envpool.numerics.rng_legacy cimport ep_legacy_uniform

from envpool.mujoco.base.opengl import MujocoTask
from envpool.mujoco.dmc.control import suite_options
from envpool.mujoco.dmc.models import check_task, load_model

cdef enum:
    POLE = 9                    # first element of the pole's rotation matrix; body 0 is the world
    XZ = 2                      # of the matrix: sine of the angle
    ZZ = 8                      # and its cosine

ANGLE_BOUND = 8                 # degrees from upright that are rewarded

cdef struct PendulumOptions:
    Options head
    double lowest_cosine        # that is rewarded


cdef int initialize(Sim* s) noexcept nogil:
    s.data.qpos[0] = ep_legacy_uniform(random_of(s), -M_PI, M_PI)
    return 0


cdef double reward(const Sim* s) noexcept nogil:
    return within(s.data.xmat[POLE + ZZ], (<const PendulumOptions*>s.options).lowest_cosine, 1)


cdef void observe(const Sim* s, double* out) noexcept nogil:
    out[0] = s.data.xmat[POLE + ZZ]
    out[1] = s.data.xmat[POLE + XZ]
    out[2] = s.data.qvel[0]


cdef SuiteTask TASK = suite_task(sizeof(Episode), initialize, reward, observe)


class DmcPendulum(MujocoTask):
    """Swing a pendulum up with a motor that is too weak to lift it at once.

    Observations float64: orientation (2,), cosine and sine of the angle from upright; velocity (1,) (rad/s). Action
    float64 (1,) in [-1, 1]: torque. The reward is 1 within 8 degrees of upright, else 0.

    Options
    -------
    task_name : str
        ``"swingup"``.
    frame_skip, frame_stack, debug_info
        See docs/mujoco.md.
    """

    options = suite_options("swingup", 1)

    @staticmethod
    def build(config):
        """Return the capsule of this kind."""
        cdef PendulumOptions o
        cdef Model model
        check_task(config, ["swingup"])
        model = load_model("pendulum")
        o.lowest_cosine = np.cos(np.deg2rad(ANGLE_BOUND))
        observations = {"orientation": (2,), "velocity": (1,)}
        return define_suite_task("DmcPendulum", &TASK, model, config, observations, &o.head, sizeof(o))
