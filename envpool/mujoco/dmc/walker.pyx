"""The planar walker of dm_control's suite (``dm_control.suite.walker``)."""

from libc.math cimport INFINITY

from envpool.mujoco.dmc.control cimport (
    XX, XZ, ZZ, Episode, Model, Options, Sim, SuiteTask, body_id, define_suite_task, initialize_joints, put,
    sensor_address, suite_task,
)
from envpool.mujoco.dmc.rewards cimport gaussian, linear

from envpool.mujoco.dmc.env_definition import SuiteEnvDefinition, load_model, suite_tasks

cdef struct WalkerOptions:
    Options head
    double speed                # the rewarded speed (m/s); 0: speed is not rewarded
    int torso                   # id of the body
    int velocity                # address of the velocity sensor of the torso


cdef inline const WalkerOptions* options_of(const Sim* s) noexcept nogil:
    return <const WalkerOptions*>s.options


cdef double reward(const Sim* s) noexcept nogil:
    cdef const WalkerOptions* o = options_of(s)
    cdef double standing = gaussian(s.data.xpos[3 * o.torso + 2], 1.2, INFINITY, 0.6)
    cdef double upright = (1 + s.data.xmat[9 * o.torso + ZZ]) / 2
    cdef double stand = (3 * standing + upright) / 4
    if o.speed == 0:
        return stand
    return stand * (5 * linear(s.data.sensordata[o.velocity], o.speed, INFINITY, o.speed / 2, 0.5) + 1) / 6


cdef void observe(const Sim* s, double* out) noexcept nogil:
    cdef int bodies = <int>s.model.nbody - 1, i             # all bodies but the world
    for i in range(bodies):
        out[2 * i] = s.data.xmat[9 * (1 + i) + XX]
        out[2 * i + 1] = s.data.xmat[9 * (1 + i) + XZ]
    out[2 * bodies] = s.data.xpos[3 * options_of(s).torso + 2]
    put(out + 2 * bodies + 1, s.data.qvel, s.model.nv)


cdef SuiteTask TASK = suite_task(sizeof(Episode), initialize_joints, reward, observe)


class DmcWalker(SuiteEnvDefinition):
    """Stand up, walk or run on two legs in a plane.

    Observations float64: orientations (14,), cosine and sine of the angle of each body; height () of the torso (m);
    velocity (9,) (m/s, rad/s). Action float64 (6,) in [-1, 1]: torques. The reward in [0, 1] is high for an upright
    torso far above the ground, and grows with its forward speed up to 1 m/s in "walk" and 8 m/s in "run".
    """

    # The rewarded speed (m/s).
    options, tasks = suite_tasks(10, walk=1, stand=0, run=8)

    @staticmethod
    def define(config, speed):
        cdef WalkerOptions o
        cdef Model model = load_model("walker")
        o.speed = speed
        o.torso = body_id(model, "torso")
        o.velocity = sensor_address(model, "torso_subtreelinvel")
        observations = {"orientations": (2 * (model.m.nbody - 1),), "height": (), "velocity": (model.m.nv,)}
        return define_suite_task("DmcWalker", &TASK, model, config, observations, &o.head, sizeof(o))
