"""The planar stacker of dm_control's suite (``dm_control.suite.stacker``)."""

from libc.math cimport INFINITY, M_PI

from envpool.mujoco.dmc.control cimport (
    Episode, Model, Options, Sim, SuiteTask, body_id, define_suite_task, ep_legacy_uniform, ep_mt19937, geom_id,
    physics_after_reset, private_array, qpos_address, qvel_address, random_of, site_id, suite_task,
)
from envpool.mujoco.dmc.planar_arm cimport (
    Arm, POSE, arm_observations, find_arm, observe_arm, observe_pose, sample_arm, site_distance,
)
from envpool.mujoco.dmc.rewards cimport gaussian
from envpool.numerics.rng_legacy cimport ep_legacy_randint

from envpool.mujoco.dmc.env_definition import SuiteEnvDefinition, suite_tasks
from envpool.mujoco.dmc.models import load_model

cdef enum:
    X, ANGLE, Z                 # joints of a box in the order of observation; upstream calls them x, y and z
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


cdef inline const StackerOptions* options_of(const Sim* s) noexcept nogil:
    return <const StackerOptions*>s.options


cdef void sample_positions(Sim* s) noexcept nogil:
    """Samples positions of arm, target and boxes, which may overlap."""
    cdef const StackerOptions* o = options_of(s)
    cdef ep_mt19937* random = random_of(s)
    cdef const Box* box
    cdef int i
    sample_arm(s, &o.arm)
    s.model.body_pos[3 * o.target + 2] = o.size * (2 * ep_legacy_randint(random, 0, o.num_boxes) + 1)
    s.model.body_pos[3 * o.target] = ep_legacy_uniform(random, -.37, .37)
    for i in range(o.num_boxes):
        box = &o.boxes[i]
        s.data.qpos[box.qpos[X]] = ep_legacy_uniform(random, .1, .3)
        s.data.qpos[box.qpos[Z]] = ep_legacy_uniform(random, 0, .7)
        s.data.qpos[box.qpos[ANGLE]] = ep_legacy_uniform(random, 0, 2 * M_PI)


cdef int initialize(Sim* s) noexcept nogil:
    while True:
        sample_positions(s)
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
        return define_suite_task("DmcStacker", &TASK, model, config, observations, &o.head, sizeof(o), {"target0": 2},
                                 [private_array(model, &model.m.body_pos, 3 * model.m.nbody, 3 * o.target,
                                                3 * o.target + 3)])
