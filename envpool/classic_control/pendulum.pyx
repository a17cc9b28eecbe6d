"""Pendulum: a pendulum to be swung up by a torque that is too weak to lift it.

Source of the dynamics: ``gymnasium.envs.classic_control.pendulum``. State is kept as structure of arrays in float64.
The arithmetic follows upstream operation by operation; sin, cos, pow and fmod are libm's, the rest runs in vector
registers (pendulum.h).
"""

import numpy as np

from cpython.pycapsule cimport PyCapsule_New
from libc.math cimport NAN, cos, fabsf, isnan, sin
from libc.stdint cimport int32_t, int64_t, uint8_t, uint64_t
from libc.stdio cimport snprintf
from libc.stdlib cimport calloc, free, malloc
from libc.string cimport memcpy, memset

from envpool.raster.canvas cimport canvas, canvas_clear, canvas_colour, canvas_of_frame_flipped
from envpool.raster.gfx cimport gfx_draw_box, gfx_draw_circle, turn, turn_of, turn_point
from envpool.raster.image cimport (
    SPRITE_MIRRORED, SPRITE_UPSIDE_DOWN, sheet_sprite, smooth_image, smooth_scale, sprite, sprite_draw,
)
from envpool.env cimport ENVPOOL_CAPSULE_NAME, envpool_batch, envpool_env, envpool_env_init, envpool_frames
from envpool.numerics.rng cimport ep_pcg64, ep_pcg64_seed, ep_uniform

from envpool.classic_control.frame_size import check_square
from envpool.raster.sheet import load, pack, pygame_for, rgba
from envpool.errors import ConfigError
from envpool.native import Field, define

cdef extern from "pendulum.h" nogil:
    const double PI "PENDULUM_PI"
    const double MAX_SPEED "PENDULUM_MAX_SPEED"
    const double MAX_TORQUE "PENDULUM_MAX_TORQUE"
    float pendulum_torque(float action)
    float pendulum_reward(double theta, double theta_dot, float action)
    void pendulum_advance(double* theta, double* theta_dot, const double* sines, const float* actions, double pull,
                          int32_t n)

cdef enum:
    OUT_OF_MEMORY = 1

cdef struct Config:
    double g

cdef struct Pendulums:
    ep_pcg64* rng                       # (n), as all arrays here
    double* theta
    double* theta_dot
    double* sines                       # of theta, as the observation and the next step need them
    double* cosines
    float* action                       # the last one, which the picture shows; NaN: none yet
    double pull                         # 3 g / (2 l)


cdef void destroy(void* state) noexcept nogil:
    cdef Pendulums* s = <Pendulums*>state
    free(s.rng)
    free(s.theta)
    free(s.action)
    free(s)


cdef void* create(const void* config, int32_t n) noexcept nogil:
    cdef Pendulums* s = <Pendulums*>calloc(1, sizeof(Pendulums))
    if s == NULL:
        return NULL
    s.rng = <ep_pcg64*>calloc(n, sizeof(ep_pcg64))
    s.theta = <double*>calloc(4 * <size_t>n, sizeof(double))
    s.action = <float*>calloc(n, sizeof(float))
    if s.rng == NULL or s.theta == NULL or s.action == NULL:
        destroy(s)
        return NULL
    s.theta_dot = s.theta + n
    s.sines = s.theta_dot + n
    s.cosines = s.sines + n
    s.pull = 3 * (<const Config*>config).g / 2
    return s


cdef void seed_many(void* state, const int32_t* ids, int32_t n, const uint64_t* seeds) noexcept nogil:
    cdef Pendulums* s = <Pendulums*>state
    cdef int32_t i
    for i in range(n):
        ep_pcg64_seed(&s.rng[ids[i]], seeds[i])


cdef void advance(Pendulums* s, int32_t id, const float* actions, float* reward, int32_t n) noexcept nogil:
    """Steps n pendulums from `id` on, all but the sines and cosines."""
    cdef int32_t i
    memcpy(s.action + id, actions + id, n * sizeof(float))
    for i in range(n):
        reward[i] = pendulum_reward(s.theta[id + i], s.theta_dot[id + i], actions[id + i])
    pendulum_advance(s.theta + id, s.theta_dot + id, s.sines + id, actions + id, s.pull, n)


