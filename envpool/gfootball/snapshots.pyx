# optimize: -Og
"""Saving, restoring and copying games.

A snapshot is what the engine writes, which contains the `Memory` of the game. The engine refuses bytes that it has not
written; the checks here cover the memory, and that both belong to a scenario of the pool.
"""

from libc.math cimport isfinite
from libc.stddef cimport size_t
from libc.stdint cimport int32_t, int64_t
from libc.string cimport memcpy

from envpool.env cimport (
    ENVPOOL_BAD_SNAPSHOT, ENVPOOL_NO_MEMORY, envpool_copies, envpool_env, envpool_snapshots,
)
from envpool.gfootball.episodes cimport NO_ENGINE, fail, need_engine
from envpool.gfootball.library cimport (
    FOOTBALL_PENALTY, football_game, football_info, football_scenario, free_game, get_scenario, load_game, new_game,
    read_info, save_game,
)
from envpool.gfootball.structs cimport (
    CHECKPOINTS, MAX_PLAYERS, NUM_PARAMS, STACK, Config, Envs, Game, Memory, View, config_of, game_of,
)
from envpool.numerics.rng_legacy cimport ep_mt19937_is_valid
from envpool.replay cimport envpool_copy_through_snapshots

cdef enum:
    MAX_BYTES = 1 << 24         # of a snapshot
    MAX_GOALS = 1_000_000


# ---- checks ----------------------------------------------------------------------------------------------------------


cdef bint are_finite(const float* values, int32_t count) noexcept nogil:
    cdef int32_t i
    for i in range(count):
        if not isfinite(values[i]):
            return False
    return True


cdef bint is_valid_view(const View* v) noexcept nogil:
    cdef int32_t team, i
    for team in range(2):
        if not 1 <= v.sizes[team] <= 11:
            return False
        for i in range(11):
            if not -1 <= v.controlled[team][i] < v.sizes[team]:
                return False
        if not are_finite(v.positions[team][0], 2 * v.sizes[team]):
            return False
        if not are_finite(v.directions[team][0], 2 * v.sizes[team]):
            return False
    return (
        -1 <= v.owned_team <= 1 and 0 <= v.game_mode <= FOOTBALL_PENALTY and are_finite(v.ball, 3)
        and are_finite(v.ball_direction, 3)
    )


cdef bint is_valid_memory(const Memory* m) noexcept nogil:
    cdef int32_t i
    if not ep_mt19937_is_valid(&m.rng) or m.episode < 1 or not 0 <= m.is_reversed <= 1:
        return False
    for i in range(NUM_PARAMS):
        if not 0 <= m.params[i] <= 1:
            return False
    if not 0 <= m.waiting <= MAX_GOALS or not -1 <= m.previous_owner <= 1:
        return False
    if not -MAX_GOALS <= m.difference <= MAX_GOALS or not -MAX_GOALS <= m.score_reward <= MAX_GOALS:
        return False
    if not -1 <= m.previous_mode <= FOOTBALL_PENALTY or not 0 <= m.newest < STACK:
        return False
    for i in range(MAX_PLAYERS):
        if not 0 <= m.checkpoints[i] <= CHECKPOINTS:
            return False
    for i in range(STACK):
        if not is_valid_view(&m.views[i]):
            return False
    return True


cdef bint is_of(const football_scenario* a, const football_scenario* b) noexcept nogil:
    """Return whether two scenarios have the same teams and rules; seeds and difficulties may differ."""
    cdef int32_t team
    for team in range(2):
        if a.sizes[team] != b.sizes[team] or a.agents[team] != b.agents[team]:
            return False
    return (
        a.game_duration == b.game_duration and a.second_half == b.second_half
        and a.physics_steps_per_frame == b.physics_steps_per_frame and a.use_magnet == b.use_magnet
        and a.offsides == b.offsides and a.deterministic == b.deterministic
        and a.control_all_players == b.control_all_players
    )


