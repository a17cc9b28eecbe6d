"""The acrobot of dm_control's suite (``dm_control.suite.acrobot``)."""

from libc.math cimport M_PI

from envpool.numerics.numpy_exact cimport np_norm
from envpool.mujoco.dmc.control cimport (
    XZ, ZZ, Episode, Model, Options, Sim, SuiteTask, body_id, define_suite_task, ep_legacy_uniform, put, put_difference,
    qpos_address, random_of, site_id, suite_task,
)
from envpool.mujoco.dmc.rewards cimport gaussian, within

from envpool.mujoco.dmc.env_definition import SuiteEnvDefinition, load_model, suite_tasks

cdef struct AcrobotOptions:
    Options head
    bint sparse
    int joints[2]               # addresses of the angles of shoulder and elbow
    int arms[2]                 # ids of the bodies, upper arm first
    int target                  # ids of the sites
    int tip


cdef inline const AcrobotOptions* options_of(const Sim* s) noexcept nogil:
    return <const AcrobotOptions*>s.options


cdef int initialize(Sim* s) noexcept nogil:
    cdef int i
    for i in range(2):
        s.data.qpos[options_of(s).joints[i]] = ep_legacy_uniform(random_of(s), -M_PI, M_PI)
    return 0


cdef double reward(const Sim* s) noexcept nogil:
    cdef const AcrobotOptions* o = options_of(s)
    cdef double radius = s.model.site_size[3 * o.target]
    cdef double to_target[3]
    cdef double distance
    put_difference(to_target, s.data.site_xpos + 3 * o.target, s.data.site_xpos + 3 * o.tip)
    distance = np_norm(to_target, 3)
    return within(distance, 0, radius) if o.sparse else gaussian(distance, 0, radius, 1)


cdef void observe(const Sim* s, double* out) noexcept nogil:
    cdef int i
    for i in range(2):
        out[i] = s.data.xmat[9 * options_of(s).arms[i] + XZ]
        out[2 + i] = s.data.xmat[9 * options_of(s).arms[i] + ZZ]
    put(out + 4, s.data.qvel, s.model.nv)


cdef SuiteTask TASK = suite_task(sizeof(Episode), initialize, reward, observe)


class DmcAcrobot(SuiteEnvDefinition):
    """Swing up two links; only the second joint has a motor.

    Observations float64: orientations (4,), the x and then the z components of the z axes of both links; velocity (2,)
    (rad/s). Action float64 (1,) in [-1, 1]: torque. The reward falls from 1 as the tip moves away from the target. In
    "swingup_sparse" it is 1 if the tip is in the target, otherwise 0.
    """

    options, tasks = suite_tasks(1, swingup=False, swingup_sparse=True)

    @staticmethod
    def define(config, sparse):
        cdef AcrobotOptions o
        cdef Model model = load_model("acrobot")
        o.sparse = sparse
        o.joints = [qpos_address(model, name) for name in ("shoulder", "elbow")]
        o.arms = [body_id(model, name) for name in ("upper_arm", "lower_arm")]
        o.target = site_id(model, "target")
        o.tip = site_id(model, "tip")
        observations = {"orientations": (4,), "velocity": (model.m.nv,)}
        return define_suite_task("DmcAcrobot", &TASK, model, config, observations, &o.head, sizeof(o))
