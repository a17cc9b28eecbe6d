"""The planar stacker of dm_control's suite (``dm_control.suite.stacker``)."""

from libc.math cimport INFINITY, M_PI

from envpool.mujoco.base.model cimport Model
from envpool.mujoco.base.mujoco cimport mjOBJ_BODY, mjOBJ_GEOM, mjOBJ_SITE
from envpool.mujoco.base.simulation cimport Sim, change
from envpool.mujoco.dmc.control cimport (
    Episode, Options, SuiteTask, define_suite_task, object_id, physics_after_reset, qpos_address, qvel_address,
    random_of, suite_task,
)
from envpool.mujoco.dmc.planar_arm cimport (
    Arm, POSE, arm_observations, draw_arm, find_arm, observe_arm, observe_pose, site_distance,
)
from envpool.mujoco.dmc.rewards cimport gaussian
from envpool.numerics.rng_legacy cimport ep_legacy_randint, ep_legacy_uniform, ep_mt19937

from envpool.mujoco.base.opengl import MujocoTask
from envpool.mujoco.dmc.control import suite_options
from envpool.mujoco.dmc.models import check_task, load_model

cdef enum:
    X, ANGLE, Z                 # joints of a box in the order in which they are observed: x, y, z
    BOX_JOINTS
    MAX_BOXES = 4

# Where a box is in the model.
cdef struct Box:
    int body
    int site
    int qpos[BOX_JOINTS]        # addresses
    int qvel[BOX_JOINTS]

cdef struct StackerOptions:
    Options head
    Arm arm
    double size                 # half the height of a box (m)
    int target                  # body
    int target_site
    int num_boxes
    Box boxes[MAX_BOXES]


cdef inline const StackerOptions* options_of(const Sim* s) noexcept nogil:
    return <const StackerOptions*>s.options


cdef void draw_places(Sim* s) noexcept nogil:
    """Draws places for arm, target and boxes, which may overlap."""
    cdef const StackerOptions* o = options_of(s)
    cdef ep_mt19937* random = random_of(s)
    cdef const Box* box
    cdef int i
    draw_arm(s, &o.arm)
    s.model.body_pos[3 * o.target + 2] = o.size * (2 * ep_legacy_randint(random, 0, o.num_boxes) + 1)
    s.model.body_pos[3 * o.target] = ep_legacy_uniform(random, -.37, .37)
    for i in range(o.num_boxes):
        box = &o.boxes[i]
        s.data.qpos[box.qpos[X]] = ep_legacy_uniform(random, .1, .3)
        s.data.qpos[box.qpos[Z]] = ep_legacy_uniform(random, 0, .7)
        s.data.qpos[box.qpos[ANGLE]] = ep_legacy_uniform(random, 0, 2 * M_PI)


cdef int initialize(Sim* s) noexcept nogil:
    while True:
        draw_places(s)
        if physics_after_reset(s):
            return -1
        if s.data.ncon == 0:
            return 0


cdef double reward(const Sim* s) noexcept nogil:
    cdef const StackerOptions* o = options_of(s)
    cdef double nearest = site_distance(s, o.boxes[0].site, o.target_site)
    cdef int i
    for i in range(1, o.num_boxes):
        nearest = min(nearest, site_distance(s, o.boxes[i].site, o.target_site))
    return gaussian(nearest, 0, 0, 2 * o.size) * gaussian(
        site_distance(s, o.arm.grasp, o.target_site), .1, INFINITY, .01)


cdef void observe(const Sim* s, double* out) noexcept nogil:
    cdef const StackerOptions* o = options_of(s)
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


cdef void extras(const Sim* s, double* out) noexcept nogil:
    out[0] = s.model.body_pos[3 * options_of(s).target]
    out[1] = s.model.body_pos[3 * options_of(s).target + 2]


cdef SuiteTask TASK = suite_task(sizeof(Episode), initialize, reward, observe)
TASK.extras = extras

# Boxes.
TASKS = {"stack_2": 2, "stack_4": 4}


class DmcStacker(MujocoTask):
    """Stack boxes with a planar arm and hand.

    Observations float64: arm_pos (8, 2), sine and cosine of each joint; arm_vel (8,) (rad/s); touch (5,), log(1 +
    force) of each sensor; hand_pos (4,) and box_pos (boxes, 4), each x, z (m), w and y of the quaternion; box_vel (3 *
    boxes,) (m/s, rad/s, m/s for each box); target_pos (2,), x and z (m). Action float64 (5,) in [-1, 1]: torques of the
    arm, and of closing the hand. The reward is in [0, 1] for a box at the target and a hand that is not there.

    Options
    -------
    task_name : str
        ``"stack_2"`` or ``"stack_4"``, by the number of boxes.
    frame_skip, frame_stack, debug_info
        See docs/mujoco.md. With debug_info also ``info["target0"]`` (2,): x and z (m).
    """

    options = suite_options("stack_2", 10)

    @staticmethod
    def build(config):
        """Return the capsule of this kind."""
        cdef StackerOptions o
        cdef Model model
        o.num_boxes = TASKS[check_task(config, list(TASKS))]
        model = load_model("stacker", o.num_boxes, function="make_model")
        o.arm = find_arm(model)
        o.size = model.m.geom_size[3 * object_id(model, mjOBJ_GEOM, "target")]
        o.target = object_id(model, mjOBJ_BODY, "target")
        o.target_site = object_id(model, mjOBJ_SITE, "target")
        for i in range(o.num_boxes):
            o.boxes[i].body = object_id(model, mjOBJ_BODY, f"box{i}")
            o.boxes[i].site = object_id(model, mjOBJ_SITE, f"box{i}")
            for k, axis in enumerate("xyz"):
                o.boxes[i].qpos[k] = qpos_address(model, f"box{i}_{axis}")
                o.boxes[i].qvel[k] = qvel_address(model, f"box{i}_{axis}")
        observations = arm_observations() | {
            "box_pos": (o.num_boxes, POSE), "box_vel": (BOX_JOINTS * o.num_boxes,), "target_pos": (2,)
        }
        changes = [change(model, &model.m.body_pos, 3 * model.m.nbody)]
        return define_suite_task(
            "DmcStacker", &TASK, model, config, observations, &o.head, sizeof(o), {"target0": 2}, changes
        )
