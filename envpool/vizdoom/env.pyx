# distutils: language = c++
# optimize: -Og
"""The env definition of all ViZDoom tasks: observations, rendering, and the configuration."""

import numpy as np

from cpython.pycapsule cimport PyCapsule_New
from libc.stdint cimport int32_t, int64_t, uint8_t, uint32_t
from libc.stdio cimport snprintf
from libc.stdlib cimport free, malloc
from libc.string cimport memcpy, memset, strncpy

from envpool.env cimport (
    ENVPOOL_CAPSULE_NAME, envpool_env, envpool_env_init, envpool_frames, envpool_rows, envpool_seeds,
)
from envpool.numerics.rng_legacy cimport ep_mt19937_seed
from envpool.raster.resize cimport Resizer, new_resizer
from envpool.vizdoom.envs cimport (
    AUTOMAP, DEPTH, DIVERGED, HAS_PLAYERS, LABELS, MAX_ARGUMENTS, MAX_INFOS, MAX_PLAYERS, MAX_VARIABLES, NO_ENGINE,
    NO_MEMORY, OTHER_SCENARIO, RESEEDED, SCREEN, TOO_LONG, Config, Env, Envs, create, destroy, region_of,
)
from envpool.vizdoom.episodes cimport frame_of, step_many
from envpool.vizdoom.rows cimport MAX_ROWS
from envpool.vizdoom.snapshots cimport with_snapshots

from envpool.native import Field, define

TICS_PER_SECOND = 35
LIMITS = {"variables": MAX_VARIABLES, "infos": MAX_INFOS, "arguments": MAX_ARGUMENTS - 11,
          "players": MAX_PLAYERS}
REGIONS = {"screen": SCREEN, "depth": DEPTH, "labels": LABELS, "automap": AUTOMAP}


cdef int seed_many(void* state, const envpool_seeds* seeds) noexcept nogil:
    cdef Envs* s = <Envs*>state
    cdef int32_t i
    for i in range(seeds.n):
        ep_mt19937_seed(&s.env[seeds.ids[i] * s.config.num_players].rng, <uint32_t>seeds.seeds[i])
        s.env[seeds.ids[i] * s.config.num_players].is_fresh = True
    return 0

cdef void write_many(void* state, const envpool_rows* rows) noexcept nogil:
    cdef Envs* s = <Envs*>state
    cdef Config* c = &s.config
    cdef Env* env
    cdef uint8_t* to
    cdef size_t size, offset
    cdef int64_t row
    cdef int32_t i, p, g, age
    for i in range(rows.n):
        for p in range(c.num_players):
            env = &s.env[rows.ids[i] * c.num_players + p]
            row = rows.player_rows[i] + p if c.num_players > 1 else rows.row0 + i
            offset = 0
            for g in range(c.num_groups):
                size = c.groups[g].num_planes * s.plane
                to = <uint8_t*>rows.fields[g] + row * c.stack_num * size
                for age in range(c.stack_num - 1, -1, -1):      # before the first frame of an episode, it is repeated
                    memcpy(to, frame_of(s, env, min(age, env.num_frames - 1)) + offset, size)
                    to += size
                offset += size
            for g in range(c.num_infos):
                (<double*>rows.fields[c.num_groups + g])[row] = env.value[c.infos[g]]


cdef void draw(Envs* s, Env* env, Resizer* resizer, uint8_t* scratch, uint8_t* pixels, size_t n) noexcept nogil:
    """Draw the screen as a frame of n pixels; without a resizer it has the size of the screen."""
    cdef const uint8_t* screen = region_of(&env.engine, SCREEN)
    cdef const uint8_t* source
    cdef size_t i
    cdef int32_t p, planes = s.config.groups[0].num_planes
    for p in range(3):
        source = screen + (0 if planes == 1 else 2 - p if s.config.blue_first else p) * s.pixels
        if resizer != NULL:
            resizer.run(source, scratch)
            source = scratch
        for i in range(n):
            pixels[3 * i + p] = source[i]


cdef int render_many(void* state, const envpool_frames* f) noexcept nogil:
    cdef Envs* s = <Envs*>state
    cdef size_t n = <size_t>f.height * f.width
    cdef Resizer* resizer = NULL
    cdef Env* env
    cdef uint8_t* scratch = <uint8_t*>malloc(n)
    cdef int32_t i
    cdef int status = 0
    if f.height != s.config.screen_height or f.width != s.config.screen_width:
        resizer = new_resizer(s.config.screen_height, s.config.screen_width, f.height, f.width, True)
        status = NO_MEMORY if resizer == NULL else 0
    if scratch == NULL:
        status = NO_MEMORY
    for i in range(f.n if status == 0 else 0):
        env = &s.env[f.ids[i] * s.config.num_players]   # of several players, the first one
        if env.engine.memory == NULL:                   # its engine could not be started
            memset(f.pixels + 3 * n * i, 0, 3 * n)
        else:
            draw(s, env, resizer, scratch, f.pixels + 3 * n * i, n)
    free(scratch)
    del resizer
    return status


