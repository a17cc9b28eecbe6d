"""AdroitHandPen: a hand turns a pen to an orientation (Rajeswaran et al., 2018).

Source of the dynamics: ``gymnasium_robotics.envs.adroit_hand.adroit_pen``.
"""

from libc.stdint cimport int32_t

from envpool.mujoco.robotics.adroit cimport (
    Adroit, AdroitState, Model, Outcome, Sim, TaskFunctions, adroit_state, begin, define_adroit, distance, ep_uniform,
    is_valid, load_adroit, mj_forward, mjOBJ_BODY, mjOBJ_SITE, private_array, put, put_difference, report, required,
    rng_of, seed, simulate, site,
)
from envpool.mujoco.robotics.rotations cimport euler2quat
from envpool.numerics.numpy_exact cimport np_dot

from envpool.mujoco.robotics.adroit import AdroitEnvDefinition
from envpool.mujoco.robotics.adroit_states import state_option

# Entries of the state that a reset may be given, and their sizes.
STATE = {"qpos": 30, "qvel": 30, "desired_orien": 4}

cdef struct Options:
    Adroit adroit
    int32_t target              # ids of the bodies
    int32_t pen
    int32_t centre              # ids of the sites: where the pen belongs, the ends of the pen and of the target
    int32_t ends[2][2]


cdef int reset(Sim* s) noexcept nogil:
    cdef const Options* o = <const Options*>s.options
    cdef double[3] euler
    cdef int32_t k
    euler[0] = ep_uniform(rng_of(s), -1, 1)
    euler[1] = ep_uniform(rng_of(s), -1, 1)
    euler[2] = 0.0
    euler2quat(euler, s.model.body_quat + 4 * o.target)
    mj_forward(s.model, s.data)
    for k in range(2):
        adroit_state(s).lengths[k] = distance(site(s, o.ends[k][0]), site(s, o.ends[k][1]))
    return begin(s, s.model.body_quat + 4 * o.target, 4, NULL, 0)


cdef inline void put_axis(double* to, const Sim* s, int32_t k) noexcept nogil:
    """Writes the direction of the pen (k = 0) or of the target (k = 1)."""
    cdef const int32_t* ends = (<const Options*>s.options).ends[k]
    cdef int32_t i
    put_difference(to, site(s, ends[0]), site(s, ends[1]))
    for i in range(3):
        to[i] = to[i] / adroit_state(s).lengths[k]


cdef int step(Sim* s, const double* action, Outcome* out) noexcept nogil:
    cdef const Options* o = <const Options*>s.options
    cdef const double* pen = s.data.xpos + 3 * o.pen
    cdef double[3] axis
    cdef double[3] desired
    cdef double away, similarity
    simulate(s, action)
    put_axis(axis, s, 0)
    put_axis(desired, s, 1)
    away = distance(pen, site(s, o.centre))
    similarity = np_dot(axis, desired, 3)
    if report(s, away, away < 0.075 and similarity > 0.95, out):
        out.reward = -away + similarity
        if away < 0.075 and similarity > 0.9:
            out.reward += 10
        if away < 0.075 and similarity > 0.95:
            out.reward += 50
        if pen[2] < 0.075:
            out.reward -= 5
    return 0


cdef void observe(const Sim* s, double* out) noexcept nogil:
    cdef const Options* o = <const Options*>s.options
    cdef const double* pen = s.data.xpos + 3 * o.pen
    out = put(out, s.data.qpos, s.model.nq - 6)
    out = put(put(out, pen, 3), s.data.qvel + s.model.nv - 6, 6)
    put_axis(out, s, 0)
    put_axis(out + 3, s, 1)
    put_difference(put_difference(out + 6, pen, site(s, o.centre)), out, out + 3)


cdef TaskFunctions TASK = TaskFunctions(sizeof(AdroitState), seed, reset, step, observe, is_valid, NULL, NULL)


class AdroitHandPen(AdroitEnvDefinition):
    """A hand that turns a pen until it points in the direction of a target.

    Observation float64 (45,): positions of the joints; position (m) and velocity of the pen; directions of the pen and
    of the target; the vectors from the place of the target to the pen, and between the directions. Action float32 (24,)
    in [-1, 1]: targets of the joints. The task is solved while the pen is less than 0.075 m from its place and the
    cosine of the angle between the directions is above 0.95.
    """

    options = AdroitEnvDefinition.options_of("adroit_pen.xml")
    reset_options = state_option(STATE)

    @staticmethod
    def build(config):
        cdef Options o
        cdef Model model = load_adroit(&o.adroit, config, 6)
        o.target, o.pen = required(model, mjOBJ_BODY, "target"), required(model, mjOBJ_BODY, "Object")
        o.centre = required(model, mjOBJ_SITE, "eps_ball")
        for k, what in enumerate(("object", "target")):
            for i, end in enumerate(("top", "bottom")):
                o.ends[k][i] = required(model, mjOBJ_SITE, f"{what}_{end}")
        turned = private_array(model, &model.m.body_quat, 4 * model.m.nbody, 4 * o.target, 4)
        return define_adroit("AdroitHandPen", &TASK, model, config, model.m.nq + 15, STATE,
                             &o.adroit, sizeof(o), [turned], {"distance": 1.0, "azimuth": -45.0})
