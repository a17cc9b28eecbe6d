"""The humanoids of dm_control's suite (``dm_control.suite.humanoid`` and ``dm_control.suite.humanoid_CMU``).

Both have the same task: they differ in the model, in names, and in which axis of the trunk is upright.
"""

from libc.math cimport INFINITY
from libc.string cimport memcpy

from envpool.numerics.numpy_exact cimport np_dot_matrix, np_norm
from envpool.mujoco.base.model cimport Model
from envpool.mujoco.base.mujoco cimport mjOBJ_BODY
from envpool.mujoco.base.simulation cimport Sim
from envpool.mujoco.dmc.control cimport (
    Episode, Options, SuiteTask, define_suite_task, object_id, observe_state, physics_after_reset, randomize_joints,
    sensor_address, subtract, suite_task,
)
from envpool.mujoco.dmc.rewards cimport gaussian, gaussian_element, linear, mean_quadratic

from envpool.mujoco.base.opengl import MujocoTask
from envpool.mujoco.dmc.control import suite_options
from envpool.mujoco.dmc.models import check_task, load_model

cdef enum:
    ROOT_POSITIONS = 7          # numbers in qpos before those of the joints
    NUM_LIMBS = 4
    ZX = 6                      # elements of a rotation matrix
    ZY = 7
    ZZ = 8

cdef double STAND_HEIGHT = 1.4  # m of the head, from which on it stands

cdef struct HumanoidOptions:
    Options head
    double move_speed           # m/s, from which on moving gives 1; 0: it has to stand still
    int trunk                   # bodies
    int head_body
    int limbs[NUM_LIMBS]        # left hand and foot, right hand and foot
    int upright                 # which element of the trunk's rotation matrix tells how upright it is
    int velocity                # address of the sensor for the velocity of the center of mass


cdef inline const HumanoidOptions* options_of(const Sim* s) noexcept nogil:
    return <const HumanoidOptions*>s.options


cdef int initialize(Sim* s) noexcept nogil:
    """Draws joints until nothing touches."""
    while True:
        randomize_joints(s)
        if physics_after_reset(s):
            return -1
        if s.data.ncon <= 0:
            return 0


cdef inline double head_height(const Sim* s) noexcept nogil:
    return s.data.xpos[3 * options_of(s).head_body + 2]


cdef double reward(const Sim* s) noexcept nogil:
    cdef const HumanoidOptions* o = options_of(s)
    cdef const double* velocity = s.data.sensordata + o.velocity
    cdef double standing = gaussian(head_height(s), STAND_HEIGHT, INFINITY, STAND_HEIGHT / 4)
    cdef double upright = linear(s.data.xmat[9 * o.trunk + o.upright], 0.9, INFINITY, 1.9, 1)
    cdef double stand_reward = standing * upright
    cdef double small_control = (4 + mean_quadratic(s.data.ctrl, s.model.nu, 1)) / 5
    cdef double move
    if o.move_speed == 0:
        move = (gaussian_element(velocity[0], 0, 0, 2) + gaussian_element(velocity[1], 0, 0, 2)) / 2
    else:
        move = linear(np_norm(velocity, 2), o.move_speed, INFINITY, o.move_speed, 1)
        move = (5 * move + 1) / 6
    return small_control * stand_reward * move


cdef void observe(const Sim* s, double* out) noexcept nogil:
    cdef const HumanoidOptions* o = options_of(s)
    cdef const double* frame = s.data.xmat + 9 * o.trunk
    cdef double to_limb[3]
    cdef long joints = s.model.nq - ROOT_POSITIONS
    cdef int i
    memcpy(out, s.data.qpos + ROOT_POSITIONS, joints * sizeof(double))
    out += joints
    out[0] = head_height(s)
    out += 1
    for i in range(NUM_LIMBS):
        subtract(s.data.xpos + 3 * o.limbs[i], s.data.xpos + 3 * o.trunk, to_limb)
        np_dot_matrix(to_limb, frame, 3, 3, out + 3 * i)
    out += 3 * NUM_LIMBS
    memcpy(out, frame + ZX, 3 * sizeof(double))
    memcpy(out + 3, s.data.sensordata + o.velocity, 3 * sizeof(double))
    memcpy(out + 6, s.data.qvel, s.model.nv * sizeof(double))


