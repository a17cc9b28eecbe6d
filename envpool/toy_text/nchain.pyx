"""NChain: a chain on which going forwards pays late and going back pays a little at once (Strens, 2000).

Source of the dynamics: ``gym.envs.toy_text.nchain`` of gym before 0.18, with the generator of Gymnasium's environments.
Each step draws one ``random()``, a reset draws nothing.
"""

import numpy as np

from libc.stdint cimport int32_t
from libc.string cimport memcpy

from envpool.env cimport envpool_batch, envpool_env, envpool_rows, envpool_setup
from envpool.numerics.rng cimport ep_next_double, ep_pcg64
from envpool.scaffold cimport (
    envpool_common_params, envpool_config_bytes, envpool_finish_state, envpool_new_array, envpool_new_env,
    envpool_new_params, envpool_new_state, envpool_state, envpool_template, envpool_with_params, envpool_with_snapshots,
)

from envpool.native import EnvDefinition, Field, Param, define, param_fields
from envpool.config.checks import check_range
from envpool.toy_text.checks import FLOAT32_MAX

cdef struct Config:
    double params[3]            # initial values, in the order of NChain.params
    int32_t last                # number of the last link

cdef struct Chains:
    envpool_state head          # the records are the generators
    int32_t* link               # (num_envs)
    double* params[3]           # (num_envs): probability of a slip, reward for going back, and on the last link


cdef int create(const envpool_setup* setup, void** state) noexcept nogil:
    cdef Chains* s = <Chains*>envpool_new_state(setup, sizeof(Chains), sizeof(ep_pcg64))
    if s != NULL:
        s.link = <int32_t*>envpool_new_array(s, sizeof(int32_t))
        envpool_new_params(s, s.params, (<const Config*>setup.config).params, 3)
        s.head.is_valid = is_valid
    return envpool_finish_state(s, state)


cdef int is_valid(const envpool_state* state, int32_t id, int32_t resets) noexcept nogil:
    return 0 <= (<const Chains*>state).link[id] <= (<const Config*>state.config).last


cdef int step_many(void* state, const envpool_batch* b) noexcept nogil:
    cdef Chains* s = <Chains*>state
    cdef const int32_t* actions = <const int32_t*>b.actions[0]
    cdef const Config* config = <const Config*>s.head.config
    cdef ep_pcg64* rng = <ep_pcg64*>s.head.records
    cdef const double* common = envpool_common_params(&s.head)
    cdef int32_t last = config.last
    cdef int32_t i, id, link
    cdef int32_t forwards
    cdef double slip = 0
    cdef float[3] rewards       # for going back, for going forwards, for going forwards on the last link
    rewards[1] = 0
    if common != NULL:
        slip, rewards[0], rewards[2] = common[0], <float>common[1], <float>common[2]
    for i in range(b.n):
        id = b.ids[i]
        b.terminated[i] = 0
        if b.reset[i]:
            s.link[id] = 0
            continue
        if common == NULL:
            slip, rewards[0], rewards[2] = s.params[0][id], <float>s.params[1][id], <float>s.params[2][id]
        forwards = (actions[id] == 0) ^ (ep_next_double(&rng[id]) < slip)
        link = s.link[id]
        b.reward[i] = rewards[forwards + (forwards & (link == last))]
        s.link[id] = (link + (link < last)) * forwards
    return 0


cdef void write_many(void* state, const envpool_rows* rows) noexcept nogil:
    cdef Chains* s = <Chains*>state
    cdef int32_t* obs = <int32_t*>rows.fields[0] + rows.row0
    cdef int32_t i
    for i in range(rows.n):
        obs[i] = s.link[rows.ids[i]]


cdef int run_many(void* state, const envpool_batch* b, const envpool_rows* rows) noexcept nogil:
    cdef Chains* s = <Chains*>state
    step_many(state, b)
    if b.contiguous:
        memcpy(<int32_t*>rows.fields[0] + rows.row0, s.link + b.ids[0], b.n * sizeof(int32_t))
    else:
        write_many(state, rows)
    return 0


cdef envpool_env ENV_DEF = envpool_new_env("NChain", create, step_many, write_many)
ENV_DEF.run_many = run_many
envpool_with_snapshots(&ENV_DEF)
envpool_with_params(&ENV_DEF)


class NChain(EnvDefinition):
    """A walk along a chain of n links, from the first one on.

    Observation int32: index of the link. Action int32: 0 goes forwards, which pays `large` on the last link and nothing
    before; 1 goes back to the first link and pays `small`. An episode ends only at the time limit.

    Options
    -------
    n : int
        Number of links, at least 1. Default 5.
    """

    options = {"n": 5}
    params = {
        "slip": Param(0.2, 0, 1, text="probability that the other action happens"),
        "small": Param(2.0, -FLOAT32_MAX, FLOAT32_MAX, text="reward for going back"),
        "large": Param(10.0, -FLOAT32_MAX, FLOAT32_MAX, text="reward for going forwards on the last link"),
    }

    @staticmethod
    def build(config):
        cdef Config c
        check_range("n", config.n, 1)
        c.last = config.n - 1
        c.params = [getattr(config, name) for name in NChain.params]
        fields = [Field("obs", np.int32, (-1,), 0, config.n - 1)]
        actions = [Field("action", np.int32, (-1,), 0, 1)]
        config_bytes = envpool_config_bytes(&c, sizeof(c))
        return define(envpool_template(&ENV_DEF), fields, actions, config_bytes, params=param_fields(NChain.params))
