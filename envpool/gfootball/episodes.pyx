# optimize: -Og
"""Games as episodes: seeds, resets, steps and rewards.

Upstream: ``football_env_core.FootballEnvCore`` and ``football_env.FootballEnv`` of gfootball 2.10.2, made by
``create_environment``. There, episodes draw their seeds from Python's global generator; here, each env has a generator
of its own that draws the same numbers.
"""

from libc.math cimport pow
from libc.stdint cimport int32_t, int64_t, uint32_t
from libc.string cimport memcpy, memset, strncpy

from envpool.env cimport envpool_batch, envpool_seeds, envpool_setup
from envpool.gfootball.library cimport (
    FOOTBALL_IDLE, FOOTBALL_LEFT, FOOTBALL_NORMAL, FOOTBALL_RIGHT, FOOTBALL_SHORT_PASS, act, advance, close_data,
    football_data, football_info, football_scenario, free_game, last_error, new_game, open_data, read_info, reset_game,
)
from envpool.gfootball.structs cimport CHECKPOINTS, NUM_PARAMS, Config, Envs, Game, config_of, game_of
from envpool.gfootball.views cimport note_view, repeat_view, turned_direction, turned_team
from envpool.numerics.rng_legacy cimport ep_legacy_next32, ep_mt19937, ep_mt19937_seed_words
from envpool.scaffold cimport envpool_finish_state, envpool_free_state, envpool_new_params, envpool_new_state

cdef enum:
    LARGEST_SEED = 2_000_000_000    # that an episode draws
    MAX_WAIT = 3000                 # steps of the engine in one step of an env; a pause in the game takes about 100
    WAITS = 20                      # steps out of play after which the ball is put into play
    TURNS = 30


# ---- the state of a pool ---------------------------------------------------------------------------------------------


cdef int create(const envpool_setup* setup, void** state) noexcept nogil:
    cdef Envs* s
    cdef football_data* data = open_data()          # the data of the extension
    if data == NULL:
        strncpy(setup.text, last_error(), setup.text_size - 1)
        return NO_ENGINE
    s = <Envs*>envpool_new_state(setup, sizeof(Envs), sizeof(Game))
    if s != NULL:
        s.data = data
        envpool_new_params(s, s.params, (<const Config*>setup.config).params, NUM_PARAMS)
        if not s.head.has_failed:
            return envpool_finish_state(s, state)
    close_data(data)
    return envpool_finish_state(s, state)


cdef void destroy(void* state) noexcept nogil:
    cdef Envs* s = <Envs*>state
    cdef int32_t i
    for i in range(s.head.num_envs):
        free_game(game_of(s, i).engine)
    close_data(s.data)
    envpool_free_state(state)


cdef int fail(Game* g, int code) noexcept nogil:
    if code == NO_ENGINE:
        strncpy(g.text, last_error(), sizeof(g.text) - 1)
    else:
        strncpy(g.text, b"the ball does not come into play again", sizeof(g.text) - 1)
    free_game(g.engine)
    g.engine = NULL
    return code


cdef int need_engine(Envs* s, Game* g) noexcept nogil:
    if g.engine == NULL:
        g.engine = new_game(s.data)
    return fail(g, NO_ENGINE) if g.engine == NULL else 0


# ---- seeds -----------------------------------------------------------------------------------------------------------


cdef uint32_t draw_seed(ep_mt19937* rng) noexcept nogil:
    """Return Python's ``random.randint(0, 2000000000)``."""
    cdef uint32_t seed = LARGEST_SEED + 1
    while seed > LARGEST_SEED:
        seed = ep_legacy_next32(rng) >> 1
    return seed


cdef int seed_many(void* state, const envpool_seeds* seeds) noexcept nogil:
    """Seed generators, and draw what upstream draws before the first episode.

    ``create_environment`` draws a seed for a scenario that it only looks at, one for a configuration, whose parity
    decides about all episodes, and one for the constructor's episode, whose number is 1.
    """
    cdef const Config* c = config_of(state)
    cdef Game* g
    cdef uint32_t words[2]
    cdef int32_t i
    for i in range(seeds.n):
        g = game_of(state, seeds.ids[i])
        words[0], words[1] = <uint32_t>seeds.seeds[i], <uint32_t>(seeds.seeds[i] >> 32)
        ep_mt19937_seed_words(&g.memory.rng, words, 1 if words[1] == 0 else 2)
        draw_seed(&g.memory.rng)
        g.memory.is_reversed = (draw_seed(&g.memory.rng) if c.seed < 0 else <uint32_t>c.seed) % 2
        draw_seed(&g.memory.rng)
        g.memory.episode = 1
    return 0


# ---- resets ----------------------------------------------------------------------------------------------------------


cdef int wait(Game* g) noexcept nogil:
    """Advance the engine until the ball is in play. Return an error code."""
    cdef int32_t _k
    for _k in range(MAX_WAIT):
        if advance(g.engine) or read_info(g.engine, &g.info):
            return fail(g, NO_ENGINE)
        if g.info.is_in_play:
            return 0
    return fail(g, STUCK)


