"""MountainCarContinuous: MountainCar with a force as its action (Moore, 1990).

Source of the dynamics: ``gymnasium.envs.classic_control.continuous_mountain_car``. State is kept as a struct of arrays.
The arithmetic follows upstream operation by operation and type by type: cos is libm's, everything else runs in vector
registers.

Upstream computes in the types that its values happen to have, and so does this file. The state after a step is float32,
so a step is float32 arithmetic, in which Python floats (the constants, cos, a clipped force or velocity) are rounded to
float32 first, unless they meet another Python float. The state after a reset is float64, and so is the first step.
"""

import numpy as np

from libc.math cimport cos, sin
from libc.stdint cimport int32_t, uint8_t

from envpool.classic_control.valley cimport draw_valley, valley, valley_of
from envpool.env cimport ENVPOOL_MAX_BATCH, envpool_batch, envpool_env, envpool_frames, envpool_rows, envpool_setup
from envpool.numerics.numpy_exact cimport np_sin32
from envpool.numerics.rng cimport ep_pcg64, ep_uniform
from envpool.reset_doubles cimport (
    envpool_new_reset_doubles, envpool_reset_state, envpool_take_reset_doubles, envpool_with_params_and_options,
)
from envpool.scaffold cimport (
    envpool_common_params, envpool_config_bytes, envpool_finish_state, envpool_new_array, envpool_new_env,
    envpool_new_params, envpool_new_state, envpool_state, envpool_template, envpool_with_snapshots,
)

from envpool.classic_control.reset_bounds import check_bounds, reset_bounds
from envpool.classic_control.valley import assets
from envpool.native import EnvDefinition, Field, Param, define, param_fields

