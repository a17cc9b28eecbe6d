"""The planar cheetah of dm_control's suite (``dm_control.suite.cheetah``)."""

from libc.math cimport INFINITY

from envpool.mujoco.dmc.control cimport (
    Episode, Model, Options, Sim, SuiteTask, define_suite_task, ep_legacy_uniform, physics_step, put_state, random_of,
    sensor_address, suite_task,
)
from envpool.mujoco.dmc.rewards cimport linear

from envpool.mujoco.dmc.env_definition import SuiteEnvDefinition, load_model, suite_tasks

cdef enum:
    RUN_SPEED = 10              # speed at and above which the reward is 1 (m/s)
    SETTLING_STEPS = 200        # physics steps before an episode begins

cdef struct CheetahOptions:
    Options head
    int velocity                # address of the velocity sensor of the torso


cdef int initialize(Sim* s) noexcept nogil:
    cdef int i
    for i in range(<int>s.model.njnt):      # each joint has one position
        if s.model.jnt_limited[i]:
            s.data.qpos[i] = ep_legacy_uniform(random_of(s), s.model.jnt_range[2 * i], s.model.jnt_range[2 * i + 1])
    if physics_step(s, SETTLING_STEPS):
        return -1
    s.data.time = 0
    return 0


cdef double reward(const Sim* s) noexcept nogil:
    cdef double speed = s.data.sensordata[(<const CheetahOptions*>s.options).velocity]
    return linear(speed, RUN_SPEED, INFINITY, RUN_SPEED, 1.0)


cdef void observe(const Sim* s, double* out) noexcept nogil:
    put_state(out, s, 1)


cdef SuiteTask TASK = suite_task(sizeof(Episode), initialize, reward, observe)


class DmcCheetah(SuiteEnvDefinition):
    """Run forward on two legs in a plane.

    Observations float64: position (8,) (m, rad) without the horizontal one, velocity (9,) (m/s, rad/s). Action float64
    (6,) in [-1, 1]: torques. The reward grows with the forward speed up to 1 at 10 m/s.
    """

    options, tasks = suite_tasks(1, run=None)

    @staticmethod
    def define(config, _):
        cdef CheetahOptions o
        cdef Model model = load_model("cheetah")
        o.velocity = sensor_address(model, "torso_subtreelinvel")
        observations = {"position": (model.m.nq - 1,), "velocity": (model.m.nv,)}
        return define_suite_task("DmcCheetah", &TASK, model, config, observations, &o.head, sizeof(o))