cdef int start_episode(Envs* s, Game* g, int32_t id) noexcept nogil:
    """Start an episode, and return an error code."""
    cdef const Config* c = config_of(s)
    cdef football_scenario scenario
    cdef int32_t k, code = need_engine(s, g)
    if code:
        return code
    g.memory.episode += 1
    if g.memory.episode < 0:            # after 2**31 episodes
        g.memory.episode = 1
    g.memory.seed = draw_seed(&g.memory.rng) if c.seed < 0 else <uint32_t>c.seed
    memcpy(&scenario, &c.variants[(g.memory.episode - 1) % c.num_variants], sizeof(scenario))
    if scenario.deterministic:
        g.memory.seed = scenario.seed
    else:
        scenario.seed = g.memory.seed
        scenario.reverse_team_processing = g.memory.is_reversed
    for k in range(NUM_PARAMS):
        scenario.difficulty[k] = <float>s.params[k][id]
    g.memory.waiting = g.memory.difference = g.memory.score_reward = 0
    g.memory.previous_mode = g.memory.previous_owner = -1
    memset(g.memory.checkpoints, 0, sizeof(g.memory.checkpoints))
    if reset_game(g.engine, &scenario) or read_info(g.engine, &g.info):
        return fail(g, NO_ENGINE)
    if not g.info.is_in_play:
        code = wait(g)
        if code:
            return code
    note_view(g)
    repeat_view(g)
    return 0


# ---- steps -----------------------------------------------------------------------------------------------------------


cdef inline int32_t chosen(const Game* g, const Config* c, int32_t team, int32_t agent, int32_t action) noexcept nogil:
    """Return the action of the engine for an agent: once the game has stood still for long, it is put into play."""
    cdef const football_info* info = &g.info
    if g.memory.waiting == WAITS:
        return FOOTBALL_SHORT_PASS
    if g.memory.waiting > WAITS:
        if info.ball_owned_team == team and info.controlled[team][agent] == info.ball_owned_player:
            return FOOTBALL_LEFT if (g.memory.waiting < TURNS) != (team == 0) else FOOTBALL_RIGHT
        return FOOTBALL_IDLE
    return turned_direction(c.actions[action]) if team == 1 else c.actions[action]


cdef inline int act_all(Game* g, const Config* c, const int32_t* actions) noexcept nogil:
    cdef int32_t team, agent
    for team in range(2):
        for agent in range(c.agents[team]):
            if act(g.engine, team, agent, chosen(g, c, team, agent, actions[0])):
                return fail(g, NO_ENGINE)
            actions += 1
    return 0


cdef inline bint ends(Game* g, const football_scenario* rules) noexcept nogil:
    """Return whether a rule of the scenario ends the episode, and note what the next step needs to know."""
    cdef const football_info* info = &g.info
    cdef bint over = rules.end_episode_on_score and (info.goals[0] > 0 or info.goals[1] > 0)
    if (
        rules.end_episode_on_out_of_play and info.game_mode != FOOTBALL_NORMAL
        and g.memory.previous_mode == FOOTBALL_NORMAL
    ):
        over = True
    g.memory.previous_mode = info.game_mode
    if (
        rules.end_episode_on_possession_change and info.ball_owned_team != -1 and g.memory.previous_owner != -1
        and info.ball_owned_team != g.memory.previous_owner
    ):
        over = True
    if info.ball_owned_team != -1:
        g.memory.previous_owner = info.ball_owned_team
    return over


cdef inline float with_checkpoints(Game* g, int32_t team, int32_t agent, int32_t* collected,
                                   float reward) noexcept nogil:
    """Return a reward with that for bringing the ball closer to the goal, in the precision of upstream's wrapper."""
    cdef const football_info* info = &g.info
    cdef double x, y, distance
    if reward == 1:
        reward += <float>(0.1 * (CHECKPOINTS - collected[0]))
        collected[0] = CHECKPOINTS
        return reward
    if turned_team(info.ball_owned_team, team) != 0 or info.ball_owned_player != info.controlled[team][agent]:
        return reward
    x, y = -info.ball[0] if team == 1 else info.ball[0], info.ball[1]
    distance = pow(pow(x - 1, 2) + pow(y, 2), 0.5)
    while collected[0] < CHECKPOINTS and distance <= 0.99 - 0.8 / (CHECKPOINTS - 1) * collected[0]:
        reward += <float>0.1
        collected[0] += 1
    return reward


cdef inline void reward_all(Game* g, const Config* c, float* rewards) noexcept nogil:
    cdef int32_t team, agent, k = 0, difference = g.info.goals[0] - g.info.goals[1]
    g.memory.score_reward = difference - g.memory.difference
    g.memory.difference = difference
    for team in range(2):
        for agent in range(c.agents[team]):
            rewards[k] = <float>(-g.memory.score_reward if team == 1 else g.memory.score_reward)
            if c.has_checkpoints:
                rewards[k] = with_checkpoints(g, team, agent, &g.memory.checkpoints[k], rewards[k])
            k += 1


cdef int32_t steps_left(const Envs* s, const Game* g) noexcept nogil:
    return max(0, config_of(<void*>s).duration - g.info.step)


cdef int step_many(void* state, const envpool_batch* b) noexcept nogil:
    cdef Envs* s = <Envs*>state
    cdef const Config* c = config_of(state)
    cdef const football_scenario* rules
    cdef Game* g
    cdef int64_t row
    cdef int32_t i, id
    cdef int code, status = 0
    for i in range(b.n):
        id = b.ids[i]
        g = game_of(state, id)
        row = <int64_t>id * c.num_players
        if b.reset[i]:
            code = start_episode(s, g, id)
        else:
            code = act_all(g, c, <const int32_t*>b.actions[0] + row)
            if code == 0:
                code = wait(g)
        if code:
            status = b.errors[i] = code
            continue
        if b.reset[i]:
            continue
        rules = &c.variants[(g.memory.episode - 1) % c.num_variants]
        b.terminated[i] = ends(g, rules)
        reward_all(g, c, b.player_reward + row if c.num_players > 1 else b.reward + i)
        g.memory.waiting = 0 if g.info.game_mode == FOOTBALL_NORMAL else g.memory.waiting + 1
        if c.is_limited and g.info.step >= c.duration:
            b.truncated[i] = True
        note_view(g)
    return status
