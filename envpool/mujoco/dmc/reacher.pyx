"""The two-link planar reacher of dm_control's suite (``dm_control.suite.reacher``)."""

from libc.math cimport M_PI, cos, sin

from envpool.numerics.numpy_exact cimport np_norm
from envpool.mujoco.dmc.control cimport (
    Episode, Model, Options, Sim, SuiteTask, define_suite_task, ep_legacy_uniform, geom_id, private_array, put,
    random_of, randomize_joints, suite_task,
)
from envpool.mujoco.dmc.rewards cimport within

from envpool.mujoco.dmc.env_definition import SuiteEnvDefinition, load_model, suite_tasks

cdef struct ReacherOptions:
    Options head
    double target_size          # radius (m)
    int finger                  # ids of the geoms
    int target


cdef inline const ReacherOptions* options_of(const Sim* s) noexcept nogil:
    return <const ReacherOptions*>s.options


cdef int initialize(Sim* s) noexcept nogil:
    cdef double* target = s.model.geom_pos + 3 * options_of(s).target
    cdef double angle, radius
    s.model.geom_size[3 * options_of(s).target] = options_of(s).target_size
    randomize_joints(s)
    angle = ep_legacy_uniform(random_of(s), 0, 2 * M_PI)
    radius = ep_legacy_uniform(random_of(s), .05, .20)
    target[0] = radius * sin(angle)
    target[1] = radius * cos(angle)
    return 0


cdef inline void finger_to_target(const Sim* s, double* out) noexcept nogil:
    cdef const ReacherOptions* o = options_of(s)
    cdef int k
    for k in range(2):
        out[k] = s.data.geom_xpos[3 * o.target + k] - s.data.geom_xpos[3 * o.finger + k]


cdef double reward(const Sim* s) noexcept nogil:
    cdef const ReacherOptions* o = options_of(s)
    cdef double to_target[2]
    finger_to_target(s, to_target)
    return within(np_norm(to_target, 2), 0, s.model.geom_size[3 * o.target] + s.model.geom_size[3 * o.finger])


cdef void observe(const Sim* s, double* out) noexcept nogil:
    put(out, s.data.qpos, 2)
    finger_to_target(s, out + 2)
    put(out + 4, s.data.qvel, 2)


cdef void extras(const Sim* s, double* out) noexcept nogil:
    put(out, s.model.geom_pos + 3 * options_of(s).target, 2)


cdef SuiteTask TASK = suite_task(sizeof(Episode), initialize, reward, observe)
TASK.extras = extras


class DmcReacher(SuiteEnvDefinition):
    """Reach a target with an arm of two links.

    Observations float64: position (2,) (rad); to_target (2,), the vector from the finger (m); velocity (2,) (rad/s).
    Action float64 (2,) in [-1, 1]: torques. The reward is 1 while the finger touches the target, otherwise 0.
    """

    # The radius of the target (m).
    options, tasks = suite_tasks(1, easy=.05, hard=.015)

    @staticmethod
    def define(config, target_size):
        cdef ReacherOptions o
        cdef Model model = load_model("reacher")
        o.target_size = target_size
        o.finger, o.target = geom_id(model, "finger"), geom_id(model, "target")
        observations = {"position": (2,), "to_target": (2,), "velocity": (2,)}
        return define_suite_task("DmcReacher", &TASK, model, config, observations, &o.head, sizeof(o), {"target0": 2},
                                 [private_array(model, &model.m.geom_pos, 3 * model.m.ngeom, 3 * o.target, 2),
                                  private_array(model, &model.m.geom_size, 3 * model.m.ngeom, 3 * o.target, 1)])
