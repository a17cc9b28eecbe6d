"""The planar point mass of dm_control's suite (``dm_control.suite.point_mass``)."""

from libc.math cimport fabs
from libc.string cimport memcpy

from envpool.numerics.numpy_exact cimport np_dot, np_norm
from envpool.mujoco.base.model cimport Model
from envpool.mujoco.base.mujoco cimport mjOBJ_GEOM
from envpool.mujoco.base.simulation cimport Sim, change
from envpool.mujoco.dmc.control cimport (
    Episode, Options, SuiteTask, define_suite_task, object_id, observe_state, random_unit, randomize_joints, suite_task,
)
from envpool.mujoco.dmc.rewards cimport gaussian, mean_quadratic

from envpool.mujoco.base.opengl import MujocoTask
from envpool.mujoco.dmc.control import suite_options
from envpool.mujoco.dmc.models import check_task, load_model

cdef enum:
    GAINS = 4                   # of two joints in each of two tendons

cdef struct PointMassOptions:
    Options head
    bint random_gains
    int mass                    # geoms
    int target


cdef inline const PointMassOptions* options_of(const Sim* s) noexcept nogil:
    return <const PointMassOptions*>s.options


cdef int initialize(Sim* s) noexcept nogil:
    cdef double* gains = s.model.wrap_prm
    randomize_joints(s)
    if options_of(s).random_gains:
        random_unit(s, gains, 2)
        random_unit(s, gains + 2, 2)
        while fabs(np_dot(gains, gains + 2, 2)) > 0.9:      # nearly parallel
            random_unit(s, gains + 2, 2)
    return 0


cdef double reward(const Sim* s) noexcept nogil:
    cdef const PointMassOptions* o = options_of(s)
    cdef double size = s.model.geom_size[3 * o.target]
    cdef double to_target[3]
    cdef double near_target, small_control
    cdef int k
    for k in range(3):
        to_target[k] = s.data.geom_xpos[3 * o.target + k] - s.data.geom_xpos[3 * o.mass + k]
    near_target = gaussian(np_norm(to_target, 3), 0, size, size)
    small_control = (mean_quadratic(s.data.ctrl, s.model.nu, 1) + 4) / 5
    return near_target * small_control


cdef void extras(const Sim* s, double* out) noexcept nogil:
    memcpy(out, s.model.wrap_prm, GAINS * sizeof(double))


cdef SuiteTask TASK = suite_task(sizeof(Episode), initialize, reward, observe_state)
TASK.extras = extras


class DmcPointMass(MujocoTask):
    """Push a point mass onto a target in the middle of a square.

    Observations float64: position (2,) (m), velocity (2,) (m/s). Action float64 (2,) in [-1, 1]: forces. The reward is
    in [0, 1] for a mass near the target and little control. In ``"hard"`` each force acts along a direction that is
    drawn anew for each episode.

    Options
    -------
    task_name : str
        ``"easy"`` or ``"hard"``.
    frame_skip, frame_stack, debug_info
        See docs/mujoco.md. With debug_info also ``info["wrap_prm0"]`` (4,): the directions of the two forces.
    """

    options = suite_options("easy", 1)

    @staticmethod
    def build(config):
        """Return the capsule of this kind."""
        cdef PointMassOptions o
        cdef Model model
        o.random_gains = check_task(config, ["easy", "hard"]) == "hard"
        model = load_model("point_mass")
        o.mass = object_id(model, mjOBJ_GEOM, "pointmass")
        o.target = object_id(model, mjOBJ_GEOM, "target")
        observations = {"position": (model.m.nq,), "velocity": (model.m.nv,)}
        changes = [change(model, &model.m.wrap_prm, GAINS)] if o.random_gains else []
        return define_suite_task(
            "DmcPointMass", &TASK, model, config, observations, &o.head, sizeof(o), {"wrap_prm0": GAINS}, changes
        )
