"""The planar walker of dm_control's suite (``dm_control.suite.walker``)."""

from libc.math cimport INFINITY
from libc.string cimport memcpy

from envpool.mujoco.base.model cimport Model
from envpool.mujoco.base.mujoco cimport mjOBJ_BODY
from envpool.mujoco.base.simulation cimport Sim
from envpool.mujoco.dmc.control cimport (
    Episode, Options, SuiteTask, define_suite_task, object_id, randomize_joints, sensor_address, suite_task,
)
from envpool.mujoco.dmc.rewards cimport gaussian, linear

from envpool.mujoco.base.opengl import MujocoTask
from envpool.mujoco.dmc.control import suite_options
from envpool.mujoco.dmc.models import check_task, load_model

cdef enum:
    XX = 0                      # elements of a rotation matrix
    XZ = 2
    ZZ = 8

cdef struct WalkerOptions:
    Options head
    double speed                # that is rewarded (m/s); 0: none is
    int torso                   # body
    int velocity                # address of its velocity sensor


cdef inline const WalkerOptions* options_of(const Sim* s) noexcept nogil:
    return <const WalkerOptions*>s.options


cdef int initialize(Sim* s) noexcept nogil:
    randomize_joints(s)
    return 0


cdef double reward(const Sim* s) noexcept nogil:
    cdef const WalkerOptions* o = options_of(s)
    cdef double standing = gaussian(s.data.xpos[3 * o.torso + 2], 1.2, INFINITY, 0.6)
    cdef double upright = (1 + s.data.xmat[9 * o.torso + ZZ]) / 2
    cdef double stand = (3 * standing + upright) / 4
    if o.speed == 0:
        return stand
    return stand * (5 * linear(s.data.sensordata[o.velocity], o.speed, INFINITY, o.speed / 2, 0.5) + 1) / 6


cdef void observe(const Sim* s, double* out) noexcept nogil:
    cdef int bodies = <int>s.model.nbody - 1, i             # all but the world
    for i in range(bodies):
        out[2 * i] = s.data.xmat[9 * (1 + i) + XX]
        out[2 * i + 1] = s.data.xmat[9 * (1 + i) + XZ]
    out[2 * bodies] = s.data.xpos[3 * options_of(s).torso + 2]
    memcpy(out + 2 * bodies + 1, s.data.qvel, s.model.nv * sizeof(double))


cdef SuiteTask TASK = suite_task(sizeof(Episode), initialize, reward, observe)

# Speed that is rewarded.
TASKS = {"stand": 0, "walk": 1, "run": 8}


class DmcWalker(MujocoTask):
    """Stand up, walk or run on two legs in a plane.

    Observations float64: orientations (14,), cosine and sine of the angle of each body; height () of the torso (m);
    velocity (9,) (m/s, rad/s). Action float64 (6,) in [-1, 1]: torques. The reward is in [0, 1] for an upright torso,
    high above the ground, and for its forward speed up to 1 m/s (``"walk"``) or 8 m/s (``"run"``).

    Options
    -------
    task_name : str
        ``"stand"``, ``"walk"`` or ``"run"``.
    frame_skip, frame_stack, debug_info
        See docs/mujoco.md.
    """

    options = suite_options("walk", 10)

    @staticmethod
    def build(config):
        """Return the capsule of this kind."""
        cdef WalkerOptions o
        cdef Model model
        o.speed = TASKS[check_task(config, list(TASKS))]
        model = load_model("walker")
        o.torso = object_id(model, mjOBJ_BODY, "torso")
        o.velocity = sensor_address(model, "torso_subtreelinvel")
        observations = {"orientations": (2 * (model.m.nbody - 1),), "height": (), "velocity": (model.m.nv,)}
        return define_suite_task("DmcWalker", &TASK, model, config, observations, &o.head, sizeof(o))
