"""Acrobot: two links with a motor in the joint between them, to be swung up (Sutton, 1996).

Source of the dynamics: ``gymnasium.envs.classic_control.acrobot``. State is kept in float64. The arithmetic follows
upstream operation by operation; upstream's constants (lengths and masses of 1) are multiplied out where that is exact.
"""

import numpy as np

from libc.math cimport cos, fabs, fabsf, pow, sin
from libc.stdint cimport int32_t

from envpool.env cimport envpool_batch, envpool_env, envpool_frames, envpool_rows, envpool_setup
from envpool.numerics.numpy_float32 cimport np_cos32, np_sin32
from envpool.numerics.rng cimport ep_pcg64, ep_uniform
from envpool.raster.canvas cimport canvas, canvas_clear, canvas_colour, canvas_of_frame_flipped, canvas_span
from envpool.raster.gfx cimport gfx_draw_box, gfx_draw_circle, turn, turn_of
from envpool.scaffold cimport (
    envpool_config_bytes, envpool_finish_state, envpool_new_env, envpool_new_state, envpool_state, envpool_template,
    envpool_with_snapshots,
)

from envpool.classic_control.frame_size import check_square
from envpool.errors import ConfigError
from envpool.native import EnvDefinition, Field, define

cdef double PI = np.pi
cdef double MAX_SPEED_1 = 4 * np.pi
cdef double MAX_SPEED_2 = 9 * np.pi
cdef double STEP = 0.2                  # seconds
cdef double GRAVITY_2 = 1.0 * 0.5 * 9.8                 # mass, centre of mass, g of the second link
cdef double GRAVITY_1 = (1.0 * 0.5 + 1.0 * 1.0) * 9.8   # of both

# With more noise, the integration gives angles that are infinite or take minutes to wrap.
cdef double LARGEST_NOISE = 1000.0

cdef struct Config:
    bint is_nips
    double torque_noise_max

cdef struct Angles:                     # the state, or its time derivative
    double theta1                       # angle of the first link, 0 points down
    double theta2                       # angle of the second link, 0 points along the first
    double speed1
    double speed2

cdef struct Arm:                        # one environment
    ep_pcg64 rng
    Angles now
    float trig[4]                       # cosine and sine of theta1, then of theta2, as observed
    bint is_new                         # no step since the reset: upstream's state is float32


cdef int create(const envpool_setup* setup, void** state) noexcept nogil:
    cdef envpool_state* s = <envpool_state*>envpool_new_state(setup, sizeof(envpool_state), sizeof(Arm))
    if s != NULL:
        s.is_valid = is_valid
    return envpool_finish_state(s, state)


cdef int is_valid(const envpool_state* state, int32_t id, int32_t resets) noexcept nogil:
    cdef const Arm* a = <const Arm*>state.records + id
    cdef int32_t k
    for k in range(4):
        if not fabsf(a.trig[k]) <= 1:
            return False
    return (fabs(a.now.theta1) <= PI and fabs(a.now.theta2) <= PI and fabs(a.now.speed1) <= MAX_SPEED_1
            and fabs(a.now.speed2) <= MAX_SPEED_2 and 0 <= <int32_t>a.is_new <= 1)


cdef inline Angles slope(const Angles* s, double torque, bint is_nips) noexcept nogil:
    """Return the time derivative of a state."""
    cdef Angles out
    cdef double cos2 = cos(s.theta2), sin2 = sin(s.theta2)
    cdef double d1 = 0.25 + (1.25 + cos2) + 1.0 + 1.0
    cdef double d2 = 0.25 + 0.5 * cos2 + 1.0
    cdef double phi2 = GRAVITY_2 * cos(s.theta1 + s.theta2 - PI / 2.0)
    cdef double phi1 = (
        -0.5 * pow(s.speed2, 2.0) * sin2 - s.speed2 * s.speed1 * sin2 + GRAVITY_1 * cos(s.theta1 - PI / 2.0) + phi2
    )
    cdef double force = torque + d2 / d1 * phi1
    if not is_nips:
        force = force - 0.5 * pow(s.speed1, 2.0) * sin2
    out.theta1 = s.speed1
    out.theta2 = s.speed2
    out.speed2 = (force - phi2) / (0.25 + 1.0 - pow(d2, 2.0) / d1)
    out.speed1 = -(d2 * out.speed2 + phi1) / d1
    return out


cdef inline Angles moved(const Angles* s, double time, const Angles* k) noexcept nogil:
    """Return the state after moving along a slope for some time."""
    cdef Angles out
    out.theta1 = s.theta1 + time * k.theta1
    out.theta2 = s.theta2 + time * k.theta2
    out.speed1 = s.speed1 + time * k.speed1
    out.speed2 = s.speed2 + time * k.speed2
    return out


