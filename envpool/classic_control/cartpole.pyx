"""CartPole: a pole on a cart that is pushed left or right (Barto, Sutton and Anderson, 1983).

Source of the dynamics: ``gymnasium.envs.classic_control.cartpole``. State is kept as structure of arrays in float64; the
arithmetic follows upstream operation by operation, and only sin and cos are calls.
"""

import math

import numpy as np

from libc.math cimport cos, sin
from libc.stdint cimport int32_t, int64_t, uint8_t, uint64_t
from libc.stdlib cimport calloc, free

from envpool.env cimport ENVPOOL_ABI_VERSION, ENVPOOL_CAPSULE_NAME, ENVPOOL_MAX_BATCH, envpool_batch, envpool_env
from envpool.rng cimport ep_pcg64, ep_pcg64_seed, ep_uniform
from cpython.pycapsule cimport PyCapsule_New

from envpool.native import Field, define

cdef double GRAVITY = 9.8
cdef double POLE_MASS = 0.1
cdef double TOTAL_MASS = 0.1 + 1.0
cdef double LENGTH = 0.5                # half the pole
cdef double POLE_MASS_LENGTH = 0.1 * 0.5
cdef double FORCE = 10.0
cdef double TAU = 0.02                  # seconds between steps
cdef double X_LIMIT = 2.4
cdef double THETA_LIMIT = 12 * 2 * math.pi / 360

cdef struct Config:
    bint sutton_barto_reward

cdef struct Carts:
    ep_pcg64* rng                       # (n), as all arrays here
    double* x
    double* x_dot
    double* theta
    double* theta_dot
    float running                       # reward while the pole stands
    float fallen                        # reward of the step in which it falls


cdef void destroy(void* state) noexcept nogil:
    cdef Carts* s = <Carts*>state
    free(s.rng)
    free(s.x)
    free(s)


cdef void* create(const void* config, int32_t n) noexcept nogil:
    cdef bint sutton_barto = (<const Config*>config).sutton_barto_reward
    cdef Carts* s = <Carts*>calloc(1, sizeof(Carts))
    if s == NULL:
        return NULL
    s.rng = <ep_pcg64*>calloc(n, sizeof(ep_pcg64))
    s.x = <double*>calloc(4 * <size_t>n, sizeof(double))
    if s.rng == NULL or s.x == NULL:
        destroy(s)
        return NULL
    s.x_dot = s.x + n
    s.theta = s.x_dot + n
    s.theta_dot = s.theta + n
    s.running = 0 if sutton_barto else 1
    s.fallen = -1 if sutton_barto else 1
    return s


cdef void seed_many(void* state, const int32_t* ids, int32_t n, const uint64_t* seeds) noexcept nogil:
    cdef Carts* s = <Carts*>state
    cdef int32_t i
    for i in range(n):
        ep_pcg64_seed(&s.rng[ids[i]], seeds[i])


cdef inline void reset_one(Carts* s, int32_t id) noexcept nogil:
    s.x[id] = ep_uniform(&s.rng[id], -0.05, 0.05)
    s.x_dot[id] = ep_uniform(&s.rng[id], -0.05, 0.05)
    s.theta[id] = ep_uniform(&s.rng[id], -0.05, 0.05)
    s.theta_dot[id] = ep_uniform(&s.rng[id], -0.05, 0.05)


