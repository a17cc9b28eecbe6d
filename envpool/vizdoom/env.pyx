# distutils: language = c++
"""The ViZDoom environment: resets, steps, rewards, observations and rendering, on top of engine/engine.h.

Episodes, tics and seeds follow ``vizdoom.DoomGame``: the engines get the same requests in the same order. While one
engine simulates a tic, the thread asks the other engines of its chunk to do the same.
"""

import numpy as np

from cpython.pycapsule cimport PyCapsule_New
from libc.stdint cimport int32_t, uint8_t, uint32_t
from libc.stdio cimport snprintf
from libc.stdlib cimport free, malloc
from libc.string cimport memcpy, memset

from envpool.atari.image cimport Resizer
from envpool.env cimport (
    ENVPOOL_CAPSULE_NAME, ENVPOOL_MAX_BATCH, envpool_batch, envpool_env, envpool_env_init, envpool_frames, envpool_rows,
    envpool_seeds,
)
from envpool.numerics.rng_legacy cimport ep_legacy_next32, ep_mt19937_seed
from envpool.vizdoom.envs cimport (
    AUTOMAP, DEPTH, LABELS, MAX_ARGUMENTS, MAX_INFOS, MAX_VARIABLES, SCREEN, TIC, TIC_AND_UPDATE, UPDATE, Config,
    Engine, Env, Envs, await_answer, begin_start, create, destroy, finish_start, input_of, is_alive, is_game_over,
    is_running, is_time_up, new_resizer, region_of, restart_map, send, state_of,
)
from envpool.vizdoom.rewards cimport scenario_reward, start_values, update_values

from envpool.native import Field, define

LIMITS = {"variables": MAX_VARIABLES, "infos": MAX_INFOS, "arguments": MAX_ARGUMENTS - 5}
REGIONS = {"screen": SCREEN, "depth": DEPTH, "labels": LABELS, "automap": AUTOMAP}

cdef enum:
    NO_ENGINE = 1               # error code: the engine failed, see Engine.text
    NO_MEMORY = 2               # error code: out of memory while rendering


cdef int seed_many(void* state, const envpool_seeds* seeds) noexcept nogil:
    cdef Envs* s = <Envs*>state
    cdef int32_t i
    for i in range(seeds.n):
        ep_mt19937_seed(&s.env[seeds.ids[i]].rng, <uint32_t>seeds.seeds[i])
        s.env[seeds.ids[i]].is_fresh = True
    return 0


# ---- results of a step -----------------------------------------------------------------------------------------------


cdef void push_frame(Envs* s, Env* env) noexcept nogil:
    """Resize the buffers of the engine and append them to the ring buffer of frames."""
    cdef const uint8_t* source
    cdef uint8_t* to
    cdef int32_t g, _p, y, x
    env.newest = (env.newest + 1) % s.config.stack_num
    env.num_frames = min(env.num_frames + 1, s.config.stack_num)
    to = env.frames + env.newest * s.num_planes * s.plane
    for g in range(s.config.num_groups):
        source = region_of(&env.engine, s.config.groups[g].region)
        for _p in range(s.config.groups[g].num_planes):
            if s.config.groups[g].is_labels:        # the nearest pixel
                for y in range(s.config.height):
                    for x in range(s.config.width):
                        to[y * s.config.width + x] = source[
                            y * s.config.screen_height // s.config.height * s.config.screen_width
                            + x * s.config.screen_width // s.config.width
                        ]
            else:
                s.resizer.run(source, to)
            source += s.pixels
            to += s.plane


cdef void end_step(Envs* s, Env* env) noexcept nogil:
    cdef float reward = update_values(s, env)
    env.reward = scenario_reward(s, env) if s.config.scenario_reward else reward
    env.last_tic = env.engine.last_tic
    env.map_reward = state_of(&env.engine).map_reward
    env.is_over = is_game_over(&env.engine)
    env.is_time_up = not env.is_over and is_time_up(&env.engine)
    if not env.is_over and not env.is_time_up:      # as in EnvPool, the last frame is shown again: vizdoom has no other
        push_frame(s, env)


# ---- tics ------------------------------------------------------------------------------------------------------------


cdef inline bint can_continue(const Engine* e) noexcept nogil:
    return not is_game_over(e) and not is_time_up(e)


cdef inline bint request_tic(Env* env, bint is_last) noexcept nogil:
    env.engine.last_tic = state_of(&env.engine).map_tic + 1
    return send(&env.engine, TIC_AND_UPDATE if is_last else TIC)