cdef inline double combined(double k1, double k2, double k3, double k4) noexcept nogil:
    return k1 + 2 * k2 + 2 * k3 + k4


cdef inline double wrapped(double angle) noexcept nogil:
    while angle > PI:
        angle = angle - 2 * PI
    while angle < -PI:
        angle = angle + 2 * PI
    return angle


cdef inline double bound(double x, double limit) noexcept nogil:
    return -limit if x < -limit else limit if x > limit else x


cdef void integrate(Angles* s, double torque, bint is_nips) noexcept nogil:
    """Take one step of the classical fourth-order Runge-Kutta method."""
    cdef Angles k1, k2, k3, k4, mean, at
    k1 = slope(s, torque, is_nips)
    at = moved(s, STEP / 2.0, &k1)
    k2 = slope(&at, torque, is_nips)
    at = moved(s, STEP / 2.0, &k2)
    k3 = slope(&at, torque, is_nips)
    at = moved(s, STEP, &k3)
    k4 = slope(&at, torque, is_nips)
    mean.theta1 = combined(k1.theta1, k2.theta1, k3.theta1, k4.theta1)
    mean.theta2 = combined(k1.theta2, k2.theta2, k3.theta2, k4.theta2)
    mean.speed1 = combined(k1.speed1, k2.speed1, k3.speed1, k4.speed1)
    mean.speed2 = combined(k1.speed2, k2.speed2, k3.speed2, k4.speed2)
    s[0] = moved(s, STEP / 6.0, &mean)


cdef bint step_one(Arm* a, int32_t action, const Config* config) noexcept nogil:
    """Step one acrobot; return whether its tip has reached the height."""
    cdef Angles* s = &a.now
    cdef double torque = action - 1, cos1
    if config.torque_noise_max > 0:
        torque += ep_uniform(&a.rng, -config.torque_noise_max, config.torque_noise_max)
    integrate(s, torque, config.is_nips)
    s.theta1 = wrapped(s.theta1)
    s.theta2 = wrapped(s.theta2)
    s.speed1 = bound(s.speed1, MAX_SPEED_1)
    s.speed2 = bound(s.speed2, MAX_SPEED_2)
    cos1 = cos(s.theta1)
    a.is_new = False
    a.trig[0] = <float>cos1
    a.trig[1] = <float>sin(s.theta1)
    a.trig[2] = <float>cos(s.theta2)
    a.trig[3] = <float>sin(s.theta2)
    return -cos1 - cos(s.theta2 + s.theta1) > 1.0


cdef void reset_one(Arm* a) noexcept nogil:
    cdef float theta1 = <float>ep_uniform(&a.rng, -0.1, 0.1)
    cdef float theta2 = <float>ep_uniform(&a.rng, -0.1, 0.1)
    a.now.theta1 = theta1
    a.now.theta2 = theta2
    a.now.speed1 = <float>ep_uniform(&a.rng, -0.1, 0.1)
    a.now.speed2 = <float>ep_uniform(&a.rng, -0.1, 0.1)
    a.is_new = True
    a.trig[0] = np_cos32(theta1)
    a.trig[1] = np_sin32(theta1)
    a.trig[2] = np_cos32(theta2)
    a.trig[3] = np_sin32(theta2)


cdef int step_many(void* state, const envpool_batch* b) noexcept nogil:
    cdef envpool_state* s = <envpool_state*>state
    cdef const Config* config = <const Config*>s.config
    cdef const int32_t* actions = <const int32_t*>b.actions[0]
    cdef Arm* arms = <Arm*>s.records
    cdef int32_t i, id
    for i in range(b.n):
        id = b.ids[i]
        if b.reset[i]:
            reset_one(&arms[id])
        else:
            b.terminated[i] = step_one(&arms[id], actions[id], config)
            b.reward[i] = 0 if b.terminated[i] else -1
    return 0


cdef void write_many(void* state, const envpool_rows* rows) noexcept nogil:
    cdef const Arm* arms = <const Arm*>(<envpool_state*>state).records
    cdef float* obs = <float*>rows.fields[0] + 6 * rows.row0
    cdef float* info = <float*>rows.fields[1] + 2 * rows.row0
    cdef const Arm* a
    cdef int32_t i, k
    for i in range(rows.n):
        a = &arms[rows.ids[i]]
        for k in range(4):
            obs[6 * i + k] = a.trig[k]
        obs[6 * i + 4] = <float>a.now.speed1
        obs[6 * i + 5] = <float>a.now.speed2
        info[2 * i] = <float>a.now.theta1
        info[2 * i + 1] = <float>a.now.theta2


