"""The cart with one to three poles of dm_control's suite (``dm_control.suite.cartpole``)."""

from libc.math cimport M_PI
from libc.string cimport memcpy

from envpool.numerics.numpy_exact cimport np_sum
from envpool.mujoco.base.model cimport Model
from envpool.mujoco.base.simulation cimport Sim
from envpool.mujoco.dmc.control cimport (
    Episode, Options, SuiteTask, define_suite_task, random_of, suite_task,
)
from envpool.mujoco.dmc.rewards cimport gaussian, gaussian_element, quadratic_element, within
from envpool.numerics.rng_legacy cimport ep_legacy_standard_normal, ep_legacy_uniform, ep_mt19937

from envpool.mujoco.base.opengl import MujocoTask
from envpool.mujoco.dmc.control import suite_options
from envpool.mujoco.dmc.models import check_task, load_model

cdef enum:
    MAX_POLES = 3
    FIRST_POLE = 2              # body; 0 is the world, 1 the cart
    XZ = 2                      # element of a rotation matrix: sine of a pole's angle
    ZZ = 8                      # and its cosine

cdef struct CartpoleOptions:
    Options head
    bint swing_up               # start with the pole down
    bint sparse


cdef inline const CartpoleOptions* options_of(const Sim* s) noexcept nogil:
    return <const CartpoleOptions*>s.options


cdef int initialize(Sim* s) noexcept nogil:
    cdef ep_mt19937* random = random_of(s)
    cdef double* qpos = s.data.qpos
    cdef int i
    if options_of(s).swing_up:
        qpos[0] = .01 * ep_legacy_standard_normal(random)
        qpos[1] = M_PI + .01 * ep_legacy_standard_normal(random)
        for i in range(2, <int>s.model.nq):
            qpos[i] = .1 * ep_legacy_standard_normal(random)
    else:
        qpos[0] = ep_legacy_uniform(random, -.1, .1)
        for i in range(1, <int>s.model.nq):
            qpos[i] = ep_legacy_uniform(random, -.034, .034)
    for i in range(<int>s.model.nv):
        s.data.qvel[i] = 0.01 * ep_legacy_standard_normal(random)
    return 0


cdef double sparse_reward(const Sim* s, const double* cosines, int poles) noexcept nogil:
    cdef double upright = 1
    cdef int i
    for i in range(poles):
        upright *= within(cosines[i], .995, 1)
    return within(s.data.qpos[0], -.25, .25) * upright


cdef double smooth_reward(const Sim* s, const double* cosines, int poles) noexcept nogil:
    cdef double upright[MAX_POLES]
    cdef double centered = (1 + gaussian(s.data.qpos[0], 0, 0, 2)) / 2
    cdef double small_control = (4 + quadratic_element(s.data.ctrl[0], 1)) / 5
    cdef double small_velocity = 1
    cdef int i
    for i in range(poles):
        upright[i] = (cosines[i] + 1) / 2
        small_velocity = min(small_velocity, gaussian_element(s.data.qvel[1 + i], 0, 0, 5))
    small_velocity = (1 + small_velocity) / 2
    return np_sum(upright, poles) / poles * small_control * small_velocity * centered


cdef double reward(const Sim* s) noexcept nogil:
    cdef double cosines[MAX_POLES]
    cdef int poles = <int>s.model.nbody - FIRST_POLE, i
    for i in range(poles):
        cosines[i] = s.data.xmat[9 * (FIRST_POLE + i) + ZZ]
    return sparse_reward(s, cosines, poles) if options_of(s).sparse else smooth_reward(s, cosines, poles)


cdef void observe(const Sim* s, double* out) noexcept nogil:
    cdef int poles = <int>s.model.nbody - FIRST_POLE, i
    out[0] = s.data.qpos[0]
    for i in range(poles):
        out[1 + 2 * i] = s.data.xmat[9 * (FIRST_POLE + i) + ZZ]
        out[2 + 2 * i] = s.data.xmat[9 * (FIRST_POLE + i) + XZ]
    memcpy(out + 1 + 2 * poles, s.data.qvel, s.model.nv * sizeof(double))


cdef SuiteTask TASK = suite_task(sizeof(Episode), initialize, reward, observe)

# Poles, whether they start down, whether the reward is sparse.
TASKS = {
    "balance": (1, False, False),
    "balance_sparse": (1, False, True),
    "swingup": (1, True, False),
    "swingup_sparse": (1, True, True),
    "two_poles": (2, True, False),
    "three_poles": (3, True, False),
}


class DmcCartpole(MujocoTask):
    """Balance poles on a cart, or swing them up first.

    Observations float64: position (1 + 2 poles,), that of the cart (m), then cosine and sine of each pole's angle;
    velocity (1 + poles,) (m/s, rad/s). Action float64 (1,) in [-1, 1]: force on the cart. The reward is in [0, 1] for
    upright poles, a centered cart, little control and slow poles; the sparse one is 1 for a centered cart and upright
    poles.

    Options
    -------
    task_name : str
        ``"balance"``, ``"balance_sparse"``, ``"swingup"``, ``"swingup_sparse"``, ``"two_poles"`` or ``"three_poles"``.
    frame_skip, frame_stack, debug_info
        See docs/mujoco.md.
    """

    options = suite_options("balance", 1)

    @staticmethod
    def build(config):
        """Return the capsule of this kind."""
        cdef CartpoleOptions o
        cdef Model model
        poles, o.swing_up, o.sparse = TASKS[check_task(config, list(TASKS))]
        model = load_model("cartpole", poles)
        observations = {"position": (1 + 2 * poles,), "velocity": (model.m.nv,)}
        return define_suite_task("DmcCartpole", &TASK, model, config, observations, &o.head, sizeof(o))
