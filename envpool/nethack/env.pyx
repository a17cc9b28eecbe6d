# optimize: -Og
"""The env definition of all NetHack tasks: each environment is a game of its own copy of the library.

Upstream: ``nle.env.NLE`` and the classes of ``nle.env.tasks`` of nle 1.3.0. An environment with the seed ``s`` draws
the seeds of its games, core and disp, in turn from ``numpy.random.default_rng(s).integers(2**63)``.
"""

import numpy as np

from libc.stdint cimport int32_t, uint8_t
from libc.stdio cimport snprintf
from libc.string cimport memcpy, memset, strcpy, strncpy

from envpool.env cimport envpool_env, envpool_params, envpool_rows, envpool_seeds, envpool_setup
from envpool.nethack.episodes cimport MAX_STARTS, config_of, env_of, step_many
from envpool.nethack.game cimport is_loaded, prepare, release
from envpool.nethack.snapshots cimport with_snapshots
from envpool.nethack.structs cimport (
    Config, DIVERGED, Env, HAS_BONES, MAX_KEYS, NH_NUM_ARRAYS, NOT_STARTED, NO_COPY, NO_END, NO_SCORES, STOPPED,
    WIZKIT_BYTES,
)
from envpool.numerics.rng cimport ep_pcg64_seed
from envpool.replay cimport envpool_history_free
from envpool.scaffold cimport (
    envpool_config_bytes, envpool_finish_state, envpool_free_state, envpool_new_env, envpool_new_state, envpool_state,
    envpool_template,
)

from envpool.native import Field, define


cdef int create(const envpool_setup* setup, void** state) noexcept nogil:
    if not is_loaded():
        strncpy(setup.text, b"the library of NetHack is not loaded: make the pool with envpool.make", setup.text_size)
        return 1
    return envpool_finish_state(envpool_new_state(setup, sizeof(envpool_state), sizeof(Env)), state)


cdef void destroy(void* state) noexcept nogil:
    cdef int32_t i
    for i in range((<envpool_state*>state).num_envs):
        release(&env_of(state, i).game)
        envpool_history_free(&env_of(state, i).history)
    envpool_free_state(state)


cdef int seed_many(void* state, const envpool_seeds* seeds) noexcept nogil:
    """A new seed makes an environment new: its folder, which contains the list of scores, is made again as well."""
    cdef Env* env
    cdef int32_t i
    cdef int status = 0
    for i in range(seeds.n):
        env = env_of(state, seeds.ids[i])
        ep_pcg64_seed(&env.rng, seeds.seeds[i])
        env.num_frozen = 0
        seeds.errors[i] = prepare(&env.game, config_of(state))
        status |= seeds.errors[i]
    return status


cdef void write_many(void* state, const envpool_rows* rows) noexcept nogil:
    cdef const Config* config = config_of(state)
    cdef const Env* env
    cdef int32_t i, k, number, size
    for i in range(rows.n):
        env = env_of(state, rows.ids[i])
        for k in range(config.num_observed):
            number = config.observed[k]
            size = config.sizes[number]
            memcpy(<char*>rows.fields[k] + (rows.row0 + i) * size, env.game.exchange.arrays[number], size)
        (<int32_t*>rows.fields[config.num_observed])[rows.row0 + i] = env.end_status
        (<uint8_t*>rows.fields[config.num_observed + 1])[rows.row0 + i] = env.is_ascended


cdef int get_params(void* state, const envpool_params* call) noexcept nogil:
    cdef int32_t i
    for i in range(call.n):
        memset(<char*>call.values[0] + call.ids[i] * WIZKIT_BYTES, 0, WIZKIT_BYTES)
    return 0


cdef int set_params(void* state, const envpool_params* call) noexcept nogil:
    """Sets what the next games begin with, which is the only entry of the table."""
    cdef char* wizkit
    cdef int32_t i
    for i in range(call.n):
        wizkit = env_of(state, call.ids[i]).wizkit
        memcpy(wizkit, <const char*>call.values[0] + call.ids[i] * WIZKIT_BYTES, WIZKIT_BYTES)
        wizkit[WIZKIT_BYTES - 1] = 0
    return 0


