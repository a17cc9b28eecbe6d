"""CartPole: a pole on a cart that is pushed left or right (Barto, Sutton and Anderson, 1983).

Source of the dynamics: ``gymnasium.envs.classic_control.cartpole``. State is kept as a struct of arrays in float64. The
arithmetic follows upstream operation by operation: sin and cos are libm's, everything else runs in vector registers.
"""

import numpy as np

from libc.math cimport cos, sin
from libc.stdint cimport int32_t, uint8_t

from envpool.env cimport ENVPOOL_MAX_BATCH, envpool_batch, envpool_env, envpool_frames, envpool_rows, envpool_setup
from envpool.numerics.rng cimport ep_pcg64, ep_uniform
from envpool.raster.canvas cimport canvas, canvas_clear, canvas_colour, canvas_of_frame_flipped, canvas_span
from envpool.raster.gfx cimport gfx_draw_box, gfx_draw_circle, turn, turn_of
from envpool.scaffold cimport (
    envpool_config_bytes, envpool_finish_state, envpool_new_array, envpool_new_env, envpool_new_params,
    envpool_new_reset_doubles, envpool_new_state, envpool_state, envpool_take_reset_doubles, envpool_template,
    envpool_with_params, envpool_with_snapshots,
)

from envpool.classic_control.definition import WithBounds, reset_bounds, table_values
from envpool.native import Field, Param, define, param_fields

# C, for `restrict` and one variant per instruction set.
cdef extern from * nogil:
    """
    #include <stdint.h>

    #include "envpool/scaffold.h"
    #include "envpool/simd.h"

    /* Entries of the table: CartPole.params, then CartPole.reset_options, which bound the numbers of a first state. */
    enum { GRAVITY, CART_MASS, POLE_MASS, HALF_LENGTH, FORCE, STEP, THETA_LIMIT, X_LIMIT, NUM_PARAMS, NUM_BOUNDS = 2,
           NUM_ENTRIES = NUM_PARAMS + NUM_BOUNDS };

    /* Steps n carts. The parameters of cart i are at `k * i`, so that a constant k of 0 makes them those of all. */
    static inline __attribute__((always_inline)) void advance_each(
        const double *const *p, const int32_t k, double *restrict x, double *restrict x_dot, double *restrict theta,
        double *restrict theta_dot, const double *restrict sines, const double *restrict cosines,
        const int32_t *restrict actions, uint8_t *restrict fell, int32_t n) {
      const double *restrict gravity = p[GRAVITY], *restrict cart_mass = p[CART_MASS];
      const double *restrict pole_mass = p[POLE_MASS], *restrict half_length = p[HALF_LENGTH];
      const double *restrict push = p[FORCE], *restrict step = p[STEP];
      const double *restrict x_limit = p[X_LIMIT], *restrict theta_limit = p[THETA_LIMIT];
      for (int32_t i = 0; i < n; i++) {
        const double m = pole_mass[k * i], length = half_length[k * i], tau = step[k * i];
        const double total_mass = m + cart_mass[k * i], mass_length = m * length;
        double force = actions[i] == 1 ? push[k * i] : -push[k * i];
        double speed = theta_dot[i];
        double temp = (force + mass_length * (speed * speed) * sines[i]) / total_mass;
        double theta_acc = (gravity[k * i] * sines[i] - cosines[i] * temp) /
                           (length * (4.0 / 3.0 - m * (cosines[i] * cosines[i]) / total_mass));
        double x_acc = temp - mass_length * theta_acc * cosines[i] / total_mass;
        x[i] = x[i] + tau * x_dot[i];
        x_dot[i] = x_dot[i] + tau * x_acc;
        theta[i] = theta[i] + tau * speed;
        theta_dot[i] = speed + tau * theta_acc;
      }
      for (int32_t i = 0; i < n; i++)
        fell[i] = (x[i] < -x_limit[k * i]) | (x[i] > x_limit[k * i]) | (theta[i] < -theta_limit[k * i]) |
                  (theta[i] > theta_limit[k * i]);
    }

    /* Steps the n carts from `id` on. Updates x, x_dot, theta and theta_dot, each (n), and sets fell (n) to 1 where a
     * cart is outside the limits. `sines` and `cosines` are those of theta (n); an action of 1 pushes to the right. */
    ENVPOOL_SIMD
    static void advance_carts(const envpool_state *s, int32_t id, double *restrict x, double *restrict x_dot,
                              double *restrict theta, double *restrict theta_dot, const double *restrict sines,
                              const double *restrict cosines, const int32_t *restrict actions, uint8_t *restrict fell,
                              int32_t n) {
      const double *p[NUM_PARAMS];
      if (envpool_params_at(s, id, NUM_PARAMS, p))
        advance_each(p, 1, x, x_dot, theta, theta_dot, sines, cosines, actions, fell, n);
      else
        advance_each(p, 0, x, x_dot, theta, theta_dot, sines, cosines, actions, fell, n);
    }
    """
    enum:
        HALF_LENGTH
        X_LIMIT
        NUM_PARAMS
        NUM_BOUNDS
        NUM_ENTRIES

    void advance_carts(const envpool_state* s, int32_t id, double* x, double* x_dot, double* theta, double* theta_dot,
                       const double* sines, const double* cosines, const int32_t* actions, uint8_t* fell, int32_t n)