cdef int load(football_game* engine, const Config* c, const void* data, int64_t size, Memory* memory,
              football_info* info) noexcept nogil:
    """Restore an engine, and write what was saved with it. Return an error code."""
    cdef football_scenario scenario
    cdef int32_t team
    if not 0 < size <= MAX_BYTES or load_game(engine, data, <size_t>size, memory, sizeof(Memory)):
        return ENVPOOL_BAD_SNAPSHOT
    if not is_valid_memory(memory) or get_scenario(engine, &scenario) or read_info(engine, info):
        return ENVPOOL_BAD_SNAPSHOT
    if not is_of(&scenario, &c.variants[(memory.episode - 1) % c.num_variants]) or not info.is_in_play:
        return ENVPOOL_BAD_SNAPSHOT
    for team in range(2):
        if info.sizes[team] != scenario.sizes[team] or memory.views[memory.newest].sizes[team] != info.sizes[team]:
            return ENVPOOL_BAD_SNAPSHOT
    return 0


# ---- the functions of the definition ---------------------------------------------------------------------------------


cdef int64_t state_size(void* state) noexcept nogil:
    return MAX_BYTES


cdef int64_t snapshot_size(void* state, int32_t id) noexcept nogil:
    cdef Game* g = game_of(state, id)
    cdef size_t size = 0
    if g.engine != NULL:
        save_game(g.engine, &g.memory, sizeof(Memory), NULL, &size)
    return min(<int64_t>size, <int64_t>MAX_BYTES)


cdef int get_state(void* state, const envpool_snapshots* snapshots) noexcept nogil:
    cdef Envs* s = <Envs*>state
    cdef Game* g
    cdef size_t size
    cdef int32_t i, k
    cdef int status = 0
    for i in range(snapshots.n):
        g = game_of(state, snapshots.ids[i])
        for k in range(NUM_PARAMS):
            g.memory.params[k] = s.params[k][snapshots.ids[i]]
        size = <size_t>snapshot_size(state, snapshots.ids[i])
        if g.engine == NULL or save_game(g.engine, &g.memory, sizeof(Memory), snapshots.bytes[i], &size):
            status = snapshots.errors[i] = ENVPOOL_NO_MEMORY
            size = 0
        snapshots.sizes[i] = <int64_t>size
    return status


cdef int check_all(Envs* s, const envpool_snapshots* snapshots) noexcept nogil:
    """Try snapshots on a game of no env."""
    cdef football_game* engine = new_game(s.data)
    cdef football_info info
    cdef Memory memory
    cdef int32_t i
    cdef int status = 0
    if engine == NULL:
        return ENVPOOL_NO_MEMORY
    for i in range(snapshots.n):
        snapshots.errors[i] = load(engine, config_of(s), snapshots.bytes[i], snapshots.sizes[i], &memory, &info)
        status |= snapshots.errors[i]
    free_game(engine)
    return status


cdef int set_state(void* state, const envpool_snapshots* snapshots) noexcept nogil:
    cdef Envs* s = <Envs*>state
    cdef Memory memory
    cdef Game* g
    cdef int32_t i, k, id
    cdef int code, status = 0
    if snapshots.only_checks:
        return check_all(s, snapshots)
    for i in range(snapshots.n):
        id = snapshots.ids[i]
        g = game_of(state, id)
        code = need_engine(s, g)
        if code == 0:
            code = load(g.engine, config_of(state), snapshots.bytes[i], snapshots.sizes[i], &memory, &g.info)
        if code:
            status = snapshots.errors[i] = fail(g, NO_ENGINE) if g.engine != NULL else code
            continue
        memcpy(&g.memory, &memory, sizeof(Memory))
        for k in range(NUM_PARAMS):
            s.params[k][id] = memory.params[k]
    return status


cdef int copy_state(void* state, const envpool_copies* copies) noexcept nogil:
    return envpool_copy_through_snapshots(state, copies, snapshot_size, get_state, set_state)


cdef void with_snapshots(envpool_env* env_def) noexcept:
    env_def.state_size, env_def.snapshot_size = state_size, snapshot_size
    env_def.get_state, env_def.set_state, env_def.copy_state = get_state, set_state, copy_state
