"""MountainCar: an underpowered car that has to rock its way out of a valley (Moore, 1990).

Source of the dynamics: ``gymnasium.envs.classic_control.mountain_car``. State is kept as a struct of arrays in float64.
The arithmetic follows upstream operation by operation: cos is libm's, everything else runs in vector registers.
"""

import numpy as np

from libc.math cimport cos, sin
from libc.stdint cimport int32_t, uint8_t

from envpool.classic_control.valley cimport NUM_BOUNDS, draw_valley, valley, valley_of
from envpool.env cimport ENVPOOL_MAX_BATCH, envpool_batch, envpool_env, envpool_frames, envpool_rows, envpool_setup
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

    /* Entries of the table: MountainCar.params, then MountainCar.reset_options, which bound the first position. */
    enum { FORCE = PUSH, NUM_PARAMS = NUM_SHARED, NUM_ENTRIES = NUM_PARAMS + NUM_BOUNDS };

    /* Steps n cars. The parameters of car i are at `k * i`, so that a constant k of 0 makes them those of all cars. */
    static inline __attribute__((always_inline)) void advance_each(
        const double *const *p, const int32_t k, double *restrict position, double *restrict velocity,
        const double *restrict cosines, const int32_t *restrict actions, uint8_t *restrict arrived, int32_t n) {
      const double *restrict lowest = p[LOWEST], *restrict highest = p[HIGHEST], *restrict limit = p[MAX_SPEED];
      const double *restrict goal = p[GOAL], *restrict goal_velocity = p[GOAL_VELOCITY];
      const double *restrict force = p[FORCE], *restrict gravity = p[GRAVITY];
      for (int32_t i = 0; i < n; i++) {
        double v = velocity[i] + ((actions[i] - 1) * force[k * i] + cosines[i] * -gravity[k * i]);
        v = v < -limit[k * i] ? -limit[k * i] : v;
        v = v > limit[k * i] ? limit[k * i] : v;
        double p = position[i] + v;
        p = p < lowest[k * i] ? lowest[k * i] : p;
        p = p > highest[k * i] ? highest[k * i] : p;
        position[i] = p;
        velocity[i] = (p == lowest[k * i]) & (v < 0) ? 0 : v;
      }
      for (int32_t i = 0; i < n; i++)
        arrived[i] = (position[i] >= goal[k * i]) & (velocity[i] >= goal_velocity[k * i]);
    }

    /* Steps the n cars from `id` on. Updates position and velocity, each (n), and sets arrived (n) to 1 where a car is
     * at the goal and fast enough. `cosines` (n) are those of three times the position; an action (n) is 0, 1 or 2. */
    ENVPOOL_SIMD
    static void advance_cars(const envpool_state *s, int32_t id, double *restrict position, double *restrict velocity,
                             const double *restrict cosines, const int32_t *restrict actions,
                             uint8_t *restrict arrived, int32_t n) {
      const double *p[NUM_PARAMS];
      if (envpool_params_at(s, id, NUM_PARAMS, p))
        advance_each(p, 1, position, velocity, cosines, actions, arrived, n);
      else
        advance_each(p, 0, position, velocity, cosines, actions, arrived, n);
    }
    """
    enum:
        NUM_PARAMS
        NUM_ENTRIES

    void advance_cars(const envpool_state* s, int32_t id, double* position, double* velocity, const double* cosines,
                      const int32_t* actions, uint8_t* arrived, int32_t n)

cdef struct Config:
    double table[NUM_ENTRIES]           # initial values

cdef struct Cars:
    envpool_state head                  # the records are the generators
    double* position                    # (num_envs), as all arrays here
    double* velocity
    double* params[NUM_PARAMS]


cdef int create(const envpool_setup* setup, void** state) noexcept nogil:
    cdef Cars* s = <Cars*>envpool_new_state(setup, sizeof(Cars), sizeof(ep_pcg64))
    cdef const Config* config = <const Config*>setup.config
    if s != NULL:
        s.position = <double*>envpool_new_array(s, sizeof(double))
        s.velocity = <double*>envpool_new_array(s, sizeof(double))
        envpool_new_params(s, s.params, config.table, NUM_PARAMS)
        envpool_new_reset_doubles(s, config.table + NUM_PARAMS, NUM_BOUNDS)
    return envpool_finish_state(s, state)


cdef void advance(Cars* s, int32_t id, const int32_t* actions, uint8_t* arrived, int32_t n) noexcept nogil:
    """Step the n cars `id` to `id + n - 1`."""
    cdef double cosines[ENVPOOL_MAX_BATCH]
    cdef int32_t i
    for i in range(n):
        cosines[i] = cos(3 * s.position[id + i])
    advance_cars(&s.head, id, s.position + id, s.velocity + id, cosines, actions + id, arrived, n)


cdef int step_many(void* state, const envpool_batch* b) noexcept nogil:
    cdef Cars* s = <Cars*>state
    cdef const int32_t* actions = <const int32_t*>b.actions[0]
    cdef double[NUM_BOUNDS] bounds
    cdef int32_t i, id
    if b.num_resets < b.n and b.contiguous:     # also steps cars that reset: this is cheaper than a gap
        advance(s, b.ids[0], actions, b.terminated, b.n)
    elif b.num_resets < b.n:
        for i in range(b.n):
            if not b.reset[i]:
                advance(s, b.ids[i], actions, b.terminated + i, 1)
    for i in range(b.n):
        b.reward[i] = -1
    for i in range(b.num_resets):
        id = b.ids[b.resets[i]]
        envpool_take_reset_doubles(s, id, bounds)
        s.position[id] = ep_uniform(<ep_pcg64*>s.head.records + id, bounds[0], bounds[1])
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
    """Spares the core a second call, which a step of one env would notice."""
    step_many(state, b)
    write_many(state, rows)
    return 0


cdef int render_many(void* state, const envpool_frames* f) noexcept nogil:
    cdef const Cars* s = <const Cars*>state
    cdef const Config* config = <const Config*>s.head.config
    cdef valley v
    cdef double position, height
    cdef int32_t i, id
    for i in range(f.n):
        id = f.ids[i]
        v = valley_of(f, s.params, id, config.table)
        position = s.position[id]
        height = sin(3 * position) * 0.45 + 0.55
        draw_valley(f, i, &v, (position - v.lowest) * v.scale, height * v.scale, cos(3 * position), False)
    return 0


cdef envpool_env ENV_DEF = envpool_new_env("MountainCar", create, step_many, write_many)
ENV_DEF.run_many, ENV_DEF.render_many = run_many, render_many
ENV_DEF.frame_height, ENV_DEF.frame_width = 400, 600
envpool_with_snapshots(&ENV_DEF)
envpool_with_params(&ENV_DEF)


class MountainCar(Valley):
    """Car in a valley, pushed left, not at all, or right.

    Observation float32 (2,): position (m), velocity (m per step). Action int32: 0 pushes left, 1 does nothing, 2 pushes
    right. Reward -1 for every step. An episode ends when the position is at least `goal_position` and the velocity at
    least `goal_velocity`.
    """

    options = {"reward_threshold": -110.0}
    params = {
        "min_position": Param(-1.2, -1e3, 1e3, "m", "position of the wall, which stops the car", common="min"),
        "max_position": Param(0.6, -1e3, 1e3, "m", "largest position"),
        "max_speed": Param(0.07, 0, 1e3, "m/step", "largest speed"),
        "goal_position": Param(0.5, -1e3, 1e3, "m", "smallest position that reaches the goal"),
        "goal_velocity": Param(0.0, unit="m/step", text="smallest velocity that reaches the goal"),
        "force": Param(0.001, -1e3, 1e3, "m/step^2", "acceleration by a push"),
        "gravity": Param(0.0025, -1e3, 1e3, "m/step^2", "acceleration by gravity on the steepest slope"),
    }

    @staticmethod
    def build(config):
        cdef Config c
        c.table = table_values(MountainCar, config)
        fields = [Valley.position_and_velocity(config)]
        actions = [Field("action", np.int32, (-1,), 0, 2)]
        table = param_fields(MountainCar.params, MountainCar.reset_options)
        return define(envpool_template(&ENV_DEF), fields, actions, envpool_config_bytes(&c, sizeof(c)), params=table)
