"""MountainCar: an underpowered car that has to rock its way out of a valley (Moore, 1990).

Source of the dynamics: ``gymnasium.envs.classic_control.mountain_car``. State is kept as structure of arrays in
float64. The arithmetic follows upstream operation by operation; cos is libm's, the rest runs in vector registers
(mountain_car.h).
"""

import numpy as np

from cpython.pycapsule cimport PyCapsule_New
from libc.math cimport cos, sin
from libc.stdint cimport int32_t, int64_t, uint8_t, uint64_t
from libc.stdlib cimport calloc, free

from envpool.classic_control.valley cimport draw_valley
from envpool.env cimport (
    ENVPOOL_CAPSULE_NAME, ENVPOOL_MAX_BATCH, envpool_batch, envpool_env, envpool_env_init, envpool_frames,
)
from envpool.numerics.rng cimport ep_pcg64, ep_pcg64_seed, ep_uniform

from envpool.classic_control.valley import assets
from envpool.native import Field, define

cdef extern from "mountain_car.h" nogil:
    const double LOWEST "MOUNTAIN_CAR_LOWEST"
    const double HIGHEST "MOUNTAIN_CAR_HIGHEST"
    const double MAX_SPEED "MOUNTAIN_CAR_MAX_SPEED"
    const double GOAL "MOUNTAIN_CAR_GOAL"
    void mountain_car_advance(double* position, double* velocity, const double* cosines, const int32_t* actions,
                              double goal_velocity, uint8_t* arrived, int32_t n)

cdef struct Config:
    double goal_velocity

cdef struct Cars:
    ep_pcg64* rng                       # (n), as all arrays here
    double* position
    double* velocity
    double goal_velocity


cdef void destroy(void* state) noexcept nogil:
    cdef Cars* s = <Cars*>state
    free(s.rng)
    free(s.position)
    free(s)


cdef void* create(const void* config, int32_t n) noexcept nogil:
    cdef Cars* s = <Cars*>calloc(1, sizeof(Cars))
    if s == NULL:
        return NULL
    s.rng = <ep_pcg64*>calloc(n, sizeof(ep_pcg64))
    s.position = <double*>calloc(2 * <size_t>n, sizeof(double))
    if s.rng == NULL or s.position == NULL:
        destroy(s)
        return NULL
    s.velocity = s.position + n
    s.goal_velocity = (<const Config*>config).goal_velocity
    return s


cdef void seed_many(void* state, const int32_t* ids, int32_t n, const uint64_t* seeds) noexcept nogil:
    cdef Cars* s = <Cars*>state
    cdef int32_t i
    for i in range(n):
        ep_pcg64_seed(&s.rng[ids[i]], seeds[i])


cdef void advance(Cars* s, int32_t id, const int32_t* actions, uint8_t* arrived, int32_t n) noexcept nogil:
    """Steps n cars from `id` on."""
    cdef double cosines[ENVPOOL_MAX_BATCH]
    cdef int32_t i
    for i in range(n):
        cosines[i] = cos(3 * s.position[id + i])
    mountain_car_advance(s.position + id, s.velocity + id, cosines, actions + id, s.goal_velocity, arrived, n)


cdef int step_many(void* state, const envpool_batch* b) noexcept nogil:
    cdef Cars* s = <Cars*>state
    cdef const int32_t* actions = <const int32_t*>b.actions[0]
    cdef int32_t i, id
    if b.contiguous:        # also steps cars that reset: cheaper than a gap, and overwritten below
        advance(s, b.ids[0], actions, b.terminated, b.n)
    else:
        for i in range(b.n):
            advance(s, b.ids[i], actions, b.terminated + i, 1)
    for i in range(b.n):
        b.reward[i] = -1
    for i in range(b.num_resets):
        id = b.ids[b.resets[i]]
        s.position[id] = ep_uniform(&s.rng[id], -0.6, -0.4)
        s.velocity[id] = 0
    return 0


cdef void write_many(void* state, const int32_t* ids, int32_t n, void* const* fields, int64_t row0) noexcept nogil:
    cdef Cars* s = <Cars*>state
    cdef float* obs = <float*>fields[0] + 2 * row0
    cdef int32_t i
    for i in range(n):
        obs[2 * i] = <float>s.position[ids[i]]
        obs[2 * i + 1] = <float>s.velocity[ids[i]]


cdef int run_many(void* state, const envpool_batch* b, void* const* fields, int64_t row0) noexcept nogil:
    step_many(state, b)
    write_many(state, b.ids, b.n, fields, row0)
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


cdef envpool_env ENV_DEF
envpool_env_init(&ENV_DEF, "MountainCar")
ENV_DEF.create = create
ENV_DEF.destroy = destroy
ENV_DEF.seed_many = seed_many
ENV_DEF.step_many = step_many
ENV_DEF.write_many = write_many
ENV_DEF.run_many = run_many
ENV_DEF.render_many = render_many
ENV_DEF.frame_height = 400
ENV_DEF.frame_width = 600


class MountainCar:
    """Car in a valley, pushed left, not at all, or right.

    Observation float32 (2,): position (m), velocity (m per step). Action int32: 0 pushes left, 1 does nothing, 2 pushes
    right. Reward -1 for every step; an episode ends at 0.5 m.

    Options
    -------
    goal_velocity : float
        Least velocity at which the goal counts as reached.
    """

    options = {"reward_threshold": -110.0, "goal_velocity": 0.0}

    @staticmethod
    def build(config):
        """Return the capsule of this kind."""
        cdef Config c
        c.goal_velocity = config.goal_velocity
        low = np.array([LOWEST, -MAX_SPEED], np.float32)
        high = np.array([HIGHEST, MAX_SPEED], np.float32)
        fields = [Field("obs", np.float32, (2,), low, high)]
        actions = [Field("action", np.int32, (-1,), 0, 2)]
        template = PyCapsule_New(&ENV_DEF, ENVPOOL_CAPSULE_NAME, NULL)
        return define(template, fields, actions, (<const char*>&c)[:sizeof(Config)])

    @staticmethod
    def render_assets(config, height, width):
        """Return the picture without the car."""
        return assets(GOAL, height, width)
