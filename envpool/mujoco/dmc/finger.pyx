"""The finger and the spinner of dm_control's suite (``dm_control.suite.finger``)."""

from libc.math cimport M_PI, cos, sin

from envpool.numerics.numpy_exact cimport np_log1p, np_norm, np_sum
from envpool.mujoco.dmc.control cimport (
    ALPHA, Episode, Model, Options, Sim, SuiteTask, define_suite_task, ep_legacy_uniform, fail, geom_id, joint_id,
    physics_after_reset, private_array, private_float_array, qvel_address, random_of, randomize_joints, sensor_address,
    site_id, suite_task,
)

from envpool.mujoco.dmc.env_definition import SuiteEnvDefinition, load_model, suite_tasks

cdef enum:
    MAX_ATTEMPTS = 1000         # attempts to sample a state without contacts

cdef double SPIN_VELOCITY = 15.0        # angular velocity at and above which the body counts as spinning (rad/s)

cdef struct FingerOptions:
    Options head
    double radius               # of the target (m); 0: the task is to spin
    int hinge                   # id of the joint of the spinner
    int hinge_dof
    int cap                     # id of the geom of the spinner
    int target                  # ids of the sites
    int tip
    int angles[2]               # addresses of the sensors of the joints of the finger,
    int velocities[3]           # of the velocities of finger and spinner,
    int touch[2]                # of touch at the top and the bottom,
    int tip_at                  # and of three positions
    int spinner_at
    int target_at


cdef inline const FingerOptions* options_of(const Sim* s) noexcept nogil:
    return <const FingerOptions*>s.options


cdef int settle(Sim* s) noexcept nogil:
    """Samples joint positions until there is no contact."""
    for _ in range(MAX_ATTEMPTS):
        randomize_joints(s)
        if physics_after_reset(s):
            return -1
        if s.data.ncon == 0:
            return 0
    return fail(s, b"RuntimeError: Could not find a collision-free state after 1000 attempts")


cdef int initialize_spin(Sim* s) noexcept nogil:
    s.model.dof_damping[options_of(s).hinge_dof] = .03
    s.model.site_rgba[4 * options_of(s).target + ALPHA] = 0         # upstream hides both sites
    s.model.site_rgba[4 * options_of(s).tip + ALPHA] = 0
    return settle(s)


cdef int initialize_turn(Sim* s) noexcept nogil:
    cdef const FingerOptions* o = options_of(s)
    cdef double angle = ep_legacy_uniform(random_of(s), -M_PI, M_PI)
    cdef double radius = np_sum(s.model.geom_size + 3 * o.cap, 3)
    s.model.site_pos[3 * o.target] = s.data.xanchor[3 * o.hinge] + radius * sin(angle)
    s.model.site_pos[3 * o.target + 2] = s.data.xanchor[3 * o.hinge + 2] + radius * cos(angle)
    s.model.site_size[3 * o.target] = o.radius
    return settle(s)


cdef inline void from_spinner(const Sim* s, int address, double* out) noexcept nogil:
    """Writes the horizontal and the vertical distance of the position of a sensor from that of the spinner."""
    cdef const double* sensors = s.data.sensordata
    out[0] = sensors[address] - sensors[options_of(s).spinner_at]
    out[1] = sensors[address + 2] - sensors[options_of(s).spinner_at + 2]


cdef double distance_to_target(const Sim* s) noexcept nogil:
    cdef const FingerOptions* o = options_of(s)
    cdef double target[2]
    cdef double tip[2]
    cdef double to_target[2]
    from_spinner(s, o.target_at, target)
    from_spinner(s, o.tip_at, tip)
    to_target[0] = target[0] - tip[0]
    to_target[1] = target[1] - tip[1]
    return np_norm(to_target, 2) - s.model.site_size[3 * o.target]


cdef double reward_spin(const Sim* s) noexcept nogil:
    return s.data.sensordata[options_of(s).velocities[2]] <= -SPIN_VELOCITY


