"""AdroitHandRelocate: a hand carries a ball to a goal (Rajeswaran et al., 2018).

Source of the dynamics: ``gymnasium_robotics.envs.adroit_hand.adroit_relocate``.
"""

from libc.stdint cimport int32_t

from envpool.mujoco.robotics.adroit cimport (
    Adroit, AdroitState, Model, Outcome, Sim, TaskFunctions, begin, define_adroit, distance, ep_uniform, is_valid,
    load_adroit, mj_forward, mjOBJ_BODY, mjOBJ_SITE, private_array, put, put_difference, report, required, rng_of, seed,
    simulate, site,
)

from envpool.mujoco.robotics.adroit import AdroitEnvDefinition
from envpool.mujoco.robotics.adroit_states import state_option

# Entries of the state that a reset may be given, and their sizes.
STATE = {"qpos": 36, "qvel": 36, "obj_pos": 3, "target_pos": 3}

cdef struct Options:
    Adroit adroit
    int32_t ball                # id of the body
    int32_t target              # id of the site


cdef int reset(Sim* s) noexcept nogil:
    cdef const Options* o = <const Options*>s.options
    cdef double* ball = s.model.body_pos + 3 * o.ball
    cdef double* target = s.model.site_pos + 3 * o.target
    ball[0] = ep_uniform(rng_of(s), -0.15, 0.15)
    ball[1] = ep_uniform(rng_of(s), -0.15, 0.3)
    ball[2] = s.config.model.body_pos[3 * o.ball + 2]       # an earlier reset may have moved it
    target[0] = ep_uniform(rng_of(s), -0.2, 0.2)
    target[1] = ep_uniform(rng_of(s), -0.2, 0.2)
    target[2] = ep_uniform(rng_of(s), 0.15, 0.35)
    mj_forward(s.model, s.data)
    return begin(s, ball, 3, target, 3)


cdef int step(Sim* s, const double* action, Outcome* out) noexcept nogil:
    cdef const Options* o = <const Options*>s.options
    cdef const double* ball = s.data.xpos + 3 * o.ball
    cdef const double* palm = site(s, o.adroit.grasp)
    cdef double away
    simulate(s, action)
    away = distance(ball, site(s, o.target))
    if report(s, away, away < 0.1, out):
        out.reward = 0.1 * distance(palm, ball)
        if ball[2] > 0.04:
            out.reward += 1.0
            out.reward += -0.5 * distance(palm, site(s, o.target))
            out.reward += -0.5 * away
        if away < 0.1:
            out.reward += 10.0
        if away < 0.05:
            out.reward += 20.0
    return 0


cdef void observe(const Sim* s, double* out) noexcept nogil:
    cdef const Options* o = <const Options*>s.options
    cdef const double* ball = s.data.xpos + 3 * o.ball
    cdef const double* palm = site(s, o.adroit.grasp)
    cdef const double* target = site(s, o.target)
    out = put(out, s.data.qpos, s.model.nq - 6)
    put_difference(put_difference(put_difference(out, palm, ball), palm, target), ball, target)


cdef TaskFunctions TASK = TaskFunctions(sizeof(AdroitState), seed, reset, step, observe, is_valid, NULL, NULL)


class AdroitHandRelocate(AdroitEnvDefinition):
    """A hand on a free arm that carries a ball to a goal in the air.

    Observation float64 (39,): positions of the joints; the vectors from the ball to the palm, from the goal to the
    palm, and from the goal to the ball (m). Action float32 (30,) in [-1, 1]: targets of the joints. The task is solved
    while the ball is less than 0.1 m from the goal.
    """

    options = AdroitEnvDefinition.options_of("adroit_relocate.xml")
    reset_options = state_option(STATE)

    @staticmethod
    def build(config):
        cdef Options o
        cdef Model model = load_adroit(&o.adroit, config, 6)
        o.ball, o.target = required(model, mjOBJ_BODY, "Object"), required(model, mjOBJ_SITE, "target")
        moved = [
            private_array(model, &model.m.body_pos, 3 * model.m.nbody, 3 * o.ball, 3),
            private_array(model, &model.m.site_pos, 3 * model.m.nsite, 3 * o.target, 3),
        ]
        return define_adroit("AdroitHandRelocate", &TASK, model, config, model.m.nq + 3, STATE,
                             &o.adroit, sizeof(o), moved, {"distance": 1.5, "azimuth": 90.0})
