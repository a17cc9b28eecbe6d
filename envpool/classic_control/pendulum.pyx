"""Pendulum: a pendulum to be swung up by a torque that is too weak to lift it.

Source of the dynamics: ``gymnasium.envs.classic_control.pendulum``. State is kept as a struct of arrays in float64. The
arithmetic follows upstream operation by operation: sin, cos, pow and fmod are libm's, everything else runs in vector
registers.
"""

import numpy as np

from libc.math cimport NAN, cos, fabsf, isnan, pow, sin
from libc.stdint cimport int32_t, uint8_t
from libc.stdlib cimport free, malloc
from libc.string cimport memcpy, memset

from envpool.env cimport (
    ENVPOOL_NO_MEMORY, envpool_batch, envpool_env, envpool_frames, envpool_params, envpool_rows, envpool_setup,
)
from envpool.numerics.rng cimport ep_pcg64, ep_uniform
from envpool.raster.canvas cimport canvas, canvas_clear, canvas_colour, canvas_of_frame_flipped
from envpool.raster.gfx cimport gfx_draw_box, gfx_draw_circle, turn, turn_of, turn_point
from envpool.raster.image cimport (
    SPRITE_MIRRORED, SPRITE_UPSIDE_DOWN, sheet_sprite, smooth_image, smooth_scale, sprite, sprite_draw,
)
from envpool.scaffold cimport (
    envpool_config_bytes, envpool_finish_state, envpool_new_array, envpool_new_env, envpool_new_params,
    envpool_new_reset_doubles, envpool_new_state, envpool_no_memory_text, envpool_set_doubles, envpool_state,
    envpool_take_reset_doubles, envpool_template, envpool_with_params, envpool_with_snapshots,
)

from envpool.classic_control.definition import check_square, table_values
from envpool._support.text import shown
from envpool.errors import ConfigError
from envpool.native import EnvDefinition, Field, Param, define, param_fields
from envpool.raster.sheet import load, pack, pygame_for, rgba

