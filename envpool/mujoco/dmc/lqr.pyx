"""Chains of springs of dm_control's suite, linear systems with quadratic costs (``dm_control.suite.lqr``)."""

from libc.math cimport sqrt
from libc.string cimport memcpy

from envpool.numerics.numpy_exact cimport np_dot, np_norm
from envpool.mujoco.base.model cimport Model
from envpool.mujoco.base.simulation cimport Sim, change
from envpool.mujoco.dmc.control cimport (
    Episode, Options, SuiteTask, define_suite_task, observe_state, random_of, suite_task,
)
from envpool.numerics.rng_legacy cimport ep_legacy_standard_normal, ep_legacy_uniform

import numpy as np

from envpool.mujoco.base.opengl import MujocoTask
from envpool.mujoco.dmc.control import suite_options
from envpool.mujoco.dmc.models import check_task, load_model

cdef enum:
    MAX_BODIES = 6

cdef double CONTROL_COST = 0.1
cdef double TERMINAL_NORM = 1e-6        # of the state, below which it has arrived

cdef struct LqrOptions:
    Options head


cdef void construct(Sim* s) noexcept nogil:
    """Draws stiffness and damping of each joint, as upstream does when it writes the model; no damping is its range."""
    cdef int i
    for i in range(<int>s.model.njnt):
        s.model.jnt_stiffness[i] = ep_legacy_uniform(random_of(s), 15, 25)
        ep_legacy_uniform(random_of(s), 0, 0)


cdef int initialize(Sim* s) noexcept nogil:
    """Draws positions from the sphere with radius sqrt(2)."""
    cdef double* qpos = s.data.qpos
    cdef double norm
    cdef int i, n = <int>s.model.nq
    for i in range(n):
        qpos[i] = ep_legacy_standard_normal(random_of(s))
    norm = np_norm(qpos, n)
    for i in range(n):
        qpos[i] = sqrt(2) * qpos[i] / norm
    return 0


cdef double reward(const Sim* s) noexcept nogil:
    cdef double state = 0.5 * np_dot(s.data.qpos, s.data.qpos, s.model.nq)
    cdef double control = 0.5 * np_dot(s.data.ctrl, s.data.ctrl, s.model.nu)
    return 1 - (state + control * CONTROL_COST)


cdef bint terminates(const Sim* s) noexcept nogil:
    cdef double state[2 * MAX_BODIES]
    observe_state(s, state)
    return np_norm(state, s.model.nq + s.model.nv) < TERMINAL_NORM


cdef void extras(const Sim* s, double* out) noexcept nogil:
    memcpy(out, s.model.jnt_stiffness, s.model.njnt * sizeof(double))


cdef SuiteTask TASK = suite_task(sizeof(Episode), initialize, reward, observe_state)
TASK.construct = construct
TASK.terminates = terminates
TASK.extras = extras

# Bodies, and how many of them have a motor.
TASKS = {"lqr_2_1": (2, 1), "lqr_6_2": (6, 2)}


class DmcLqr(MujocoTask):
    """Bring a chain of bodies on springs to rest. Each env has springs of its own, drawn from its seed.

    Observations float64: position (bodies,) (m), velocity (bodies,) (m/s). Action float64 (actuators,), without limits:
    forces on the first bodies. The reward is 1 minus the cost, half the squared positions and a twentieth of the
    squared controls. The episode ends with discount 0 when the norm of the state is below 1e-6; upstream has no time
    limit.

    Options
    -------
    task_name : str
        ``"lqr_2_1"``, 2 bodies and 1 actuator, or ``"lqr_6_2"``, 6 and 2.
    frame_skip, frame_stack, debug_info
        See docs/mujoco.md. The info of ``debug_info`` also has stiffness0 (bodies,) (N/m).
    """

    options = suite_options("lqr_2_1", 1)

    @staticmethod
    def build(config):
        """Return the capsule of this kind."""
        cdef LqrOptions o
        cdef Model model
        bodies, actuators = TASKS[check_task(config, list(TASKS))]
        model = load_model("lqr", bodies, actuators, np.random.RandomState(0))
        observations = {"position": (model.m.nq,), "velocity": (model.m.nv,)}
        changes = [change(model, &model.m.jnt_stiffness, model.m.njnt)]
        return define_suite_task("DmcLqr", &TASK, model, config, observations, &o.head, sizeof(o),
                                 {"stiffness0": bodies}, changes)
