"""Acrobot: two links with a motor in the joint between them, to be swung up (Sutton, 1996).

Source of the dynamics: ``gymnasium.envs.classic_control.acrobot``. State is kept in float64. The arithmetic follows
upstream operation by operation; products of parameters are computed once, where upstream computes them first.
"""

import numpy as np

from libc.math cimport cos, pow, sin
from libc.stdint cimport int32_t
from libc.stdio cimport snprintf
from libc.string cimport memcpy

from envpool.env cimport envpool_batch, envpool_env, envpool_frames, envpool_params, envpool_rows, envpool_setup
from envpool.numerics.numpy_exact cimport np_cos32, np_sin32
from envpool.numerics.rng cimport ep_pcg64, ep_uniform
from envpool.raster.canvas cimport canvas, canvas_clear, canvas_colour, canvas_of_frame_flipped, canvas_span
from envpool.raster.gfx cimport gfx_draw_box, gfx_draw_circle, turn, turn_of
from envpool.scaffold cimport (
    envpool_config_bytes, envpool_finish_state, envpool_get_reset_doubles, envpool_new_env, envpool_new_reset_doubles,
    envpool_new_state, envpool_set_reset_doubles, envpool_state, envpool_take_reset_doubles, envpool_template,
    envpool_with_snapshots,
)

from envpool.classic_control.definition import WithBounds, check_square, reset_bounds, table_values
from envpool.native import Field, Param, define, param_fields
from envpool.config.checks import check_choice

cdef double PI = np.pi
cdef int32_t MOST_TURNS = 100000        # of an angle in one step: with more, wrapping it would take milliseconds

# Parameters, in the order of Acrobot.params.
cdef enum:
    DT
    LENGTH_1
    LENGTH_2
    MASS_1
    MASS_2
    COM_1
    COM_2
    MOI
    MAX_VEL_1
    MAX_VEL_2
    NOISE
    GRAVITY
    NUM_SCALARS
    TORQUES = NUM_SCALARS
    NUM_PARAMS
    NUM_TORQUES = 3
    TOO_FAST = 1                        # error code of an env

cdef struct Values:                     # of all parameters
    double scalars[NUM_SCALARS]
    double torques[NUM_TORQUES]         # by action

cdef struct Config:
    bint is_nips
    Values initial
    double bounds[2]                    # of the numbers of a first state, in the order of Acrobot.reset_options

cdef struct Angles:                     # the state, or its time derivative
    double theta1                       # angle of the first link, 0 points down
    double theta2                       # angle of the second link, 0 points along the first
    double speed1
    double speed2

cdef struct Factors:                    # what follows from the parameters, in upstream's order of operations
    double inertia1                     # m1 lc1^2
    double lengths                      # l1^2 + lc2^2
    double twice_l1_lc2
    double l1_lc2
    double lc2_squared
    double gravity1                     # (m1 lc1 + m2 l1) g
    double gravity2                     # m2 lc2 g
    double pull                         # -m2 l1 lc2
    double twice_pull                   # 2 m2 l1 lc2
    double push                         # m2 l1 lc2
    double inertia2                     # m2 lc2^2 + moment of inertia
    double mass2
    double moment

cdef struct Arm:                        # one environment
    ep_pcg64 rng
    Values params
    Factors factors
    Angles now
    float trig[4]                       # cosine and sine of theta1, then of theta2, as observed
    bint is_new                         # no step since the reset: upstream's state is float32


cdef int create(const envpool_setup* setup, void** state) noexcept nogil:
    cdef envpool_state* s = <envpool_state*>envpool_new_state(setup, sizeof(envpool_state), sizeof(Arm))
    cdef const Config* config = <const Config*>setup.config
    cdef Arm* a
    cdef int32_t i
    if s != NULL:
        s.is_valid = is_valid
        for i in range(setup.num_envs):
            a = <Arm*>s.records + i
            a.params = config.initial
            a.factors = factors_of(&a.params)
        envpool_new_reset_doubles(s, config.bounds, 2)
    return envpool_finish_state(s, state)


cdef int is_valid(const envpool_state* state, int32_t id, int32_t resets) noexcept nogil:
    """No other value makes a step unsafe, or is out of reach of arms with unusual parameters."""
    return 0 <= <int32_t>(<const Arm*>state.records + id).is_new <= 1


