"""The planar arm of dm_control's suite (``dm_control.suite.manipulator`` and ``dm_control.suite.stacker``)."""

from libc.math cimport INFINITY, M_PI, cos, sin

from envpool.numerics.numpy_exact cimport np_arctan2, np_log1p, np_norm
from envpool.mujoco.dmc.control cimport (
    XX, ZX, Episode, Model, Options, Sim, SuiteTask, body_id, define_suite_task, ep_legacy_uniform, ep_mt19937, geom_id,
    joint_id, physics_after_reset, private_array, put_difference, qpos_address, qvel_address, random_of,
    sample_without_contacts, sensor_address, site_id, suite_task,
)
from envpool.mujoco.dmc.rewards cimport gaussian
from envpool.numerics.rng_legacy cimport ep_legacy_randint, ep_legacy_random_sample

from envpool.errors import ConfigError
from envpool.mujoco.dmc.env_definition import SuiteEnvDefinition, load_model, suite_tasks

# ---- the arm ---------------------------------------------------------------------------------------------------------

cdef enum:
    JOINTS = 8                  # joints of the arm: root, shoulder, elbow, wrist, finger, fingertip, thumb, thumbtip
    TOUCH_SENSORS = 5
    POSE = 4                    # numbers that describe a body in the plane: x, z (m), w and y of its quaternion
    FINGER = 4                  # indices of joints
    THUMB = 6

# The objects of the arm in a model.
cdef struct Arm:
    int qpos[JOINTS]            # addresses of the joints
    int qvel[JOINTS]
    double low[JOINTS]          # initial positions are sampled from [low, high)
    double high[JOINTS]
    int touch                   # address of the touch sensors
    int hand                    # id of the body
    int grasp                   # id of the site between the fingers

JOINT_NAMES = ("arm_root", "arm_shoulder", "arm_elbow", "arm_wrist", "finger", "fingertip", "thumb", "thumbtip")


cdef Arm find_arm(Model model) except *:
    cdef Arm arm
    for i, name in enumerate(JOINT_NAMES):
        joint = joint_id(model, name)
        limited = model.m.jnt_limited[joint]
        arm.qpos[i] = qpos_address(model, name)
        arm.qvel[i] = qvel_address(model, name)
        arm.low[i] = model.m.jnt_range[2 * joint] if limited else -M_PI
        arm.high[i] = model.m.jnt_range[2 * joint + 1] if limited else M_PI
    arm.touch = sensor_address(model, "palm_touch")
    arm.hand = body_id(model, "hand")
    arm.grasp = site_id(model, "grasp")
    return arm


cdef dict arm_observations():
    """Returns {name: shape} of the observations that observe_arm() writes."""
    return {"arm_pos": (JOINTS, 2), "arm_vel": (JOINTS,), "touch": (TOUCH_SENSORS,), "hand_pos": (POSE,)}


cdef void sample_arm(Sim* s, const Arm* arm) noexcept nogil:
    """Samples the positions of the arm. The finger gets the position of the thumb."""
    cdef int i
    for i in range(JOINTS):
        s.data.qpos[arm.qpos[i]] = ep_legacy_uniform(random_of(s), arm.low[i], arm.high[i])
    s.data.qpos[arm.qpos[FINGER]] = s.data.qpos[arm.qpos[THUMB]]


cdef inline double* observe_pose(const Sim* s, int body, double* out) noexcept nogil:
    """Writes the POSE numbers of a body; returns the address behind them."""
    out[0] = s.data.xpos[3 * body]
    out[1] = s.data.xpos[3 * body + 2]
    out[2] = s.data.xquat[4 * body]
    out[3] = s.data.xquat[4 * body + 2]
    return out + POSE


cdef double* observe_arm(const Sim* s, const Arm* arm, double* out) noexcept nogil:
    """Writes arm_pos, arm_vel, touch and hand_pos; returns the address behind them."""
    cdef int i
    for i in range(JOINTS):
        out[2 * i] = sin(s.data.qpos[arm.qpos[i]])
        out[2 * i + 1] = cos(s.data.qpos[arm.qpos[i]])
        out[2 * JOINTS + i] = s.data.qvel[arm.qvel[i]]
    out += 3 * JOINTS
    np_log1p(s.data.sensordata + arm.touch, out, TOUCH_SENSORS)
    return observe_pose(s, arm.hand, out + TOUCH_SENSORS)


cdef double site_distance(const Sim* s, int first, int second) noexcept nogil:
    """Returns the distance between two sites (m)."""
    cdef double between[3]
    put_difference(between, s.data.site_xpos + 3 * first, s.data.site_xpos + 3 * second)
    return np_norm(between, 3)


# ---- DmcManipulator --------------------------------------------------------------------------------------------------

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
    return sample_without_contacts(s, sample_positions)


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


cdef SuiteTask MANIPULATOR = suite_task(sizeof(Episode), initialize, reward, observe)
MANIPULATOR.extras = extras

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
        first, moved = (o.receptacle, 2) if inserted else (o.target, 1)
        if inserted and o.receptacle != o.target - 1:
            raise ConfigError(f"{model.source} comes from a dm_control that these tasks do not support")
        for k, axis in enumerate("xzy"):
            o.qpos[k], o.qvel[k] = qpos_address(model, f"{prop}_{axis}"), qvel_address(model, f"{prop}_{axis}")
        o.num_pairs = len(PAIRS[prop])
        for k, pair in enumerate(PAIRS[prop]):
            for side, site in enumerate(pair):
                o.pairs[k][side] = site_id(model, site)
        observations = arm_observations() | {"object_pos": (POSE,), "object_vel": (PROP_JOINTS,), "target_pos": (POSE,)}
        return define_suite_task("DmcManipulator", &MANIPULATOR, model, config, observations, &o.head, sizeof(o),
                                 {"target0": POSE},
                                 [private_array(model, &model.m.body_pos, 3 * model.m.nbody, 3 * first, 3 * moved),
                                  private_array(model, &model.m.body_quat, 4 * model.m.nbody, 4 * first, 4 * moved)])


