# distutils: language = c++
# optimize: -Og
"""Snapshots of games, which are in the memory of another process: what a game was started from, and the actions since.

A snapshot is a Head and the rows of the history (rows.pxd), which begins with the engine. Restoring starts another
engine and plays the same games again.
"""

from libc.stdint cimport int32_t, int64_t, uint8_t, uint64_t
from libc.string cimport memcpy

from envpool.env cimport (
    ENVPOOL_BAD_SNAPSHOT, ENVPOOL_NO_MEMORY, ENVPOOL_SLOW_SNAPSHOTS, envpool_copies, envpool_env, envpool_snapshots,
)
from envpool.numerics.rng_legacy cimport ep_mt19937, ep_mt19937_is_valid
from envpool.replay cimport (
    envpool_copy_through_snapshots, envpool_digest, envpool_replay, envpool_restore_by_replay, envpool_save_all,
)
from envpool.vizdoom.envs cimport (
    DIVERGED, HAS_PLAYERS, OTHER_SCENARIO, RESEEDED, SCREEN, TOO_LONG, Env, Envs, region_of, state_of,
)
from envpool.vizdoom.episodes cimport frame_of, step_many
from envpool.vizdoom.rows cimport MAX_ROWS, is_valid_row, read_row, row_bytes

cdef struct Head:
    ep_mt19937 start
    uint64_t scenario
    uint64_t digest                 # of what the last step has left behind


# ---- what a snapshot contains ----------------------------------------------------------------------------------------


cdef uint64_t digest_of(const Envs* s, const Env* env) noexcept nogil:
    cdef int32_t planes = s.config.groups[0].num_planes
    cdef int64_t[8] numbers = [
        env.history.num_rows, env.steps, env.last_tic, env.num_frames, env.weapon, env.weapon_steps, env.is_over,
        env.is_time_up,
    ]
    cdef double[2] results = [env.health, env.reward]
    cdef uint64_t digest = envpool_digest(0, numbers, sizeof(numbers))
    cdef int32_t age
    digest = envpool_digest(digest, results, sizeof(results))
    digest = envpool_digest(digest, env.value, s.config.num_variables * sizeof(double))
    digest = envpool_digest(digest, region_of(&env.engine, SCREEN), planes * s.pixels)
    for age in range(env.num_frames):
        digest = envpool_digest(digest, frame_of(s, env, age), s.num_planes * s.plane)
    return digest


# ---- saving ----------------------------------------------------------------------------------------------------------


cdef int64_t state_size(void* state) noexcept nogil:
    cdef const Envs* s = <const Envs*>state
    return sizeof(Head) + MAX_ROWS * <int64_t>row_bytes(&s.config)


cdef int64_t snapshot_size(void* state, int32_t id) noexcept nogil:
    cdef const Envs* s = <const Envs*>state
    return sizeof(Head) + s.env[id].history.num_rows * <int64_t>row_bytes(&s.config)


cdef int save(void* state, int32_t id, char* at) noexcept nogil:
    """Writes the snapshot of an env and returns 0, or an error code."""
    cdef const Envs* s = <const Envs*>state
    cdef const Env* env = &s.env[id]
    cdef Head head
    if s.config.num_players > 1 or state_of(&env.engine).is_netgame:
        return HAS_PLAYERS
    if env.is_reseeded:
        return RESEEDED
    if env.history.is_lost:
        return TOO_LONG if env.history.num_rows >= MAX_ROWS else ENVPOOL_NO_MEMORY
    head.start, head.scenario, head.digest = env.start, s.config.scenario, digest_of(s, env)
    memcpy(at, &head, sizeof(Head))
    if env.history.num_rows > 0:
        memcpy(at + sizeof(Head), env.history.rows, env.history.num_rows * row_bytes(&s.config))
    return 0


cdef int get_state(void* state, const envpool_snapshots* snapshots) noexcept nogil:
    return envpool_save_all(state, snapshots, snapshot_size, save)


# ---- restoring -------------------------------------------------------------------------------------------------------


cdef int find_rows(const void* state, const char* at, int64_t size, int64_t* rows_at) noexcept nogil:
    """Checks a snapshot and finds its rows. Returns 0, or an error code."""
    cdef const Envs* s = <const Envs*>state
    cdef int64_t bytes = row_bytes(&s.config), k, num_rows
    cdef Head head
    if s.config.num_players > 1:
        return HAS_PLAYERS
    if size < <int64_t>sizeof(Head):
        return ENVPOOL_BAD_SNAPSHOT
    memcpy(&head, at, sizeof(Head))
    if head.scenario != s.config.scenario:
        return OTHER_SCENARIO
    if not ep_mt19937_is_valid(&head.start):
        return ENVPOOL_BAD_SNAPSHOT
    rows_at[0] = sizeof(Head)
    num_rows = (size - rows_at[0]) // bytes
    if num_rows > MAX_ROWS or rows_at[0] + num_rows * bytes != size:
        return ENVPOOL_BAD_SNAPSHOT
    for k in range(num_rows):
        if not is_valid_row(&s.config, <const uint8_t*>at + rows_at[0] + k * bytes):
            return ENVPOOL_BAD_SNAPSHOT
    return 0


cdef int start(void* state, int32_t id, const char* at) noexcept nogil:
    """Makes an env what it was when its history began; the next reset starts another engine."""
    cdef Env* env = &(<Envs*>state).env[id]
    cdef Head head
    memcpy(&head, at, sizeof(Head))
    env.rng = head.start
    env.is_fresh = True
    env.is_restored = True
    return 0


cdef int compare(void* state, int32_t id, const char* at) noexcept nogil:
    """Returns 0 if an env that was played again is what it was when it was saved, or an error code."""
    cdef const Envs* s = <const Envs*>state
    cdef const Env* env = &s.env[id]
    cdef Head head
    memcpy(&head, at, sizeof(Head))
    return 0 if digest_of(s, env) == head.digest else DIVERGED


cdef int set_state(void* state, const envpool_snapshots* snapshots) noexcept nogil:
    cdef Envs* s = <Envs*>state
    cdef envpool_replay replay
    cdef int32_t i
    cdef int status
    replay.state, replay.step_many, replay.read_row = state, step_many, read_row
    replay.row_bytes = row_bytes(&s.config)
    replay.action_bytes = sizeof(int32_t) if s.config.num_actions > 0 else s.config.num_buttons * sizeof(double)
    replay.num_envs = s.num_envs
    status = envpool_restore_by_replay(&replay, snapshots, find_rows, start, compare)
    for i in range(snapshots.n if status and not snapshots.only_checks else 0):
        if snapshots.errors[i]:
            s.env[snapshots.ids[i]].is_restored = True      # the next reset must not continue the game or the history
    return status


cdef int copy_state(void* state, const envpool_copies* copies) noexcept nogil:
    return envpool_copy_through_snapshots(state, copies, snapshot_size, get_state, set_state)


cdef void with_snapshots(envpool_env* env_def) noexcept:
    env_def.flags = ENVPOOL_SLOW_SNAPSHOTS
    env_def.state_size, env_def.snapshot_size = state_size, snapshot_size
    env_def.get_state, env_def.set_state, env_def.copy_state = get_state, set_state, copy_state
    env_def.state_version = 1       # version 0 did not contain games that were given up
