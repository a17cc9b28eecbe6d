"""The ball on a string and the cup of dm_control's suite (``dm_control.suite.ball_in_cup``)."""

from libc.math cimport fabs

from envpool.mujoco.dmc.control cimport (
    Episode, Model, Options, Sim, SuiteTask, body_id, define_suite_task, ep_legacy_uniform, geom_id, observe_state,
    qpos_address, random_of, sample_without_contacts, site_id, suite_task,
)

from envpool.mujoco.dmc.env_definition import SuiteEnvDefinition, load_model, suite_tasks

cdef struct BallOptions:
    Options head
    int x                       # addresses of the position of the ball
    int z
    int ball                    # id of the body
    int ball_geom
    int target                  # id of the site


cdef int sample_position(Sim* s) noexcept nogil:
    cdef const BallOptions* o = <const BallOptions*>s.options
    s.data.qpos[o.x] = ep_legacy_uniform(random_of(s), -.2, .2)
    s.data.qpos[o.z] = ep_legacy_uniform(random_of(s), .2, .5)
    return 0


cdef int initialize(Sim* s) noexcept nogil:
    return sample_without_contacts(s, sample_position)


cdef double reward(const Sim* s) noexcept nogil:
    cdef const BallOptions* o = <const BallOptions*>s.options
    cdef double radius = s.model.geom_size[3 * o.ball_geom]
    cdef int axis
    for axis in range(0, 3, 2):
        if not (fabs(s.data.site_xpos[3 * o.target + axis] - s.data.xpos[3 * o.ball + axis])
                < s.model.site_size[3 * o.target + axis] - radius):
            return 0
    return 1


cdef SuiteTask TASK = suite_task(sizeof(Episode), initialize, reward, observe_state)


class DmcBallInCup(SuiteEnvDefinition):
    """Swing a ball on a string into the cup from which it hangs.

    Observations float64: position (4,) (m) of cup and ball, velocity (4,) (m/s). Action float64 (2,) in [-1, 1]: the
    position to which the cup is pulled. The reward is 1 while the ball is in the cup, otherwise 0.
    """

    options, tasks = suite_tasks(10, catch=None)

    @staticmethod
    def define(config, _):
        cdef BallOptions o
        cdef Model model = load_model("ball_in_cup")
        o.x, o.z = qpos_address(model, "ball_x"), qpos_address(model, "ball_z")
        o.ball = body_id(model, "ball")
        o.ball_geom = geom_id(model, "ball")
        o.target = site_id(model, "target")
        observations = {"position": (model.m.nq,), "velocity": (model.m.nv,)}
        return define_suite_task("DmcBallInCup", &TASK, model, config, observations, &o.head, sizeof(o))
