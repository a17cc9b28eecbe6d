"""The fish of dm_control's suite (``dm_control.suite.fish``)."""


from envpool.numerics.numpy_exact cimport np_dot_matrix, np_norm
from envpool.mujoco.dmc.control cimport (
    ALPHA, ZZ, Episode, Model, Options, Sim, SuiteTask, body_id, define_suite_task, ep_legacy_uniform, geom_id,
    private_array, private_float_array, put, put_difference, qpos_address, random_of, random_unit, suite_task,
)
from envpool.mujoco.dmc.rewards cimport gaussian

from envpool.mujoco.dmc.env_definition import SuiteEnvDefinition, load_model, suite_tasks

cdef enum:
    NUM_JOINTS = 7

JOINTS = ["tail1", "tail_twist", "tail2", "finright_roll", "finright_pitch", "finleft_roll", "finleft_pitch"]

cdef struct FishOptions:
    Options head
    int torso                   # id of the body
    int mouth                   # ids of the geoms
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
    """Writes the vector from the mouth to the target in the frame of the mouth."""
    cdef const FishOptions* o = options_of(s)
    cdef double to_target[3]
    put_difference(to_target, s.data.geom_xpos + 3 * o.target, s.data.geom_xpos + 3 * o.mouth)
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
    put(out + NUM_JOINTS + 1, s.data.qvel, s.model.nv)


cdef void observe_swim(const Sim* s, double* out) noexcept nogil:
    observe_joints(s, out)
    mouth_to_target(s, out + NUM_JOINTS + 1)
    put(out + NUM_JOINTS + 4, s.data.qvel, s.model.nv)


cdef void extras_swim(const Sim* s, double* out) noexcept nogil:
    put(out, s.model.geom_pos + 3 * options_of(s).target, 3)


cdef SuiteTask UPRIGHT = suite_task(sizeof(Episode), initialize_upright, reward_upright, observe_upright)
cdef SuiteTask SWIM = suite_task(sizeof(Episode), initialize_swim, reward_swim, observe_swim)
SWIM.extras = extras_swim


class DmcFish(SuiteEnvDefinition):
    """Keep a fish upright, or swim to a target.

    Observations float64: joint_angles (7,) (rad); upright (), the z component of the z axis of the torso; in "swim"
    also target (3,) (m) in the frame of the mouth; velocity (13,) (m/s, rad/s). Action float64 (5,) in [-1, 1]: the
    positions to which the fins are pulled. The reward in [0, 1] is high for an upright torso, and in "swim" also for a
    mouth near the target.
    """

    options, tasks = suite_tasks(10, upright=False, swim=True)

    @staticmethod
    def define(config, swims):
        cdef FishOptions o
        cdef Model model = load_model("fish")
        o.torso = body_id(model, "torso")
        o.mouth, o.target = geom_id(model, "mouth"), geom_id(model, "target")
        o.root = qpos_address(model, "root")
        o.joints = [qpos_address(model, name) for name in JOINTS]
        observations = {"joint_angles": (NUM_JOINTS,), "upright": ()}
        if not swims:
            observations["velocity"] = (model.m.nv,)
            return define_suite_task("DmcFish", &UPRIGHT, model, config, observations, &o.head, sizeof(o), {},
                                     [private_float_array(model, &model.m.geom_rgba, 4 * model.m.ngeom,
                                                          4 * o.target + ALPHA, 1)])
        observations |= {"target": (3,), "velocity": (model.m.nv,)}
        return define_suite_task("DmcFish", &SWIM, model, config, observations, &o.head, sizeof(o), {"target0": 3},
                                 [private_array(model, &model.m.geom_pos, 3 * model.m.ngeom, 3 * o.target, 3)])
