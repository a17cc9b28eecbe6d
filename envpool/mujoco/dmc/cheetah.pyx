"""The planar cheetah of dm_control's suite (``dm_control.suite.cheetah``)."""

from libc.math cimport INFINITY
from libc.string cimport memcpy

from envpool.mujoco.base.model cimport Model
from envpool.mujoco.base.simulation cimport Sim
from envpool.mujoco.dmc.control cimport (
    Episode, Options, SuiteTask, define_suite_task, physics_step, random_of, sensor_address, suite_task,
)
from envpool.mujoco.dmc.rewards cimport linear
from envpool.numerics.rng_legacy cimport ep_legacy_uniform

from envpool.mujoco.base.opengl import MujocoTask
from envpool.mujoco.dmc.control import suite_options
from envpool.mujoco.dmc.models import check_task, load_model

cdef enum:
    RUN_SPEED = 10              # m/s, from which on the reward is 1
    SETTLING_STEPS = 200        # physics steps before an episode

cdef struct CheetahOptions:
    Options head
    int velocity                # address of the torso's velocity sensor


cdef int initialize(Sim* s) noexcept nogil:
    cdef int i
    for i in range(<int>s.model.njnt):      # a joint has one position
        if s.model.jnt_limited[i]:
            s.data.qpos[i] = ep_legacy_uniform(random_of(s), s.model.jnt_range[2 * i], s.model.jnt_range[2 * i + 1])
    if physics_step(s, SETTLING_STEPS):
        return -1
    s.data.time = 0
    return 0


cdef double reward(const Sim* s) noexcept nogil:
    cdef double speed = s.data.sensordata[(<const CheetahOptions*>s.options).velocity]
    return linear(speed, RUN_SPEED, INFINITY, RUN_SPEED, 1.0)


cdef void observe(const Sim* s, double* out) noexcept nogil:
    memcpy(out, s.data.qpos + 1, (s.model.nq - 1) * sizeof(double))
    memcpy(out + s.model.nq - 1, s.data.qvel, s.model.nv * sizeof(double))


cdef SuiteTask TASK = suite_task(sizeof(Episode), initialize, reward, observe)


class DmcCheetah(MujocoTask):
    """Run forward.

    Observations float64: position (8,) (m, rad) without the horizontal one, velocity (9,) (m/s, rad/s). Action float64
    (6,) in [-1, 1]: torques. The reward grows with the forward speed up to 1 at 10 m/s.

    Options
    -------
    task_name : str
        ``"run"``.
    frame_skip, frame_stack, debug_info
        See docs/mujoco.md.
    """

    options = suite_options("run", 1)

    @staticmethod
    def build(config):
        """Return the capsule of this kind."""
        cdef CheetahOptions o
        cdef Model model
        check_task(config, ["run"])
        model = load_model("cheetah")
        o.velocity = sensor_address(model, "torso_subtreelinvel")
        observations = {"position": (model.m.nq - 1,), "velocity": (model.m.nv,)}
        return define_suite_task("DmcCheetah", &TASK, model, config, observations, &o.head, sizeof(o))