# C, for `restrict` and one variant per instruction set.
cdef extern from * nogil:
    """
    #include <stdint.h>

    #include "envpool/simd.h"

    /* The physics of each car: arrays (num_envs), or one item for all cars. Lengths in m, velocities in m per step. */
    typedef struct physics {
      const double *lowest;
      const double *highest;
      const double *max_speed;
      const double *goal;
      const double *goal_velocity;
      const double *power;
      const double *gravity;
      const double *least; /* smallest and largest action that has an effect */
      const double *most;
    } physics;

    /* The acceleration by an action outside of the range that has an effect, as Python computes it. */
    static inline double clipped_push(const physics *p, int32_t i, float action) {
      const double force = action < (float)p->least[i] ? p->least[i] : action;
      return (p->most[i] < force ? p->most[i] : force) * p->power[i];
    }

    /* Steps n cars that have been stepped before. Updates position and velocity, each (n), sets arrived (n) to 1 where
     * a car is at the goal and fast enough, and fills reward (n). `cosines` (n) are those of three times the position;
     * an action may be any number, or NaN. The physics of car i is at `k * i`, so that a constant k of 0 makes it one
     * for all cars.
     *
     * A clipped action, velocity or position is a Python float when upstream uses it next.
     *
     * Upstream squares by pow(action, 2). The square of a float32 is exact in float64, so a pow whose error is below
     * one unit in the last place returns the product; comparing the two for every float32 confirms it. */
    static inline __attribute__((always_inline)) void advance_each(
        const physics *p, const int32_t k, float *restrict position, float *restrict velocity,
        const double *restrict cosines, const float *restrict actions, uint8_t *restrict arrived,
        float *restrict reward, int32_t n) {
      const double *restrict lowest = p->lowest, *restrict highest = p->highest, *restrict limit = p->max_speed;
      const double *restrict goal = p->goal, *restrict goal_velocity = p->goal_velocity;
      const double *restrict power = p->power, *restrict gravity = p->gravity;
      const double *restrict least = p->least, *restrict most = p->most;
      for (int32_t i = 0; i < n; i++) {
        const double low = lowest[k * i], high = highest[k * i], max_speed = limit[k * i];
        const double bottom = least[k * i], top = most[k * i];
        const double slope = gravity[k * i] * cosines[i];
        const float pushed = actions[i] * (float)power[k * i] - (float)slope;
        const float from_bottom = (float)((top < bottom ? top : bottom) * power[k * i] - slope);
        const float from_top = (float)(top * power[k * i] - slope);
        const float gain = actions[i] < (float)bottom ? from_bottom : actions[i] > (float)top ? from_top : pushed;
        float v = velocity[i] + gain;
        const int is_fast = v > (float)max_speed, is_slow = v < -(float)max_speed;
        const double wanted = goal_velocity[k * i];
        int suffices = is_fast ? max_speed >= wanted : is_slow ? -max_speed >= wanted : v >= (float)wanted;
        v = is_fast ? (float)max_speed : v;
        v = is_slow ? -(float)max_speed : v;
        float x = position[i] + v;
        const int is_right = x > (float)high;
        const int is_left = is_right ? high < low : x < (float)low;
        const int is_there = is_left    ? low >= goal[k * i]
                             : is_right ? high >= goal[k * i]
                                        : x >= (float)goal[k * i];
        const int at_wall = is_left | (is_right ? high == low : x == (float)low);
        x = is_right ? (float)high : x;
        x = is_left ? (float)low : x;
        const int stops = at_wall & (v < 0);
        suffices = stops ? 0 >= wanted : suffices;
        arrived[i] = is_there & suffices;
        position[i] = x;
        velocity[i] = stops ? 0 : v;
      }
      for (int32_t i = 0; i < n; i++) {
        const double action = actions[i];
        reward[i] = (float)((arrived[i] ? 100.0 : 0.0) - action * action * 0.1);
      }
    }

    /* Steps the n cars from `id` on, see advance_each(). `common` is the physics of all cars, in the order of the
     * members of `physics`; NULL if cars have their own. */
    ENVPOOL_SIMD
    static void advance_cars(const physics *p, const double *common, int32_t id, float *restrict position,
                             float *restrict velocity, const double *restrict cosines, const float *restrict actions,
                             uint8_t *restrict arrived, float *restrict reward, int32_t n) {
      if (common != NULL) {
        const physics shared = {common,     common + 1, common + 2, common + 3, common + 4,
                                common + 5, common + 6, common + 7, common + 8};
        advance_each(&shared, 0, position, velocity, cosines, actions, arrived, reward, n);
        return;
      }
      const physics own = {p->lowest + id,        p->highest + id, p->max_speed + id, p->goal + id,
                           p->goal_velocity + id, p->power + id,   p->gravity + id,   p->least + id,
                           p->most + id};
      advance_each(&own, 1, position, velocity, cosines, actions, arrived, reward, n);
    }

    /* Takes the first step of car `id`, at rest at `start`. Python clips velocity and position in float64. */
    static inline void leave_start(const physics *p, int32_t id, double start, double cosine, float action,
                                   float *position, float *velocity, uint8_t *arrived, float *reward) {
      const double limit = p->max_speed[id], slope = p->gravity[id] * cosine;
      double v = action * (float)p->power[id] - (float)slope;
      if (action < (float)p->least[id] || action > (float)p->most[id]) v = clipped_push(p, id, action) - slope;
      v = v > limit ? limit : v;
      v = v < -limit ? -limit : v;
      double x = start + v;
      x = x > p->highest[id] ? p->highest[id] : x;
      x = x < p->lowest[id] ? p->lowest[id] : x;
      v = x == p->lowest[id] && v < 0 ? 0 : v;
      *arrived = x >= p->goal[id] && v >= p->goal_velocity[id];
      *reward = (float)((*arrived ? 100.0 : 0.0) - (double)action * action * 0.1);
      *position = (float)x;
      *velocity = (float)v;
    }
    """
    ctypedef struct physics:
        const double* lowest
        const double* highest
        const double* max_speed
        const double* goal
        const double* goal_velocity
        const double* power
        const double* gravity
        const double* least
        const double* most

    void advance_cars(const physics* p, const double* common, int32_t id, float* position, float* velocity,
                      const double* cosines, const float* actions, uint8_t* arrived, float* reward, int32_t n)
    void leave_start(const physics* p, int32_t id, double start, double cosine, float action, float* position,
                     float* velocity, uint8_t* arrived, float* reward)

cdef enum:
    NUM_PARAMS = 9
    NUM_BOUNDS = 2

cdef double[NUM_BOUNDS] BOUNDS          # of the first position, in the order of MountainCarContinuous.reset_options
BOUNDS[:] = [-0.6, -0.4]