cdef void advance(double* x, double* x_dot, double* theta, double* theta_dot, const int32_t* action, uint8_t* fell,
                  int32_t n) noexcept nogil:
    """Steps n carts whose arrays lie side by side: all but sin and cos is vectorised by the compiler."""
    cdef double sines[ENVPOOL_MAX_BATCH]
    cdef double cosines[ENVPOOL_MAX_BATCH]
    cdef double force, temp, theta_acc, x_acc
    cdef int32_t i
    for i in range(n):
        sines[i] = sin(theta[i])
        cosines[i] = cos(theta[i])
    for i in range(n):
        force = FORCE if action[i] == 1 else -FORCE
        temp = (force + POLE_MASS_LENGTH * (theta_dot[i] * theta_dot[i]) * sines[i]) / TOTAL_MASS
        theta_acc = (GRAVITY * sines[i] - cosines[i] * temp) / (
            LENGTH * (4.0 / 3.0 - POLE_MASS * (cosines[i] * cosines[i]) / TOTAL_MASS)
        )
        x_acc = temp - POLE_MASS_LENGTH * theta_acc * cosines[i] / TOTAL_MASS
        x[i] = x[i] + TAU * x_dot[i]
        x_dot[i] = x_dot[i] + TAU * x_acc
        theta[i] = theta[i] + TAU * theta_dot[i]
        theta_dot[i] = theta_dot[i] + TAU * theta_acc
    for i in range(n):
        fell[i] = (x[i] < -X_LIMIT) | (x[i] > X_LIMIT) | (theta[i] < -THETA_LIMIT) | (theta[i] > THETA_LIMIT)


cdef int step_many(void* state, const envpool_batch* b) noexcept nogil:
    cdef Carts* s = <Carts*>state
    cdef const int32_t* actions = <const int32_t*>b.actions[0]
    cdef int32_t i, id
    if b.contiguous and not b.any_reset:
        id = b.ids[0]
        advance(s.x + id, s.x_dot + id, s.theta + id, s.theta_dot + id, actions + id, b.terminated, b.n)
    else:
        for i in range(b.n):
            id = b.ids[i]
            if b.reset[i]:
                reset_one(s, id)
                b.terminated[i] = 0
            else:
                advance(s.x + id, s.x_dot + id, s.theta + id, s.theta_dot + id, actions + id, b.terminated + i, 1)
    for i in range(b.n):
        b.reward[i] = s.fallen if b.terminated[i] else s.running
    return 0


cdef void write_many(void* state, const int32_t* ids, int32_t n, void* const* fields, int64_t row0) noexcept nogil:
    cdef Carts* s = <Carts*>state
    cdef float* obs = <float*>fields[0] + 4 * row0
    cdef int32_t i, id
    for i in range(n):
        id = ids[i]
        obs[4 * i] = <float>s.x[id]
        obs[4 * i + 1] = <float>s.x_dot[id]
        obs[4 * i + 2] = <float>s.theta[id]
        obs[4 * i + 3] = <float>s.theta_dot[id]


cdef int run_many(void* state, const envpool_batch* b, void* const* fields, int64_t row0) noexcept nogil:
    step_many(state, b)
    write_many(state, b.ids, b.n, fields, row0)
    return 0


cdef envpool_env KIND = envpool_env(
    abi_version=ENVPOOL_ABI_VERSION,
    struct_size=sizeof(envpool_env),
    name="CartPole",
    create=create,
    destroy=destroy,
    seed_many=seed_many,
    step_many=step_many,
    write_many=write_many,
    run_many=run_many,
)


class CartPole:
    """Cart and pole.

    Observation float32 (4,): cart position (m), cart velocity (m/s), pole angle (rad), pole angular velocity (rad/s).
    Action int32: 0 pushes left, 1 pushes right. Reward 1 for every step; an episode ends beyond 2.4 m or 12 degrees.

    Options
    -------
    sutton_barto_reward : bool
        Reward 0, and -1 for the step in which the pole falls.
    """

    options = {"reward_threshold": 475.0, "sutton_barto_reward": False}

    @staticmethod
    def build(config):
        """Return the capsule of this kind."""
        cdef Config c
        c.sutton_barto_reward = config.sutton_barto_reward
        high = np.array([X_LIMIT * 2, np.inf, THETA_LIMIT * 2, np.inf], np.float32)
        fields = [Field("obs", np.float32, (4,), -high, high)]
        actions = [Field("action", np.int32, (-1,), 0, 1)]
        template = PyCapsule_New(&KIND, ENVPOOL_CAPSULE_NAME, NULL)
        return define(template, fields, actions, (<const char*>&c)[:sizeof(Config)])
