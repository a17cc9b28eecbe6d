"""AdroitHandHammer: a hand picks up a hammer and drives a nail into a board (Rajeswaran et al., 2018).

Source of the dynamics: ``gymnasium_robotics.envs.adroit_hand.adroit_hammer``.
"""

from libc.stdint cimport int32_t

from envpool.mujoco.gym.common cimport clip, put_clipped
from envpool.mujoco.robotics.adroit cimport (
    Adroit, AdroitState, Model, Outcome, Sim, TaskFunctions, begin, define_adroit, distance, ep_uniform, is_valid,
    load_adroit, mj_forward, mjOBJ_BODY, mjOBJ_SENSOR, mjOBJ_SITE, private_array, put, report, required, rng_of, seed,
    sensor_index, simulate, site,
)
from envpool.mujoco.robotics.rotations cimport quat2euler
from envpool.numerics.numpy_exact cimport np_norm

from envpool.mujoco.robotics.adroit import AdroitEnvDefinition
from envpool.mujoco.robotics.adroit_states import state_option

# Entries of the state that a reset may be given, and their sizes.
STATE = {"qpos": 33, "qvel": 33, "board_pos": 3}

cdef struct Options:
    Adroit adroit
    int32_t board               # ids of the bodies
    int32_t hammer
    int32_t nail                # ids of the sites: the head of the nail, where it must go, the head of the hammer
    int32_t goal
    int32_t head
    int32_t sensor              # index of the force on the nail in the sensor data


cdef int reset(Sim* s) noexcept nogil:
    cdef int32_t at = 3 * (<const Options*>s.options).board
    cdef double* board = s.model.body_pos + at
    board[0], board[1] = s.config.model.body_pos[at], s.config.model.body_pos[at + 1]   # an earlier reset may differ
    board[2] = ep_uniform(rng_of(s), 0.1, 0.25)
    mj_forward(s.model, s.data)
    return begin(s, board, 3, NULL, 0)


cdef int step(Sim* s, const double* action, Outcome* out) noexcept nogil:
    cdef const Options* o = <const Options*>s.options
    cdef const double* hammer = s.data.xpos + 3 * o.hammer
    cdef double depth
    simulate(s, action)
    depth = distance(site(s, o.nail), site(s, o.goal))
    if report(s, depth, depth < 0.01, out):
        out.reward = 0.1 * distance(site(s, o.adroit.grasp), hammer)
        out.reward -= distance(site(s, o.head), site(s, o.nail))
        out.reward -= 10 * depth
        out.reward -= 1e-2 * np_norm(s.data.qvel, s.model.nv)
        if hammer[2] > 0.04 and site(s, o.head)[2] > 0.04:
            out.reward += 2
        if depth < 0.020:
            out.reward += 25
        if depth < 0.010:
            out.reward += 75
    return 0


cdef void observe(const Sim* s, double* out) noexcept nogil:
    cdef const Options* o = <const Options*>s.options
    out = put(out, s.data.qpos, s.model.nq - 6)
    out = put_clipped(out, s.data.qvel + s.model.nv - 6, 6, -1.0, 1.0)
    out = put(put(out, site(s, o.adroit.grasp), 3), s.data.xpos + 3 * o.hammer, 3)
    quat2euler(s.data.xquat + 4 * o.hammer, out)
    put(out + 3, site(s, o.nail), 3)[0] = clip(s.data.sensordata[o.sensor], -1.0, 1.0)


cdef TaskFunctions TASK = TaskFunctions(sizeof(AdroitState), seed, reset, step, observe, is_valid, NULL, NULL)


class AdroitHandHammer(AdroitEnvDefinition):
    """A hand on an arm of two joints that hammers a nail into a board.

    Observation float64 (46,): positions of the joints of hand, arm and nail; velocity of the hammer, clipped to [-1,
    1]; positions of the palm and of the hammer (m), orientation of the hammer (Euler angles, rad), position of the nail
    (m), force on the nail, clipped to [-1, 1]. Action float32 (26,) in [-1, 1]: targets of the joints. The nail counts
    as driven in if it is less than 0.01 m from its goal.
    """

    options = AdroitEnvDefinition.options_of("adroit_hammer.xml")
    reset_options = state_option(STATE)

    @staticmethod
    def build(config):
        cdef Options o
        cdef Model model = load_adroit(&o.adroit, config, 7)
        o.board, o.hammer = required(model, mjOBJ_BODY, "nail_board"), required(model, mjOBJ_BODY, "Object")
        o.nail, o.goal = required(model, mjOBJ_SITE, "S_target"), required(model, mjOBJ_SITE, "nail_goal")
        o.head = required(model, mjOBJ_SITE, "tool")
        o.sensor = sensor_index(model, required(model, mjOBJ_SENSOR, "S_nail"))
        moved = private_array(model, &model.m.body_pos, 3 * model.m.nbody, 3 * o.board, 3)
        return define_adroit("AdroitHandHammer", &TASK, model, config, model.m.nq + 13, STATE,
                             &o.adroit, sizeof(o), [moved], {"distance": 2.0, "azimuth": 45.0})