cdef struct Config:
    double params[NUM_PARAMS]           # initial values, in the order of MountainCarContinuous.params

cdef struct Cars:
    envpool_reset_state base            # the records are the generators
    double* start                       # (num_envs), as all arrays here: position at which the episode started
    float* position
    float* velocity
    uint8_t* is_new                     # 1: no step since the reset, so the state is `start`, at rest
    physics params


cdef int create(const envpool_setup* setup, void** state) noexcept nogil:
    cdef Cars* s = <Cars*>envpool_new_state(setup, sizeof(Cars), sizeof(ep_pcg64))
    if s != NULL:
        s.start = <double*>envpool_new_array(s, sizeof(double))
        s.position = <float*>envpool_new_array(s, sizeof(float))
        s.velocity = <float*>envpool_new_array(s, sizeof(float))
        s.is_new = <uint8_t*>envpool_new_array(s, 1)
        envpool_new_params(s, <double**>&s.params, (<const Config*>setup.config).params, NUM_PARAMS)
        envpool_new_reset_doubles(s, BOUNDS, NUM_BOUNDS)
        s.base.head.is_valid = is_valid
    return envpool_finish_state(s, state)


cdef int is_valid(const envpool_state* state, int32_t id, int32_t resets) noexcept nogil:
    """No other value makes a step unsafe, or is out of reach of cars with unusual parameters."""
    return (<const Cars*>state).is_new[id] <= 1


cdef void advance(Cars* s, int32_t id, const float* actions, uint8_t* arrived, float* reward, int32_t n) noexcept nogil:
    """Step the n cars `id` to `id + n - 1`."""
    cdef double cosines[ENVPOOL_MAX_BATCH]
    cdef int32_t i
    cdef uint8_t any_new = 0
    for i in range(n):
        cosines[i] = cos(<float>3 * s.position[id + i])     # the product is float32
    advance_cars(&s.params, envpool_common_params(&s.base.head), id, s.position + id, s.velocity + id, cosines,
                 actions + id, arrived, reward, n)
    for i in range(n):
        any_new |= s.is_new[id + i]
    if any_new:
        for i in range(n):
            if s.is_new[id + i]:
                s.is_new[id + i] = 0
                leave_start(&s.params, id + i, s.start[id + i], cos(3 * s.start[id + i]), actions[id + i],
                            &s.position[id + i], &s.velocity[id + i], &arrived[i], &reward[i])


cdef int step_many(void* state, const envpool_batch* b) noexcept nogil:
    cdef Cars* s = <Cars*>state
    cdef const float* actions = <const float*>b.actions[0]
    cdef double[NUM_BOUNDS] bounds
    cdef int32_t i, id
    if b.num_resets < b.n and b.contiguous:     # also steps cars that reset: this is cheaper than a gap
        advance(s, b.ids[0], actions, b.terminated, b.reward, b.n)
    elif b.num_resets < b.n:
        for i in range(b.n):
            if not b.reset[i]:
                advance(s, b.ids[i], actions, b.terminated + i, b.reward + i, 1)
    for i in range(b.num_resets):
        id = b.ids[b.resets[i]]
        envpool_take_reset_doubles(s, id, bounds)
        s.start[id] = ep_uniform(<ep_pcg64*>s.base.head.records + id, bounds[0], bounds[1])
        s.position[id] = <float>s.start[id]
        s.velocity[id] = 0
        s.is_new[id] = 1
    return 0


cdef void write_many(void* state, const envpool_rows* rows) noexcept nogil:
    cdef Cars* s = <Cars*>state
    cdef float* obs = <float*>rows.fields[0] + 2 * rows.row0
    cdef int32_t i
    for i in range(rows.n):
        obs[2 * i] = s.position[rows.ids[i]]
        obs[2 * i + 1] = s.velocity[rows.ids[i]]


cdef int run_many(void* state, const envpool_batch* b, const envpool_rows* rows) noexcept nogil:
    step_many(state, b)
    write_many(state, rows)
    return 0


cdef void draw_new(const envpool_frames* f, int32_t i, const valley* v, double position) noexcept nogil:
    """Draw a car that has not been stepped, for which upstream computes in float64."""
    cdef double y = (sin(3 * position) * 0.45 + 0.55) * v.scale
    draw_valley(f, i, v, (position - v.lowest) * v.scale, y, cos(3 * position), False)