# C, for `restrict` and one variant per instruction set.
cdef extern from * nogil:
    """
    #include <math.h>
    #include <stdint.h>

    #include "envpool/scaffold.h"
    #include "envpool/simd.h"

    #define PI 3.141592653589793

    /* Pendulum.params, and what follows from them: PULL is 3 g / (2 l), PUSH is 3 / (m l^2). */
    enum { MAX_SPEED, MAX_TORQUE, DT, G, M, L, NUM_PARAMS, PULL = NUM_PARAMS, PUSH, NUM_VALUES };

    /* libm's powf, hidden from the compiler, which would turn powf(x, 2) into x * x: that differs in the last place. */
    static float (*volatile opaque_powf)(float, float) = powf;

    /* The torque of an action, clipped; NaN stays NaN. */
    static inline float torque_of(float action, double max_torque) {
      const float limit = (float)max_torque;
      float u = action < -limit ? -limit : action;
      return u > limit ? limit : u;
    }

    /* The angle in [-pi, pi). numpy's `%` has the sign of the divisor. */
    static inline double normalized(double angle) {
      double rest = angle + PI;
      if (!(fabs(rest) < 2 * PI)) rest = fmod(rest, 2 * PI); /* otherwise fmod changes nothing */
      if (rest < 0) rest += 2 * PI;
      return rest - PI;
    }

    /* The cost of a step as upstream computes it. Squares are pow(x, 2), which now and then differs from x * x in the
     * last place, and the torque's term is float32, as upstream's action is. */
    static inline float exact_cost(double angle, double theta_dot, float torque) {
      const float effort = (float)0.001 * opaque_powf(torque, 2.0f);
      return (float)(pow(angle, 2.0) + 0.1 * pow(theta_dot, 2.0) + effort);
    }

    /* The reward of a step from this state. Computing with products is off by at most a few units in the last place of
     * a double, usually a millionth of the gap between two floats. The slow way is taken only if rounding to float32
     * depends on that error, or if a NaN is involved. */
    static inline float reward_of(double theta, double theta_dot, float action, double max_torque) {
      const float torque = torque_of(action, max_torque);
      const double angle = normalized(theta);
      const double effort = 0.001 * (torque * torque);
      const double cost = angle * angle + 0.1 * (theta_dot * theta_dot) + effort;
      const double error = 0x1p-46 * cost + 0x1p-20 * effort;
      const float rounded = (float)(cost - error);
      return rounded == (float)(cost + error) ? -rounded : -exact_cost(angle, theta_dot, torque);
    }

    /* Steps n pendulums, and fills reward (n). The values of pendulum i are at `k * i`, so that a constant k of 0 makes
     * them those of all pendulums. */
    static inline __attribute__((always_inline)) void advance_each(const double *const *p, const int32_t k,
                                                                   double *restrict theta, double *restrict theta_dot,
                                                                   const double *restrict sines,
                                                                   const float *restrict actions,
                                                                   float *restrict reward, int32_t n) {
      const double *restrict max_speed = p[MAX_SPEED], *restrict max_torque = p[MAX_TORQUE];
      const double *restrict step = p[DT], *restrict pull = p[PULL], *restrict push = p[PUSH];
      for (int32_t i = 0; i < n; i++) reward[i] = reward_of(theta[i], theta_dot[i], actions[i], max_torque[k * i]);
      for (int32_t i = 0; i < n; i++) {
        const float pushed = (float)push[k * i] * torque_of(actions[i], max_torque[k * i]);
        const double limit = max_speed[k * i];
        double speed = theta_dot[i] + (pull[k * i] * sines[i] + pushed) * step[k * i];
        speed = speed < -limit ? -limit : speed;
        speed = speed > limit ? limit : speed;
        theta_dot[i] = speed;
        theta[i] = theta[i] + speed * step[k * i];
      }
    }

    /* Steps the n pendulums from `id` on. Updates theta and theta_dot, each (n), and fills reward (n). `sines` (n) are
     * those of theta. */
    ENVPOOL_SIMD
    static void advance_pendulums(const envpool_state *s, int32_t id, double *restrict theta,
                                  double *restrict theta_dot, const double *restrict sines,
                                  const float *restrict actions, float *restrict reward, int32_t n) {
      const double *p[NUM_VALUES];
      if (envpool_params_at(s, id, NUM_VALUES, p))
        advance_each(p, 1, theta, theta_dot, sines, actions, reward, n);
      else
        advance_each(p, 0, theta, theta_dot, sines, actions, reward, n);
    }
    """
    enum:
        MAX_TORQUE
        G
        M
        L
        NUM_PARAMS
        PULL
        PUSH
        NUM_VALUES

    const double PI
    float torque_of(float action, double max_torque)
    void advance_pendulums(const envpool_state* s, int32_t id, double* theta, double* theta_dot, const double* sines,
                           const float* actions, float* reward, int32_t n)

cdef int32_t LARGEST_ARROW = 8192       # pixels; it would need 256 MiB

cdef struct Config:
    double values[NUM_VALUES]           # initial values
    double most[2]                      # largest angle and angular speed of a first state: Pendulum.reset_options

cdef struct Pendulums:
    envpool_state head                  # the records are the generators
    double* theta                       # (num_envs), as all arrays here
    double* theta_dot
    double* sines                       # of theta, as the observation and the next step need them
    double* cosines
    float* action                       # the last one, which the frame shows; NaN before the first
    double* values[NUM_VALUES]


cdef inline double pull_of(double g, double l) noexcept nogil:
    return 3 * g / (2 * l)


cdef inline double push_of(double m, double l) noexcept nogil:
    return 3.0 / (m * pow(l, 2.0))


cdef int create(const envpool_setup* setup, void** state) noexcept nogil:
    cdef Pendulums* s = <Pendulums*>envpool_new_state(setup, sizeof(Pendulums), sizeof(ep_pcg64))
    cdef const Config* config = <const Config*>setup.config
    cdef int32_t i, k
    if s != NULL:
        s.theta = <double*>envpool_new_array(s, sizeof(double))
        s.theta_dot = <double*>envpool_new_array(s, sizeof(double))
        s.sines = <double*>envpool_new_array(s, sizeof(double))
        s.cosines = <double*>envpool_new_array(s, sizeof(double))
        s.action = <float*>envpool_new_array(s, sizeof(float))
        for k in range(NUM_PARAMS, NUM_VALUES):
            s.values[k] = <double*>envpool_new_array(s, sizeof(double))
            for i in range(setup.num_envs if s.values[k] != NULL else 0):
                s.values[k][i] = config.values[k]
        envpool_new_params(s, s.values, config.values, NUM_PARAMS)
        envpool_new_reset_doubles(s, config.most, 2)
    return envpool_finish_state(s, state)


