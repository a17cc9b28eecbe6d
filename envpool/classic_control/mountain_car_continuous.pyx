"""MountainCarContinuous: MountainCar with a force as its action (Moore, 1990).

Source of the dynamics: ``gymnasium.envs.classic_control.continuous_mountain_car``. State is kept as structure of
arrays. The arithmetic follows upstream operation by operation and type by type; cos is libm's, the rest runs in vector
registers (mountain_car_continuous.h).
"""

import numpy as np

from cpython.pycapsule cimport PyCapsule_New
from libc.math cimport cos, sin
from libc.stdint cimport int32_t, int64_t, uint8_t, uint64_t
from libc.stdlib cimport calloc, free

from envpool.numerics.numpy_float32 cimport np_sin32
from envpool.classic_control.valley cimport draw_valley
from envpool.env cimport (
    ENVPOOL_CAPSULE_NAME, ENVPOOL_MAX_BATCH, envpool_batch, envpool_env, envpool_env_init, envpool_frames,
)
from envpool.numerics.rng cimport ep_pcg64, ep_pcg64_seed, ep_uniform

from envpool.classic_control.valley import assets
from envpool.native import Field, define

cdef extern from "mountain_car_continuous.h" nogil:
    const double LOWEST "MOUNTAIN_CAR_LOWEST"
    const double HIGHEST "MOUNTAIN_CAR_HIGHEST"
    const double MAX_SPEED "MOUNTAIN_CAR_MAX_SPEED"
    const double GOAL "MOUNTAIN_CAR_GOAL"
    void mountain_car_advance(float* position, float* velocity, const double* cosines, const float* actions,
                              double goal_velocity, uint8_t* arrived, float* reward, int32_t n)
    void mountain_car_leave(double start, double cosine, float action, float* position, float* velocity)

cdef struct Config:
    double goal_velocity

cdef struct Cars:
    ep_pcg64* rng                       # (n), as all arrays here
    double* start                       # position that the episode started at
    float* position
    float* velocity
    uint8_t* is_new                     # no step since the reset: the state is `start`, at rest
    double goal_velocity


cdef void destroy(void* state) noexcept nogil:
    cdef Cars* s = <Cars*>state
    free(s.rng)
    free(s.start)
    free(s.position)
    free(s.is_new)
    free(s)


cdef void* create(const void* config, int32_t n) noexcept nogil:
    cdef Cars* s = <Cars*>calloc(1, sizeof(Cars))
    if s == NULL:
        return NULL
    s.rng = <ep_pcg64*>calloc(n, sizeof(ep_pcg64))
    s.start = <double*>calloc(n, sizeof(double))
    s.position = <float*>calloc(2 * <size_t>n, sizeof(float))
    s.is_new = <uint8_t*>calloc(n, 1)
    if s.rng == NULL or s.start == NULL or s.position == NULL or s.is_new == NULL:
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


cdef void advance(Cars* s, int32_t id, const float* actions, uint8_t* arrived, float* reward, int32_t n) noexcept nogil:
    """Steps n cars from `id` on."""
    cdef double cosines[ENVPOOL_MAX_BATCH]
    cdef int32_t i
    cdef uint8_t any_new = 0
    for i in range(n):
        cosines[i] = cos(<float>3 * s.position[id + i])     # the product is float32
    mountain_car_advance(s.position + id, s.velocity + id, cosines, actions + id, s.goal_velocity, arrived, reward, n)
    for i in range(n):
        any_new |= s.is_new[id + i]
    if any_new:
        for i in range(id, id + n):
            if s.is_new[i]:
                s.is_new[i] = 0
                mountain_car_leave(s.start[i], cos(3 * s.start[i]), actions[i], &s.position[i], &s.velocity[i])


cdef int step_many(void* state, const envpool_batch* b) noexcept nogil:
    cdef Cars* s = <Cars*>state
    cdef const float* actions = <const float*>b.actions[0]
    cdef int32_t i, id
    if b.contiguous:        # also steps cars that reset: cheaper than a gap, and overwritten below
        advance(s, b.ids[0], actions, b.terminated, b.reward, b.n)
    else:
        for i in range(b.n):
            advance(s, b.ids[i], actions, b.terminated + i, b.reward + i, 1)
    for i in range(b.num_resets):
        id = b.ids[b.resets[i]]
        s.start[id] = ep_uniform(&s.rng[id], -0.6, -0.4)
        s.position[id] = <float>s.start[id]
        s.velocity[id] = 0
        s.is_new[id] = 1
    return 0


cdef void write_many(void* state, const int32_t* ids, int32_t n, void* const* fields, int64_t row0) noexcept nogil:
    cdef Cars* s = <Cars*>state
    cdef float* obs = <float*>fields[0] + 2 * row0
    cdef int32_t i
    for i in range(n):
        obs[2 * i] = s.position[ids[i]]
        obs[2 * i + 1] = s.velocity[ids[i]]


cdef int run_many(void* state, const envpool_batch* b, void* const* fields, int64_t row0) noexcept nogil:
    step_many(state, b)
    write_many(state, b.ids, b.n, fields, row0)
    return 0


cdef void draw_new(const envpool_frames* f, int32_t i, double position, double scale) noexcept nogil:
    """A car that has not been stepped: upstream computes in float64."""
    draw_valley(f, i, (position - LOWEST) * scale, (sin(3 * position) * 0.45 + 0.55) * scale, cos(3 * position), False)


cdef void draw_stepped(const envpool_frames* f, int32_t i, float position, float scale) noexcept nogil:
    """A car whose position upstream has as float32."""
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


cdef envpool_env ENV_DEF
envpool_env_init(&ENV_DEF, "MountainCarContinuous")
ENV_DEF.create = create
ENV_DEF.destroy = destroy
ENV_DEF.seed_many = seed_many
ENV_DEF.step_many = step_many
ENV_DEF.write_many = write_many
ENV_DEF.run_many = run_many
ENV_DEF.render_many = render_many
ENV_DEF.frame_height = 400
ENV_DEF.frame_width = 600


class MountainCarContinuous:
    """Car in a valley, pushed by a force of any size up to 1.

    Observation float32 (2,): position (m), velocity (m per step). Action float32 (1,): force, clipped to [-1, 1].
    Reward: -0.1 times the square of the action as given, and 100 for the step that ends the episode at 0.45 m.

    Options
    -------
    goal_velocity : float
        Least velocity at which the goal counts as reached.
    """

    options = {"reward_threshold": 90.0, "goal_velocity": 0.0}

    @staticmethod
    def build(config):
        """Return the capsule of this kind."""
        cdef Config c
        c.goal_velocity = config.goal_velocity
        low = np.array([LOWEST, -MAX_SPEED], np.float32)
        high = np.array([HIGHEST, MAX_SPEED], np.float32)
        fields = [Field("obs", np.float32, (2,), low, high)]
        actions = [Field("action", np.float32, (-1, 1), -1.0, 1.0)]
        template = PyCapsule_New(&ENV_DEF, ENVPOOL_CAPSULE_NAME, NULL)
        return define(template, fields, actions, (<const char*>&c)[:sizeof(Config)])

    @staticmethod
    def render_assets(config, height, width):
        """Return the picture without the car."""
        return assets(GOAL, height, width)