cdef int step_many(void* state, const envpool_batch* b) noexcept nogil:
    cdef Pendulums* s = <Pendulums*>state
    cdef const float* actions = <const float*>b.actions[0]
    cdef double theta
    cdef int32_t i, id
    if b.contiguous:        # also steps pendulums that reset: cheaper than a gap, and overwritten below
        advance(s, b.ids[0], actions, b.reward, b.n)
    else:
        for i in range(b.n):
            advance(s, b.ids[i], actions, b.reward + i, 1)
    memset(b.terminated, 0, b.n)
    for i in range(b.num_resets):
        id = b.ids[b.resets[i]]
        s.theta[id] = ep_uniform(&s.rng[id], -PI, PI)
        s.theta_dot[id] = ep_uniform(&s.rng[id], -1, 1)
        s.action[id] = NAN
    for i in range(b.n):
        id = b.ids[i]
        theta = s.theta[id]     # a copy, so that the compiler may call sincos
        s.sines[id] = sin(theta)
        s.cosines[id] = cos(theta)
    return 0


cdef void write_many(void* state, const int32_t* ids, int32_t n, void* const* fields, int64_t row0) noexcept nogil:
    cdef Pendulums* s = <Pendulums*>state
    cdef float* obs = <float*>fields[0] + 3 * row0
    cdef int32_t i
    for i in range(n):
        obs[3 * i] = <float>s.cosines[ids[i]]
        obs[3 * i + 1] = <float>s.sines[ids[i]]
        obs[3 * i + 2] = <float>s.theta_dot[ids[i]]


cdef int run_many(void* state, const envpool_batch* b, void* const* fields, int64_t row0) noexcept nogil:
    step_many(state, b)
    write_many(state, b.ids, b.n, fields, row0)
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
    """Draws the arrow, which is as large as the torque. scratch: room for the largest one, `largest_arrow` bytes."""
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
    """Pixels per metre."""
    return width / (2.2 * 2)


cdef inline size_t largest_arrow(int32_t width) noexcept nogil:
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
        return OUT_OF_MEMORY
    for i in range(f.n):
        c = canvas_of_frame_flipped(f, i)
        torque = pendulum_torque(s.action[f.ids[i]])
        canvas_clear(&c, canvas_colour(255, 255, 255))
        draw_rod(&c, s.theta[f.ids[i]], scale)
        if not isnan(torque):
            draw_torque(&c, torque, scale, f.assets, scratch)
        gfx_draw_circle(&c, c.width // 2, c.width // 2, 0.05 * scale, canvas_colour(0, 0, 0))
    free(scratch)
    return 0


cdef void error_text(void* state, int32_t id, int32_t code, char* text, size_t size) noexcept nogil:
    """There is only one code."""
    snprintf(text, size, "there is no memory for the arrow of its picture")


cdef envpool_env ENV_DEF
envpool_env_init(&ENV_DEF, "Pendulum")
ENV_DEF.create = create
ENV_DEF.destroy = destroy
ENV_DEF.seed_many = seed_many
ENV_DEF.step_many = step_many
ENV_DEF.write_many = write_many
ENV_DEF.run_many = run_many
ENV_DEF.error_text = error_text
ENV_DEF.render_many = render_many
ENV_DEF.frame_height = ENV_DEF.frame_width = 500


class Pendulum:
    """Pendulum on a motor.

    Observation float32 (3,): cosine and sine of the angle (0 is upright), angular velocity (rad/s). Action float32
    (1,): torque (N m), clipped to [-2, 2]. Reward: minus (angle**2 + 0.1 velocity**2 + 0.001 torque**2), with the angle
    in [-pi, pi). Only the time limit ends an episode.

    Options
    -------
    version : int
        0 or 1. Both have the same dynamics.
    g : float
        Gravity (m/s**2).
    """

    options = {"version": 1, "g": 10.0}

    @staticmethod
    def build(config):
        """Return the capsule of this kind."""
        cdef Config c
        if config.version not in (0, 1):
            raise ConfigError(f"version is {config.version}, allowed are 0 and 1 (which have the same dynamics)")
        c.g = config.g
        high = np.array([1.0, 1.0, MAX_SPEED], np.float32)
        fields = [Field("obs", np.float32, (3,), -high, high)]
        actions = [Field("action", np.float32, (-1, 1), -MAX_TORQUE, MAX_TORQUE)]
        template = PyCapsule_New(&ENV_DEF, ENVPOOL_CAPSULE_NAME, NULL)
        return define(template, fields, actions, (<const char*>&c)[:sizeof(Config)])

    @staticmethod
    def render_assets(config, height, width):
        """Return upstream's arrow."""
        check_square(height, width)
        pygame = pygame_for("Pendulum")
        return pack([rgba(pygame, load(pygame, "classic_control/assets", "clockwise.png"))])