cdef int set_params(void* state, const envpool_params* call) noexcept nogil:
    cdef Pendulums* s = <Pendulums*>state
    cdef int32_t i, id
    envpool_set_doubles(state, call)
    for i in range(call.n):
        id = call.ids[i]
        s.values[PULL][id] = pull_of(s.values[G][id], s.values[L][id])
        s.values[PUSH][id] = push_of(s.values[M][id], s.values[L][id])
    return 0


cdef void advance(Pendulums* s, int32_t id, const float* actions, float* reward, int32_t n) noexcept nogil:
    """Step the n pendulums `id` to `id + n - 1`, except for their sines and cosines."""
    memcpy(s.action + id, actions + id, n * sizeof(float))
    advance_pendulums(&s.head, id, s.theta + id, s.theta_dot + id, s.sines + id, actions + id, reward, n)


cdef int step_many(void* state, const envpool_batch* b) noexcept nogil:
    cdef Pendulums* s = <Pendulums*>state
    cdef const float* actions = <const float*>b.actions[0]
    cdef ep_pcg64* rng
    cdef double[2] most
    cdef double theta
    cdef int32_t i, id
    if b.num_resets < b.n and b.contiguous:     # also steps pendulums that reset: this is cheaper than a gap
        advance(s, b.ids[0], actions, b.reward, b.n)
    elif b.num_resets < b.n:
        for i in range(b.n):
            if not b.reset[i]:
                advance(s, b.ids[i], actions, b.reward + i, 1)
    memset(b.terminated, 0, b.n)
    for i in range(b.num_resets):
        id = b.ids[b.resets[i]]
        rng = <ep_pcg64*>s.head.records + id
        envpool_take_reset_doubles(s, id, most)
        s.theta[id] = ep_uniform(rng, -most[0], most[0])
        s.theta_dot[id] = ep_uniform(rng, -most[1], most[1])
        s.action[id] = NAN
    for i in range(b.n):
        id = b.ids[i]
        theta = s.theta[id]     # a copy, so that the compiler may call sincos
        s.sines[id] = sin(theta)
        s.cosines[id] = cos(theta)
    return 0


cdef void write_many(void* state, const envpool_rows* rows) noexcept nogil:
    cdef Pendulums* s = <Pendulums*>state
    cdef float* obs = <float*>rows.fields[0] + 3 * rows.row0
    cdef int32_t i
    for i in range(rows.n):
        obs[3 * i] = <float>s.cosines[rows.ids[i]]
        obs[3 * i + 1] = <float>s.sines[rows.ids[i]]
        obs[3 * i + 2] = <float>s.theta_dot[rows.ids[i]]


cdef int run_many(void* state, const envpool_batch* b, const envpool_rows* rows) noexcept nogil:
    """Spares the core a second call, which a step of one env would notice."""
    step_many(state, b)
    write_many(state, rows)
    return 0


cdef void draw_rod(const canvas* c, double theta, double scale) noexcept nogil:
    cdef double width = 0.2 * scale
    cdef int32_t centre = c.width // 2
    cdef turn by = turn_of(theta + PI / 2)
    cdef double[2] end
    turn_point(&by, scale, 0, end)
    gfx_draw_box(c, 0, scale, -width / 2, width / 2, &by, 0, centre, centre, canvas_colour(204, 77, 77))
    gfx_draw_circle(c, centre, centre, width / 2, canvas_colour(204, 77, 77))
    gfx_draw_circle(c, end[0] + centre, end[1] + centre, width / 2, canvas_colour(204, 77, 77))


cdef inline double scale_of(int32_t width) noexcept nogil:
    """Return the pixels per metre."""
    return width / (2.2 * 2)


cdef int draw_torque(const canvas* c, float torque, double scale, const void* assets) noexcept nogil:
    """Draw the arrow, whose size is proportional to the torque, and return a status."""
    cdef float size = <float>scale * fabsf(torque) / 2      # upstream's torque is float32
    cdef sprite arrow = sheet_sprite(assets, 0)
    cdef smooth_image whole, scaled
    cdef int32_t centre = c.width // 2
    if size >= LARGEST_ARROW:
        return ENVPOOL_NO_MEMORY
    whole.pixels = <uint8_t*>arrow.pixels
    whole.height = arrow.height
    whole.width = arrow.width
    scaled.height = scaled.width = <int32_t>size
    scaled.pixels = <uint8_t*>malloc(4 * <size_t>scaled.width * scaled.width + 1)
    if scaled.pixels == NULL:
        return ENVPOOL_NO_MEMORY
    whole.channels = scaled.channels = 4
    smooth_scale(&whole, &scaled)
    arrow.pixels = scaled.pixels
    arrow.height = arrow.width = scaled.width
    sprite_draw(c, &arrow, centre - arrow.width // 2, centre - arrow.height // 2,
                SPRITE_UPSIDE_DOWN | (SPRITE_MIRRORED if torque > 0 else 0))
    free(scaled.pixels)
    return 0


