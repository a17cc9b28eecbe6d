"""The planar manipulator of dm_control's suite (``dm_control.suite.manipulator``)."""

from libc.math cimport M_PI, cos, sin

from envpool.numerics.numpy_exact cimport np_arctan2
from envpool.mujoco.base.model cimport Model
from envpool.mujoco.base.mujoco cimport mjOBJ_BODY, mjOBJ_SITE
from envpool.mujoco.base.simulation cimport Sim, change
from envpool.mujoco.dmc.control cimport (
    Episode, Options, SuiteTask, define_suite_task, object_id, physics_after_reset, qpos_address, qvel_address,
    random_of, suite_task,
)
from envpool.mujoco.dmc.planar_arm cimport (
    Arm, POSE, arm_observations, draw_arm, find_arm, observe_arm, observe_pose, site_distance,
)
from envpool.mujoco.dmc.rewards cimport gaussian
from envpool.numerics.rng_legacy cimport ep_legacy_random_sample, ep_legacy_uniform, ep_mt19937

from envpool.mujoco.base.opengl import MujocoTask
from envpool.mujoco.dmc.control import suite_options
from envpool.mujoco.dmc.models import check_task, load_model

cdef enum:
    X, Z, ANGLE                 # joints of the prop, as upstream names them x, z, y
    PROP_JOINTS
    MAX_PAIRS = 4
    XX = 0                      # elements of a rotation matrix
    ZX = 6
    NONE = -1

cdef struct ManipulatorOptions:
    Options head
    Arm arm
    int prop                    # bodies: what is brought
    int target                  # and where
    int receptacle              # that stands at the target; NONE: nothing does
    int qpos[PROP_JOINTS]       # addresses
    int qvel[PROP_JOINTS]
    int num_pairs               # sites that should meet: two pairs of prop and hand, two of prop and target; or, of a
    int pairs[MAX_PAIRS][2]     # ball, only one pair of prop and target


cdef inline const ManipulatorOptions* options_of(const Sim* s) noexcept nogil:
    return <const ManipulatorOptions*>s.options


cdef inline void put_body(Sim* s, int body, double x, double z, double angle) noexcept nogil:
    s.model.body_pos[3 * body] = x
    s.model.body_pos[3 * body + 2] = z
    s.model.body_quat[4 * body] = cos(angle / 2)
    s.model.body_quat[4 * body + 2] = sin(angle / 2)


cdef int put_in_hand(Sim* s, double* prop) noexcept nogil:
    """Finds x, z and angle of a prop in the hand."""
    cdef int grasp = options_of(s).arm.grasp
    cdef double angle
    if physics_after_reset(s):
        return -1
    np_arctan2(s.data.site_xmat + 9 * grasp + ZX, s.data.site_xmat + 9 * grasp + XX, &angle, 1)
    prop[X] = s.data.site_xpos[3 * grasp]
    prop[Z] = s.data.site_xpos[3 * grasp + 2]
    prop[ANGLE] = M_PI - angle
    return 0


cdef int draw_places(Sim* s) noexcept nogil:
    """Draws places for arm, target and prop, which may overlap; 0, or fail()."""
    cdef const ManipulatorOptions* o = options_of(s)
    cdef ep_mt19937* random = random_of(s)
    cdef double prop[PROP_JOINTS]
    cdef double x, z, angle, widest, kind
    cdef int k
    draw_arm(s, &o.arm)
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
        if draw_places(s) or physics_after_reset(s):
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

# Prop, whether it is inserted into something.
TASKS = {
    "bring_ball": ("ball", False),
    "bring_peg": ("peg", False),
    "insert_ball": ("ball", True),
    "insert_peg": ("peg", True),
}
RECEPTACLES = {"ball": "cup", "peg": "slot"}
PAIRS = {
    "ball": [("ball", "target_ball")],
    "peg": [("peg_grasp", "grasp"), ("peg_pinch", "pinch"), ("peg", "target_peg"), ("target_peg_tip", "peg_tip")],
}


class DmcManipulator(MujocoTask):
    """Bring a ball or a peg to a target with a planar arm and hand; the target may be in a cup or a slot.

    Observations float64: arm_pos (8, 2), sine and cosine of each joint; arm_vel (8,) (rad/s); touch (5,), log(1 +
    force) of each sensor; hand_pos, object_pos and target_pos (4,), each x, z (m), w and y of the quaternion;
    object_vel (3,) (m/s, rad/s). Action float64 (5,) in [-1, 1]: torques of the arm, and of closing the hand. The
    reward is in [0, 1] for a prop at the target; a peg in the hand gets up to a third.

    Options
    -------
    task_name : str
        ``"bring_ball"``, ``"bring_peg"``, ``"insert_ball"`` or ``"insert_peg"``.
    frame_skip, frame_stack, debug_info
        See docs/mujoco.md. With debug_info also ``info["target0"]`` (4,): x, z (m), w and y of its quaternion.
    """

    options = suite_options("bring_ball", 10)

    @staticmethod
    def build(config):
        """Return the capsule of this kind."""
        cdef ManipulatorOptions o
        cdef Model model
        prop, inserted = TASKS[check_task(config, list(TASKS))]
        model = load_model("manipulator", prop == "peg", inserted, function="make_model")
        o.arm = find_arm(model)
        o.prop = object_id(model, mjOBJ_BODY, prop)
        o.target = object_id(model, mjOBJ_BODY, f"target_{prop}")
        o.receptacle = object_id(model, mjOBJ_BODY, RECEPTACLES[prop]) if inserted else NONE
        for k, axis in enumerate("xzy"):
            o.qpos[k] = qpos_address(model, f"{prop}_{axis}")
            o.qvel[k] = qvel_address(model, f"{prop}_{axis}")
        o.num_pairs = len(PAIRS[prop])
        for k, pair in enumerate(PAIRS[prop]):
            for side, site in enumerate(pair):
                o.pairs[k][side] = object_id(model, mjOBJ_SITE, site)
        observations = arm_observations() | {"object_pos": (POSE,), "object_vel": (PROP_JOINTS,), "target_pos": (POSE,)}
        changes = [
            change(model, &model.m.body_pos, 3 * model.m.nbody),
            change(model, &model.m.body_quat, 4 * model.m.nbody),
        ]
        return define_suite_task(
            "DmcManipulator", &TASK, model, config, observations, &o.head, sizeof(o), {"target0": POSE}, changes
        )
