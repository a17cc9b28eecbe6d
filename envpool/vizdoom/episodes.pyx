# distutils: language = c++
# optimize: -Og
"""Games as episodes: resets, steps and their results, which record what is needed to play the same game again.

Episodes, tics and seeds follow ``vizdoom.DoomGame``: the engines get the same requests in the same order. While one
engine simulates a tic, the thread asks the other engines of its chunk to do the same.

An env with players has an engine, and an Env, for each of them; `env` is the Env of the first one, which has what
belongs to all of them.
"""

from libc.stdint cimport int32_t, int64_t, uint8_t
from libc.stdio cimport snprintf

from envpool.env cimport ENVPOOL_MAX_BATCH, ENVPOOL_NEW_GAME, envpool_batch
from envpool.numerics.rng_legacy cimport ep_legacy_next32, ep_mt19937
from envpool.replay cimport envpool_history_clear
from envpool.vizdoom.envs cimport (
    MAX_PLAYERS, NO_ENGINE, TIC, TIC_AND_UPDATE, UPDATE, Engine, Env, Envs, await_answer, await_seats, begin_seats,
    begin_start, finish_recording, finish_seats, finish_start, input_of, is_alive, is_game_over, is_running, is_time_up,
    region_of, request_tics, restart_map, restart_seats, seats_of, send, state_of, update_seats,
)
from envpool.vizdoom.rewards cimport scenario_reward, start_values, update_values
from envpool.vizdoom.rows cimport note_action, note_reset


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


cdef inline bint request_tic(Envs* s, Env* env, bint is_last) noexcept nogil:
    cdef Engine* seats[MAX_PLAYERS]
    if s.config.num_players > 1:
        return request_tics(
            seats, seats_of(env, &s.config, seats), TIC_AND_UPDATE if is_last else TIC, s.launch.patience
        )
    env.engine.last_tic = state_of(&env.engine).map_tic + 1
    return send(&env.engine, TIC_AND_UPDATE if is_last else TIC)


cdef bint finish_tic(Envs* s, Env* env, bint is_last, bint* continues) noexcept nogil:
    """Wait for the tic that was requested. Return False if the engine failed."""
    cdef Engine* seats[MAX_PLAYERS]
    cdef int32_t n
    continues[0] = False
    if s.config.num_players > 1:
        n = seats_of(env, &s.config, seats)
        if not await_seats(seats, n, s.launch.patience):
            return False
        if not is_last and not can_continue(&env.engine):
            return update_seats(seats, n, s.launch.patience)
        continues[0] = not is_last
        return True
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


cdef void note_start(Env* env) noexcept nogil:
    """Record what the next engine is started from: the generator that draws the seeds of its games.

    Some pixels depend on the earlier games of an engine, such as the pixels of smoke, of the automap after a
    reset, and of the weapon, which continues to bob. Therefore a history begins with the engine.
    """
    env.start = env.rng
    env.is_reseeded = False
    envpool_history_clear(&env.history)


cdef bint begin_game(Envs* s, Env* env) noexcept nogil:
    """The begin_reset() of a game of several players."""
    cdef Engine* seats[MAX_PLAYERS]
    cdef int32_t p, n = seats_of(env, &s.config, seats)
    cdef bint is_kept = not env.is_fresh
    for p in range(n):
        is_kept = is_kept and is_alive(seats[p]) and is_running(&seats[p].process)
    if is_kept:
        return True
    env.seed = ep_legacy_next32(&env.rng)
    return begin_seats(seats, n, &s.launch, env.seed)


cdef bint begin_reset(Envs* s, Env* env) noexcept nogil:
    """Start an engine if one is needed. Return whether that succeeded.

    A multiplayer game carries some of its state over from one map to the next, so a seed starts another engine there.
    """
    cdef bint is_kept = is_alive(&env.engine) and not env.is_restored
    if s.config.num_players > 1:
        return begin_game(s, env)
    if is_kept and not (env.is_fresh and state_of(&env.engine).is_multiplayer) and is_running(&env.engine.process):
        return True
    finish_recording(&env.engine, &s.launch)
    note_start(env)
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
        if not request_tic(s, env, t == s.config.frame_skip - 1):
            return False
        if not finish_tic(s, env, t == s.config.frame_skip - 1, &continues):
            return False
    return True


cdef void start_episode(Envs* s, Env* env) noexcept nogil:
    """Set the state of a player at the start of an episode."""
    env.is_fresh = env.is_over = env.is_time_up = False
    env.is_restored = False
    env.num_frames = 0
    env.reward = 0
    env.last_tic = env.engine.last_tic
    env.map_reward = state_of(&env.engine).map_reward
    start_values(s, env)
    push_frame(s, env)


cdef bint finish_game(Envs* s, Env* env) noexcept nogil:
    """The finish_reset() of a game of several players."""
    cdef Engine* seats[MAX_PLAYERS]
    cdef int32_t p, n = seats_of(env, &s.config, seats)
    if env.engine.memory == NULL:
        if not finish_seats(seats, n, &s.launch, env.seed, s.is_available):
            return False
    elif not restart_seats(seats, n, &s.launch, ep_legacy_next32(&env.rng)):
        return False
    env.episodes += 1
    env.steps = 0
    for p in range(n):
        start_episode(s, env + p)
    return True