cdef bint finish_tic(Envs* s, Env* env, bint is_last, bint* continues) noexcept nogil:
    """Wait for the tic that was requested. Return False if the engine failed."""
    continues[0] = False
    if not await_answer(&env.engine, s.launch.patience):
        return False
    if not is_last and not can_continue(&env.engine):
        return send(&env.engine, UPDATE) and await_answer(&env.engine, s.launch.patience)
    continues[0] = not is_last
    return True


cdef void press(Envs* s, Env* env, const double* action) noexcept nogil:
    """Set the buttons, where NULL releases all of them."""
    cdef int32_t i
    for i in range(s.config.num_buttons):
        input_of(&env.engine).button[s.config.buttons[i]] = 0 if action == NULL else action[i]


# ---- resets ----------------------------------------------------------------------------------------------------------


cdef bint begin_reset(Envs* s, Env* env) noexcept nogil:
    """Start an engine if one is needed. Return whether that succeeded.

    A multiplayer game carries some of its state over from one map to the next, so a seed starts another engine there.
    """
    cdef bint is_kept = is_alive(&env.engine) and not (env.is_fresh and state_of(&env.engine).is_multiplayer)
    if is_kept and is_running(&env.engine.process):
        return True
    return begin_start(&env.engine, &s.launch, ep_legacy_next32(&env.rng))


cdef bint continue_game(Envs* s, Env* env) noexcept nogil:
    """Begin an episode within a game: one step in which no button is pressed."""
    cdef int32_t t
    cdef bint continues = True
    env.steps += 1
    press(s, env, s.actions if s.config.num_actions > 0 else NULL)
    for t in range(s.config.frame_skip):
        if not continues:
            break
        if not request_tic(env, t == s.config.frame_skip - 1):
            return False
        if not finish_tic(s, env, t == s.config.frame_skip - 1, &continues):
            return False
    return True


cdef bint finish_reset(Envs* s, Env* env, int32_t id) noexcept nogil:
    """Start an episode. Return False if the engine failed."""
    cdef char recording[512]
    cdef Engine* e = &env.engine
    cdef uint32_t seed
    cdef bint continues = s.config.episodic_life and not env.is_fresh and env.steps < s.config.max_episode_steps
    if e.memory == NULL:
        if not finish_start(e, &s.launch, s.is_available):
            return False
        env.episodes += 1
        env.steps = 0
    elif continues and can_continue(e):
        if not continue_game(s, env):
            return False
    else:
        recording[0] = 0
        if s.recordings[0]:
            snprintf(recording, sizeof(recording), "%s%d_%d.lmp", s.recordings, <int>id, <int>env.episodes)
        seed = ep_legacy_next32(&env.rng)
        if not restart_map(e, &s.launch, seed, recording):      # it may have ended since the last step: start another
            if not begin_start(e, &s.launch, seed) or not finish_start(e, &s.launch, s.is_available):
                return False
        env.episodes += 1
        env.steps = 0
    env.is_fresh = env.is_over = env.is_time_up = False
    env.num_frames = 0
    env.last_tic = e.last_tic
    env.map_reward = state_of(e).map_reward
    start_values(s, env)
    push_frame(s, env)
    return True


cdef int reset_all(Envs* s, const envpool_batch* b) noexcept nogil:
    """Reset the envs of a batch that are to be reset. All engines that are needed are started before the first wait."""
    cdef int32_t k, i
    cdef int failed = 0
    for k in range(b.num_resets):
        if not begin_reset(s, &s.env[b.ids[b.resets[k]]]):
            b.errors[b.resets[k]] = NO_ENGINE
            failed = 1
    for k in range(b.num_resets):
        i = b.resets[k]
        if b.errors[i] == 0 and not finish_reset(s, &s.env[b.ids[i]], b.ids[i]):
            b.errors[i] = NO_ENGINE
            failed = 1
    return failed


# ---- the ABI ---------------------------------------------------------------------------------------------------------


