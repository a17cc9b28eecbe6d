"""MountainCar: an underpowered car that has to rock its way out of a valley (Moore, 1990).

Source of the dynamics: ``gymnasium.envs.classic_control.mountain_car``. State is kept as a struct of arrays in float64.
The arithmetic follows upstream operation by operation: cos is libm's, everything else runs in vector registers.
"""

import numpy as np

from libc.math cimport cos, fabs, sin
from libc.stdint cimport int32_t, uint8_t

from envpool.classic_control.valley cimport draw_valley
from envpool.env cimport ENVPOOL_MAX_BATCH, envpool_batch, envpool_env, envpool_frames, envpool_rows, envpool_setup
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
    #define GOAL 0.5
    #define FORCE 0.001
    #define GRAVITY 0.0025

    /* Steps n cars. Updates position and velocity, each (n), and sets arrived (n) to 1 where a car is at the goal and
     * fast enough. `cosines` (n) are those of three times the position; an action (n) is 0, 1 or 2. */
    ENVPOOL_SIMD
    static void advance_cars(double *restrict position, double *restrict velocity, const double *restrict cosines,
                             const int32_t *restrict actions, double goal_velocity, uint8_t *restrict arrived,
                             int32_t n) {
      for (int32_t i = 0; i < n; i++) {
        double v = velocity[i] + ((actions[i] - 1) * FORCE + cosines[i] * -GRAVITY);
        v = v < -MAX_SPEED ? -MAX_SPEED : v;
        v = v > MAX_SPEED ? MAX_SPEED : v;
        double p = position[i] + v;
        p = p < LOWEST ? LOWEST : p;
        p = p > HIGHEST ? HIGHEST : p;
        position[i] = p;
        velocity[i] = (p == LOWEST) & (v < 0) ? 0 : v;
      }
      for (int32_t i = 0; i < n; i++) arrived[i] = (position[i] >= GOAL) & (velocity[i] >= goal_velocity);
    }
    """
    const double LOWEST
    const double HIGHEST
    const double MAX_SPEED
    const double GOAL
    void advance_cars(double* position, double* velocity, const double* cosines, const int32_t* actions,
                      double goal_velocity, uint8_t* arrived, int32_t n)

cdef struct Config:
    double goal_velocity

cdef struct Cars:
    envpool_state head                  # the records are the generators
    double* position                    # (num_envs), as all arrays here
    double* velocity


cdef int create(const envpool_setup* setup, void** state) noexcept nogil:
    cdef Cars* s = <Cars*>envpool_new_state(setup, sizeof(Cars), sizeof(ep_pcg64))
    if s != NULL:
        s.position = <double*>envpool_new_array(s, sizeof(double))
        s.velocity = <double*>envpool_new_array(s, sizeof(double))
        s.head.is_valid = is_valid
    return envpool_finish_state(s, state)


cdef int is_valid(const envpool_state* state, int32_t id, int32_t resets) noexcept nogil:
    cdef const Cars* s = <const Cars*>state
    return LOWEST <= s.position[id] <= HIGHEST and fabs(s.velocity[id]) <= MAX_SPEED


cdef void advance(Cars* s, int32_t id, const int32_t* actions, uint8_t* arrived, int32_t n) noexcept nogil:
    """Step the n cars `id` to `id + n - 1`."""
    cdef double goal_velocity = (<const Config*>s.head.config).goal_velocity
    cdef double cosines[ENVPOOL_MAX_BATCH]
    cdef int32_t i
    for i in range(n):
        cosines[i] = cos(3 * s.position[id + i])
    advance_cars(s.position + id, s.velocity + id, cosines, actions + id, goal_velocity, arrived, n)


cdef int step_many(void* state, const envpool_batch* b) noexcept nogil:
    cdef Cars* s = <Cars*>state
    cdef const int32_t* actions = <const int32_t*>b.actions[0]
    cdef int32_t i, id
    if b.contiguous:        # also steps cars that reset: this is cheaper than a gap, and overwritten below
        advance(s, b.ids[0], actions, b.terminated, b.n)
    else:
        for i in range(b.n):
            advance(s, b.ids[i], actions, b.terminated + i, 1)
    for i in range(b.n):
        b.reward[i] = -1
    for i in range(b.num_resets):
        id = b.ids[b.resets[i]]
        s.position[id] = ep_uniform(<ep_pcg64*>s.head.records + id, -0.6, -0.4)
        s.velocity[id] = 0
    return 0


cdef void write_many(void* state, const envpool_rows* rows) noexcept nogil:
    cdef Cars* s = <Cars*>state
    cdef float* obs = <float*>rows.fields[0] + 2 * rows.row0
    cdef int32_t i
    for i in range(rows.n):
        obs[2 * i] = <float>s.position[rows.ids[i]]
        obs[2 * i + 1] = <float>s.velocity[rows.ids[i]]


cdef int run_many(void* state, const envpool_batch* b, const envpool_rows* rows) noexcept nogil:
    step_many(state, b)
    write_many(state, rows)
    return 0


cdef int render_many(void* state, const envpool_frames* f) noexcept nogil:
    cdef const Cars* s = <const Cars*>state
    cdef double scale = f.width / (HIGHEST - LOWEST), position, height
    cdef int32_t i
    for i in range(f.n):
        position = s.position[f.ids[i]]
        height = sin(3 * position) * 0.45 + 0.55
        draw_valley(f, i, (position - LOWEST) * scale, height * scale, cos(3 * position), False)
    return 0


cdef envpool_env ENV_DEF = envpool_new_env("MountainCar", create, step_many, write_many)
ENV_DEF.run_many = run_many
ENV_DEF.render_many = render_many
ENV_DEF.frame_height, ENV_DEF.frame_width = 400, 600
envpool_with_snapshots(&ENV_DEF)


class MountainCar(EnvDefinition):
    """Car in a valley, pushed left, not at all, or right.

    Observation float32 (2,): position (m), velocity (m per step). Action int32: 0 pushes left, 1 does nothing, 2 pushes
    right. Reward -1 for every step. An episode ends when the position is at least 0.5 m.

    Options
    -------
    goal_velocity : float
        The goal counts as reached only at this velocity (m per step) or a higher one. Default 0.
    """

    options = {"reward_threshold": -110.0, "goal_velocity": 0.0}

    @staticmethod
    def build(config):
        """Return the capsule of this environment definition."""
        cdef Config c
        c.goal_velocity = config.goal_velocity
        low = np.array([LOWEST, -MAX_SPEED], np.float32)
        high = np.array([HIGHEST, MAX_SPEED], np.float32)
        fields = [Field("obs", np.float32, (2,), low, high)]
        actions = [Field("action", np.int32, (-1,), 0, 2)]
        return define(envpool_template(&ENV_DEF), fields, actions, envpool_config_bytes(&c, sizeof(c)))

    @staticmethod
    def render_assets(config, height, width):
        """Return the image of the valley, on which the car is drawn."""
        return assets(GOAL, height, width)