cdef struct Config:
    double table[NUM_ENTRIES]           # initial values
    float standing_reward
    float fall_reward

cdef struct Carts:
    envpool_state head                  # the records are the generators
    double* x                           # (num_envs), as all arrays here
    double* x_dot
    double* theta
    double* theta_dot
    double* params[NUM_PARAMS]


cdef int create(const envpool_setup* setup, void** state) noexcept nogil:
    cdef Carts* s = <Carts*>envpool_new_state(setup, sizeof(Carts), sizeof(ep_pcg64))
    cdef const Config* config = <const Config*>setup.config
    if s != NULL:
        s.x = <double*>envpool_new_array(s, sizeof(double))
        s.x_dot = <double*>envpool_new_array(s, sizeof(double))
        s.theta = <double*>envpool_new_array(s, sizeof(double))
        s.theta_dot = <double*>envpool_new_array(s, sizeof(double))
        envpool_new_params(s, s.params, config.table, NUM_PARAMS)
        envpool_new_reset_doubles(s, config.table + NUM_PARAMS, NUM_BOUNDS)
    return envpool_finish_state(s, state)


cdef inline void reset_one(Carts* s, int32_t id) noexcept nogil:
    cdef ep_pcg64* rng = <ep_pcg64*>s.head.records + id
    cdef double[NUM_BOUNDS] bounds
    envpool_take_reset_doubles(s, id, bounds)
    s.x[id] = ep_uniform(rng, bounds[0], bounds[1])
    s.x_dot[id] = ep_uniform(rng, bounds[0], bounds[1])
    s.theta[id] = ep_uniform(rng, bounds[0], bounds[1])
    s.theta_dot[id] = ep_uniform(rng, bounds[0], bounds[1])


cdef void advance(Carts* s, int32_t id, const int32_t* actions, uint8_t* fell, int32_t n) noexcept nogil:
    """Step the n carts `id` to `id + n - 1`."""
    cdef double sines[ENVPOOL_MAX_BATCH]
    cdef double cosines[ENVPOOL_MAX_BATCH]
    cdef int32_t i
    for i in range(n):
        sines[i] = sin(s.theta[id + i])
        cosines[i] = cos(s.theta[id + i])
    advance_carts(&s.head, id, s.x + id, s.x_dot + id, s.theta + id, s.theta_dot + id, sines, cosines, actions + id,
                  fell, n)


cdef int step_many(void* state, const envpool_batch* b) noexcept nogil:
    cdef Carts* s = <Carts*>state
    cdef const int32_t* actions = <const int32_t*>b.actions[0]
    cdef float standing = (<const Config*>s.head.config).standing_reward
    cdef float fallen = (<const Config*>s.head.config).fall_reward
    cdef int32_t i
    if b.num_resets < b.n and b.contiguous:     # also steps carts that reset: this is cheaper than a gap
        advance(s, b.ids[0], actions, b.terminated, b.n)
    elif b.num_resets < b.n:
        for i in range(b.n):
            if not b.reset[i]:
                advance(s, b.ids[i], actions, b.terminated + i, 1)
    for i in range(b.n):
        b.reward[i] = standing
    if fallen != standing:
        for i in range(b.n):
            if b.terminated[i]:
                b.reward[i] = fallen
    for i in range(b.num_resets):
        reset_one(s, b.ids[b.resets[i]])
    return 0


cdef void write_many(void* state, const envpool_rows* rows) noexcept nogil:
    cdef Carts* s = <Carts*>state
    cdef float* obs = <float*>rows.fields[0] + 4 * rows.row0
    cdef int32_t i, id
    for i in range(rows.n):
        id = rows.ids[i]
        obs[4 * i] = <float>s.x[id]
        obs[4 * i + 1] = <float>s.x_dot[id]
        obs[4 * i + 2] = <float>s.theta[id]
        obs[4 * i + 3] = <float>s.theta_dot[id]


