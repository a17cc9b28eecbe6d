"""The chains of springs of dm_control's suite, linear systems with quadratic costs (``dm_control.suite.lqr``)."""

import numpy as np

from libc.math cimport sqrt

from envpool.numerics.numpy_exact cimport np_dot, np_norm
from envpool.mujoco.dmc.control cimport (
    Episode, Model, Options, Sim, SuiteTask, define_suite_task, ep_legacy_uniform, observe_state, private_array, put,
    random_of, suite_task,
)
from envpool.numerics.rng_legacy cimport ep_legacy_standard_normal

from envpool.mujoco.base.model_params import PARAMS
from envpool.mujoco.dmc.env_definition import SuiteEnvDefinition, load_model, suite_tasks

cdef enum:
    MAX_BODIES = 6

cdef double CONTROL_COST = 0.1
cdef double TERMINAL_NORM = 1e-6        # norm of the state below which an episode terminates


cdef void construct(Sim* s) noexcept nogil:
    """Samples the stiffness and the damping of each joint, as upstream does. All dampings are zero."""
    cdef int i
    for i in range(<int>s.model.njnt):
        s.model.jnt_stiffness[i] = ep_legacy_uniform(random_of(s), 15, 25)
        ep_legacy_uniform(random_of(s), 0, 0)


cdef int initialize(Sim* s) noexcept nogil:
    """Samples positions from the sphere with radius sqrt(2)."""
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
    put(out, s.model.jnt_stiffness, s.model.njnt)


cdef SuiteTask TASK = suite_task(sizeof(Episode), initialize, reward, observe_state)
TASK.construct = construct
TASK.terminates = terminates
TASK.extras = extras


class DmcLqr(SuiteEnvDefinition):
    """Bring a chain of bodies on springs to rest. Each environment has its own springs, sampled from its seed.

    Observations float64: position (bodies,) (m), velocity (bodies,) (m/s). Action float64 (actuators,), without limits:
    forces on the first bodies. The reward is 1 minus the cost: half the squared norm of the positions plus a twentieth
    of that of the controls. The episode terminates with discount 0 when the norm of the state falls below 1e-6.
    """

    # Upstream samples the stiffness when it makes the environment.
    params = {name: param for name, param in PARAMS.items() if name != "jnt_stiffness"}
    # The number of bodies, and the number of bodies with an actuator.
    options, tasks = suite_tasks(1, lqr_2_1=(2, 1), lqr_6_2=(6, 2))

    @staticmethod
    def define(config, task):
        cdef Options o
        bodies, actuators = task
        cdef Model model = load_model("lqr", bodies, actuators, np.random.RandomState(0))
        observations = {"position": (model.m.nq,), "velocity": (model.m.nv,)}
        stiffness = private_array(model, &model.m.jnt_stiffness, model.m.njnt, 0, model.m.njnt)
        return define_suite_task("DmcLqr", &TASK, model, config, observations, &o, sizeof(o),
                                 {"stiffness0": bodies}, [stiffness])