cdef Factors factors_of(const Values* values) noexcept nogil:
    cdef const double* p = values.scalars
    cdef Factors f
    f.inertia1 = p[MASS_1] * pow(p[COM_1], 2.0)
    f.lengths = pow(p[LENGTH_1], 2.0) + pow(p[COM_2], 2.0)
    f.twice_l1_lc2 = 2 * p[LENGTH_1] * p[COM_2]
    f.l1_lc2 = p[LENGTH_1] * p[COM_2]
    f.lc2_squared = pow(p[COM_2], 2.0)
    f.gravity1 = (p[MASS_1] * p[COM_1] + p[MASS_2] * p[LENGTH_1]) * p[GRAVITY]
    f.gravity2 = p[MASS_2] * p[COM_2] * p[GRAVITY]
    f.pull = -p[MASS_2] * p[LENGTH_1] * p[COM_2]
    f.twice_pull = 2 * p[MASS_2] * p[LENGTH_1] * p[COM_2]
    f.push = p[MASS_2] * p[LENGTH_1] * p[COM_2]
    f.inertia2 = p[MASS_2] * pow(p[COM_2], 2.0) + p[MOI]
    f.mass2, f.moment = p[MASS_2], p[MOI]
    return f


cdef inline Angles slope(const Angles* s, const Factors* f, double torque, bint is_nips) noexcept nogil:
    """Return the time derivative of a state."""
    cdef Angles out
    cdef double cos2 = cos(s.theta2), sin2 = sin(s.theta2)
    cdef double d1 = f.inertia1 + f.mass2 * (f.lengths + f.twice_l1_lc2 * cos2) + f.moment + f.moment
    cdef double d2 = f.mass2 * (f.lc2_squared + f.l1_lc2 * cos2) + f.moment
    cdef double phi2 = f.gravity2 * cos(s.theta1 + s.theta2 - PI / 2.0)
    cdef double phi1 = (
        f.pull * pow(s.speed2, 2.0) * sin2 - f.twice_pull * s.speed2 * s.speed1 * sin2
        + f.gravity1 * cos(s.theta1 - PI / 2.0) + phi2
    )
    cdef double force = torque + d2 / d1 * phi1
    if not is_nips:
        force = force - f.push * pow(s.speed1, 2.0) * sin2
    out.theta1 = s.speed1
    out.theta2 = s.speed2
    out.speed2 = (force - phi2) / (f.inertia2 - pow(d2, 2.0) / d1)
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


cdef inline bint wrap(double* angle) noexcept nogil:
    """Turn an angle into [-pi, pi] as upstream does, and return whether that ended."""
    cdef int32_t turns = 0
    while angle[0] > PI and turns < MOST_TURNS:
        angle[0] = angle[0] - 2 * PI
        turns += 1
    while angle[0] < -PI and turns < MOST_TURNS:
        angle[0] = angle[0] + 2 * PI
        turns += 1
    return turns < MOST_TURNS


cdef inline double bound(double x, double limit) noexcept nogil:
    return -limit if x < -limit else limit if x > limit else x


cdef void integrate(Angles* s, const Factors* f, double step, double torque, bint is_nips) noexcept nogil:
    """Take one step of the classical fourth-order Runge-Kutta method."""
    cdef Angles k1, k2, k3, k4, mean, at
    k1 = slope(s, f, torque, is_nips)
    at = moved(s, step / 2.0, &k1)
    k2 = slope(&at, f, torque, is_nips)
    at = moved(s, step / 2.0, &k2)
    k3 = slope(&at, f, torque, is_nips)
    at = moved(s, step, &k3)
    k4 = slope(&at, f, torque, is_nips)
    mean.theta1 = combined(k1.theta1, k2.theta1, k3.theta1, k4.theta1)
    mean.theta2 = combined(k1.theta2, k2.theta2, k3.theta2, k4.theta2)
    mean.speed1 = combined(k1.speed1, k2.speed1, k3.speed1, k4.speed1)
    mean.speed2 = combined(k1.speed2, k2.speed2, k3.speed2, k4.speed2)
    s[0] = moved(s, step / 6.0, &mean)


cdef bint step_one(Arm* a, int32_t action, bint is_nips, int32_t* error) noexcept nogil:
    """Step one acrobot; return whether its tip has reached the height."""
    cdef const double* p = a.params.scalars
    cdef Angles* s = &a.now
    cdef double torque = a.params.torques[action], cos1
    if p[NOISE] > 0:
        torque += ep_uniform(&a.rng, -p[NOISE], p[NOISE])
    integrate(s, &a.factors, p[DT], torque, is_nips)
    if not wrap(&s.theta1) or not wrap(&s.theta2):
        error[0] = TOO_FAST
        return False
    s.speed1 = bound(s.speed1, p[MAX_VEL_1])
    s.speed2 = bound(s.speed2, p[MAX_VEL_2])
    cos1 = cos(s.theta1)
    a.is_new = False
    a.trig[0] = <float>cos1
    a.trig[1] = <float>sin(s.theta1)
    a.trig[2] = <float>cos(s.theta2)
    a.trig[3] = <float>sin(s.theta2)
    return -cos1 - cos(s.theta2 + s.theta1) > 1.0


