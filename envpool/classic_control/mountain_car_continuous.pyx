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

from envpool.classic_control.valley cimport NUM_BOUNDS, draw_valley, valley, valley_of
from envpool.env cimport ENVPOOL_MAX_BATCH, envpool_batch, envpool_env, envpool_frames, envpool_rows, envpool_setup
from envpool.numerics.numpy_exact cimport np_sin32
from envpool.numerics.rng cimport ep_pcg64, ep_uniform
from envpool.scaffold cimport (
    envpool_config_bytes, envpool_finish_state, envpool_new_array, envpool_new_env, envpool_new_params,
    envpool_new_reset_doubles, envpool_new_state, envpool_state, envpool_take_reset_doubles, envpool_template,
    envpool_with_params, envpool_with_snapshots,
)

from envpool.classic_control.definition import table_values
from envpool.classic_control.valley import Valley
from envpool.native import Field, Param, define, param_fields

# C, for `restrict` and one variant per instruction set.
cdef extern from * nogil:
    """
    #include <stdint.h>

    #include "envpool/scaffold.h"
    #include "envpool/simd.h"

    /* Entries of the table: MountainCarContinuous.params, then its reset_options, which bound the first position. LEAST
     * and MOST are the smallest and the largest action that has an effect. */
    enum { POWER = PUSH, LEAST = NUM_SHARED, MOST, NUM_PARAMS, NUM_ENTRIES = NUM_PARAMS + NUM_BOUNDS };

    /* The acceleration by an action outside of the range that has an effect, as Python computes it. */
    static inline double clipped_push(const double *const *p, float action) {
      const double force = action < (float)*p[LEAST] ? *p[LEAST] : action;
      return (*p[MOST] < force ? *p[MOST] : force) * *p[POWER];
    }

    /* Steps n cars that have been stepped before. Updates position and velocity, each (n), sets arrived (n) to 1 where
     * a car is at the goal and fast enough, and fills reward (n). `cosines` (n) are those of three times the position;
     * an action may be any number, or NaN. The parameters of car i are at `k * i`, so that a constant k of 0 makes them
     * those of all cars.
     *
     * A clipped action, velocity or position is a Python float when upstream uses it next.
     *
     * Upstream squares by pow(action, 2). The square of a float32 is exact in float64, so a pow whose error is below
     * one unit in the last place returns the product; comparing the two for every float32 confirms it. */
    static inline __attribute__((always_inline)) void advance_each(
        const double *const *p, const int32_t k, float *restrict position, float *restrict velocity,
        const double *restrict cosines, const float *restrict actions, uint8_t *restrict arrived,
        float *restrict reward, int32_t n) {
      const double *restrict lowest = p[LOWEST], *restrict highest = p[HIGHEST], *restrict limit = p[MAX_SPEED];
      const double *restrict goal = p[GOAL], *restrict goal_velocity = p[GOAL_VELOCITY];
      const double *restrict power = p[POWER], *restrict gravity = p[GRAVITY];
      const double *restrict least = p[LEAST], *restrict most = p[MOST];
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

    /* Steps the n cars from `id` on, see advance_each(). */
    ENVPOOL_SIMD
    static void advance_cars(const envpool_state *s, int32_t id, float *restrict position, float *restrict velocity,
                             const double *restrict cosines, const float *restrict actions, uint8_t *restrict arrived,
                             float *restrict reward, int32_t n) {
      const double *p[NUM_PARAMS];
      if (envpool_params_at(s, id, NUM_PARAMS, p))
        advance_each(p, 1, position, velocity, cosines, actions, arrived, reward, n);
      else
        advance_each(p, 0, position, velocity, cosines, actions, arrived, reward, n);
    }

    /* Takes the first step of car `id`, at rest at `start`. Python clips velocity and position in float64. */
    static inline void leave_start(const envpool_state *s, int32_t id, double start, double cosine, float action,
                                   float *position, float *velocity, uint8_t *arrived, float *reward) {
      const double *p[NUM_PARAMS];
      envpool_params_at(s, id, NUM_PARAMS, p);
      const double limit = *p[MAX_SPEED], slope = *p[GRAVITY] * cosine;
      double v = action * (float)*p[POWER] - (float)slope;
      if (action < (float)*p[LEAST] || action > (float)*p[MOST]) v = clipped_push(p, action) - slope;
      v = v > limit ? limit : v;
      v = v < -limit ? -limit : v;
      double x = start + v;
      x = x > *p[HIGHEST] ? *p[HIGHEST] : x;
      x = x < *p[LOWEST] ? *p[LOWEST] : x;
      v = x == *p[LOWEST] && v < 0 ? 0 : v;
      *arrived = x >= *p[GOAL] && v >= *p[GOAL_VELOCITY];
      *reward = (float)((*arrived ? 100.0 : 0.0) - (double)action * action * 0.1);
      *position = (float)x;
      *velocity = (float)v;
    }
    """
    enum:
        NUM_PARAMS
        NUM_ENTRIES

    void advance_cars(const envpool_state* s, int32_t id, float* position, float* velocity, const double* cosines,
                      const float* actions, uint8_t* arrived, float* reward, int32_t n)
    void leave_start(const envpool_state* s, int32_t id, double start, double cosine, float action, float* position,
                     float* velocity, uint8_t* arrived, float* reward)

