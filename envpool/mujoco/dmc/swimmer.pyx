"""The swimmers of dm_control's suite (``dm_control.suite.swimmer``)."""

from libc.string cimport memcpy

from envpool.numerics.numpy_exact cimport np_dot_matrix, np_norm
from envpool.mujoco.base.model cimport Model
from envpool.mujoco.base.mujoco cimport mjOBJ_BODY, mjOBJ_GEOM, mjOBJ_LIGHT
from envpool.mujoco.base.simulation cimport Sim, change
from envpool.mujoco.dmc.control cimport (
    Episode, Options, SuiteTask, define_suite_task, object_id, random_of, randomize_joints, sensor_address, suite_task,
)
from envpool.mujoco.dmc.rewards cimport long_tail
from envpool.numerics.rng_legacy cimport ep_legacy_random_sample, ep_legacy_uniform

from envpool.mujoco.base.opengl import MujocoTask
from envpool.mujoco.dmc.control import suite_options
from envpool.mujoco.dmc.models import check_task, load_model

cdef enum:
    ROOT = 3                    # leading positions: of the head
    SENSORS = 6                 # numbers of a link's sensors: linear velocity, angular velocity
    VX = 0                      # of these
    VY = 1
    WZ = 5

cdef struct SwimmerOptions:
    Options head
    int links
    int first_sensor            # address of the head's sensors, which those of the other links follow
    int head_body
    int nose                    # geoms
    int target
    int light


cdef inline const SwimmerOptions* options_of(const Sim* s) noexcept nogil:
    return <const SwimmerOptions*>s.options


cdef int initialize(Sim* s) noexcept nogil:
    cdef const SwimmerOptions* o = options_of(s)
    cdef double size, place
    cdef int k
    randomize_joints(s)
    size = .3 if ep_legacy_random_sample(random_of(s)) < .2 else 2      # of the square that the target is in
    for k in range(2):
        place = ep_legacy_uniform(random_of(s), -size, size)
        s.model.geom_pos[3 * o.target + k] = place
        s.model.light_pos[3 * o.light + k] = place
    return 0


cdef inline void nose_to_target(const Sim* s, double* out) noexcept nogil:
    """Three numbers in the frame of the head; the third is not used."""
    cdef const SwimmerOptions* o = options_of(s)
    cdef double away[3]
    cdef int k
    for k in range(3):
        away[k] = s.data.geom_xpos[3 * o.target + k] - s.data.geom_xpos[3 * o.nose + k]
    np_dot_matrix(away, s.data.xmat + 9 * o.head_body, 3, 3, out)


cdef double reward(const Sim* s) noexcept nogil:
    cdef double size = s.model.geom_size[3 * options_of(s).target]
    cdef double away[3]
    nose_to_target(s, away)
    return long_tail(np_norm(away, 2), 0, size, 5 * size)


cdef void observe(const Sim* s, double* out) noexcept nogil:
    cdef const SwimmerOptions* o = options_of(s)
    cdef const double* sensors = s.data.sensordata + o.first_sensor
    cdef double away[3]
    cdef int joints = <int>s.model.nq - ROOT, i
    memcpy(out, s.data.qpos + ROOT, joints * sizeof(double))
    nose_to_target(s, away)
    memcpy(out + joints, away, 2 * sizeof(double))
    out += joints + 2
    for i in range(o.links):
        out[3 * i] = sensors[SENSORS * i + VX]
        out[3 * i + 1] = sensors[SENSORS * i + VY]
        out[3 * i + 2] = sensors[SENSORS * i + WZ]


cdef void extras(const Sim* s, double* out) noexcept nogil:
    memcpy(out, s.model.geom_pos + 3 * options_of(s).target, 2 * sizeof(double))


cdef SuiteTask TASK = suite_task(sizeof(Episode), initialize, reward, observe)
TASK.extras = extras

# Links.
TASKS = {"swimmer6": 6, "swimmer15": 15}


class DmcSwimmer(MujocoTask):
    """Swim to a target with a chain of links in a viscous plane.

    Observations float64: joints (links - 1,) (rad); to_target (2,) from the nose, in the frame of the head (m);
    body_velocities (3 * links,), forward, sideways and angular for each link in its frame (m/s, rad/s). Action float64
    (links - 1,) in [-1, 1]: torques. The reward falls from 1 at the target with the distance of the nose from it.

    Options
    -------
    task_name : str
        ``"swimmer6"`` or ``"swimmer15"``, by the number of links.
    frame_skip, frame_stack, debug_info
        See docs/mujoco.md. With debug_info also ``info["target0"]`` (2,): where it is (m).
    """

    options = suite_options("swimmer6", 15)

    @staticmethod
    def build(config):
        """Return the capsule of this kind."""
        cdef SwimmerOptions o
        cdef Model model
        o.links = TASKS[check_task(config, list(TASKS))]
        model = load_model("swimmer", o.links)
        o.first_sensor = sensor_address(model, "head_vel")
        o.head_body = object_id(model, mjOBJ_BODY, "head")
        o.nose = object_id(model, mjOBJ_GEOM, "nose")
        o.target = object_id(model, mjOBJ_GEOM, "target")
        o.light = object_id(model, mjOBJ_LIGHT, "target_light")
        observations = {"joints": (model.m.nq - ROOT,), "to_target": (2,), "body_velocities": (3 * o.links,)}
        changes = [
            change(model, &model.m.geom_pos, 3 * model.m.ngeom), change(model, &model.m.light_pos, 3 * model.m.nlight)
        ]
        return define_suite_task(
            "DmcSwimmer", &TASK, model, config, observations, &o.head, sizeof(o), {"target0": 2}, changes
        )
