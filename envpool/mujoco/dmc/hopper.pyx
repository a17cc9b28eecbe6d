"""The planar one-legged hopper of dm_control's suite (``dm_control.suite.hopper``)."""

from libc.math cimport INFINITY

from envpool.numerics.numpy_exact cimport np_log1p
from envpool.mujoco.dmc.control cimport (
    Episode, Model, Options, Sim, SuiteTask, body_id, define_suite_task, initialize_joints, put_state, sensor_address,
    suite_task,
)
from envpool.mujoco.dmc.rewards cimport linear, mean_quadratic, within

from envpool.mujoco.dmc.env_definition import SuiteEnvDefinition, load_model, suite_tasks

cdef enum:
    HOP_SPEED = 2               # speed at and above which hopping is rewarded with 1 (m/s)

cdef double STAND_HEIGHT = 0.6  # lowest height of the torso above the foot that counts as standing (m)

cdef struct HopperOptions:
    Options head
    bint hopping
    int torso                   # ids of the bodies
    int foot
    int velocity                # addresses of the sensors
    int touch[2]                # toe and heel


cdef inline const HopperOptions* options_of(const Sim* s) noexcept nogil:
    return <const HopperOptions*>s.options


cdef double reward(const Sim* s) noexcept nogil:
    cdef const HopperOptions* o = options_of(s)
    cdef double height = s.data.xipos[3 * o.torso + 2] - s.data.xipos[3 * o.foot + 2]
    cdef double standing = within(height, STAND_HEIGHT, 2)
    if o.hopping:
        return standing * linear(s.data.sensordata[o.velocity], HOP_SPEED, INFINITY, HOP_SPEED / 2., 0.5)
    return standing * ((mean_quadratic(s.data.ctrl, s.model.nu, 1) + 4) / 5)


cdef void observe(const Sim* s, double* out) noexcept nogil:
    cdef double* touch = put_state(out, s, 1)
    cdef int i
    for i in range(2):
        touch[i] = s.data.sensordata[options_of(s).touch[i]]
    np_log1p(touch, touch, 2)


cdef SuiteTask TASK = suite_task(sizeof(Episode), initialize_joints, reward, observe)


class DmcHopper(SuiteEnvDefinition):
    """Stand on one leg, or hop forward on it.

    Observations float64: position (6,) (m, rad) without the horizontal one; velocity (7,) (m/s, rad/s); touch (2,),
    log(1 + force) of toe and heel. Action float64 (4,) in [-1, 1]: torques. The reward is zero while the torso is less
    than 0.6 m above the foot. Above, the reward of "stand" falls with the control, and that of "hop" grows with the
    forward speed up to 1 at 2 m/s.
    """

    options, tasks = suite_tasks(4, stand=False, hop=True)

    @staticmethod
    def define(config, hopping):
        cdef HopperOptions o
        cdef Model model = load_model("hopper")
        o.torso, o.foot = body_id(model, "torso"), body_id(model, "foot")
        o.velocity = sensor_address(model, "torso_subtreelinvel")
        o.touch = [sensor_address(model, name) for name in ("touch_toe", "touch_heel")]
        o.hopping = hopping
        observations = {"position": (model.m.nq - 1,), "velocity": (model.m.nv,), "touch": (2,)}
        return define_suite_task("DmcHopper", &TASK, model, config, observations, &o.head, sizeof(o))
