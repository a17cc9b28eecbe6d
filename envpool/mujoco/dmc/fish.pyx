"""The fish of dm_control's suite (``dm_control.suite.fish``)."""

from libc.string cimport memcpy

from envpool.numerics.numpy_exact cimport np_dot_matrix, np_norm
from envpool.mujoco.base.model cimport Model
from envpool.mujoco.base.mujoco cimport mjOBJ_BODY, mjOBJ_GEOM
from envpool.mujoco.base.simulation cimport Sim, change, change_floats
from envpool.mujoco.dmc.control cimport (
    Episode, Options, SuiteTask, define_suite_task, object_id, qpos_address, random_of, random_unit, subtract,
    suite_task,
)
from envpool.mujoco.dmc.rewards cimport gaussian
from envpool.numerics.rng_legacy cimport ep_legacy_uniform

from envpool.mujoco.base.opengl import MujocoTask
from envpool.mujoco.dmc.control import suite_options
from envpool.mujoco.dmc.models import check_task, load_model

cdef enum:
    NUM_JOINTS = 7
    ZZ = 8                      # element of a rotation matrix
    ALPHA = 3                   # element of a colour

JOINTS = ["tail1", "tail_twist", "tail2", "finright_roll", "finright_pitch", "finleft_roll", "finleft_pitch"]

cdef struct FishOptions:
    Options head
    int torso                   # body
    int mouth                   # geoms
    int target
    int root                    # address of the position of the root
    int joints[NUM_JOINTS]      # addresses of the angles


cdef inline const FishOptions* options_of(const Sim* s) noexcept nogil:
    return <const FishOptions*>s.options


cdef int initialize_pose(Sim* s) noexcept nogil:
    cdef int i
    random_unit(s, s.data.qpos + options_of(s).root + 3, 4)
    for i in range(NUM_JOINTS):
        s.data.qpos[options_of(s).joints[i]] = ep_legacy_uniform(random_of(s), -.2, .2)
    return 0


cdef int initialize_upright(Sim* s) noexcept nogil:
    s.model.geom_rgba[4 * options_of(s).target + ALPHA] = 0         # upstream hides the target
    return initialize_pose(s)


cdef int initialize_swim(Sim* s) noexcept nogil:
    cdef double* target = s.model.geom_pos + 3 * options_of(s).target
    initialize_pose(s)
    target[0] = ep_legacy_uniform(random_of(s), -.4, .4)
    target[1] = ep_legacy_uniform(random_of(s), -.4, .4)
    target[2] = ep_legacy_uniform(random_of(s), .1, .3)
    return 0


cdef inline double upright(const Sim* s) noexcept nogil:
    return s.data.xmat[9 * options_of(s).torso + ZZ]


cdef void mouth_to_target(const Sim* s, double* out) noexcept nogil:
    """In the frame of the mouth."""
    cdef const FishOptions* o = options_of(s)
    cdef double to_target[3]
    subtract(s.data.geom_xpos + 3 * o.target, s.data.geom_xpos + 3 * o.mouth, to_target)
    np_dot_matrix(to_target, s.data.geom_xmat + 9 * o.mouth, 3, 3, out)


cdef double reward_upright(const Sim* s) noexcept nogil:
    return gaussian(upright(s), 1, 1, 1)


cdef double reward_swim(const Sim* s) noexcept nogil:
    cdef const FishOptions* o = options_of(s)
    cdef double radii = s.model.geom_size[3 * o.mouth] + s.model.geom_size[3 * o.target]
    cdef double to_target[3]
    cdef double in_target
    mouth_to_target(s, to_target)
    in_target = gaussian(np_norm(to_target, 3), 0, radii, 2 * radii)
    return (7 * in_target + 0.5 * (upright(s) + 1)) / 8


cdef inline void observe_joints(const Sim* s, double* out) noexcept nogil:
    cdef int i
    for i in range(NUM_JOINTS):
        out[i] = s.data.qpos[options_of(s).joints[i]]
    out[NUM_JOINTS] = upright(s)


cdef void observe_upright(const Sim* s, double* out) noexcept nogil:
    observe_joints(s, out)
    memcpy(out + NUM_JOINTS + 1, s.data.qvel, s.model.nv * sizeof(double))


cdef void observe_swim(const Sim* s, double* out) noexcept nogil:
    observe_joints(s, out)
    mouth_to_target(s, out + NUM_JOINTS + 1)
    memcpy(out + NUM_JOINTS + 4, s.data.qvel, s.model.nv * sizeof(double))


cdef void extras_swim(const Sim* s, double* out) noexcept nogil:
    memcpy(out, s.model.geom_pos + 3 * options_of(s).target, 3 * sizeof(double))


cdef SuiteTask UPRIGHT = suite_task(sizeof(Episode), initialize_upright, reward_upright, observe_upright)
cdef SuiteTask SWIM = suite_task(sizeof(Episode), initialize_swim, reward_swim, observe_swim)
SWIM.extras = extras_swim


class DmcFish(MujocoTask):
    """Keep a fish upright, or swim to a target.

    Observations float64: joint_angles (7,) (rad), upright (), the z component of the torso's z axis, in "swim" target
    (3,) (m) in the frame of the mouth, velocity (13,) (m/s, rad/s). Action float64 (5,) in [-1, 1]: where the fins are
    pulled to. The reward is in [0, 1], for an upright torso and for the mouth at the target.

    Options
    -------
    task_name : str
        ``"upright"`` or ``"swim"``.
    frame_skip, frame_stack, debug_info
        See docs/mujoco.md. The info of ``debug_info`` in "swim" also has target0 (3,) (m), where the target is.
    """

    options = suite_options("upright", 10)

    @staticmethod
    def build(config):
        """Return the capsule of this kind."""
        cdef FishOptions o
        cdef Model model
        task_name = check_task(config, ["upright", "swim"])
        model = load_model("fish")
        o.torso = object_id(model, mjOBJ_BODY, "torso")
        o.mouth = object_id(model, mjOBJ_GEOM, "mouth")
        o.target = object_id(model, mjOBJ_GEOM, "target")
        o.root = qpos_address(model, "root")
        o.joints = [qpos_address(model, name) for name in JOINTS]
        observations = {"joint_angles": (NUM_JOINTS,), "upright": ()}
        if task_name == "upright":
            observations["velocity"] = (model.m.nv,)
            changes = [change_floats(model, &model.m.geom_rgba, 4 * model.m.ngeom)]
            return define_suite_task("DmcFish", &UPRIGHT, model, config, observations, &o.head, sizeof(o), {}, changes)
        observations |= {"target": (3,), "velocity": (model.m.nv,)}
        return define_suite_task("DmcFish", &SWIM, model, config, observations, &o.head, sizeof(o), {"target0": 3},
                                 [change(model, &model.m.geom_pos, 3 * model.m.ngeom)])
