"""RandomWalk: a native environment outside the envpool package, to copy and change. docs/native_env.md explains it."""

import numpy as np

from libc.stdint cimport int32_t, int64_t, uint8_t
from libc.string cimport memset

from envpool.env cimport envpool_env, envpool_frames
from envpool.numerics.rng cimport ep_next_double, ep_pcg64
from envpool.records cimport (
    envpool_new_records_env, envpool_outcome, envpool_pixels, envpool_records, envpool_records_config, envpool_template,
)

import envpool
from envpool.errors import ConfigError
from envpool.native import EnvDefinition, Field, define

cdef struct Config:             # the options, from build() to the functions below
    int32_t size
    double slip

cdef struct Walker:             # the record: the state of one environment
    ep_pcg64 rng
    int32_t cell                # 0 to size - 1
    uint8_t slipped             # whether the last step slipped


cdef int reset(void* record, const void* config) noexcept nogil:
    (<Walker*>record).cell = (<const Config*>config).size // 2
    (<Walker*>record).slipped = 0
    return 0


cdef int step(void* record, const void* config, const void* const* actions, int32_t id,
              envpool_outcome* out) noexcept nogil:
    cdef Walker* w = <Walker*>record
    cdef const Config* c = <const Config*>config
    w.slipped = ep_next_double(&w.rng) < c.slip
    w.cell += 1 if (<const int32_t*>actions[0])[id] != w.slipped else -1
    out.reward, out.terminated = w.cell == c.size - 1, w.cell == 0 or w.cell == c.size - 1
    return 0


cdef void write(const void* record, const void* config, void* const* fields, int64_t row) noexcept nogil:
    (<int32_t*>fields[0])[row] = (<const Walker*>record).cell
    (<uint8_t*>fields[1])[row] = (<const Walker*>record).slipped


cdef int draw(const void* record, const void* config, const envpool_frames* f, int32_t i) noexcept nogil:
    cdef int64_t cell = (<const Walker*>record).cell, size = (<const Config*>config).size, y
    cdef int64_t left = cell * f.width // size, right = (cell + 1) * f.width // size
    cdef uint8_t* pixels = envpool_pixels(f, i)     # (height, width, 3), black but for the walker's cell
    memset(pixels, 0, <size_t>3 * f.height * f.width)
    for y in range(f.height):
        memset(pixels + 3 * (y * f.width + left), 255, 3 * (right - left))
    return 0


cdef int is_valid(const void* record, const void* config, int32_t resets) noexcept nogil:
    cdef int32_t cell = (<const Walker*>record).cell, end = (<const Config*>config).size
    return (0 if resets else 1) <= cell < (end if resets else end - 1) and (<const Walker*>record).slipped <= 1


cdef envpool_records WALKERS
WALKERS.size = sizeof(Walker)
WALKERS.reset, WALKERS.step, WALKERS.write, WALKERS.draw, WALKERS.is_valid = reset, step, write, draw, is_valid
cdef envpool_env ENV_DEF = envpool_new_records_env("RandomWalk", &WALKERS)
ENV_DEF.frame_height, ENV_DEF.frame_width = 32, 256


class RandomWalk(EnvDefinition):
    """A walk along a row of cells to its right end. Now and then a step slips to the other side.

    Observation int32: the cell, 0 to size - 1. Action int32: 0 goes left, 1 goes right. Reward 1 for reaching the right
    end and 0 otherwise; an episode ends at either end. ``info["slipped"]`` bool: whether the last step went astray.

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
        cdef Config c
        if config.size < 3:
            raise ConfigError(f"size must be at least 3, got {config.size}")
        if not 0 <= config.slip <= 1:
            raise ConfigError(f"slip must be between 0 and 1, got {config.slip}")
        c.size, c.slip = config.size, config.slip
        fields = [Field("obs", np.int32, (), 0, config.size - 1), Field("info:slipped", np.bool_)]
        actions = [Field("action", np.int32, (), 0, 1)]
        return define(envpool_template(&ENV_DEF), fields, actions, envpool_records_config(&WALKERS, &c, sizeof(c)))


envpool.register("RandomWalk-v0", __name__, env="RandomWalk", max_episode_steps=100)