cdef int run_many(void* state, const envpool_batch* b, const envpool_rows* rows) noexcept nogil:
    """Spares the core a second call, which a step of one env would notice."""
    step_many(state, b)
    write_many(state, rows)
    return 0


cdef void draw(const canvas* c, double x, double theta, double half_length, double x_limit) noexcept nogil:
    """Draw upstream's frame: only the length of the pole and the position of the cart are to scale."""
    cdef double scale = c.width / (2 * x_limit), middle = x * scale + c.width / 2.0
    cdef turn none = turn_of(0), lean = turn_of(-theta)
    canvas_clear(c, canvas_colour(255, 255, 255))
    gfx_draw_box(c, -25, 25, -15, 15, &none, 0, middle, 100, canvas_colour(0, 0, 0))
    gfx_draw_box(c, -5, 5, -5, scale * (2 * half_length) - 5, &lean, 100, middle, 7.5, canvas_colour(202, 152, 101))
    gfx_draw_circle(c, middle, 107, 5, canvas_colour(129, 132, 203))
    canvas_span(c, 100, 0, c.width, canvas_colour(0, 0, 0))


cdef int render_many(void* state, const envpool_frames* f) noexcept nogil:
    cdef const Carts* s = <const Carts*>state
    cdef canvas c
    cdef int32_t i, id
    for i in range(f.n):
        id = f.ids[i]
        c = canvas_of_frame_flipped(f, i)
        draw(&c, s.x[id], s.theta[id], s.params[HALF_LENGTH][id], s.params[X_LIMIT][id])
    return 0


cdef envpool_env ENV_DEF = envpool_new_env("CartPole", create, step_many, write_many)
ENV_DEF.run_many, ENV_DEF.render_many = run_many, render_many
ENV_DEF.frame_height, ENV_DEF.frame_width = 400, 600
envpool_with_snapshots(&ENV_DEF)
envpool_with_params(&ENV_DEF)


class CartPole(WithBounds):
    """Cart and pole.

    Observation float32 (4,): cart position (m), cart velocity (m/s), pole angle (rad), pole angular velocity (rad/s).
    Action int32: 0 pushes left, 1 pushes right. Reward 1 for every step. An episode ends when the cart is more than
    2.4 m from the centre or the pole leans by more than 12 degrees.

    Options
    -------
    sutton_barto_reward : bool
        If True, the reward is -1 for the step in which the pole falls and 0 for all others. Default False.
    """

    options = {"reward_threshold": 475.0, "sutton_barto_reward": False}
    params = {
        "gravity": Param(9.8, unit="m/s^2", text="acceleration that pulls the pole down"),
        "masscart": Param(1.0, 1e-6, 1e6, "kg", "mass of the cart"),
        "masspole": Param(0.1, 1e-6, 1e6, "kg", "mass of the pole"),
        "length": Param(0.5, 1e-6, 1e6, "m", "half of the length of the pole"),
        "force_mag": Param(10.0, unit="N", text="force of a push"),
        "tau": Param(0.02, 1e-9, 1e3, "s", "duration of a step"),
        "theta_threshold_radians": Param(12 * 2 * np.pi / 360, 0, np.inf, "rad", "angle of a fallen pole"),
        "x_threshold": Param(2.4, 1e-6, 1e6, "m", "distance from the centre beyond which the cart has left the track"),
    }

    reset_options = reset_bounds(-0.05, 0.05, "the four numbers of the first state")

    @staticmethod
    def reward_past_end(config):
        """Return upstream's reward of a step after the fall."""
        return -1.0 if config.sutton_barto_reward else 0.0

    @staticmethod
    def build(config):
        cdef Config c
        c.table = table_values(CartPole, config)
        c.standing_reward = 0 if config.sutton_barto_reward else 1
        c.fall_reward = -1 if config.sutton_barto_reward else 1
        high = np.array([config.x_threshold * 2, np.inf, config.theta_threshold_radians * 2, np.inf], np.float32)
        fields = [Field("obs", np.float32, (4,), -high, high)]
        actions = [Field("action", np.int32, (-1,), 0, 1)]
        table = param_fields(CartPole.params, CartPole.reset_options)
        return define(envpool_template(&ENV_DEF), fields, actions, envpool_config_bytes(&c, sizeof(c)), params=table)

    @staticmethod
    def render_fps(config):
        """Return the frame rate of the upstream environment, in frames per second."""
        return 50
