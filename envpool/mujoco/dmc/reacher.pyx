"""The two-link planar reacher of dm_control's suite (``dm_control.suite.reacher``)."""

from libc.math cimport M_PI, cos, sin
from libc.string cimport memcpy

from envpool.numerics.numpy_exact cimport np_norm
from envpool.mujoco.base.model cimport Model
from envpool.mujoco.base.mujoco cimport mjOBJ_GEOM
from envpool.mujoco.base.simulation cimport Sim, change
from envpool.mujoco.dmc.control cimport (
    Episode, Options, SuiteTask, define_suite_task, object_id, random_of, randomize_joints, suite_task,
)
from envpool.mujoco.dmc.rewards cimport within
from envpool.numerics.rng_legacy cimport ep_legacy_uniform

from envpool.mujoco.base.opengl import MujocoTask
from envpool.mujoco.dmc.control import suite_options
from envpool.mujoco.dmc.models import check_task, load_model

cdef struct ReacherOptions:
    Options head
    double target_size          # radius (m)
    int finger                  # geoms
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
    memcpy(out, s.data.qpos, 2 * sizeof(double))
    finger_to_target(s, out + 2)
    memcpy(out + 4, s.data.qvel, 2 * sizeof(double))


cdef void extras(const Sim* s, double* out) noexcept nogil:
    memcpy(out, s.model.geom_pos + 3 * options_of(s).target, 2 * sizeof(double))


cdef SuiteTask TASK = suite_task(sizeof(Episode), initialize, reward, observe)
TASK.extras = extras

# Radius of the target.
TASKS = {"easy": .05, "hard": .015}


class DmcReacher(MujocoTask):
    """Reach a target with an arm of two links.

    Observations float64: position (2,) (rad), to_target (2,) from the finger (m), velocity (2,) (rad/s). Action float64
    (2,) in [-1, 1]: torques. The reward is 1 while the finger touches the target, else 0.

    Options
    -------
    task_name : str
        ``"easy"`` or ``"hard"``, with a smaller target.
    frame_skip, frame_stack, debug_info
        See docs/mujoco.md. With debug_info also ``info["target0"]`` (2,): where it is (m).
    """

    options = suite_options("easy", 1)

    @staticmethod
    def build(config):
        """Return the capsule of this kind."""
        cdef ReacherOptions o
        cdef Model model
        o.target_size = TASKS[check_task(config, list(TASKS))]
        model = load_model("reacher")
        o.finger = object_id(model, mjOBJ_GEOM, "finger")
        o.target = object_id(model, mjOBJ_GEOM, "target")
        observations = {"position": (2,), "to_target": (2,), "velocity": (2,)}
        changes = [
            change(model, &model.m.geom_pos, 3 * model.m.ngeom), change(model, &model.m.geom_size, 3 * model.m.ngeom)
        ]
        return define_suite_task(
            "DmcReacher", &TASK, model, config, observations, &o.head, sizeof(o), {"target0": 2}, changes
        )