cdef void error_text(void* state, int32_t id, int32_t code, char* text, size_t size) noexcept nogil:
    if code == NO_ENGINE:
        snprintf(text, size, "%s", (<Envs*>state).env[id * (<Envs*>state).config.num_players].engine.text)
    elif code == NO_MEMORY:
        strncpy(text, b"out of memory while rendering a frame; use a smaller frame size", size - 1)
    elif code == HAS_PLAYERS:
        strncpy(text, b"its game has other players, whose actions a state does not contain: save states of games with "
                      b"max_num_players=1 that are started without -join and with at most -host 1", size - 1)
    elif code == TOO_LONG:
        snprintf(text, size, "its engine has taken more than %d steps, which is the most that a state repeats: save "
                             "states of a new pool", <int>MAX_ROWS)
    elif code == RESEEDED:
        strncpy(text, b"reset(seed=...) has seeded it again after its engine had started, and a few pixels depend on "
                      b"the earlier games of the engine: save states of a new pool with this seed", size - 1)
    elif code == OTHER_SCENARIO:
        strncpy(text, b"the configuration file of the scenario has changed since it was saved: restore it with the "
                      b"earlier file", size - 1)
    elif code == DIVERGED:
        strncpy(text, b"the same seed and actions did not lead to the same game: restore it with the same version of "
                      b"vizdoom and the same files of the scenario", size - 1)


cdef envpool_env ENV_DEF
envpool_env_init(&ENV_DEF, "ViZDoom")
ENV_DEF.create = create
ENV_DEF.destroy = destroy
ENV_DEF.seed_many = seed_many
ENV_DEF.step_many = step_many
ENV_DEF.write_many = write_many
ENV_DEF.error_text = error_text
ENV_DEF.render_many = render_many
ENV_DEF.frame_height = 240     # `build` determines the size for the scenario
ENV_DEF.frame_width = 320
ENV_DEF.lanes = 8              # engines that simulate a tic at once
with_snapshots(&ENV_DEF)


def build(values, groups, arrays, actions, strings):
    """Return the capsule of a task.

    Parameters
    ----------
    values : dict
        Values of members of Config: numbers, and lists of numbers for arrays.
    groups : list of tuple
        Name, region and number of planes of each buffer in the observation.
    arrays : list of str
        Names of the game variables that are infos, in the order of ``values["infos"]``.
    actions : numpy.ndarray
        Combined actions, float64 (num_actions, num_buttons); num_actions may be 0.
    strings : list of bytes
        Folder, map, start of the paths of recordings, and the arguments of the engine.
    """
    cdef Config c
    memset(&c, 0, sizeof(Config))
    c.stack_num, c.frame_skip = values["stack_num"], values["frame_skip"]
    c.height, c.width, c.area = values["img_height"], values["img_width"], values["use_inter_area_resize"]
    c.max_episode_steps, c.episodic_life = values["max_episode_steps"], values["episodic_life"]
    c.screen_width, c.screen_height = values["screen_size"]
    c.blue_first, c.start_tic = values["blue_first"], values["start_tic"]
    c.num_players = values["max_num_players"]
    c.scenario = values["scenario"]
    c.num_arguments = len(strings) - 3
    c.num_actions, c.num_buttons = actions.shape
    for i, number in enumerate(values["buttons"]):
        c.buttons[i] = number
    c.num_variables = len(values["variables"])
    for i, number in enumerate(values["variables"]):
        c.variables[i], c.gain[i], c.loss[i] = number, values["gain"][i], values["loss"][i]
    c.num_infos = len(values["infos"])
    for i, number in enumerate(values["infos"]):
        c.infos[i] = number
    c.num_groups = len(groups)
    for i, (name, planes) in enumerate(groups):
        c.groups[i].region, c.groups[i].num_planes = REGIONS[name], planes
        c.groups[i].is_labels = name == "labels"
    c.weapon_duration, c.scenario_reward = values["weapon_duration"], values["scenario_reward"]
    c.patience = values["patience"]
    for i, reward in enumerate(values["weapon_reward"]):
        c.weapon_reward[i] = reward
    c.living_reward, c.death_penalty = values["living_reward"], values["death_penalty"]
    c.map_exit_reward = values["map_exit_reward"]
    size = (c.height, c.width)
    rows = (-1,) if c.num_players > 1 else ()
    prefix = "obs:" if len(groups) > 1 else "obs"
    fields = [
        Field(prefix + (name if len(groups) > 1 else ""), np.uint8, (*rows, c.stack_num * planes, *size), 0, 255)
        for name, planes in groups
    ]
    fields += [Field(f"info:{name}", np.float64, (-1,)) for name in arrays]
    if c.num_actions > 0:
        action = Field("action", np.int32, rows, 0, c.num_actions - 1)
    else:
        action = Field("action", np.float64, (*rows, c.num_buttons))
    template = PyCapsule_New(&ENV_DEF, ENVPOOL_CAPSULE_NAME, NULL)
    config_bytes = (<const char*>&c)[:sizeof(Config)] + actions.tobytes() + b"".join(t + b"\0" for t in strings)
    return define(template, fields, [action], config_bytes, frame_size=(c.screen_height, c.screen_width),
                  step_time=c.frame_skip / TICS_PER_SECOND,
                  max_num_players=c.num_players if c.num_players > 1 else None)
