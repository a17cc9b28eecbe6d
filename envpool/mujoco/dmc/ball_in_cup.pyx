"""The ball on a string and the cup of dm_control's suite (``dm_control.suite.ball_in_cup``)."""

from libc.math cimport fabs

from envpool.mujoco.base.model cimport Model
from envpool.mujoco.base.mujoco cimport mjOBJ_BODY, mjOBJ_GEOM, mjOBJ_SITE
from envpool.mujoco.base.simulation cimport Sim
from envpool.mujoco.dmc.control cimport (
    Episode, Options, SuiteTask, define_suite_task, object_id, observe_state, physics_after_reset, qpos_address,
    random_of, suite_task,
)
from envpool.numerics.rng_legacy cimport ep_legacy_uniform

from envpool.mujoco.base.opengl import MujocoTask
from envpool.mujoco.dmc.control import suite_options
from envpool.mujoco.dmc.models import check_task, load_model

cdef struct BallOptions:
    Options head
    int x                       # addresses of the ball's position
    int z
    int ball                    # body
    int ball_geom
    int target                  # site


cdef int initialize(Sim* s) noexcept nogil:
    """Draws positions of the ball until it touches nothing."""
    cdef const BallOptions* o = <const BallOptions*>s.options
    while True:
        s.data.qpos[o.x] = ep_legacy_uniform(random_of(s), -.2, .2)
        s.data.qpos[o.z] = ep_legacy_uniform(random_of(s), .2, .5)
        if physics_after_reset(s):
            return -1
        if s.data.ncon <= 0:
            return 0


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


class DmcBallInCup(MujocoTask):
    """Swing a ball on a string into the cup it hangs from.

    Observations float64: position (4,) (m) of cup and ball, velocity (4,) (m/s). Action float64 (2,) in [-1, 1]: where
    the cup is pulled to. Reward 1 while the ball is in the cup.

    Options
    -------
    task_name : str
        ``"catch"``.
    frame_skip, frame_stack, debug_info
        See docs/mujoco.md.
    """

    options = suite_options("catch", 10)

    @staticmethod
    def build(config):
        """Return the capsule of this kind."""
        cdef BallOptions o
        cdef Model model
        check_task(config, ["catch"])
        model = load_model("ball_in_cup")
        o.x = qpos_address(model, "ball_x")
        o.z = qpos_address(model, "ball_z")
        o.ball = object_id(model, mjOBJ_BODY, "ball")
        o.ball_geom = object_id(model, mjOBJ_GEOM, "ball")
        o.target = object_id(model, mjOBJ_SITE, "target")
        observations = {"position": (model.m.nq,), "velocity": (model.m.nv,)}
        return define_suite_task("DmcBallInCup", &TASK, model, config, observations, &o.head, sizeof(o))
