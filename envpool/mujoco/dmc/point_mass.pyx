"""The planar point mass of dm_control's suite (``dm_control.suite.point_mass``)."""

from libc.math cimport fabs

from envpool.numerics.numpy_exact cimport np_dot, np_norm
from envpool.mujoco.dmc.control cimport (
    Episode, Model, Options, Sim, SuiteTask, define_suite_task, geom_id, observe_state, private_array, put,
    put_difference, random_unit, randomize_joints, suite_task,
)
from envpool.mujoco.dmc.rewards cimport gaussian, mean_quadratic

from envpool.mujoco.dmc.env_definition import SuiteEnvDefinition, load_model, suite_tasks

cdef enum:
    GAINS = 4                   # number of gains: of two joints in each of two tendons

cdef struct PointMassOptions:
    Options head
    bint random_gains
    int mass                    # ids of the geoms
    int target


cdef inline const PointMassOptions* options_of(const Sim* s) noexcept nogil:
    return <const PointMassOptions*>s.options


cdef int initialize(Sim* s) noexcept nogil:
    cdef double* gains = s.model.wrap_prm
    randomize_joints(s)
    if options_of(s).random_gains:
        random_unit(s, gains, 2)
        random_unit(s, gains + 2, 2)
        while fabs(np_dot(gains, gains + 2, 2)) > 0.9:      # the directions are nearly parallel
            random_unit(s, gains + 2, 2)
    return 0


cdef double reward(const Sim* s) noexcept nogil:
    cdef const PointMassOptions* o = options_of(s)
    cdef double size = s.model.geom_size[3 * o.target]
    cdef double to_target[3]
    cdef double near_target, small_control
    put_difference(to_target, s.data.geom_xpos + 3 * o.target, s.data.geom_xpos + 3 * o.mass)
    near_target = gaussian(np_norm(to_target, 3), 0, size, size)
    small_control = (mean_quadratic(s.data.ctrl, s.model.nu, 1) + 4) / 5
    return near_target * small_control


cdef void extras(const Sim* s, double* out) noexcept nogil:
    put(out, s.model.wrap_prm, GAINS)


cdef SuiteTask TASK = suite_task(sizeof(Episode), initialize, reward, observe_state)
TASK.extras = extras


class DmcPointMass(SuiteEnvDefinition):
    """Push a point mass onto a target in the middle of a square.

    Observations float64: position (2,) (m), velocity (2,) (m/s). Action float64 (2,) in [-1, 1]: forces. The reward in
    [0, 1] is high for a mass near the target and little control. In "hard" the directions of the two forces are sampled
    at the start of each episode.
    """

    options, tasks = suite_tasks(1, easy=False, hard=True)

    @staticmethod
    def define(config, random_gains):
        cdef PointMassOptions o
        cdef Model model = load_model("point_mass")
        o.mass, o.target = geom_id(model, "pointmass"), geom_id(model, "target")
        o.random_gains = random_gains
        observations = {"position": (model.m.nq,), "velocity": (model.m.nv,)}
        private_arrays = [private_array(model, &model.m.wrap_prm, GAINS, 0, GAINS)] if random_gains else []
        return define_suite_task("DmcPointMass", &TASK, model, config, observations, &o.head, sizeof(o),
                                 {"wrap_prm0": GAINS}, private_arrays)
