"""The planar manipulator of dm_control's suite (``dm_control.suite.manipulator``)."""

from libc.math cimport M_PI, cos, sin

from envpool.numerics.numpy_exact cimport np_arctan2
from envpool.mujoco.dmc.control cimport (
    XX, ZX, Episode, Model, Options, Sim, SuiteTask, body_id, define_suite_task, ep_legacy_uniform, ep_mt19937,
    physics_after_reset, private_array, qpos_address, qvel_address, random_of, site_id, suite_task,
)
from envpool.mujoco.dmc.planar_arm cimport (
    Arm, POSE, arm_observations, find_arm, observe_arm, observe_pose, sample_arm, site_distance,
)
from envpool.mujoco.dmc.rewards cimport gaussian
from envpool.numerics.rng_legacy cimport ep_legacy_random_sample

from envpool.errors import ConfigError
from envpool.mujoco.dmc.env_definition import SuiteEnvDefinition, suite_tasks
from envpool.mujoco.dmc.models import load_model

cdef enum:
    X, Z, ANGLE                 # joints of the prop; upstream calls them x, z and y
    PROP_JOINTS
    MAX_PAIRS = 4
    NONE = -1

cdef struct ManipulatorOptions:
    Options head
    Arm arm
    int prop                    # ids of the bodies: the object that is moved,
    int target                  # the target to which it is moved,
    int receptacle              # and the cup or slot at the target; NONE if there is none
    int qpos[PROP_JOINTS]       # addresses of the joints of the prop
    int qvel[PROP_JOINTS]
    int num_pairs               # number of pairs of sites that should meet. A peg has four pairs: two of prop and hand,
    int pairs[MAX_PAIRS][2]     # two of prop and target. A ball has one pair, of prop and target.


cdef inline const ManipulatorOptions* options_of(const Sim* s) noexcept nogil:
    return <const ManipulatorOptions*>s.options


cdef inline void put_body(Sim* s, int body, double x, double z, double angle) noexcept nogil:
    s.model.body_pos[3 * body] = x
    s.model.body_pos[3 * body + 2] = z
    s.model.body_quat[4 * body] = cos(angle / 2)
    s.model.body_quat[4 * body + 2] = sin(angle / 2)


cdef int put_in_hand(Sim* s, double* prop) noexcept nogil:
    """Writes x, z and the angle of a prop that is in the hand; returns 0, or fail()."""
    cdef int grasp = options_of(s).arm.grasp
    cdef double angle
    if physics_after_reset(s):
        return -1
    np_arctan2(s.data.site_xmat + 9 * grasp + ZX, s.data.site_xmat + 9 * grasp + XX, &angle, 1)
    prop[X] = s.data.site_xpos[3 * grasp]
    prop[Z] = s.data.site_xpos[3 * grasp + 2]
    prop[ANGLE] = M_PI - angle
    return 0


cdef int sample_positions(Sim* s) noexcept nogil:
    """Samples positions of arm, target and prop, which may overlap; returns 0, or fail()."""
    cdef const ManipulatorOptions* o = options_of(s)
    cdef ep_mt19937* random = random_of(s)
    cdef double prop[PROP_JOINTS]
    cdef double x, z, angle, widest, kind
    cdef int k
    sample_arm(s, &o.arm)
    x = ep_legacy_uniform(random, -.4, .4)
    z = ep_legacy_uniform(random, .1, .4)
    widest = M_PI if o.receptacle == NONE else M_PI / 3
    angle = ep_legacy_uniform(random, -widest, widest)
    if o.receptacle != NONE:
        put_body(s, o.receptacle, x, z, angle)
    put_body(s, o.target, x, z, angle)

    kind = ep_legacy_random_sample(random)
    if kind < .1:
        if put_in_hand(s, prop):
            return -1
    elif kind < .2:
        prop[X] = x
        prop[Z] = z
        prop[ANGLE] = angle
    else:
        prop[X] = ep_legacy_uniform(random, -.5, .5)
        prop[Z] = ep_legacy_uniform(random, 0, .7)
        prop[ANGLE] = ep_legacy_uniform(random, 0, 2 * M_PI)
        s.data.qvel[o.qvel[X]] = ep_legacy_uniform(random, -5, 5)
    for k in range(PROP_JOINTS):
        s.data.qpos[o.qpos[k]] = prop[k]
    return 0