# ---- DmcStacker ------------------------------------------------------------------------------------------------------

cdef enum:
    BOX_X, BOX_ANGLE, BOX_Z     # joints of a box in the order of observation; upstream calls them x, y and z
    BOX_JOINTS
    MAX_BOXES = 4

# The objects of a box in the model.
cdef struct Box:
    int body
    int site
    int qpos[BOX_JOINTS]        # addresses of the joints
    int qvel[BOX_JOINTS]

cdef struct StackerOptions:
    Options head
    Arm arm
    double size                 # half the height of a box (m)
    int target                  # id of the body
    int target_site
    int num_boxes
    Box boxes[MAX_BOXES]


cdef inline const StackerOptions* stacker_of(const Sim* s) noexcept nogil:
    return <const StackerOptions*>s.options


cdef int sample_boxes(Sim* s) noexcept nogil:
    """Samples positions of arm, target and boxes, which may overlap."""
    cdef const StackerOptions* o = stacker_of(s)
    cdef ep_mt19937* random = random_of(s)
    cdef const Box* box
    cdef int i
    sample_arm(s, &o.arm)
    s.model.body_pos[3 * o.target + 2] = o.size * (2 * ep_legacy_randint(random, 0, o.num_boxes) + 1)
    s.model.body_pos[3 * o.target] = ep_legacy_uniform(random, -.37, .37)
    for i in range(o.num_boxes):
        box = &o.boxes[i]
        s.data.qpos[box.qpos[BOX_X]] = ep_legacy_uniform(random, .1, .3)
        s.data.qpos[box.qpos[BOX_Z]] = ep_legacy_uniform(random, 0, .7)
        s.data.qpos[box.qpos[BOX_ANGLE]] = ep_legacy_uniform(random, 0, 2 * M_PI)
    return 0


cdef int initialize_stacker(Sim* s) noexcept nogil:
    return sample_without_contacts(s, sample_boxes)


cdef double reward_stacker(const Sim* s) noexcept nogil:
    cdef const StackerOptions* o = stacker_of(s)
    cdef double nearest = site_distance(s, o.boxes[0].site, o.target_site)
    cdef int i
    for i in range(1, o.num_boxes):
        nearest = min(nearest, site_distance(s, o.boxes[i].site, o.target_site))
    return gaussian(nearest, 0, 0, 2 * o.size) * gaussian(
        site_distance(s, o.arm.grasp, o.target_site), .1, INFINITY, .01)


cdef void observe_stacker(const Sim* s, double* out) noexcept nogil:
    cdef const StackerOptions* o = stacker_of(s)
    cdef int i, k
    out = observe_arm(s, &o.arm, out)
    for i in range(o.num_boxes):
        out = observe_pose(s, o.boxes[i].body, out)
    for i in range(o.num_boxes):
        for k in range(BOX_JOINTS):
            out[BOX_JOINTS * i + k] = s.data.qvel[o.boxes[i].qvel[k]]
    out += BOX_JOINTS * o.num_boxes
    out[0] = s.data.xpos[3 * o.target]
    out[1] = s.data.xpos[3 * o.target + 2]


cdef void extras_stacker(const Sim* s, double* out) noexcept nogil:
    out[0] = s.model.body_pos[3 * stacker_of(s).target]
    out[1] = s.model.body_pos[3 * stacker_of(s).target + 2]


cdef SuiteTask STACKER = suite_task(sizeof(Episode), initialize_stacker, reward_stacker, observe_stacker)
STACKER.extras = extras_stacker


class DmcStacker(SuiteEnvDefinition):
    """Stack boxes with a planar arm and hand.

    Observations float64: arm_pos, arm_vel, touch and hand_pos as in DmcManipulator; box_pos (boxes, 4), each with x, z
    (m), w and y of the quaternion; box_vel (3 * boxes,), m/s, rad/s and m/s for each box; target_pos (2,), x and z (m).
    Action float64 (5,) in [-1, 1]: torques of the arm, and of closing the hand. The reward in [0, 1] is high for a box
    at the target and a hand away from it.
    """

    # The number of boxes.
    options, tasks = suite_tasks(10, stack_2=2, stack_4=4)

    @staticmethod
    def define(config, num_boxes):
        cdef StackerOptions o
        cdef Model model = load_model("stacker", num_boxes, function="make_model")
        o.arm = find_arm(model)
        o.num_boxes = num_boxes
        o.size = model.m.geom_size[3 * geom_id(model, "target")]
        o.target, o.target_site = body_id(model, "target"), site_id(model, "target")
        for i in range(num_boxes):
            o.boxes[i].body, o.boxes[i].site = body_id(model, f"box{i}"), site_id(model, f"box{i}")
            for k, axis in enumerate("xyz"):
                o.boxes[i].qpos[k] = qpos_address(model, f"box{i}_{axis}")
                o.boxes[i].qvel[k] = qvel_address(model, f"box{i}_{axis}")
        observations = arm_observations() | {
            "box_pos": (num_boxes, POSE), "box_vel": (BOX_JOINTS * num_boxes,), "target_pos": (2,)
        }
        return define_suite_task("DmcStacker", &STACKER, model, config, observations, &o.head, sizeof(o),
                                 {"target0": 2},
                                 [private_array(model, &model.m.body_pos, 3 * model.m.nbody, 3 * o.target, 3)])
