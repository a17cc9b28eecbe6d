"""NChain: a chain on which going forwards pays late, and going back pays a little at once (Strens, 2000).

Source of the dynamics: ``gym.envs.toy_text.nchain`` of gym before 0.18, with the generator of Gymnasium's envs: one
``random()`` for each step, none at a reset.
"""

import numpy as np

from cpython.pycapsule cimport PyCapsule_New
from libc.stdint cimport int32_t, int64_t, uint64_t
from libc.stdlib cimport calloc, free
from libc.string cimport memcpy

from envpool.env cimport ENVPOOL_CAPSULE_NAME, envpool_batch, envpool_env, envpool_env_init
from envpool.numerics.rng cimport ep_next_double, ep_pcg64, ep_pcg64_seed

from envpool.native import Field, define
from envpool.spec import check_range
from envpool.toy_text.checks import check_probability, check_reward

cdef struct Config:
    int32_t last                # number of the last link
    double slip
    float rewards[3]            # for going back, for going forwards, and for that on the last link

cdef struct Chains:
    const Config* config
    ep_pcg64* rng               # (n)
    int32_t* link               # (n)


cdef void destroy(void* state) noexcept nogil:
    cdef Chains* s = <Chains*>state
    free(s.rng)
    free(s.link)
    free(s)


cdef void* create(const void* config, int32_t n) noexcept nogil:
    cdef Chains* s = <Chains*>calloc(1, sizeof(Chains))
    if s == NULL:
        return NULL
    s.config = <const Config*>config
    s.rng = <ep_pcg64*>calloc(n, sizeof(ep_pcg64))
    s.link = <int32_t*>calloc(n, sizeof(int32_t))
    if s.rng == NULL or s.link == NULL:
        destroy(s)
        return NULL
    return s


cdef void seed_many(void* state, const int32_t* ids, int32_t n, const uint64_t* seeds) noexcept nogil:
    cdef Chains* s = <Chains*>state
    cdef int32_t i
    for i in range(n):
        ep_pcg64_seed(&s.rng[ids[i]], seeds[i])


cdef int step_many(void* state, const envpool_batch* b) noexcept nogil:
    cdef Chains* s = <Chains*>state
    cdef const int32_t* actions = <const int32_t*>b.actions[0]
    cdef double slip = s.config.slip
    cdef int32_t last = s.config.last
    cdef int32_t i, id, link
    cdef int32_t forwards
    for i in range(b.n):
        id = b.ids[i]
        b.terminated[i] = 0
        if b.reset[i]:
            s.link[id] = 0
            continue
        forwards = (actions[id] == 0) ^ (ep_next_double(&s.rng[id]) < slip)
        link = s.link[id]
        b.reward[i] = s.config.rewards[forwards + (forwards & (link == last))]
        s.link[id] = (link + (link < last)) * forwards
    return 0


cdef void write_many(void* state, const int32_t* ids, int32_t n, void* const* fields, int64_t row0) noexcept nogil:
    cdef Chains* s = <Chains*>state
    cdef int32_t* obs = <int32_t*>fields[0] + row0
    cdef int32_t i
    for i in range(n):
        obs[i] = s.link[ids[i]]


cdef int run_many(void* state, const envpool_batch* b, void* const* fields, int64_t row0) noexcept nogil:
    cdef Chains* s = <Chains*>state
    step_many(state, b)
    if b.contiguous:
        memcpy(<int32_t*>fields[0] + row0, s.link + b.ids[0], b.n * sizeof(int32_t))
    else:
        write_many(state, b.ids, b.n, fields, row0)
    return 0


cdef envpool_env ENV_DEF
envpool_env_init(&ENV_DEF, "NChain")
ENV_DEF.create = create
ENV_DEF.destroy = destroy
ENV_DEF.seed_many = seed_many
ENV_DEF.step_many = step_many
ENV_DEF.write_many = write_many
ENV_DEF.run_many = run_many


class NChain:
    """A chain of n links, walked from the first on.

    Observation int32: number of the link. Action int32: 0 goes forwards, which pays `large` on the last link and
    nothing before; 1 goes back to the first link and pays `small`. No episode ends before the time limit.

    Options
    -------
    n : int
        Links, at least 1.
    slip : float
        Probability in [0, 1] that the other action happens.
    small, large : float
        Rewards.
    """

    options = {"n": 5, "slip": 0.2, "small": 2.0, "large": 10.0}

    @staticmethod
    def build(config):
        """Return the capsule of this kind."""
        cdef Config c
        check_range("n", config.n, 1)
        c.last = config.n - 1
        c.slip = check_probability("slip", config.slip)
        c.rewards[0] = check_reward("small", config.small)
        c.rewards[1] = 0
        c.rewards[2] = check_reward("large", config.large)
        fields = [Field("obs", np.int32, (-1,), 0, config.n - 1)]
        actions = [Field("action", np.int32, (-1,), 0, 1)]
        template = PyCapsule_New(&ENV_DEF, ENVPOOL_CAPSULE_NAME, NULL)
        return define(template, fields, actions, (<const char*>&c)[:sizeof(Config)])
