"""The swimmers of dm_control's suite (``dm_control.suite.swimmer``)."""


from envpool.numerics.numpy_exact cimport np_dot_matrix, np_norm
from envpool.mujoco.dmc.control cimport (
    Episode, Model, Options, Sim, SuiteTask, body_id, define_suite_task, ep_legacy_uniform, geom_id, light_id,
    private_array, put, put_difference, random_of, randomize_joints, sensor_address, suite_task,
)
from envpool.mujoco.dmc.rewards cimport long_tail
from envpool.numerics.rng_legacy cimport ep_legacy_random_sample

from envpool.mujoco.dmc.env_definition import SuiteEnvDefinition, load_model, suite_tasks

cdef enum:
    ROOT = 3                    # number of leading positions, which are those of the head
    SENSORS = 6                 # numbers from the sensors of a link: linear velocity, angular velocity
    VX = 0                      # indices of the observed ones
    VY = 1
    WZ = 5

cdef struct SwimmerOptions:
    Options head
    int links
    int first_sensor            # address of the sensors of the head; those of the other links follow
    int head_body
    int nose                    # ids of the geoms
    int target
    int light


cdef inline const SwimmerOptions* options_of(const Sim* s) noexcept nogil:
    return <const SwimmerOptions*>s.options


cdef int initialize(Sim* s) noexcept nogil:
    cdef const SwimmerOptions* o = options_of(s)
    cdef double half_width, place
    cdef int k
    randomize_joints(s)
    half_width = .3 if ep_legacy_random_sample(random_of(s)) < .2 else 2    # of the square around the target
    for k in range(2):
        place = ep_legacy_uniform(random_of(s), -half_width, half_width)
        s.model.geom_pos[3 * o.target + k] = place
        s.model.light_pos[3 * o.light + k] = place
    return 0


cdef inline void nose_to_target(const Sim* s, double* out) noexcept nogil:
    """Writes the vector from the nose to the target in the frame of the head; its third element is not used."""
    cdef const SwimmerOptions* o = options_of(s)
    cdef double away[3]
    put_difference(away, s.data.geom_xpos + 3 * o.target, s.data.geom_xpos + 3 * o.nose)
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
    out = put(out, s.data.qpos + ROOT, joints)
    nose_to_target(s, away)
    out = put(out, away, 2)
    for i in range(o.links):
        out[3 * i] = sensors[SENSORS * i + VX]
        out[3 * i + 1] = sensors[SENSORS * i + VY]
        out[3 * i + 2] = sensors[SENSORS * i + WZ]


cdef void extras(const Sim* s, double* out) noexcept nogil:
    put(out, s.model.geom_pos + 3 * options_of(s).target, 2)


cdef SuiteTask TASK = suite_task(sizeof(Episode), initialize, reward, observe)
TASK.extras = extras


class DmcSwimmer(SuiteEnvDefinition):
    """Swim to a target with a chain of links in a viscous plane.

    Observations float64: joints (links - 1,) (rad); to_target (2,), the vector from the nose in the frame of the head
    (m); body_velocities (3 * links,), forward, sideways and angular velocity of each link in its own frame (m/s,
    rad/s). Action float64 (links - 1,) in [-1, 1]: torques. The reward is 1 at the target and falls with the distance
    of the nose.
    """

    # The number of links.
    options, tasks = suite_tasks(15, swimmer6=6, swimmer15=15)

    @staticmethod
    def define(config, links):
        cdef SwimmerOptions o
        cdef Model model = load_model("swimmer", links)
        o.links = links
        o.first_sensor = sensor_address(model, "head_vel")
        o.head_body = body_id(model, "head")
        o.nose, o.target = geom_id(model, "nose"), geom_id(model, "target")
        o.light = light_id(model, "target_light")
        observations = {"joints": (model.m.nq - ROOT,), "to_target": (2,), "body_velocities": (3 * links,)}
        return define_suite_task("DmcSwimmer", &TASK, model, config, observations, &o.head, sizeof(o), {"target0": 2},
                                 [private_array(model, &model.m.geom_pos, 3 * model.m.ngeom, 3 * o.target, 2),
                                  private_array(model, &model.m.light_pos, 3 * model.m.nlight, 3 * o.light, 2)])