cdef int run_many(void* state, const envpool_batch* b, const envpool_rows* rows) noexcept nogil:
    step_many(state, b)
    write_many(state, rows)
    return 0


cdef void draw(const canvas* c, const Arm* a) noexcept nogil:
    """Draw upstream's frame. Before the first step upstream computes in float32."""
    cdef double scale = c.width / (2.2 * 2), offset = c.width / 2.0, x = 0, y = 0
    cdef int32_t link
    cdef turn by
    cdef double[2] angles
    angles[0] = a.now.theta1 - PI / 2
    angles[1] = a.now.theta1 + a.now.theta2 - PI / 2
    if a.is_new:
        angles[0] = <float>a.now.theta1 - <float>(PI / 2)
        angles[1] = <float>a.now.theta1 + <float>a.now.theta2 - <float>(PI / 2)
    canvas_clear(c, canvas_colour(255, 255, 255))
    canvas_span(c, <int32_t>(1 * scale + offset), <int32_t>(-2.2 * scale + offset), <int32_t>(2.2 * scale + offset), 0)
    for link in range(2):
        by = turn_of(angles[link])
        gfx_draw_box(c, 0, scale, -0.1 * scale, 0.1 * scale, &by, 0, x + offset, y + offset, canvas_colour(0, 204, 204))
        gfx_draw_circle(c, x + offset, y + offset, 0.1 * scale, canvas_colour(204, 204, 0))
        if a.is_new:
            x = np_sin32(<float>a.now.theta1) * <float>scale
            y = -np_cos32(<float>a.now.theta1) * <float>scale
        else:
            x = sin(a.now.theta1) * scale
            y = -cos(a.now.theta1) * scale


cdef int render_many(void* state, const envpool_frames* f) noexcept nogil:
    cdef const Arm* arms = <const Arm*>(<envpool_state*>state).records
    cdef canvas c
    cdef int32_t i
    for i in range(f.n):
        c = canvas_of_frame_flipped(f, i)
        draw(&c, &arms[f.ids[i]])
    return 0


cdef envpool_env ENV_DEF = envpool_new_env("Acrobot", create, step_many, write_many)
ENV_DEF.run_many = run_many
ENV_DEF.render_many = render_many
ENV_DEF.frame_height = ENV_DEF.frame_width = 500
envpool_with_snapshots(&ENV_DEF)


class Acrobot(EnvDefinition):
    """Two links hanging from a pivot, with a motor in the joint between them.

    Observation float32 (6,): cosine and sine of the first angle (0 points down), cosine and sine of the second angle
    (relative to the first link), both angular velocities (rad/s). Action int32: 0, 1 and 2 apply a torque of -1, 0 and
    1 N m. Reward -1 for each step and 0 for the one that ends the episode, in which the tip rises more than one link
    above the pivot. ``info["state"]`` float32 (2,): both angles (rad).

    Options
    -------
    book_or_nips : {"book", "nips"}
        Whether to use the dynamics of Sutton and Barto's book, the default, or those of the paper of 1996.
    torque_noise_max : float
        In each step a number from [-torque_noise_max, torque_noise_max) is added to the torque (N m). 0 to 1000, 0 by
        default.
    """

    options = {"reward_threshold": -100.0, "book_or_nips": "book", "torque_noise_max": 0.0}

    @staticmethod
    def build(config):
        """Return the capsule of this environment definition."""
        cdef Config c
        if config.book_or_nips not in ("book", "nips"):
            raise ConfigError(f"book_or_nips must be 'book' or 'nips', got {config.book_or_nips!r}")
        if not 0 <= config.torque_noise_max <= LARGEST_NOISE:
            raise ConfigError(
                f"torque_noise_max must be between 0 and {LARGEST_NOISE:g}, got {config.torque_noise_max}"
            )
        c.is_nips = config.book_or_nips == "nips"
        c.torque_noise_max = config.torque_noise_max
        high = np.array([1.0, 1.0, 1.0, 1.0, MAX_SPEED_1, MAX_SPEED_2], np.float32)
        fields = [Field("obs", np.float32, (6,), -high, high), Field("info:state", np.float32, (2,))]
        actions = [Field("action", np.int32, (-1,), 0, 2)]
        return define(envpool_template(&ENV_DEF), fields, actions, envpool_config_bytes(&c, sizeof(c)))

    @staticmethod
    def render_assets(config, height, width):
        """Return None after checking that frames are square: nothing has to be loaded."""
        check_square(height, width)

    @staticmethod
    def render_fps(config):
        """Return the frame rate of the upstream environment, in frames per second."""
        return 15