cdef void reset_one(Arm* a, double low, double high) noexcept nogil:
    cdef float theta1 = <float>ep_uniform(&a.rng, low, high)
    cdef float theta2 = <float>ep_uniform(&a.rng, low, high)
    a.now.theta1 = theta1
    a.now.theta2 = theta2
    a.now.speed1 = <float>ep_uniform(&a.rng, low, high)
    a.now.speed2 = <float>ep_uniform(&a.rng, low, high)
    a.is_new = True
    a.trig[0] = np_cos32(theta1)
    a.trig[1] = np_sin32(theta1)
    a.trig[2] = np_cos32(theta2)
    a.trig[3] = np_sin32(theta2)


cdef int step_many(void* state, const envpool_batch* b) noexcept nogil:
    cdef envpool_state* s = <envpool_state*>state
    cdef bint is_nips = (<const Config*>s.config).is_nips
    cdef const int32_t* actions = <const int32_t*>b.actions[0]
    cdef Arm* arms = <Arm*>s.records
    cdef double[2] bounds
    cdef int status = 0
    cdef int32_t i, id
    for i in range(b.n):
        id = b.ids[i]
        if b.reset[i]:
            envpool_take_reset_doubles(s, id, bounds)
            reset_one(&arms[id], bounds[0], bounds[1])
        else:
            b.terminated[i] = step_one(&arms[id], actions[id], is_nips, &b.errors[i])
            b.reward[i] = 0 if b.terminated[i] else -1
            status = status or b.errors[i]
    return status


cdef void error_text(void* state, int32_t id, int32_t code, char* text, size_t size) noexcept nogil:
    snprintf(text, size, "an angle changed by more than %d turns in one step: use larger masses, lengths or moments of "
             "inertia, smaller torques, or a shorter step", MOST_TURNS)


cdef int get_params(void* state, const envpool_params* call) noexcept nogil:
    cdef const Arm* arms = <const Arm*>(<envpool_state*>state).records
    cdef const Values* values
    cdef int32_t i, k
    for i in range(call.n):
        values = &arms[call.ids[i]].params
        for k in range(NUM_SCALARS):
            (<double*>call.values[k])[call.ids[i]] = values.scalars[k]
        memcpy(<double*>call.values[TORQUES] + NUM_TORQUES * call.ids[i], values.torques, sizeof(values.torques))
    envpool_get_reset_doubles(state, call, NUM_PARAMS)
    return 0


cdef int set_params(void* state, const envpool_params* call) noexcept nogil:
    cdef Arm* arms = <Arm*>(<envpool_state*>state).records
    cdef Values* values
    cdef int32_t i, k
    for i in range(call.n):
        values = &arms[call.ids[i]].params
        for k in range(NUM_SCALARS):
            values.scalars[k] = (<const double*>call.values[k])[call.ids[i]]
        memcpy(values.torques, <const double*>call.values[TORQUES] + NUM_TORQUES * call.ids[i], sizeof(values.torques))
        arms[call.ids[i]].factors = factors_of(values)
    envpool_set_reset_doubles(state, call, NUM_PARAMS)
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


cdef void draw(const canvas* c, const Arm* a) noexcept nogil:
    """Draw upstream's frame. Before the first step upstream computes in float32."""
    cdef const double* lengths = &a.params.scalars[LENGTH_1]
    cdef double reach = lengths[0] + lengths[1] + 0.2
    cdef double scale = c.width / (reach * 2), offset = c.width / 2.0, x = 0, y = 0
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
        gfx_draw_box(c, 0, lengths[link] * scale, -0.1 * scale, 0.1 * scale, &by, 0, x + offset, y + offset,
                     canvas_colour(0, 204, 204))
        gfx_draw_circle(c, x + offset, y + offset, 0.1 * scale, canvas_colour(204, 204, 0))
        if a.is_new:
            x = <float>lengths[0] * np_sin32(<float>a.now.theta1) * <float>scale
            y = -<float>lengths[0] * np_cos32(<float>a.now.theta1) * <float>scale
        else:
            x = lengths[0] * sin(a.now.theta1) * scale
            y = -lengths[0] * cos(a.now.theta1) * scale


