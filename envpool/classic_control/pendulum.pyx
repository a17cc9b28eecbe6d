"""Pendulum: a pendulum to be swung up by a torque that is too weak to lift it.

Source of the dynamics: ``gymnasium.envs.classic_control.pendulum``. State is kept as a struct of arrays in float64. The
arithmetic follows upstream operation by operation: sin, cos, pow and fmod are libm's, everything else runs in vector
registers.
"""

import numpy as np

from libc.math cimport NAN, cos, fabs, fabsf, isinf, isnan, sin
from libc.stdint cimport int32_t, uint8_t
from libc.stdlib cimport free, malloc
from libc.string cimport memcpy, memset

from envpool.env cimport ENVPOOL_NO_MEMORY, envpool_batch, envpool_env, envpool_frames, envpool_rows, envpool_setup
from envpool.numerics.rng cimport ep_pcg64, ep_uniform
from envpool.raster.canvas cimport canvas, canvas_clear, canvas_colour, canvas_of_frame_flipped
from envpool.raster.gfx cimport gfx_draw_box, gfx_draw_circle, turn, turn_of, turn_point
from envpool.raster.image cimport (
    SPRITE_MIRRORED, SPRITE_UPSIDE_DOWN, sheet_sprite, smooth_image, smooth_scale, sprite, sprite_draw,
)
from envpool.scaffold cimport (
    envpool_config_bytes, envpool_finish_state, envpool_new_array, envpool_new_env, envpool_new_state,
    envpool_no_memory_text, envpool_state, envpool_template, envpool_with_snapshots,
)

from envpool.classic_control.frame_size import check_square
from envpool.errors import ConfigError
from envpool.native import EnvDefinition, Field, define
from envpool.raster.sheet import load, pack, pygame_for, rgba

# C, for `restrict` and one variant per instruction set.
cdef extern from * nogil:
    """
    #include <math.h>
    #include <stdint.h>

    #include "envpool/simd.h"

    #define PI 3.141592653589793
    #define MAX_SPEED 8.0
    #define MAX_TORQUE 2.0
    #define STEP 0.05 /* seconds */

    /* libm's powf, hidden from the compiler, which would turn powf(x, 2) into x * x: that differs in the last place. */
    static float (*volatile opaque_powf)(float, float) = powf;

    /* The torque of an action, clipped; NaN stays NaN. */
    static inline float torque_of(float action) {
      float u = action < -(float)MAX_TORQUE ? -(float)MAX_TORQUE : action;
      return u > (float)MAX_TORQUE ? (float)MAX_TORQUE : u;
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
    static inline float reward_of(double theta, double theta_dot, float action) {
      const float torque = torque_of(action);
      const double angle = normalized(theta);
      const double effort = 0.001 * (torque * torque);
      const double cost = angle * angle + 0.1 * (theta_dot * theta_dot) + effort;
      const double error = 0x1p-46 * cost + 0x1p-20 * effort;
      const float rounded = (float)(cost - error);
      return rounded == (float)(cost + error) ? -rounded : -exact_cost(angle, theta_dot, torque);
    }

    /* Steps n pendulums. Updates theta and theta_dot, each (n). `sines` (n) are those of theta; `pull` is 3 g / 2 l. */
    ENVPOOL_SIMD
    static void advance_pendulums(double *restrict theta, double *restrict theta_dot, const double *restrict sines,
                                  const float *restrict actions, double pull, int32_t n) {
      for (int32_t i = 0; i < n; i++) {
        const float push = 3.0f * torque_of(actions[i]);
        double speed = theta_dot[i] + (pull * sines[i] + push) * STEP;
        speed = speed < -MAX_SPEED ? -MAX_SPEED : speed;
        speed = speed > MAX_SPEED ? MAX_SPEED : speed;
        theta_dot[i] = speed;
        theta[i] = theta[i] + speed * STEP;
      }
    }
    """
    const double PI
    const double MAX_SPEED
    const double MAX_TORQUE
    float torque_of(float action)
    float reward_of(double theta, double theta_dot, float action)
    void advance_pendulums(double* theta, double* theta_dot, const double* sines, const float* actions, double pull,
                           int32_t n)

cdef struct Config:
    double pull                         # 3 g / (2 l), with a length l of 1

cdef struct Pendulums:
    envpool_state head                  # the records are the generators
    double* theta                       # (num_envs), as all arrays here
    double* theta_dot
    double* sines                       # of theta, as the observation and the next step need them
    double* cosines
    float* action                       # the last one, which the frame shows; NaN before the first


cdef int create(const envpool_setup* setup, void** state) noexcept nogil:
    cdef Pendulums* s = <Pendulums*>envpool_new_state(setup, sizeof(Pendulums), sizeof(ep_pcg64))
    if s != NULL:
        s.theta = <double*>envpool_new_array(s, sizeof(double))
        s.theta_dot = <double*>envpool_new_array(s, sizeof(double))
        s.sines = <double*>envpool_new_array(s, sizeof(double))
        s.cosines = <double*>envpool_new_array(s, sizeof(double))
        s.action = <float*>envpool_new_array(s, sizeof(float))
        s.head.is_valid = is_valid
    return envpool_finish_state(s, state)


cdef int is_valid(const envpool_state* state, int32_t id, int32_t resets) noexcept nogil:
    """An action of NaN makes the angle and the speed NaN; an angle grows with every turn."""
    cdef const Pendulums* s = <const Pendulums*>state
    return (
        not isinf(s.theta[id])
        and (fabs(s.theta_dot[id]) <= MAX_SPEED or isnan(s.theta_dot[id]))
        and (fabs(s.sines[id]) <= 1 or isnan(s.sines[id]))
        and (fabs(s.cosines[id]) <= 1 or isnan(s.cosines[id]))
    )


