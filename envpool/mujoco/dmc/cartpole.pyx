"""The cart with one to three poles of dm_control's suite (``dm_control.suite.cartpole``)."""

from libc.math cimport M_PI

from envpool.numerics.numpy_exact cimport np_sum
from envpool.mujoco.dmc.control cimport (
    XZ, ZZ, Episode, Model, Options, Sim, SuiteTask, define_suite_task, ep_legacy_uniform, ep_mt19937, put, random_of,
    suite_task,
)
from envpool.mujoco.dmc.rewards cimport gaussian, gaussian_element, quadratic_element, within
from envpool.numerics.rng_legacy cimport ep_legacy_standard_normal

from envpool.mujoco.dmc.env_definition import SuiteEnvDefinition, load_model, suite_tasks

cdef enum:
    MAX_POLES = 3
    FIRST_POLE = 2              # id of the body of the first pole; 0 is the world, 1 is the cart

cdef struct CartpoleOptions:
    Options head
    bint swing_up               # episodes start with hanging poles
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
        out[1 + 2 * i] = s.data.xmat[9 * (FIRST_POLE + i) + ZZ]     # cosine of the angle
        out[2 + 2 * i] = s.data.xmat[9 * (FIRST_POLE + i) + XZ]     # sine
    put(out + 1 + 2 * poles, s.data.qvel, s.model.nv)


cdef SuiteTask TASK = suite_task(sizeof(Episode), initialize, reward, observe)


class DmcCartpole(SuiteEnvDefinition):
    """Balance poles on a cart, or swing them up first.

    Observations float64: position (1 + 2 * poles,), the position of the cart (m) and cosine and sine of the angle of
    each pole; velocity (1 + poles,) (m/s, rad/s). Action float64 (1,) in [-1, 1]: force on the cart. The reward in
    [0, 1] is high for upright and slow poles, a centered cart and little control. In the sparse tasks it is 1 if the
    cart is centered and the poles are upright, otherwise 0.
    """

    # The number of poles, whether they start hanging, and whether the reward is sparse.
    options, tasks = suite_tasks(
        1, balance=(1, False, False), balance_sparse=(1, False, True), swingup=(1, True, False),
        swingup_sparse=(1, True, True), two_poles=(2, True, False), three_poles=(3, True, False),
    )

    @staticmethod
    def define(config, task):
        cdef CartpoleOptions o
        poles, o.swing_up, o.sparse = task
        cdef Model model = load_model("cartpole", poles)
        observations = {"position": (1 + 2 * poles,), "velocity": (model.m.nv,)}
        return define_suite_task("DmcCartpole", &TASK, model, config, observations, &o.head, sizeof(o))