cdef struct Config:
    double table[NUM_ENTRIES]           # initial values

cdef struct Cars:
    envpool_state head                  # the records are the generators
    double* start                       # (num_envs), as all arrays here: position at which the episode started
    float* position
    float* velocity
    uint8_t* is_new                     # 1: no step since the reset, so the state is `start`, at rest
    double* params[NUM_PARAMS]


cdef int create(const envpool_setup* setup, void** state) noexcept nogil:
    cdef Cars* s = <Cars*>envpool_new_state(setup, sizeof(Cars), sizeof(ep_pcg64))
    cdef const Config* config = <const Config*>setup.config
    if s != NULL:
        s.start = <double*>envpool_new_array(s, sizeof(double))
        s.position = <float*>envpool_new_array(s, sizeof(float))
        s.velocity = <float*>envpool_new_array(s, sizeof(float))
        s.is_new = <uint8_t*>envpool_new_array(s, 1)
        envpool_new_params(s, s.params, config.table, NUM_PARAMS)
        envpool_new_reset_doubles(s, config.table + NUM_PARAMS, NUM_BOUNDS)
        s.head.is_valid = is_valid
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
    advance_cars(&s.head, id, s.position + id, s.velocity + id, cosines, actions + id, arrived, reward, n)
    for i in range(n):
        any_new |= s.is_new[id + i]
    if any_new:
        for i in range(n):
            if s.is_new[id + i]:
                s.is_new[id + i] = 0
                leave_start(&s.head, id + i, s.start[id + i], cos(3 * s.start[id + i]), actions[id + i],
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
        s.start[id] = ep_uniform(<ep_pcg64*>s.head.records + id, bounds[0], bounds[1])
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
    """Spares the core a second call, which a step of one env would notice."""
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
    cdef const Config* config = <const Config*>s.head.config
    cdef valley v
    cdef int32_t i, id
    for i in range(f.n):
        id = f.ids[i]
        v = valley_of(f, s.params, id, config.table)
        if s.is_new[id]:
            draw_new(f, i, &v, s.start[id])
        else:
            draw_stepped(f, i, &v, s.position[id])
    return 0


cdef envpool_env ENV_DEF = envpool_new_env("MountainCarContinuous", create, step_many, write_many)
ENV_DEF.run_many, ENV_DEF.render_many = run_many, render_many
ENV_DEF.frame_height, ENV_DEF.frame_width = 400, 600
envpool_with_snapshots(&ENV_DEF)
envpool_with_params(&ENV_DEF)


class MountainCarContinuous(Valley):
    """Car in a valley, pushed by a force of at most 1 in either direction.

    Observation float32 (2,): position (m), velocity (m per step). Action float32 (1,): force, clipped to [`min_action`,
    `max_action`]. Reward: -0.1 times the square of the action before clipping, plus 100 for the step that reaches
    `goal_position` with at least `goal_velocity`, which ends the episode.
    """

    options = {"reward_threshold": 90.0}
    refuses_nan = True
    ordered = (*Valley.ordered, ("min_action", "max_action"))
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

    @staticmethod
    def build(config):
        cdef Config c
        c.table = table_values(MountainCarContinuous, config)
        fields = [Valley.position_and_velocity(config)]
        actions = [Field("action", np.float32, (-1, 1), config.min_action, config.max_action)]
        table = param_fields(MountainCarContinuous.params, MountainCarContinuous.reset_options)
        return define(envpool_template(&ENV_DEF), fields, actions, envpool_config_bytes(&c, sizeof(c)), params=table)