cdef int initialize(Sim* s) noexcept nogil:
    while True:
        if sample_positions(s) or physics_after_reset(s):
            return -1
        if s.data.ncon == 0:
            return 0


cdef inline double is_close(const Sim* s, const int* pair) noexcept nogil:
    return gaussian(site_distance(s, pair[0], pair[1]), 0, .01, .01 * 2)


cdef double reward(const Sim* s) noexcept nogil:
    cdef const ManipulatorOptions* o = options_of(s)
    cdef double grasping, bringing
    if o.num_pairs == 1:
        return is_close(s, o.pairs[0])
    grasping = (is_close(s, o.pairs[0]) + is_close(s, o.pairs[1])) / 2
    bringing = (is_close(s, o.pairs[2]) + is_close(s, o.pairs[3])) / 2
    return max(bringing, grasping / 3)


cdef void observe(const Sim* s, double* out) noexcept nogil:
    cdef const ManipulatorOptions* o = options_of(s)
    cdef int k
    out = observe_arm(s, &o.arm, out)
    out = observe_pose(s, o.prop, out)
    for k in range(PROP_JOINTS):
        out[k] = s.data.qvel[o.qvel[k]]
    observe_pose(s, o.target, out + PROP_JOINTS)


cdef void extras(const Sim* s, double* out) noexcept nogil:
    cdef int target = options_of(s).target
    out[0] = s.model.body_pos[3 * target]
    out[1] = s.model.body_pos[3 * target + 2]
    out[2] = s.model.body_quat[4 * target]
    out[3] = s.model.body_quat[4 * target + 2]


cdef SuiteTask TASK = suite_task(sizeof(Episode), initialize, reward, observe)
TASK.extras = extras

RECEPTACLES = {"ball": "cup", "peg": "slot"}
PAIRS = {
    "ball": [("ball", "target_ball")],
    "peg": [("peg_grasp", "grasp"), ("peg_pinch", "pinch"), ("peg", "target_peg"), ("target_peg_tip", "peg_tip")],
}


class DmcManipulator(SuiteEnvDefinition):
    """Bring a ball or a peg to a target with a planar arm and hand; the target may be in a cup or a slot.

    Observations float64: arm_pos (8, 2), sine and cosine of each joint; arm_vel (8,) (rad/s); touch (5,), log(1 +
    force) of each sensor; hand_pos, object_pos and target_pos (4,), each with x, z (m), w and y of the quaternion;
    object_vel (3,) (m/s, rad/s). Action float64 (5,) in [-1, 1]: torques of the arm, and of closing the hand. The
    reward in [0, 1] is high for a prop at the target; a peg in the hand is rewarded with up to a third.
    """

    # The prop, and whether it is inserted into a receptacle.
    options, tasks = suite_tasks(
        10, bring_ball=("ball", False), bring_peg=("peg", False), insert_ball=("ball", True), insert_peg=("peg", True)
    )

    @staticmethod
    def define(config, task):
        cdef ManipulatorOptions o
        prop, inserted = task
        cdef Model model = load_model("manipulator", prop == "peg", inserted, function="make_model")
        o.arm = find_arm(model)
        o.prop, o.target = body_id(model, prop), body_id(model, f"target_{prop}")
        o.receptacle = body_id(model, RECEPTACLES[prop]) if inserted else NONE
        first, last = o.receptacle if inserted else o.target, o.target + 1
        if inserted and o.receptacle != o.target - 1:
            raise ConfigError(f"{model.source} comes from a dm_control that these tasks do not support")
        for k, axis in enumerate("xzy"):
            o.qpos[k], o.qvel[k] = qpos_address(model, f"{prop}_{axis}"), qvel_address(model, f"{prop}_{axis}")
        o.num_pairs = len(PAIRS[prop])
        for k, pair in enumerate(PAIRS[prop]):
            for side, site in enumerate(pair):
                o.pairs[k][side] = site_id(model, site)
        observations = arm_observations() | {"object_pos": (POSE,), "object_vel": (PROP_JOINTS,), "target_pos": (POSE,)}
        return define_suite_task("DmcManipulator", &TASK, model, config, observations, &o.head, sizeof(o),
                                 {"target0": POSE},
                                 [private_array(model, &model.m.body_pos, 3 * model.m.nbody, 3 * first, 3 * last),
                                  private_array(model, &model.m.body_quat, 4 * model.m.nbody, 4 * first, 4 * last)])
