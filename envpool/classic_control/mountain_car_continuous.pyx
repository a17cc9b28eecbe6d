"""MountainCarContinuous: MountainCar with a force as its action (Moore, 1990).

Source of the dynamics: ``gymnasium.envs.classic_control.continuous_mountain_car``. State is kept as a struct of arrays.
The arithmetic follows upstream operation by operation and type by type: cos is libm's, everything else runs in vector
registers.

Upstream computes in the types that its values happen to have, and so does this file. The state after a step is float32,
so a step is float32 arithmetic, in which Python floats (the constants, cos, a clipped force or velocity) are rounded to
float32 first, unless they meet another Python float. The state after a reset is float64, and so is the first step.
"""

import numpy as np

from libc.math cimport cos, fabsf, isnan, sin
from libc.stdint cimport int32_t, uint8_t

from envpool.classic_control.valley cimport draw_valley
from envpool.env cimport ENVPOOL_MAX_BATCH, envpool_batch, envpool_env, envpool_frames, envpool_rows, envpool_setup
from envpool.numerics.numpy_float32 cimport np_sin32
from envpool.numerics.rng cimport ep_pcg64, ep_uniform
from envpool.scaffold cimport (
    envpool_config_bytes, envpool_finish_state, envpool_new_array, envpool_new_env, envpool_new_state,
    envpool_state, envpool_template, envpool_with_snapshots,
)

from envpool.classic_control.valley import assets
from envpool.native import EnvDefinition, Field, define

# C, for `restrict` and one variant per instruction set.
cdef extern from * nogil:
    """
    #include <stdint.h>

    #include "envpool/simd.h"

    #define LOWEST (-1.2)
    #define HIGHEST 0.6
    #define MAX_SPEED 0.07
    #define GOAL 0.45
    #define POWER 0.0015
    #define GRAVITY 0.0025

    /* The change of the velocity in one step, as float32. `cosine` is that of three times the position; `action` may be
     * any number, or NaN. */
    static inline float velocity_gain(float action, double cosine) {
      const double slope = GRAVITY * cosine;
      const float pushed = action * (float)POWER - (float)slope;
      const float clipped = (float)((action < 0 ? -POWER : POWER) - slope);
      return (action < -1.0f) | (action > 1.0f) ? clipped : pushed;
    }

    /* Steps n cars that have been stepped before. Updates position and velocity, each (n), sets arrived (n) to 1 where
     * a car is at the goal and fast enough, and fills reward (n). `cosines` (n) are those of three times the position.
     *
     * Upstream squares by pow(action, 2). The square of a float32 is exact in float64, so a pow whose error is below
     * one unit in the last place returns the product; comparing the two for every float32 confirms it. */
    ENVPOOL_SIMD
    static void advance_cars(float *restrict position, float *restrict velocity, double *restrict cosines,
                             const float *restrict actions, double goal_velocity, uint8_t *restrict arrived,
                             float *restrict reward, int32_t n) {
      const float lowest = (float)LOWEST, highest = (float)HIGHEST;
      const float max_speed = (float)MAX_SPEED, goal = (float)GOAL;
      const float least = (float)goal_velocity;
      /* A clipped velocity is a Python float when upstream compares it. */
      const int max_suffices = MAX_SPEED >= goal_velocity;
      const int min_suffices = -MAX_SPEED >= goal_velocity;
      for (int32_t i = 0; i < n; i++) {
        float v = velocity[i] + velocity_gain(actions[i], cosines[i]);
        const int suffices = v > max_speed ? max_suffices : v < -max_speed ? min_suffices : v >= least;
        v = v > max_speed ? max_speed : v;
        v = v < -max_speed ? -max_speed : v;
        float p = position[i] + v;
        p = p > highest ? highest : p;
        p = p < lowest ? lowest : p;
        arrived[i] = (p >= goal) & suffices;
        position[i] = p;
        velocity[i] = (p == lowest) & (v < 0) ? 0 : v;
      }
      for (int32_t i = 0; i < n; i++) {
        const double action = actions[i];
        reward[i] = (float)((arrived[i] ? 100.0 : 0.0) - action * action * 0.1);
      }
    }

    /* Takes the first step of a car at rest at `start`, which reaches neither a bound nor the goal. */
    static inline void leave_start(double start, double cosine, float action, float *position, float *velocity) {
      const double slope = GRAVITY * cosine;
      double v = action * (float)POWER - (float)slope;
      if (action < -1.0f || action > 1.0f) v = (action < 0 ? -POWER : POWER) - slope;
      *position = (float)(start + v);
      *velocity = (float)v;
    }
    """
    const double LOWEST
    const double HIGHEST
    const double MAX_SPEED
    const double GOAL
    void advance_cars(float* position, float* velocity, const double* cosines, const float* actions,
                      double goal_velocity, uint8_t* arrived, float* reward, int32_t n)
    void leave_start(double start, double cosine, float action, float* position, float* velocity)

cdef struct Config:
    double goal_velocity

cdef struct Cars:
    envpool_state head                  # the records are the generators
    double* start                       # (num_envs), as all arrays here: position at which the episode started
    float* position
    float* velocity
    uint8_t* is_new                     # 1: no step since the reset, so the state is `start`, at rest


