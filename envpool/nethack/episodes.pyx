# optimize: -Og
"""Games as episodes: resets and steps, which record what is needed to play the same game again."""

from libc.stdint cimport int32_t, uint8_t, uint64_t
from libc.string cimport memcpy, memset

from envpool.env cimport envpool_batch
from envpool.nethack.game cimport press, quit_game, skip_prompts, start
from envpool.nethack.structs cimport (
    ABORTED, ASCENDED, Config, DEATH, Env, GAME_IS_OVER, HAS_BONES, NOT_STARTED, NO_SCORES, WIZKIT_BYTES,
    program_state_of,
)
from envpool.nethack.tasks cimport end_status, note_before_step, reward_of, should_abort
from envpool.numerics.rng cimport ep_next64
from envpool.replay cimport envpool_history_add_number, envpool_history_clear

cdef extern from "envpool/nethack/scores.h" nogil:
    int nh_read_scores(const char* folder, char* text)
    bint nh_has_bones(const char* folder)


cdef void note_start(Env* env) noexcept nogil:
    """Records what the next game is started from."""
    cdef int size = nh_read_scores(env.game.folder, env.start.scores)
    env.start.rng = env.rng
    env.start.num_frozen = env.num_frozen
    env.start.scores_bytes = max(size, 0)
    env.start.problem = NO_SCORES if size < 0 else HAS_BONES if nh_has_bones(env.game.folder) else 0
    envpool_history_clear(&env.history)


cdef void note_info(Env* env, int status) noexcept nogil:
    env.end_status = status
    env.is_ascended = env.game.exchange.how_done == ASCENDED


cdef int reset(Env* env, const Config* config) noexcept nogil:
    cdef uint64_t core, disp
    cdef int32_t _k
    cdef int failure = NOT_STARTED
    note_start(env)
    memcpy(env.start.wizkit, env.wizkit, WIZKIT_BYTES)
    memcpy(env.game.settings.wizkit, env.wizkit, WIZKIT_BYTES)
    memset(env.wizkit, 0, WIZKIT_BYTES)
    for _k in range(MAX_STARTS):
        if failure == NOT_STARTED:
            core = ep_next64(&env.rng) >> 1
            disp = ep_next64(&env.rng) >> 1
            failure = start(&env.game, core, disp)
    if failure:
        return failure
    env.num_steps = 0
    env.has_idle_turn = False
    env.num_idle = 0
    memset(env.explored, 0, sizeof(env.explored))
    note_info(env, ABORTED if should_abort(env, config) else end_status(env, config))
    return 0


cdef int step(Env* env, const Config* config, int32_t key, float* reward, uint8_t* terminated,
              uint8_t* truncated) noexcept nogil:
    cdef int failure, status
    note_before_step(env)
    failure = press(&env.game, key)
    if failure:
        return failure
    truncated[0] = should_abort(env, config)
    if program_state_of(&env.game)[GAME_IS_OVER] == 1 or not config.allow_all_modes:
        failure = skip_prompts(&env.game, config, True)
        if failure:
            return failure
    env.num_steps += 1
    status = ABORTED if should_abort(env, config) else end_status(env, config)
    if env.game.exchange.done:
        status = DEATH
    env.end_status = status
    reward[0] = <float>reward_of(env, config)
    terminated[0] = status != 0
    if status and not env.game.exchange.done:
        failure = quit_game(&env.game, config)
    note_info(env, status)
    return failure


cdef int step_many(void* state, const envpool_batch* b) noexcept nogil:
    cdef const Config* config = config_of(state)
    cdef const int32_t* actions = <const int32_t*>b.actions[0]
    cdef Env* env
    cdef int32_t i
    cdef int status = 0
    for i in range(b.n):
        env = env_of(state, b.ids[i])
        if b.reset[i]:
            b.errors[i] = reset(env, config)
        else:
            envpool_history_add_number(&env.history, actions[b.ids[i]], row_bytes(config))
            b.errors[i] = step(
                env, config, config.keys[actions[b.ids[i]]], &b.reward[i], &b.terminated[i], &b.truncated[i]
            )
        status |= b.errors[i]
    return status