cdef int render_many(void* state, const envpool_frames* f) noexcept nogil:
    cdef const Arm* arms = <const Arm*>(<envpool_state*>state).records
    cdef canvas c
    cdef int32_t i
    for i in range(f.n):
        c = canvas_of_frame_flipped(f, i)
        draw(&c, &arms[f.ids[i]])
    return 0


cdef envpool_env ENV_DEF = envpool_new_env("Acrobot", create, step_many, write_many)
ENV_DEF.error_text = error_text
ENV_DEF.render_many = render_many
ENV_DEF.frame_height = ENV_DEF.frame_width = 500
envpool_with_snapshots(&ENV_DEF)
ENV_DEF.get_params, ENV_DEF.set_params = get_params, set_params


class Acrobot(WithBounds):
    """Two links hanging from a pivot, with a motor in the joint between them.

    Observation float32 (6,): cosine and sine of the first angle (0 points down), cosine and sine of the second angle
    (relative to the first link), both angular velocities (rad/s). Action int32: an index of `AVAIL_TORQUE`.
    Reward -1 for each step and 0 for the one that ends the episode, in which the tip rises more than 1 above the pivot,
    with links of length 1. ``info["state"]`` float32 (2,): both angles (rad).

    Options
    -------
    book_or_nips : {"book", "nips"}
        Source of the dynamics: Sutton and Barto's book, the default, or the paper of 1996 (NIPS).
    """

    options = {"reward_threshold": -100.0, "book_or_nips": "book"}
    params = {
        "dt": Param(0.2, 1e-9, 10, "s", "duration of a step"),
        "LINK_LENGTH_1": Param(1.0, 1e-3, 1e3, "m", "length of the first link"),
        "LINK_LENGTH_2": Param(1.0, 1e-3, 1e3, "m", "length of the second link, which only frames depend on"),
        "LINK_MASS_1": Param(1.0, 1e-6, 1e6, "kg", "mass of the first link"),
        "LINK_MASS_2": Param(1.0, 1e-6, 1e6, "kg", "mass of the second link"),
        "LINK_COM_POS_1": Param(0.5, 0, 1e3, "m", "distance of the first link's centre of mass from the pivot"),
        "LINK_COM_POS_2": Param(0.5, 0, 1e3, "m", "distance of the second link's centre of mass from the joint"),
        "LINK_MOI": Param(1.0, 1e-6, 1e6, "kg m^2", "moment of inertia of each link"),
        "MAX_VEL_1": Param(4 * np.pi, 0, 1e3, "rad/s", "largest angular speed of the first link"),
        "MAX_VEL_2": Param(9 * np.pi, 0, 1e3, "rad/s", "largest angular speed of the second link"),
        "torque_noise_max": Param(0.0, 0, 1e3, "N m", "in each step, uniform noise below this adds to the torque"),
        "gravity": Param(9.8, -1e3, 1e3, "m/s^2", "acceleration by gravity"),
        "AVAIL_TORQUE": Param((-1.0, 0.0, 1.0), -1e3, 1e3, "N m", "torque of each action"),
    }

    reset_options = reset_bounds(-0.1, 0.1, "the four numbers of the first state")

    @staticmethod
    def build(config):
        cdef Config c
        check_choice("book_or_nips", config.book_or_nips, ("book", "nips"))
        c.is_nips = config.book_or_nips == "nips"
        *scalars, torques, low, high = table_values(Acrobot, config)
        c.initial.scalars, c.initial.torques, c.bounds = scalars, torques, [low, high]
        high = np.array([1.0, 1.0, 1.0, 1.0, config.MAX_VEL_1, config.MAX_VEL_2], np.float32)
        fields = [Field("obs", np.float32, (6,), -high, high), Field("info:state", np.float32, (2,))]
        actions = [Field("action", np.int32, (-1,), 0, 2)]
        table = param_fields(Acrobot.params, Acrobot.reset_options)
        return define(envpool_template(&ENV_DEF), fields, actions, envpool_config_bytes(&c, sizeof(c)), params=table)

    @staticmethod
    def render_assets(config, height, width):
        """Return None after checking that frames are square: nothing has to be loaded."""
        check_square(height, width)

    @staticmethod
    def render_fps(config):
        """Return the frame rate of the upstream environment, in frames per second."""
        return 15