cdef int create(const envpool_setup* setup, void** state) noexcept nogil:
    cdef Cars* s = <Cars*>envpool_new_state(setup, sizeof(Cars), sizeof(ep_pcg64))
    if s != NULL:
        s.start = <double*>envpool_new_array(s, sizeof(double))
        s.position = <float*>envpool_new_array(s, sizeof(float))
        s.velocity = <float*>envpool_new_array(s, sizeof(float))
        s.is_new = <uint8_t*>envpool_new_array(s, 1)
        s.head.is_valid = is_valid
    return envpool_finish_state(s, state)


cdef int is_valid(const envpool_state* state, int32_t id, int32_t resets) noexcept nogil:
    """An action of NaN makes the position and the velocity NaN."""
    cdef const Cars* s = <const Cars*>state
    cdef float position = s.position[id], velocity = s.velocity[id]
    return (
        -0.6 <= s.start[id] <= -0.4
        and (<float>LOWEST <= position <= <float>HIGHEST or isnan(position))
        and (fabsf(velocity) <= <float>MAX_SPEED or isnan(velocity))
        and s.is_new[id] <= 1
    )


cdef void advance(Cars* s, int32_t id, const float* actions, uint8_t* arrived, float* reward, int32_t n) noexcept nogil:
    """Step the n cars `id` to `id + n - 1`."""
    cdef double goal_velocity = (<const Config*>s.head.config).goal_velocity
    cdef double cosines[ENVPOOL_MAX_BATCH]
    cdef int32_t i
    cdef uint8_t any_new = 0
    for i in range(n):
        cosines[i] = cos(<float>3 * s.position[id + i])     # the product is float32
    advance_cars(s.position + id, s.velocity + id, cosines, actions + id, goal_velocity, arrived, reward, n)
    for i in range(n):
        any_new |= s.is_new[id + i]
    if any_new:
        for i in range(id, id + n):
            if s.is_new[i]:
                s.is_new[i] = 0
                leave_start(s.start[i], cos(3 * s.start[i]), actions[i], &s.position[i], &s.velocity[i])


cdef int step_many(void* state, const envpool_batch* b) noexcept nogil:
    cdef Cars* s = <Cars*>state
    cdef const float* actions = <const float*>b.actions[0]
    cdef int32_t i, id
    if b.contiguous:        # also steps cars that reset: this is cheaper than a gap, and overwritten below
        advance(s, b.ids[0], actions, b.terminated, b.reward, b.n)
    else:
        for i in range(b.n):
            advance(s, b.ids[i], actions, b.terminated + i, b.reward + i, 1)
    for i in range(b.num_resets):
        id = b.ids[b.resets[i]]
        s.start[id] = ep_uniform(<ep_pcg64*>s.head.records + id, -0.6, -0.4)
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


cdef void draw_new(const envpool_frames* f, int32_t i, double position, double scale) noexcept nogil:
    """Draw a car that has not been stepped, for which upstream computes in float64."""
    draw_valley(f, i, (position - LOWEST) * scale, (sin(3 * position) * 0.45 + 0.55) * scale, cos(3 * position), False)


cdef void draw_stepped(const envpool_frames* f, int32_t i, float position, float scale) noexcept nogil:
    """Draw a car that has been stepped, whose position upstream holds as float32."""
    cdef float triple = 3 * position
    cdef float x = (position - <float>LOWEST) * scale
    cdef float y = (np_sin32(triple) * <float>0.45 + <float>0.55) * scale
    draw_valley(f, i, x, y, cos(<double>triple), True)


cdef int render_many(void* state, const envpool_frames* f) noexcept nogil:
    cdef const Cars* s = <const Cars*>state
    cdef double scale = f.width / (HIGHEST - LOWEST)
    cdef int32_t i, id
    for i in range(f.n):
        id = f.ids[i]
        if s.is_new[id]:
            draw_new(f, i, s.start[id], scale)
        else:
            draw_stepped(f, i, s.position[id], <float>scale)
    return 0


cdef envpool_env ENV_DEF = envpool_new_env("MountainCarContinuous", create, step_many, write_many)
ENV_DEF.run_many = run_many
ENV_DEF.render_many = render_many
ENV_DEF.frame_height, ENV_DEF.frame_width = 400, 600
envpool_with_snapshots(&ENV_DEF)


class MountainCarContinuous(EnvDefinition):
    """Car in a valley, pushed by a force of at most 1 in either direction.

    Observation float32 (2,): position (m), velocity (m per step). Action float32 (1,): force, clipped to [-1, 1].
    Reward: -0.1 times the square of the action before clipping, plus 100 for the step that reaches 0.45 m, which ends
    the episode.

    Options
    -------
    goal_velocity : float
        The goal counts as reached only at this velocity (m per step) or a higher one. Default 0.
    """

    options = {"reward_threshold": 90.0, "goal_velocity": 0.0}

    @staticmethod
    def build(config):
        """Return the capsule of this environment definition."""
        cdef Config c
        c.goal_velocity = config.goal_velocity
        low = np.array([LOWEST, -MAX_SPEED], np.float32)
        high = np.array([HIGHEST, MAX_SPEED], np.float32)
        fields = [Field("obs", np.float32, (2,), low, high)]
        actions = [Field("action", np.float32, (-1, 1), -1.0, 1.0)]
        return define(envpool_template(&ENV_DEF), fields, actions, envpool_config_bytes(&c, sizeof(c)))

    @staticmethod
    def render_assets(config, height, width):
        """Return the image of the valley, on which the car is drawn."""
        return assets(GOAL, height, width)