cdef int render_many(void* state, const envpool_frames* f) noexcept nogil:
    cdef const Pendulums* s = <const Pendulums*>state
    cdef double scale = scale_of(f.width)
    cdef canvas c
    cdef float torque
    cdef int status = 0
    cdef int32_t i, id
    for i in range(f.n):
        id = f.ids[i]
        c = canvas_of_frame_flipped(f, i)
        torque = torque_of(s.action[id], s.values[MAX_TORQUE][id])
        canvas_clear(&c, canvas_colour(255, 255, 255))
        draw_rod(&c, s.theta[id], scale)
        if not isnan(torque):
            f.errors[i] = draw_torque(&c, torque, scale, f.assets)
            status = status or f.errors[i]
        gfx_draw_circle(&c, c.width // 2, c.width // 2, 0.05 * scale, canvas_colour(0, 0, 0))
    return status


cdef envpool_env ENV_DEF = envpool_new_env("Pendulum", create, step_many, write_many)
ENV_DEF.error_text = envpool_no_memory_text
ENV_DEF.run_many, ENV_DEF.render_many = run_many, render_many
ENV_DEF.frame_height = ENV_DEF.frame_width = 500
envpool_with_snapshots(&ENV_DEF)
envpool_with_params(&ENV_DEF)
ENV_DEF.set_params = set_params


#: Twice as much would be infinite.
LARGEST_HALF = np.finfo(np.float64).max / 2


class Pendulum(EnvDefinition):
    """Pendulum on a motor.

    Observation float32 (3,): cosine and sine of the angle (0 is upright), angular velocity (rad/s). Action float32
    (1,): torque (N m), clipped to [-`max_torque`, `max_torque`]. Reward: minus (angle**2 + 0.1 velocity**2 +
    0.001 torque**2), with the angle in [-pi, pi). An episode ends only at the time limit.

    Options
    -------
    version : int
        This option has no effect: 0 and 1, the default, have the same dynamics.
    """

    options = {"version": 1}
    refuses_nan = True
    params = {
        "max_speed": Param(8.0, 0, 1e6, "rad/s", "largest angular speed"),
        "max_torque": Param(2.0, 0, 100, "N m", "largest torque"),
        "dt": Param(0.05, 1e-9, 1e3, "s", "duration of a step"),
        "g": Param(10.0, unit="m/s^2", text="acceleration by gravity"),
        "m": Param(1.0, 1e-6, 1e6, "kg", "mass"),
        "l": Param(1.0, 1e-6, 1e6, "m", "length"),
    }

    reset_options = {
        "x_init": Param(PI, 0, LARGEST_HALF, "rad", "largest angle of the first state"),
        "y_init": Param(1.0, 0, LARGEST_HALF, "rad/s", "largest angular speed of the first state"),
    }
    continues_after_end = True

    @staticmethod
    def build(config):
        cdef Config c
        if config.version not in (0, 1):
            raise ConfigError(f"version must be 0 or 1, got {shown(config.version)}")
        *params, angle, speed = table_values(Pendulum, config)
        c.values = [*params, pull_of(config.g, config.l), push_of(config.m, config.l)]
        c.most = [angle, speed]
        high = np.array([1.0, 1.0, config.max_speed], np.float32)
        fields = [Field("obs", np.float32, (3,), -high, high)]
        actions = [Field("action", np.float32, (-1, 1), -config.max_torque, config.max_torque)]
        table = param_fields(Pendulum.params, Pendulum.reset_options)
        return define(envpool_template(&ENV_DEF), fields, actions, envpool_config_bytes(&c, sizeof(c)), params=table)

    @staticmethod
    def render_assets(config, height, width):
        """Return upstream's image of the arrow that shows the torque."""
        check_square(height, width)
        pygame = pygame_for("Pendulum")
        return pack([rgba(pygame, load(pygame, "classic_control/assets", "clockwise.png"))])
