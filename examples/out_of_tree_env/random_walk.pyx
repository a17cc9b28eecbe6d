"""RandomWalk: a native environment outside the envpool package, to copy and change. docs/native_env.md goes through it.

A walker stands on a row of cells and wants to reach the right end. Its steps slip to the other side now and then.
"""

import numpy as np

from cpython.pycapsule cimport PyCapsule_New
from libc.stdint cimport int32_t, int64_t, uint8_t, uint64_t
from libc.stdlib cimport calloc, free

from envpool.env cimport ENVPOOL_CAPSULE_NAME, envpool_batch, envpool_env, envpool_env_init
from envpool.numerics.rng cimport ep_next_double, ep_pcg64, ep_pcg64_seed

import envpool
from envpool.errors import ConfigError
from envpool.native import Field, define

cdef struct Config:             # what build() hands to create()
    int32_t size
    double slip

cdef struct Walkers:            # the state of all envs
    Config config
    ep_pcg64* rng               # (num_envs)
    int32_t* cell               # (num_envs), 0 to size - 1
    uint8_t* slipped            # (num_envs), whether the last step slipped


cdef void destroy(void* state) noexcept nogil:
    cdef Walkers* w = <Walkers*>state
    free(w.rng)
    free(w.cell)
    free(w.slipped)
    free(w)


cdef void* create(const void* config, int32_t num_envs) noexcept nogil:
    cdef Walkers* w = <Walkers*>calloc(1, sizeof(Walkers))
    if w == NULL:
        return NULL
    w.config = (<const Config*>config)[0]
    w.rng = <ep_pcg64*>calloc(num_envs, sizeof(ep_pcg64))
    w.cell = <int32_t*>calloc(num_envs, sizeof(int32_t))
    w.slipped = <uint8_t*>calloc(num_envs, sizeof(uint8_t))
    if w.rng == NULL or w.cell == NULL or w.slipped == NULL:
        destroy(w)
        return NULL
    return w


cdef void seed_many(void* state, const int32_t* ids, int32_t n, const uint64_t* seeds) noexcept nogil:
    cdef Walkers* w = <Walkers*>state
    cdef int32_t i
    for i in range(n):
        ep_pcg64_seed(&w.rng[ids[i]], seeds[i])


cdef int step_many(void* state, const envpool_batch* b) noexcept nogil:
    cdef Walkers* w = <Walkers*>state
    cdef const int32_t* actions = <const int32_t*>b.actions[0]      # by env id
    cdef int32_t i, id, right
    for i in range(b.n):
        id = b.ids[i]
        if b.reset[i]:
            w.cell[id] = w.config.size // 2
            w.slipped[id] = 0
            continue
        w.slipped[id] = ep_next_double(&w.rng[id]) < w.config.slip
        right = actions[id] != w.slipped[id]
        w.cell[id] += 1 if right else -1
        b.terminated[i] = w.cell[id] == 0 or w.cell[id] == w.config.size - 1
        b.reward[i] = w.cell[id] == w.config.size - 1
    return 0


cdef void write_many(void* state, const int32_t* ids, int32_t n, void* const* fields, int64_t row0) noexcept nogil:
    cdef Walkers* w = <Walkers*>state
    cdef int32_t* obs = <int32_t*>fields[0] + row0
    cdef uint8_t* slipped = <uint8_t*>fields[1] + row0
    cdef int32_t i
    for i in range(n):
        obs[i] = w.cell[ids[i]]
        slipped[i] = w.slipped[ids[i]]


cdef envpool_env ENV_DEF
envpool_env_init(&ENV_DEF, "RandomWalk")
ENV_DEF.create = create
ENV_DEF.destroy = destroy
ENV_DEF.seed_many = seed_many
ENV_DEF.step_many = step_many
ENV_DEF.write_many = write_many


class RandomWalk:
    """A walk along a row of cells.

    Observation int32: the cell, 0 to size - 1. Action int32: 0 left, 1 right. Reward 1 for reaching the right end; an
    episode ends at either end. ``info["slipped"]`` bool says whether the last step went the other way.

    Options
    -------
    size : int
        Cells, at least 3.
    slip : float
        Probability of stepping to the other side.
    """

    options = {"size": 7, "slip": 0.1}

    @staticmethod
    def build(config):
        """Return the capsule of this kind."""
        cdef Config c
        if config.size < 3:
            raise ConfigError(f"size is {config.size}, allowed are 3 and more")
        if not 0 <= config.slip <= 1:
            raise ConfigError(f"slip is {config.slip}, allowed are 0 to 1")
        c.size = config.size
        c.slip = config.slip
        fields = [Field("obs", np.int32, (), 0, config.size - 1), Field("info:slipped", np.bool_)]
        actions = [Field("action", np.int32, (), 0, 1)]
        template = PyCapsule_New(&ENV_DEF, ENVPOOL_CAPSULE_NAME, NULL)
        return define(template, fields, actions, (<const char*>&c)[:sizeof(Config)])


envpool.register("RandomWalk-v0", __name__, env="RandomWalk", max_episode_steps=100)
