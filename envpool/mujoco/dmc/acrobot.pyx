"""The acrobot of dm_control's suite (``dm_control.suite.acrobot``)."""

from libc.math cimport M_PI
from libc.string cimport memcpy

from envpool.numerics.numpy_exact cimport np_norm
from envpool.mujoco.base.model cimport Model
from envpool.mujoco.base.mujoco cimport mjOBJ_BODY, mjOBJ_SITE
from envpool.mujoco.base.simulation cimport Sim
from envpool.mujoco.dmc.control cimport (
    Episode, Options, SuiteTask, define_suite_task, object_id, qpos_address, random_of, subtract, suite_task,
)
from envpool.mujoco.dmc.rewards cimport gaussian, within
from envpool.numerics.rng_legacy cimport ep_legacy_uniform

from envpool.mujoco.base.opengl import MujocoTask
from envpool.mujoco.dmc.control import suite_options
from envpool.mujoco.dmc.models import check_task, load_model

cdef enum:
    XZ = 2                      # elements of a rotation matrix
    ZZ = 8

cdef struct AcrobotOptions:
    Options head
    bint sparse
    int joints[2]               # addresses of the angles of shoulder and elbow
    int arms[2]                 # bodies, the upper one first
    int target                  # sites
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
    subtract(s.data.site_xpos + 3 * o.target, s.data.site_xpos + 3 * o.tip, to_target)
    distance = np_norm(to_target, 3)
    return within(distance, 0, radius) if o.sparse else gaussian(distance, 0, radius, 1)


cdef void observe(const Sim* s, double* out) noexcept nogil:
    cdef int i
    for i in range(2):
        out[i] = s.data.xmat[9 * options_of(s).arms[i] + XZ]
        out[2 + i] = s.data.xmat[9 * options_of(s).arms[i] + ZZ]
    memcpy(out + 4, s.data.qvel, s.model.nv * sizeof(double))


cdef SuiteTask TASK = suite_task(sizeof(Episode), initialize, reward, observe)


class DmcAcrobot(MujocoTask):
    """Swing up two links of which only the second joint has a motor.

    Observations float64: orientations (4,), x and then z components of the z axes of both links; velocity (2,) (rad/s).
    Action float64 (1,) in [-1, 1]: torque. The reward falls from 1 as the tip leaves the target above; the sparse one
    is 1 in the target only.

    Options
    -------
    task_name : str
        ``"swingup"`` or ``"swingup_sparse"``.
    frame_skip, frame_stack, debug_info
        See docs/mujoco.md.
    """

    options = suite_options("swingup", 1)

    @staticmethod
    def build(config):
        """Return the capsule of this kind."""
        cdef AcrobotOptions o
        cdef Model model
        o.sparse = check_task(config, ["swingup", "swingup_sparse"]) == "swingup_sparse"
        model = load_model("acrobot")
        o.joints = [qpos_address(model, name) for name in ("shoulder", "elbow")]
        o.arms = [object_id(model, mjOBJ_BODY, name) for name in ("upper_arm", "lower_arm")]
        o.target = object_id(model, mjOBJ_SITE, "target")
        o.tip = object_id(model, mjOBJ_SITE, "tip")
        observations = {"orientations": (4,), "velocity": (model.m.nv,)}
        return define_suite_task("DmcAcrobot", &TASK, model, config, observations, &o.head, sizeof(o))
