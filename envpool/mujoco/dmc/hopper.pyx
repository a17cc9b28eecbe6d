"""The planar one-legged hopper of dm_control's suite (``dm_control.suite.hopper``)."""

from libc.math cimport INFINITY
from libc.string cimport memcpy

from envpool.numerics.numpy_exact cimport np_log1p
from envpool.mujoco.base.model cimport Model
from envpool.mujoco.base.mujoco cimport mjOBJ_BODY
from envpool.mujoco.base.simulation cimport Sim
from envpool.mujoco.dmc.control cimport (
    Episode, Options, SuiteTask, define_suite_task, object_id, randomize_joints, sensor_address, suite_task,
)
from envpool.mujoco.dmc.rewards cimport linear, mean_quadratic, within

from envpool.mujoco.base.opengl import MujocoTask
from envpool.mujoco.dmc.control import suite_options
from envpool.mujoco.dmc.models import check_task, load_model

cdef enum:
    HOP_SPEED = 2               # m/s, from which on hopping gives 1

cdef double STAND_HEIGHT = 0.6  # m of torso above foot, from which on it stands

cdef struct HopperOptions:
    Options head
    bint hopping
    int torso                   # bodies
    int foot
    int velocity                # addresses of sensors
    int touch[2]                # toe and heel


cdef inline const HopperOptions* options_of(const Sim* s) noexcept nogil:
    return <const HopperOptions*>s.options


cdef int initialize(Sim* s) noexcept nogil:
    randomize_joints(s)
    return 0


cdef double reward(const Sim* s) noexcept nogil:
    cdef const HopperOptions* o = options_of(s)
    cdef double height = s.data.xipos[3 * o.torso + 2] - s.data.xipos[3 * o.foot + 2]
    cdef double standing = within(height, STAND_HEIGHT, 2)
    if o.hopping:
        return standing * linear(s.data.sensordata[o.velocity], HOP_SPEED, INFINITY, HOP_SPEED / 2., 0.5)
    return standing * ((mean_quadratic(s.data.ctrl, s.model.nu, 1) + 4) / 5)


cdef void observe(const Sim* s, double* out) noexcept nogil:
    cdef double* touch = out + s.model.nq - 1 + s.model.nv
    cdef int i
    memcpy(out, s.data.qpos + 1, (s.model.nq - 1) * sizeof(double))
    memcpy(out + s.model.nq - 1, s.data.qvel, s.model.nv * sizeof(double))
    for i in range(2):
        touch[i] = s.data.sensordata[options_of(s).touch[i]]
    np_log1p(touch, touch, 2)


cdef SuiteTask TASK = suite_task(sizeof(Episode), initialize, reward, observe)


class DmcHopper(MujocoTask):
    """Stand on one leg, or hop forward on it.

    Observations float64: position (6,) (m, rad) without the horizontal one, velocity (7,) (m/s, rad/s), touch (2,),
    log(1 + force) of toe and heel. Action float64 (4,) in [-1, 1]: torques. The reward is zero below 0.6 m; above,
    ``"stand"`` gives less for more control, and ``"hop"`` grows with the speed up to 1 at 2 m/s.

    Options
    -------
    task_name : str
        ``"stand"`` or ``"hop"``.
    frame_skip, frame_stack, debug_info
        See docs/mujoco.md.
    """

    options = suite_options("stand", 4)

    @staticmethod
    def build(config):
        """Return the capsule of this kind."""
        cdef HopperOptions o
        cdef Model model
        o.hopping = check_task(config, ["stand", "hop"]) == "hop"
        model = load_model("hopper")
        o.torso = object_id(model, mjOBJ_BODY, "torso")
        o.foot = object_id(model, mjOBJ_BODY, "foot")
        o.velocity = sensor_address(model, "torso_subtreelinvel")
        o.touch = [sensor_address(model, name) for name in ("touch_toe", "touch_heel")]
        observations = {"position": (model.m.nq - 1,), "velocity": (model.m.nv,), "touch": (2,)}
        return define_suite_task("DmcHopper", &TASK, model, config, observations, &o.head, sizeof(o))