cdef bint finish_reset(Envs* s, Env* env, int32_t id, uint8_t how) noexcept nogil:
    """Start an episode. Return False if the engine failed.

    The game continues only after an episode has ended, unless the user gives it up: a reset in the middle of an episode
    gives it up, too. `how` is the value of envpool_batch.reset.
    """
    cdef char recording[512]
    cdef Engine* e = &env.engine
    cdef ep_mt19937 before
    cdef bint continues = (
        s.config.episodic_life and how != ENVPOOL_NEW_GAME and not env.is_fresh
        and env.steps < s.config.max_episode_steps
    )
    if s.config.num_players > 1:
        return finish_game(s, env)
    if e.memory == NULL:
        if not finish_start(e, &s.launch, s.is_available):
            return False
        env.episodes += 1
        env.steps = 0
    elif continues and can_continue(e) and (env.is_over or env.is_time_up or state_of(e).is_dead):
        note_reset(s, env, how)
        if not continue_game(s, env):
            return False
    else:
        recording[0] = 0
        if s.recordings[0]:
            snprintf(recording, sizeof(recording), "%s%d_%d.lmp", s.recordings, <int>id, <int>env.episodes)
        before = env.rng
        if env.is_fresh:
            env.is_reseeded = True
        note_reset(s, env, how)
        if not restart_map(e, &s.launch, ep_legacy_next32(&env.rng), recording):
            env.rng = before                            # the engine may have ended since the last step: start another
            note_start(env)
            if not begin_start(e, &s.launch, ep_legacy_next32(&env.rng)):
                return False
            if not finish_start(e, &s.launch, s.is_available):
                return False
        env.episodes += 1
        env.steps = 0
    start_episode(s, env)
    return True


cdef int reset_all(Envs* s, const envpool_batch* b) noexcept nogil:
    """Execute the resets of a batch. All engines that are needed are started before the first wait."""
    cdef int32_t k, i
    cdef int failed = 0
    for k in range(b.num_resets):
        if not begin_reset(s, &s.env[b.ids[b.resets[k]] * s.config.num_players]):
            b.errors[b.resets[k]] = NO_ENGINE
            failed = 1
    for k in range(b.num_resets):
        i = b.resets[k]
        if b.errors[i] == 0 and not finish_reset(s, &s.env[b.ids[i] * s.config.num_players], b.ids[i], b.reset[i]):
            b.errors[i] = NO_ENGINE
            failed = 1
    return failed


# ---- steps -----------------------------------------------------------------------------------------------------------


cdef int step_many(void* state, const envpool_batch* b) noexcept nogil:
    cdef Envs* s = <Envs*>state
    cdef Env* env
    cdef uint8_t active[ENVPOOL_MAX_BATCH]
    cdef int32_t i, p, t, last = s.config.frame_skip - 1, places = s.config.num_players
    cdef int64_t seat
    cdef int failed = reset_all(s, b)
    cdef bint continues
    for i in range(b.n):
        active[i] = False
        env = &s.env[b.ids[i] * places]
        if b.reset[i]:
            continue
        if not is_alive(&env.engine):
            b.errors[i] = NO_ENGINE
            failed = 1
            continue
        if places == 1:
            note_action(s, env, b, b.ids[i])
        for p in range(places):
            seat = <int64_t>b.ids[i] * places + p
            if s.config.num_actions > 0:
                press(s, env + p, s.actions + (<const int32_t*>b.actions[0])[seat] * s.config.num_buttons)
            else:
                press(s, env + p, <const double*>b.actions[0] + seat * s.config.num_buttons)
        active[i] = can_continue(&env.engine)
    for t in range(last + 1):
        for i in range(b.n):
            if active[i] and not request_tic(s, &s.env[b.ids[i] * places], t == last):
                active[i] = False
                b.errors[i] = NO_ENGINE
                failed = 1
        continues = False
        for i in range(b.n):
            if not active[i]:
                continue
            if not finish_tic(s, &s.env[b.ids[i] * places], t == last, &continues):
                b.errors[i] = NO_ENGINE
                failed = 1
            active[i] = continues
    for i in range(b.n):
        if b.reset[i] or b.errors[i] != 0:
            continue
        env = &s.env[b.ids[i] * places]
        env.steps += 1
        for p in range(places):
            end_step(s, env + p)
            if places > 1:
                b.player_reward[<int64_t>b.ids[i] * places + p] = env[p].reward
        b.reward[i] = env.reward
        b.terminated[i] = env.is_over
        b.truncated[i] = env.is_time_up
        if s.config.episodic_life:          # the pool only counts the steps of the current life
            b.terminated[i] = env.is_over or state_of(&env.engine).is_dead
            b.truncated[i] |= env.steps >= s.config.max_episode_steps
    return failed
