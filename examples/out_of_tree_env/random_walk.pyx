"""RandomWalk: a native environment outside the envpool package, to copy and change. docs/native_env.md explains it.

A walker stands on a row of cells and wants to reach the right end. Now and then a step slips to the other side.
"""

import numpy as np

from libc.stdint cimport int32_t, int64_t, uint8_t
from libc.string cimport memset

from envpool.env cimport envpool_batch, envpool_env, envpool_frames, envpool_rows, envpool_setup
from envpool.numerics.rng cimport ep_next_double, ep_pcg64
from envpool.scaffold cimport (
    envpool_config_bytes, envpool_finish_state, envpool_new_env, envpool_new_state, envpool_state, envpool_template,
    envpool_with_snapshots,
)

import envpool
from envpool.errors import ConfigError
from envpool.native import EnvDefinition, Field, define

cdef struct Config:             # the options, from build() to the functions below
    int32_t size
    double slip

cdef struct Walker:             # the state of one environment
    ep_pcg64 rng
    int32_t cell                # 0 to size - 1
    uint8_t slipped             # whether the last step slipped


cdef int create(const envpool_setup* setup, void** state) noexcept nogil:
    cdef envpool_state* s = <envpool_state*>envpool_new_state(setup, sizeof(envpool_state), sizeof(Walker))
    if s != NULL:
        s.is_valid = is_valid
    return envpool_finish_state(s, state)


cdef int is_valid(const envpool_state* state, int32_t id, int32_t resets) noexcept nogil:
    cdef const Walker* w = <const Walker*>state.records + id
    cdef int32_t first = 0 if resets else 1         # a walker at either end must not step further
    return first <= w.cell < (<const Config*>state.config).size - first and w.slipped <= 1


cdef void reset(Walker* w, const Config* config) noexcept nogil:
    w.cell = config.size // 2
    w.slipped = 0


cdef void step(Walker* w, const Config* config, int32_t action) noexcept nogil:
    w.slipped = ep_next_double(&w.rng) < config.slip
    w.cell += 1 if action != w.slipped else -1


cdef int step_many(void* state, const envpool_batch* b) noexcept nogil:
    cdef envpool_state* s = <envpool_state*>state
    cdef const Config* config = <const Config*>s.config
    cdef const int32_t* actions = <const int32_t*>b.actions[0]
    cdef Walker* w
    cdef int32_t i
    for i in range(b.n):
        w = <Walker*>s.records + b.ids[i]
        if b.reset[i]:
            reset(w, config)
        else:
            step(w, config, actions[b.ids[i]])
            b.terminated[i] = w.cell == 0 or w.cell == config.size - 1
            b.reward[i] = w.cell == config.size - 1
    return 0


cdef void write_many(void* state, const envpool_rows* rows) noexcept nogil:
    cdef const Walker* walkers = <const Walker*>(<envpool_state*>state).records
    cdef int32_t* obs = <int32_t*>rows.fields[0] + rows.row0
    cdef uint8_t* slipped = <uint8_t*>rows.fields[1] + rows.row0
    cdef int32_t i
    for i in range(rows.n):
        obs[i] = walkers[rows.ids[i]].cell
        slipped[i] = walkers[rows.ids[i]].slipped


cdef void draw(uint8_t* pixels, int32_t height, int32_t width, const Walker* w, int32_t size) noexcept nogil:
    """Draw the walker as a white cell on black; `pixels` is (height, width, 3)."""
    cdef int64_t left = <int64_t>w.cell * width // size, right = (<int64_t>w.cell + 1) * width // size
    cdef int64_t y
    memset(pixels, 0, <size_t>3 * height * width)
    for y in range(height):
        memset(pixels + 3 * (y * width + left), 255, 3 * (right - left))


cdef int render_many(void* state, const envpool_frames* f) noexcept nogil:
    cdef envpool_state* s = <envpool_state*>state
    cdef int32_t size = (<const Config*>s.config).size
    cdef int32_t i
    for i in range(f.n):
        draw(f.pixels + <size_t>3 * f.height * f.width * i, f.height, f.width, <Walker*>s.records + f.ids[i], size)
    return 0


cdef envpool_env ENV_DEF = envpool_new_env("RandomWalk", create, step_many, write_many)
ENV_DEF.render_many = render_many
ENV_DEF.frame_height, ENV_DEF.frame_width = 32, 256
envpool_with_snapshots(&ENV_DEF)


class RandomWalk(EnvDefinition):
    """A walk along a row of cells.

    Observation int32: the cell, 0 to size - 1. Action int32: 0 goes left, 1 goes right. Reward 1 for reaching the right
    end and 0 otherwise; an episode ends at either end. ``info["slipped"]`` bool: whether the last step went the other
    way.

    Options
    -------
    size : int
        Number of cells, at least 3. Default 7.
    slip : float
        Probability in [0, 1] that a step goes to the other side. Default 0.1.
    """

    options = {"size": 7, "slip": 0.1}

    @staticmethod
    def build(config):
        """Return the capsule of this environment definition."""
        cdef Config c
        if config.size < 3:
            raise ConfigError(f"size must be at least 3, got {config.size}")
        if not 0 <= config.slip <= 1:
            raise ConfigError(f"slip must be between 0 and 1, got {config.slip}")
        c.size = config.size
        c.slip = config.slip
        fields = [Field("obs", np.int32, (), 0, config.size - 1), Field("info:slipped", np.bool_)]
        actions = [Field("action", np.int32, (), 0, 1)]
        return define(envpool_template(&ENV_DEF), fields, actions, envpool_config_bytes(&c, sizeof(c)))


envpool.register("RandomWalk-v0", __name__, env="RandomWalk", max_episode_steps=100)
