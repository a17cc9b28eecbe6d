"""AdroitHandDoor: a hand unlatches a door and opens it (Rajeswaran et al., 2018).

Source of the dynamics: ``gymnasium_robotics.envs.adroit_hand.adroit_door``.
"""

from libc.stdint cimport int32_t

from envpool.mujoco.robotics.adroit cimport (
    MAX_DOFS, Adroit, AdroitState, Model, Outcome, Sim, TaskFunctions, begin, define_adroit, distance, ep_uniform,
    is_valid, load_adroit, mj_forward, mjOBJ_BODY, mjOBJ_JOINT, mjOBJ_SITE, private_array, put, put_difference, report,
    required, rng_of, seed, simulate, site,
)
from envpool.numerics.numpy_exact cimport np_sum

from envpool.mujoco.robotics.adroit import AdroitEnvDefinition
from envpool.mujoco.robotics.adroit_states import state_option

# Entries of the state that a reset may be given, and their sizes.
STATE = {"qpos": 30, "qvel": 30, "door_body_pos": 3}

cdef struct Options:
    Adroit adroit
    int32_t frame               # id of the body
    int32_t handle              # id of the site
    int32_t hinge               # index of the position of the door


cdef int reset(Sim* s) noexcept nogil:
    cdef double* frame = s.model.body_pos + 3 * (<const Options*>s.options).frame
    frame[0] = ep_uniform(rng_of(s), -0.3, -0.2)
    frame[1] = ep_uniform(rng_of(s), 0.25, 0.35)
    frame[2] = ep_uniform(rng_of(s), 0.252, 0.35)
    mj_forward(s.model, s.data)
    return begin(s, frame, 3, NULL, 0)


cdef inline double squared_speed(const Sim* s) noexcept nogil:
    cdef double squares[MAX_DOFS]
    cdef int32_t i
    for i in range(s.model.nv):
        squares[i] = s.data.qvel[i] * s.data.qvel[i]
    return np_sum(squares, s.model.nv)


cdef int step(Sim* s, const double* action, Outcome* out) noexcept nogil:
    cdef const Options* o = <const Options*>s.options
    cdef double angle
    simulate(s, action)
    angle = s.data.qpos[o.hinge]
    if report(s, angle, angle >= 1.35, out):
        out.reward = 0.1 * distance(site(s, o.adroit.grasp), site(s, o.handle))
        out.reward += -0.1 * (angle - 1.57) * (angle - 1.57)
        out.reward += -1e-5 * squared_speed(s)
        if angle > 0.2:
            out.reward += 2
        if angle > 1.0:
            out.reward += 8
        if angle > 1.35:
            out.reward += 10
    return 0


cdef void observe(const Sim* s, double* out) noexcept nogil:
    cdef const Options* o = <const Options*>s.options
    cdef const double* palm = site(s, o.adroit.grasp)
    cdef const double* handle = site(s, o.handle)
    cdef double angle = s.data.qpos[o.hinge]
    out = put(out, s.data.qpos + 1, s.model.nq - 3)
    out[0], out[1] = s.data.qpos[s.model.nq - 1], angle
    out = put(put(out + 2, palm, 3), handle, 3)
    put_difference(out, palm, handle)[0] = 1.0 if angle > 1.0 else -1.0


cdef TaskFunctions TASK = TaskFunctions(sizeof(AdroitState), seed, reset, step, observe, is_valid, NULL, NULL)


class AdroitHandDoor(AdroitEnvDefinition):
    """A hand on a free arm that opens a door.

    Observation float64 (39,): positions of the joints, angles of the latch and of the door (rad), positions of the palm
    and of the handle and the vector between them (m), 1 if the door is open, otherwise -1. Action float32 (28,) in
    [-1, 1]: targets of the joints. The door counts as open from 1.35 rad on.
    """

    options = AdroitEnvDefinition.options_of("adroit_door.xml")
    reset_options = state_option(STATE)

    @staticmethod
    def build(config):
        cdef Options o
        cdef Model model = load_adroit(&o.adroit, config, 4)
        o.frame = required(model, mjOBJ_BODY, "frame")
        o.handle = required(model, mjOBJ_SITE, "S_handle")
        o.hinge = model.m.jnt_dofadr[required(model, mjOBJ_JOINT, "door_hinge")]
        moved = private_array(model, &model.m.body_pos, 3 * model.m.nbody, 3 * o.frame, 3)
        return define_adroit("AdroitHandDoor", &TASK, model, config, model.m.nq + 9, STATE,
                             &o.adroit, sizeof(o), [moved], {"distance": 1.5, "azimuth": 90.0})