cdef void draw_stepped(const envpool_frames* f, int32_t i, const valley* v, float position) noexcept nogil:
    """Draw a car that has been stepped, whose position upstream holds as float32."""
    cdef float triple = 3 * position
    cdef float x = (position - <float>v.lowest) * <float>v.scale
    cdef float y = (np_sin32(triple) * <float>0.45 + <float>0.55) * <float>v.scale
    draw_valley(f, i, v, x, y, cos(<double>triple), True)


cdef int render_many(void* state, const envpool_frames* f) noexcept nogil:
    cdef const Cars* s = <const Cars*>state
    cdef const double* usual = (<const Config*>s.base.head.config).params
    cdef valley v
    cdef int32_t i, id
    for i in range(f.n):
        id = f.ids[i]
        v = valley_of(f, s.params.lowest[id], s.params.highest[id], s.params.goal[id], usual[0], usual[1], usual[3])
        if s.is_new[id]:
            draw_new(f, i, &v, s.start[id])
        else:
            draw_stepped(f, i, &v, s.position[id])
    return 0


cdef envpool_env ENV_DEF = envpool_new_env("MountainCarContinuous", create, step_many, write_many)
ENV_DEF.run_many = run_many
ENV_DEF.render_many = render_many
ENV_DEF.frame_height, ENV_DEF.frame_width = 400, 600
envpool_with_snapshots(&ENV_DEF)
envpool_with_params_and_options(&ENV_DEF)


class MountainCarContinuous(EnvDefinition):
    """Car in a valley, pushed by a force of at most 1 in either direction.

    Observation float32 (2,): position (m), velocity (m per step). Action float32 (1,): force, clipped to [`min_action`,
    `max_action`]. Reward: -0.1 times the square of the action before clipping, plus 100 for the step that reaches
    `goal_position` with at least `goal_velocity`, which ends the episode.
    """

    options = {"reward_threshold": 90.0}
    refuses_nan = True
    params = {
        "min_position": Param(-1.2, -1e3, 1e3, "m", "position of the wall, which stops the car", common="min"),
        "max_position": Param(0.6, -1e3, 1e3, "m", "largest position"),
        "max_speed": Param(0.07, 0, 1e3, "m/step", "largest speed"),
        "goal_position": Param(0.45, -1e3, 1e3, "m", "smallest position that reaches the goal"),
        "goal_velocity": Param(0.0, unit="m/step", text="smallest velocity that reaches the goal"),
        "power": Param(0.0015, -1e3, 1e3, "m/step^2", "acceleration by a force of 1"),
        "gravity": Param(0.0025, -1e3, 1e3, "m/step^2", "acceleration by gravity on the steepest slope"),
        "min_action": Param(-1.0, -1e3, 1e3, text="force to which smaller actions are clipped", common="min"),
        "max_action": Param(1.0, -1e3, 1e3, text="force to which larger actions are clipped"),
    }

    reset_options = reset_bounds(BOUNDS[0], BOUNDS[1], "the first position", "m")
    goes_on = True

    @staticmethod
    def check_reset_options(config, values):
        """Raise ConfigError if the bounds are not allowed together."""
        check_bounds(values)

    @staticmethod
    def build(config):
        cdef Config c
        for i, name in enumerate(MountainCarContinuous.params):
            c.params[i] = getattr(config, name)
        low = np.array([config.min_position, -config.max_speed], np.float32)
        high = np.array([config.max_position, config.max_speed], np.float32)
        fields = [Field("obs", np.float32, (2,), low, high)]
        actions = [Field("action", np.float32, (-1, 1), config.min_action, config.max_action)]
        config_bytes = envpool_config_bytes(&c, sizeof(c))
        table = param_fields(MountainCarContinuous.params, MountainCarContinuous.reset_options)
        return define(envpool_template(&ENV_DEF), fields, actions, config_bytes, params=table)

    @staticmethod
    def render_assets(config, height, width):
        """Return the image of the valley, on which the car is drawn."""
        return assets(config.min_position, config.max_position, config.goal_position, height, width)
