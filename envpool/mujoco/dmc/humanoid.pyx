"""The humanoids of dm_control's suite (``dm_control.suite.humanoid`` and ``dm_control.suite.humanoid_CMU``).

Both have the same tasks. They differ in the model, in names, and in the axis of the trunk that is upright.
"""

from libc.math cimport INFINITY

from envpool.numerics.numpy_exact cimport np_dot_matrix, np_norm
from envpool.mujoco.dmc.control cimport (
    ZX, ZY, ZZ, Episode, Model, Options, Sim, SuiteTask, body_id, define_suite_task, initialize_joints, observe_state,
    put, put_difference, sample_without_contacts, sensor_address, suite_task,
)
from envpool.mujoco.dmc.rewards cimport gaussian, gaussian_element, linear, mean_quadratic

from envpool.mujoco.dmc.env_definition import SuiteEnvDefinition, load_model, suite_tasks

cdef enum:
    ROOT_POSITIONS = 7          # numbers in qpos before the numbers of the joints
    NUM_LIMBS = 4

cdef double STAND_HEIGHT = 1.4  # lowest height of the head that counts as standing (m)

cdef struct HumanoidOptions:
    Options head
    double move_speed           # speed at and above which moving is rewarded with 1 (m/s); 0: the task is to stand
    int trunk                   # ids of the bodies
    int head_body
    int limbs[NUM_LIMBS]        # left hand and foot, right hand and foot
    int upright                 # element of the rotation matrix of the trunk that measures how upright it is
    int velocity                # address of the sensor for the velocity of the center of mass


cdef inline const HumanoidOptions* options_of(const Sim* s) noexcept nogil:
    return <const HumanoidOptions*>s.options


cdef int initialize(Sim* s) noexcept nogil:
    return sample_without_contacts(s, initialize_joints)


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
    out = put(out, s.data.qpos + ROOT_POSITIONS, joints)
    out[0] = head_height(s)
    out += 1
    for i in range(NUM_LIMBS):
        put_difference(to_limb, s.data.xpos + 3 * o.limbs[i], s.data.xpos + 3 * o.trunk)
        np_dot_matrix(to_limb, frame, 3, 3, out + 3 * i)
    out += 3 * NUM_LIMBS
    out = put(out, frame + ZX, 3)
    out = put(out, s.data.sensordata + o.velocity, 3)
    put(out, s.data.qvel, s.model.nv)


cdef SuiteTask TASK = suite_task(sizeof(Episode), initialize, reward, observe)
cdef SuiteTask PURE_STATE = suite_task(sizeof(Episode), initialize, reward, observe_state)


cdef object define_humanoid(str name, str domain, object config, tuple task, str trunk, list limbs, int upright):
    """Returns the capsule of a task; `trunk` and `limbs` are the names of the bodies."""
    cdef HumanoidOptions o
    cdef Model model = load_model(domain)
    o.move_speed, observes_state = task
    o.trunk = body_id(model, trunk)
    o.head_body = body_id(model, "head")
    o.limbs = [body_id(model, limb) for limb in limbs]
    o.upright = upright
    o.velocity = sensor_address(model, f"{trunk}_subtreelinvel")
    if observes_state:
        observations = {"position": (model.m.nq,), "velocity": (model.m.nv,)}
        return define_suite_task(name, &PURE_STATE, model, config, observations, &o.head, sizeof(o))
    observations = {
        "joint_angles": (model.m.nq - ROOT_POSITIONS,), "head_height": (), "extremities": (3 * NUM_LIMBS,),
        "torso_vertical": (3,), "com_velocity": (3,), "velocity": (model.m.nv,),
    }
    return define_suite_task(name, &TASK, model, config, observations, &o.head, sizeof(o))


class DmcHumanoid(SuiteEnvDefinition):
    """Stand, walk or run on two legs, with 21 joints.

    Observations float64: joint_angles (21,) (rad); head_height () (m); extremities (12,) (m), the positions of hands
    and feet in the frame of the torso; torso_vertical (3,), the z components of the axes of the torso; com_velocity
    (3,) (m/s); velocity (27,) (m/s, rad/s). The task "run_pure_state" has position (28,) and velocity (27,) instead.
    Action float64 (21,) in [-1, 1]: torques. The reward in [0, 1] is high for a high head, an upright torso, little
    control, and the right speed: no motion in "stand", at least 1 m/s in "walk", and at least 10 m/s in "run".
    """

    # The rewarded speed (m/s), and whether positions and velocities are observed.
    options, tasks = suite_tasks(
        5, stand=(0, False), walk=(1, False), run=(10, False), run_pure_state=(10, True)
    )

    @staticmethod
    def define(config, task):
        limbs = ["left_hand", "left_foot", "right_hand", "right_foot"]
        return define_humanoid("DmcHumanoid", "humanoid", config, task, "torso", limbs, ZZ)


class DmcHumanoidCMU(SuiteEnvDefinition):
    """Stand, walk or run on two legs, with the 56 joints of CMU's motion capture data.

    Observations and reward are those of DmcHumanoid, with the thorax in place of the torso, joint_angles (56,) and
    velocity (62,). Action float64 (56,) in [-1, 1]: torques.
    """

    options, tasks = suite_tasks(10, stand=(0, False), walk=(1, False), run=(10, False))

    @staticmethod
    def define(config, task):
        limbs = ["lhand", "lfoot", "rhand", "rfoot"]
        return define_humanoid("DmcHumanoidCMU", "humanoid_CMU", config, task, "thorax", limbs, ZY)
