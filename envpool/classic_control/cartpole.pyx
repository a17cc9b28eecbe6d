"""CartPole: a pole on a cart that is pushed left or right (Barto, Sutton and Anderson, 1983).

Source of the dynamics: ``gymnasium.envs.classic_control.cartpole``. State is kept as structure of arrays in float64.
The arithmetic follows upstream operation by operation; sin and cos are libm's, the rest runs in vector registers
(cartpole.h).
"""

import numpy as np

from cpython.pycapsule cimport PyCapsule_New
from libc.math cimport cos, sin
from libc.stdint cimport int32_t, int64_t, uint8_t, uint64_t
from libc.stdlib cimport calloc, free

from envpool.raster.canvas cimport canvas, canvas_clear, canvas_colour, canvas_of_frame_flipped, canvas_span
from envpool.raster.gfx cimport gfx_draw_box, gfx_draw_circle, turn, turn_of
from envpool.env cimport (
    ENVPOOL_CAPSULE_NAME, ENVPOOL_MAX_BATCH, envpool_batch, envpool_env, envpool_env_init, envpool_frames,
)
from envpool.numerics.rng cimport ep_pcg64, ep_pcg64_seed, ep_uniform

from envpool.native import Field, define

cdef extern from "cartpole.h" nogil:
    const double X_LIMIT "CARTPOLE_X_LIMIT"
    const double THETA_LIMIT "CARTPOLE_THETA_LIMIT"
    void cartpole_advance(double* x, double* x_dot, double* theta, double* theta_dot, const double* sines,
                          const double* cosines, const int32_t* actions, uint8_t* fell, int32_t n)

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


cdef void advance(Carts* s, int32_t id, const int32_t* actions, uint8_t* fell, int32_t n) noexcept nogil:
    """Steps n carts from `id` on."""
    cdef double sines[ENVPOOL_MAX_BATCH]
    cdef double cosines[ENVPOOL_MAX_BATCH]
    cdef int32_t i
    for i in range(n):
        sines[i] = sin(s.theta[id + i])
        cosines[i] = cos(s.theta[id + i])
    cartpole_advance(s.x + id, s.x_dot + id, s.theta + id, s.theta_dot + id, sines, cosines, actions + id, fell, n)


cdef int step_many(void* state, const envpool_batch* b) noexcept nogil:
    cdef Carts* s = <Carts*>state
    cdef const int32_t* actions = <const int32_t*>b.actions[0]
    cdef int32_t i, id
    if b.contiguous:        # also steps carts that reset: cheaper than a gap, and overwritten below
        id = b.ids[0]
        advance(s, id, actions, b.terminated, b.n)
    else:
        for i in range(b.n):
            id = b.ids[i]
            advance(s, id, actions, b.terminated + i, 1)
    for i in range(b.n):
        b.reward[i] = s.running
    if s.fallen != s.running:
        for i in range(b.n):
            if b.terminated[i]:
                b.reward[i] = s.fallen
    for i in range(b.num_resets):
        reset_one(s, b.ids[b.resets[i]])
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


cdef void draw(const canvas* c, double x, double theta) noexcept nogil:
    """Upstream's picture: lengths in pixels but for the pole's and the place of the cart, which are to scale."""
    cdef double scale = c.width / (2 * X_LIMIT), middle = x * scale + c.width / 2.0
    cdef turn none = turn_of(0), lean = turn_of(-theta)
    canvas_clear(c, canvas_colour(255, 255, 255))
    gfx_draw_box(c, -25, 25, -15, 15, &none, 0, middle, 100, canvas_colour(0, 0, 0))
    gfx_draw_box(c, -5, 5, -5, scale - 5, &lean, 100, middle, 7.5, canvas_colour(202, 152, 101))
    gfx_draw_circle(c, middle, 107, 5, canvas_colour(129, 132, 203))
    canvas_span(c, 100, 0, c.width, canvas_colour(0, 0, 0))


cdef int render_many(void* state, const envpool_frames* f) noexcept nogil:
    cdef const Carts* s = <const Carts*>state
    cdef canvas c
    cdef int32_t i
    for i in range(f.n):
        c = canvas_of_frame_flipped(f, i)
        draw(&c, s.x[f.ids[i]], s.theta[f.ids[i]])
    return 0


cdef envpool_env ENV_DEF
envpool_env_init(&ENV_DEF, "CartPole")
ENV_DEF.create = create
ENV_DEF.destroy = destroy
ENV_DEF.seed_many = seed_many
ENV_DEF.step_many = step_many
ENV_DEF.write_many = write_many
ENV_DEF.run_many = run_many
ENV_DEF.render_many = render_many
ENV_DEF.frame_height = 400
ENV_DEF.frame_width = 600


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
        template = PyCapsule_New(&ENV_DEF, ENVPOOL_CAPSULE_NAME, NULL)
        return define(template, fields, actions, (<const char*>&c)[:sizeof(Config)])

    @staticmethod
    def render_fps(config):
        """Return the pictures a second of upstream."""
        return 50