cdef int step_many(void* state, const envpool_batch* b) noexcept nogil:
    cdef Envs* s = <Envs*>state
    cdef Env* env
    cdef uint8_t active[ENVPOOL_MAX_BATCH]
    cdef int32_t i, t, last = s.config.frame_skip - 1
    cdef int failed = reset_all(s, b)
    cdef bint continues
    for i in range(b.n):
        active[i] = False
        env = &s.env[b.ids[i]]
        if b.reset[i]:
            continue
        if not is_alive(&env.engine):
            b.errors[i] = NO_ENGINE
            failed = 1
            continue
        if s.config.num_actions > 0:
            press(s, env, s.actions + (<const int32_t*>b.actions[0])[b.ids[i]] * s.config.num_buttons)
        else:
            press(s, env, <const double*>b.actions[0] + b.ids[i] * s.config.num_buttons)
        active[i] = can_continue(&env.engine)
    for t in range(last + 1):
        for i in range(b.n):
            if active[i] and not request_tic(&s.env[b.ids[i]], t == last):
                active[i] = False
                b.errors[i] = NO_ENGINE
                failed = 1
        continues = False
        for i in range(b.n):
            if not active[i]:
                continue
            if not finish_tic(s, &s.env[b.ids[i]], t == last, &continues):
                b.errors[i] = NO_ENGINE
                failed = 1
            active[i] = continues
    for i in range(b.n):
        if b.reset[i] or b.errors[i] != 0:
            continue
        env = &s.env[b.ids[i]]
        env.steps += 1
        end_step(s, env)
        b.reward[i] = env.reward
        b.terminated[i] = env.is_over
        b.truncated[i] = env.is_time_up
        if s.config.episodic_life:          # the pool only counts the steps of the current life
            b.terminated[i] = env.is_over or state_of(&env.engine).is_dead
            b.truncated[i] |= env.steps >= s.config.max_episode_steps
    return failed


cdef void write_many(void* state, const envpool_rows* rows) noexcept nogil:
    cdef Envs* s = <Envs*>state
    cdef Config* c = &s.config
    cdef Env* env
    cdef uint8_t* to
    cdef const uint8_t* frame
    cdef size_t size, offset
    cdef int32_t i, g, age
    for i in range(rows.n):
        env = &s.env[rows.ids[i]]
        offset = 0
        for g in range(c.num_groups):
            size = c.groups[g].num_planes * s.plane
            to = <uint8_t*>rows.fields[g] + (rows.row0 + i) * c.stack_num * size
            for age in range(c.stack_num - 1, -1, -1):      # before the first frame of an episode, it is repeated
                frame = env.frames + (
                    (env.newest - min(age, env.num_frames - 1) + c.stack_num) % c.stack_num * s.num_planes * s.plane
                )
                memcpy(to, frame + offset, size)
                to += size
            offset += size
        for g in range(c.num_infos):
            (<double*>rows.fields[c.num_groups + g])[rows.row0 + i] = env.value[c.infos[g]]


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
    cdef uint8_t* scratch = <uint8_t*>malloc(n)
    cdef int32_t i
    cdef int status = 0
    if f.height != s.config.screen_height or f.width != s.config.screen_width:
        resizer = new_resizer(s.config.screen_height, s.config.screen_width, f.height, f.width, True)
        status = NO_MEMORY if resizer == NULL else 0
    if scratch == NULL:
        status = NO_MEMORY
    for i in range(f.n if status == 0 else 0):
        if s.env[f.ids[i]].engine.memory == NULL:   # its engine could not be started
            memset(f.pixels + 3 * n * i, 0, 3 * n)
        else:
            draw(s, &s.env[f.ids[i]], resizer, scratch, f.pixels + 3 * n * i, n)
    free(scratch)
    del resizer
    return status


cdef void error_text(void* state, int32_t id, int32_t code, char* text, size_t size) noexcept nogil:
    if code == NO_ENGINE:
        snprintf(text, size, "%s", (<Envs*>state).env[id].engine.text)
    else:
        snprintf(text, size, "out of memory while rendering a frame; use a smaller frame size")


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
    prefix = "obs:" if len(groups) > 1 else "obs"
    fields = [
        Field(prefix + (name if len(groups) > 1 else ""), np.uint8, (c.stack_num * planes, *size), 0, 255)
        for name, planes in groups
    ]
    fields += [Field(f"info:{name}", np.float64, (-1,)) for name in arrays]
    if c.num_actions > 0:
        action = Field("action", np.int32, (), 0, c.num_actions - 1)
    else:
        action = Field("action", np.float64, (c.num_buttons,))
    template = PyCapsule_New(&ENV_DEF, ENVPOOL_CAPSULE_NAME, NULL)
    config_bytes = (<const char*>&c)[:sizeof(Config)] + actions.tobytes() + b"".join(t + b"\0" for t in strings)
    return define(template, fields, [action], config_bytes, frame_size=(c.screen_height, c.screen_width))