cdef double reward_turn(const Sim* s) noexcept nogil:
    return distance_to_target(s) <= 0


cdef void observe_spin(const Sim* s, double* out) noexcept nogil:
    cdef const FingerOptions* o = options_of(s)
    cdef int i
    for i in range(2):
        out[i] = s.data.sensordata[o.angles[i]]
        out[7 + i] = s.data.sensordata[o.touch[i]]
    from_spinner(s, o.tip_at, out + 2)
    for i in range(3):
        out[4 + i] = s.data.sensordata[o.velocities[i]]
    np_log1p(out + 7, out + 7, 2)


cdef void observe_turn(const Sim* s, double* out) noexcept nogil:
    observe_spin(s, out)
    from_spinner(s, options_of(s).target_at, out + 9)
    out[11] = distance_to_target(s)


cdef void extras_turn(const Sim* s, double* out) noexcept nogil:
    out[0] = s.model.site_pos[3 * options_of(s).target]
    out[1] = s.model.site_pos[3 * options_of(s).target + 2]


cdef SuiteTask SPIN = suite_task(sizeof(Episode), initialize_spin, reward_spin, observe_spin)
cdef SuiteTask TURN = suite_task(sizeof(Episode), initialize_turn, reward_turn, observe_turn)
TURN.extras = extras_turn


class DmcFinger(SuiteEnvDefinition):
    """Spin a body on a hinge with a finger, or turn the body until its tip is in the target.

    Observations float64: position (4,), the joints of the finger (rad) and the tip relative to the hinge (m); velocity
    (3,) (rad/s) of the joints of the finger and of the hinge; touch (2,), log(1 + force) of two sensors; in the "turn"
    tasks also target_position (2,) (m), relative to the hinge, and dist_to_target () (m), negative inside the target.
    Action float64 (2,) in [-1, 1]: torques. The reward is 1 while the body spins at 15 rad/s or more, or while the tip
    is in the target, otherwise 0.
    """

    # The radius of the target (m).
    options, tasks = suite_tasks(2, spin=0, turn_easy=0.07, turn_hard=0.03)

    @staticmethod
    def define(config, radius):
        cdef FingerOptions o
        cdef Model model = load_model("finger")
        o.radius = radius
        o.hinge = joint_id(model, "hinge")
        o.hinge_dof = qvel_address(model, "hinge")
        o.cap = geom_id(model, "cap1")
        o.target, o.tip = site_id(model, "target"), site_id(model, "tip")
        o.angles = [sensor_address(model, name) for name in ("proximal", "distal")]
        o.velocities = [sensor_address(model, f"{name}_velocity") for name in ("proximal", "distal", "hinge")]
        o.touch = [sensor_address(model, name) for name in ("touchtop", "touchbottom")]
        o.tip_at = sensor_address(model, "tip")
        o.spinner_at = sensor_address(model, "spinner")
        o.target_at = sensor_address(model, "target")
        observations = {"position": (4,), "velocity": (3,), "touch": (2,)}
        if o.radius == 0:
            return define_suite_task("DmcFinger", &SPIN, model, config, observations, &o.head, sizeof(o), {},
                                     [private_array(model, &model.m.dof_damping, model.m.nv, o.hinge_dof, 1),
                                      private_float_array(model, &model.m.site_rgba, 4 * model.m.nsite,
                                                          4 * min(o.target, o.tip), 4 * (abs(o.target - o.tip) + 1))])
        observations |= {"target_position": (2,), "dist_to_target": ()}
        return define_suite_task("DmcFinger", &TURN, model, config, observations, &o.head, sizeof(o), {"target0": 2},
                                 [private_array(model, &model.m.site_pos, 3 * model.m.nsite, 3 * o.target, 3),
                                  private_array(model, &model.m.site_size, 3 * model.m.nsite, 3 * o.target, 1)])