cdef void advance(Pendulums* s, int32_t id, const float* actions, float* reward, int32_t n) noexcept nogil:
    """Step the n pendulums `id` to `id + n - 1`, except for their sines and cosines."""
    cdef double pull = (<const Config*>s.head.config).pull
    cdef int32_t i
    memcpy(s.action + id, actions + id, n * sizeof(float))
    for i in range(n):
        reward[i] = reward_of(s.theta[id + i], s.theta_dot[id + i], actions[id + i])
    advance_pendulums(s.theta + id, s.theta_dot + id, s.sines + id, actions + id, pull, n)


cdef int step_many(void* state, const envpool_batch* b) noexcept nogil:
    cdef Pendulums* s = <Pendulums*>state
    cdef const float* actions = <const float*>b.actions[0]
    cdef ep_pcg64* rng
    cdef double theta
    cdef int32_t i, id
    if b.contiguous:        # also steps pendulums that reset: this is cheaper than a gap, and overwritten below
        advance(s, b.ids[0], actions, b.reward, b.n)
    else:
        for i in range(b.n):
            advance(s, b.ids[i], actions, b.reward + i, 1)
    memset(b.terminated, 0, b.n)
    for i in range(b.num_resets):
        id = b.ids[b.resets[i]]
        rng = <ep_pcg64*>s.head.records + id
        s.theta[id] = ep_uniform(rng, -PI, PI)
        s.theta_dot[id] = ep_uniform(rng, -1, 1)
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


cdef void draw_torque(const canvas* c, float torque, double scale, const void* assets, uint8_t* scratch) noexcept nogil:
    """Draw the arrow, whose size is proportional to the torque. `scratch` has `largest_arrow` bytes."""
    cdef float size = <float>scale * fabsf(torque) / 2      # upstream's torque is float32
    cdef sprite arrow = sheet_sprite(assets, 0)
    cdef smooth_image whole, scaled
    cdef int32_t centre = c.width // 2
    whole.pixels = <uint8_t*>arrow.pixels
    whole.height = arrow.height
    whole.width = arrow.width
    scaled.pixels = scratch
    scaled.height = scaled.width = <int32_t>size
    whole.channels = scaled.channels = 4
    smooth_scale(&whole, &scaled)
    arrow.pixels = scratch
    arrow.height = arrow.width = scaled.width
    sprite_draw(c, &arrow, centre - arrow.width // 2, centre - arrow.height // 2,
                SPRITE_UPSIDE_DOWN | (SPRITE_MIRRORED if torque > 0 else 0))


cdef inline double scale_of(int32_t width) noexcept nogil:
    """Return the pixels per metre."""
    return width / (2.2 * 2)


cdef inline size_t largest_arrow(int32_t width) noexcept nogil:
    """Return the bytes of the arrow of the largest torque."""
    cdef size_t side = <size_t>(scale_of(width) * MAX_TORQUE / 2) + 1
    return 4 * side * side


cdef int render_many(void* state, const envpool_frames* f) noexcept nogil:
    cdef const Pendulums* s = <const Pendulums*>state
    cdef double scale = scale_of(f.width)
    cdef uint8_t* scratch = <uint8_t*>malloc(largest_arrow(f.width))
    cdef canvas c
    cdef float torque
    cdef int32_t i
    if scratch == NULL:
        return ENVPOOL_NO_MEMORY
    for i in range(f.n):
        c = canvas_of_frame_flipped(f, i)
        torque = torque_of(s.action[f.ids[i]])
        canvas_clear(&c, canvas_colour(255, 255, 255))
        draw_rod(&c, s.theta[f.ids[i]], scale)
        if not isnan(torque):
            draw_torque(&c, torque, scale, f.assets, scratch)
        gfx_draw_circle(&c, c.width // 2, c.width // 2, 0.05 * scale, canvas_colour(0, 0, 0))
    free(scratch)
    return 0


cdef envpool_env ENV_DEF = envpool_new_env("Pendulum", create, step_many, write_many)
ENV_DEF.run_many = run_many
ENV_DEF.error_text = envpool_no_memory_text
ENV_DEF.render_many = render_many
ENV_DEF.frame_height = ENV_DEF.frame_width = 500
envpool_with_snapshots(&ENV_DEF)


class Pendulum(EnvDefinition):
    """Pendulum on a motor.

    Observation float32 (3,): cosine and sine of the angle (0 is upright), angular velocity (rad/s). Action float32
    (1,): torque (N m), clipped to [-2, 2]. Reward: minus (angle**2 + 0.1 velocity**2 + 0.001 torque**2), with the angle
    in [-pi, pi). An episode ends only at the time limit.

    Options
    -------
    version : int
        0 or 1, the default. Both have the same dynamics.
    g : float
        Gravity in m/s**2, 10 by default.
    """

    options = {"version": 1, "g": 10.0}

    @staticmethod
    def build(config):
        """Return the capsule of this environment definition."""
        cdef Config c
        if config.version not in (0, 1):
            raise ConfigError(f"version must be 0 or 1, which have the same dynamics; got {config.version}")
        c.pull = 3 * config.g / 2
        high = np.array([1.0, 1.0, MAX_SPEED], np.float32)
        fields = [Field("obs", np.float32, (3,), -high, high)]
        actions = [Field("action", np.float32, (-1, 1), -MAX_TORQUE, MAX_TORQUE)]
        return define(envpool_template(&ENV_DEF), fields, actions, envpool_config_bytes(&c, sizeof(c)))

    @staticmethod
    def render_assets(config, height, width):
        """Return upstream's image of the arrow that shows the torque."""
        check_square(height, width)
        pygame = pygame_for("Pendulum")
        return pack([rgba(pygame, load(pygame, "classic_control/assets", "clockwise.png"))])