cdef SuiteTask TASK = suite_task(sizeof(Episode), initialize, reward, observe)
cdef SuiteTask PURE_STATE = suite_task(sizeof(Episode), initialize, reward, observe_state)


cdef object build(str name, str domain, object config, dict speeds, str trunk, list limbs, int upright):
    """`speeds`: the speed of each task; names of the trunk and of the limbs."""
    cdef HumanoidOptions o
    cdef Model model
    task_name = check_task(config, list(speeds))
    model = load_model(domain)
    o.move_speed = speeds[task_name]
    o.trunk = object_id(model, mjOBJ_BODY, trunk)
    o.head_body = object_id(model, mjOBJ_BODY, "head")
    o.limbs = [object_id(model, mjOBJ_BODY, limb) for limb in limbs]
    o.upright = upright
    o.velocity = sensor_address(model, f"{trunk}_subtreelinvel")
    if task_name == "run_pure_state":
        observations = {"position": (model.m.nq,), "velocity": (model.m.nv,)}
        return define_suite_task(name, &PURE_STATE, model, config, observations, &o.head, sizeof(o))
    observations = {
        "joint_angles": (model.m.nq - ROOT_POSITIONS,),
        "head_height": (),
        "extremities": (3 * NUM_LIMBS,),
        "torso_vertical": (3,),
        "com_velocity": (3,),
        "velocity": (model.m.nv,),
    }
    return define_suite_task(name, &TASK, model, config, observations, &o.head, sizeof(o))


class DmcHumanoid(MujocoTask):
    """Stand, walk or run on two legs, with 21 joints.

    Observations float64: joint_angles (21,) (rad), head_height () (m), extremities (12,) (m), where hands and feet are
    in the frame of the torso, torso_vertical (3,), the z components of the torso's axes, com_velocity (3,) (m/s),
    velocity (27,) (m/s, rad/s); the task "run_pure_state" has position (28,) and velocity (27,) instead. Action float64
    (21,) in [-1, 1]: torques. The reward is in [0, 1] for a high head, an upright torso, little control, and the speed:
    none for "stand", at least 1 m/s for "walk", 10 m/s for "run".

    Options
    -------
    task_name : str
        ``"stand"``, ``"walk"``, ``"run"`` or ``"run_pure_state"``.
    frame_skip, frame_stack, debug_info
        See docs/mujoco.md.
    """

    options = suite_options("stand", 5)

    @staticmethod
    def build(config):
        """Return the capsule of this kind."""
        speeds = {"stand": 0, "walk": 1, "run": 10, "run_pure_state": 10}
        limbs = ["left_hand", "left_foot", "right_hand", "right_foot"]
        return build("DmcHumanoid", "humanoid", config, speeds, "torso", limbs, ZZ)


class DmcHumanoidCMU(MujocoTask):
    """Stand, walk or run on two legs, with the 56 joints of CMU's motion capture data.

    Observations float64: joint_angles (56,) (rad), head_height () (m), extremities (12,) (m), where hands and feet are
    in the frame of the thorax, torso_vertical (3,), the z components of the thorax's axes, com_velocity (3,) (m/s),
    velocity (62,) (m/s, rad/s). Action float64 (56,) in [-1, 1]: torques. The reward is that of ``DmcHumanoid``.

    Options
    -------
    task_name : str
        ``"stand"``, ``"walk"`` or ``"run"``.
    frame_skip, frame_stack, debug_info
        See docs/mujoco.md.
    """

    options = suite_options("stand", 10)

    @staticmethod
    def build(config):
        """Return the capsule of this kind."""
        speeds = {"stand": 0, "walk": 1, "run": 10}
        limbs = ["lhand", "lfoot", "rhand", "rfoot"]
        return build("DmcHumanoidCMU", "humanoid_CMU", config, speeds, "thorax", limbs, ZY)
