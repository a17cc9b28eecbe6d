"""The finger and the spinner of dm_control's suite (``dm_control.suite.finger``)."""

from libc.math cimport M_PI, cos, sin

from envpool.numerics.numpy_exact cimport np_log1p, np_norm, np_sum
from envpool.mujoco.base.model cimport Model
from envpool.mujoco.base.mujoco cimport mjOBJ_GEOM, mjOBJ_JOINT, mjOBJ_SITE
from envpool.mujoco.base.simulation cimport Sim, change, change_floats, fail
from envpool.mujoco.dmc.control cimport (
    Episode, Options, SuiteTask, define_suite_task, object_id, physics_after_reset, qvel_address, random_of,
    randomize_joints, sensor_address, suite_task,
)
from envpool.numerics.rng_legacy cimport ep_legacy_uniform

from envpool.mujoco.base.opengl import MujocoTask
from envpool.mujoco.dmc.control import suite_options
from envpool.mujoco.dmc.models import check_task, load_model

cdef enum:
    MAX_ATTEMPTS = 1000         # to find a state in which nothing touches
    ALPHA = 3                   # element of a colour

cdef double SPIN_VELOCITY = 15.0        # rad/s, from which on it spins

cdef struct FingerOptions:
    Options head
    double radius               # m, of the target; 0: the task is to spin
    int hinge                   # joint of the spinner
    int hinge_dof
    int cap                     # geom of the spinner
    int target                  # sites
    int tip
    int angles[2]               # addresses of sensors from here on: joints of the finger
    int velocities[3]           # finger and spinner
    int touch[2]                # top and bottom
    int tip_at                  # positions
    int spinner_at
    int target_at


cdef inline const FingerOptions* options_of(const Sim* s) noexcept nogil:
    return <const FingerOptions*>s.options


cdef int settle(Sim* s) noexcept nogil:
    """Draws joints until nothing touches."""
    for _ in range(MAX_ATTEMPTS):
        randomize_joints(s)
        if physics_after_reset(s):
            return -1
        if s.data.ncon == 0:
            return 0
    return fail(s, b"RuntimeError: Could not find a collision-free state after 1000 attempts")


cdef int initialize_spin(Sim* s) noexcept nogil:
    s.model.dof_damping[options_of(s).hinge_dof] = .03
    s.model.site_rgba[4 * options_of(s).target + ALPHA] = 0         # upstream hides both
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
    """Horizontal and vertical distance of a position from the spinner's."""
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

# Radius of the target, m.
TASKS = {"spin": 0, "turn_easy": 0.07, "turn_hard": 0.03}


class DmcFinger(MujocoTask):
    """Spin a body on a hinge with a finger, or turn it until its tip is in the target.

    Observations float64: position (4,), joints of the finger (rad) and the tip seen from the hinge (m); velocity (3,)
    (rad/s) of the finger's joints and the hinge; touch (2,), log(1 + force) of two sensors; in the "turn" tasks also
    target_position (2,) (m), seen from the hinge, and dist_to_target () (m), negative within the target. Action float64
    (2,) in [-1, 1]: torques. Reward 1 while it spins with 15 rad/s, or while the tip is in the target.

    Options
    -------
    task_name : str
        ``"spin"``, ``"turn_easy"`` or ``"turn_hard"``.
    frame_skip, frame_stack, debug_info
        See docs/mujoco.md. The info of ``debug_info`` in the "turn" tasks also has target0 (2,) (m), the target's
        place.
    """

    options = suite_options("spin", 2)

    @staticmethod
    def build(config):
        """Return the capsule of this kind."""
        cdef FingerOptions o
        cdef Model model
        o.radius = TASKS[check_task(config, list(TASKS))]
        model = load_model("finger")
        o.hinge = object_id(model, mjOBJ_JOINT, "hinge")
        o.hinge_dof = qvel_address(model, "hinge")
        o.cap = object_id(model, mjOBJ_GEOM, "cap1")
        o.target = object_id(model, mjOBJ_SITE, "target")
        o.tip = object_id(model, mjOBJ_SITE, "tip")
        o.angles = [sensor_address(model, name) for name in ("proximal", "distal")]
        o.velocities = [sensor_address(model, f"{name}_velocity") for name in ("proximal", "distal", "hinge")]
        o.touch = [sensor_address(model, name) for name in ("touchtop", "touchbottom")]
        o.tip_at = sensor_address(model, "tip")
        o.spinner_at = sensor_address(model, "spinner")
        o.target_at = sensor_address(model, "target")
        observations = {"position": (4,), "velocity": (3,), "touch": (2,)}
        if o.radius == 0:
            return define_suite_task("DmcFinger", &SPIN, model, config, observations, &o.head, sizeof(o), {},
                                     [change(model, &model.m.dof_damping, model.m.nv),
                                      change_floats(model, &model.m.site_rgba, 4 * model.m.nsite)])
        observations |= {"target_position": (2,), "dist_to_target": ()}
        changes = [change(model, &model.m.site_pos, 3 * model.m.nsite),
                   change(model, &model.m.site_size, 3 * model.m.nsite)]
        return define_suite_task("DmcFinger", &TURN, model, config, observations, &o.head, sizeof(o),
                                 {"target0": 2}, changes)