cdef void error_text(void* state, int32_t id, int32_t code, char* text, size_t size) noexcept nogil:
    if code == NO_COPY:
        snprintf(text, size, "%s", env_of(state, id).game.copy.why)
    elif code == STOPPED:
        strncpy(text, b"the game has called abort() or exit(), as it does after an internal error; the next reset "
                      b"starts another game", size - 1)
    elif code == NO_SCORES:
        strncpy(text, b"the list of scores in the folder of its game cannot be read or written", size - 1)
    elif code == HAS_BONES:
        strncpy(text, b"its game was started beside bones, which a state does not contain: make the pool with "
                      b"'nobones' among its `options`, or save states before a game has left bones", size - 1)
    elif code == DIVERGED:
        strncpy(text, b"the same seeds and actions did not lead to the same game: restore it with the same version of "
                      b"nle", size - 1)
    elif code == NOT_STARTED:
        snprintf(text, size, "%d games in a row did not begin: check the options `options` and `character`",
                 <int>MAX_STARTS)
    elif code == NO_END:
        strncpy(text, b"the game does not stop asking for keys; the next reset starts another game", size - 1)


cdef envpool_env ENV_DEF = envpool_new_env("NetHack", create, step_many, write_many)
ENV_DEF.destroy = destroy
ENV_DEF.seed_many = seed_many
ENV_DEF.error_text = error_text
with_snapshots(&ENV_DEF)
ENV_DEF.get_params, ENV_DEF.set_params = get_params, set_params


def build(task, settings, keys, arrays, observed, params):
    """Return the capsule of a task with checked options.

    Parameters
    ----------
    task : int
        Number of the task.
    settings : dict
        The members of Config that are numbers, and ``options``, bytes, as NetHack reads them.
    keys : sequence of int
        The key that each action presses.
    arrays : dict of str to envpool.nethack.observations.Array
        All arrays of the game, in its order.
    observed : sequence of str
        The arrays of the observation, in order.
    params : list of Field
        The table of the option of resets.
    """
    cdef Config c
    memset(&c, 0, sizeof(c))
    c.task = task
    c.penalty_mode = settings["penalty_mode"]
    c.penalty_step = settings["penalty_step"]
    c.penalty_time = settings["penalty_time"]
    c.max_steps = settings["max_steps"]
    c.no_progress_timeout = settings["no_progress_timeout"]
    c.allow_all_yn_questions = settings["allow_all_yn_questions"]
    c.allow_all_modes = settings["allow_all_modes"]
    c.spawn_monsters = settings["spawn_monsters"]
    has_room = len(keys) <= MAX_KEYS and len(settings["options"]) < <Py_ssize_t>sizeof(c.options)
    if not has_room or len(arrays) != NH_NUM_ARRAYS:
        raise ValueError("the options of NetHack have not been checked")
    strcpy(c.options, <bytes>settings["options"])
    c.num_keys = len(keys)
    for i, key in enumerate(keys):
        c.keys[i] = key
    names = list(arrays)
    for i, name in enumerate(names):
        c.sizes[i] = arrays[name].num_bytes
        c.is_wanted[i] = arrays[name].is_needed or name in observed
    c.num_observed = len(observed)
    for i, name in enumerate(observed):
        c.observed[i] = names.index(name)
    fields = [arrays[name].field(name) for name in observed]
    fields += [Field("info:end_status", np.int32, (-1,)), Field("info:is_ascended", np.bool_, (-1,))]
    actions = [Field("action", np.int32, (-1,), 0, len(keys) - 1)]
    return define(envpool_template(&ENV_DEF), fields, actions, envpool_config_bytes(&c, sizeof(c)), params=params)
