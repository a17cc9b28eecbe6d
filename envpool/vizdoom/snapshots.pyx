# distutils: language = c++
"""Snapshots of games, which are in the memory of another process: what a game was started from, and the actions since.

A snapshot is a Head, the automap of the first frame of the episode while an observation may still contain it, and the
rows of the history (rows.pxd). Restoring plays the same game again: the first game of an engine in a new engine, and a
later one in an engine that has played before. If an engine carries something over from one game to the next, every
history begins with the engine. The automap that a reset returns also depends on earlier games, so it is copied.
"""

from libc.stddef cimport size_t
from libc.stdint cimport int32_t, int64_t, uint8_t, uint64_t
from libc.string cimport memcpy

from envpool.env cimport ENVPOOL_BAD_SNAPSHOT, ENVPOOL_NO_MEMORY, envpool_copies, envpool_snapshots
from envpool.numerics.rng_legacy cimport ep_mt19937, ep_mt19937_is_valid
from envpool.replay cimport (
    envpool_copy_through_snapshots, envpool_digest, envpool_replay, envpool_restore_by_replay, envpool_save_all,
)
from envpool.vizdoom.envs cimport (
    AUTOMAP, DIVERGED, FIRST_GAME, HAS_PLAYERS, LATER_GAME, NO_ENGINE, NO_GAME, OTHER_SCENARIO, SCREEN, TOO_LONG, Env,
    Envs, Group, region_of, state_of,
)
from envpool.vizdoom.episodes cimport frame_of, step_many
from envpool.vizdoom.rows cimport is_valid_row, max_rows, read_row, row_bytes

cdef struct Head:
    ep_mt19937 start
    uint64_t scenario
    uint64_t digest                 # of what the last step has left behind
    int64_t is_first                # see Env
    int64_t automap_bytes           # of the automap of the first frame; 0 if it is not part of the snapshot


# ---- what a snapshot contains ----------------------------------------------------------------------------------------


cdef inline size_t automap_bytes(const Envs* s) noexcept nogil:
    """Return the size of the automap in a frame, whose last planes it is."""
    cdef const Group* last = &s.config.groups[s.config.num_groups - 1]
    return last.num_planes * s.plane if last.region == AUTOMAP else 0


cdef inline uint8_t* first_automap(const Envs* s, const Env* env) noexcept nogil:
    """Return the automap of the first frame of the episode; NULL if no observation will contain it."""
    if automap_bytes(s) == 0 or env.num_frames > s.config.stack_num:
        return NULL
    return frame_of(s, env, env.num_frames - 1) + s.num_planes * s.plane - automap_bytes(s)


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
    for age in range(min(env.num_frames, s.config.stack_num)):
        digest = envpool_digest(digest, frame_of(s, env, age), s.num_planes * s.plane)
    return digest


# ---- saving ----------------------------------------------------------------------------------------------------------


cdef int64_t state_size(void* state) noexcept nogil:
    cdef const Envs* s = <const Envs*>state
    return sizeof(Head) + automap_bytes(s) + max_rows(&s.config) * row_bytes(&s.config)


cdef int64_t snapshot_size(void* state, int32_t id) noexcept nogil:
    cdef const Envs* s = <const Envs*>state
    cdef const Env* env = &s.env[id]
    cdef size_t automap = automap_bytes(s) if first_automap(s, env) != NULL else 0
    return sizeof(Head) + automap + env.history.num_rows * row_bytes(&s.config)


cdef int save(void* state, int32_t id, char* at) noexcept nogil:
    """Writes the snapshot of an env and returns 0, or an error code."""
    cdef const Envs* s = <const Envs*>state
    cdef const Env* env = &s.env[id]
    cdef const uint8_t* automap = first_automap(s, env)
    cdef Head head
    if state_of(&env.engine).is_netgame:
        return HAS_PLAYERS
    if env.history.is_lost:
        return TOO_LONG if env.history.num_rows >= max_rows(&s.config) else ENVPOOL_NO_MEMORY
    head.start, head.scenario, head.digest = env.start, s.config.scenario, digest_of(s, env)
    head.is_first = env.is_first
    head.automap_bytes = automap_bytes(s) if automap != NULL else 0
    memcpy(at, &head, sizeof(Head))
    if automap != NULL:
        memcpy(at + sizeof(Head), automap, head.automap_bytes)
    if env.history.num_rows > 0:
        memcpy(at + sizeof(Head) + head.automap_bytes, env.history.rows, env.history.num_rows * row_bytes(&s.config))
    return 0


cdef int get_state(void* state, const envpool_snapshots* snapshots) noexcept nogil:
    return envpool_save_all(state, snapshots, snapshot_size, save)


# ---- restoring -------------------------------------------------------------------------------------------------------


cdef int find_rows(const void* state, const char* at, int64_t size, int64_t* rows_at) noexcept nogil:
    """Checks a snapshot and finds its rows. Returns 0, or an error code."""
    cdef const Envs* s = <const Envs*>state
    cdef int64_t bytes = row_bytes(&s.config), k, num_rows
    cdef Head head
    if size < <int64_t>sizeof(Head):
        return ENVPOOL_BAD_SNAPSHOT
    memcpy(&head, at, sizeof(Head))
    if head.scenario != s.config.scenario:
        return OTHER_SCENARIO
    if not ep_mt19937_is_valid(&head.start) or not s.config.carries_over <= head.is_first <= 1:
        return ENVPOOL_BAD_SNAPSHOT
    if head.automap_bytes != 0 and head.automap_bytes != <int64_t>automap_bytes(s):
        return ENVPOOL_BAD_SNAPSHOT
    rows_at[0] = <int64_t>sizeof(Head) + head.automap_bytes
    num_rows = (size - rows_at[0]) // bytes
    if not 0 <= num_rows <= max_rows(&s.config) or rows_at[0] + num_rows * bytes != size:
        return ENVPOOL_BAD_SNAPSHOT
    for k in range(num_rows):
        if not is_valid_row(&s.config, <const uint8_t*>at + rows_at[0] + k * bytes):
            return ENVPOOL_BAD_SNAPSHOT
    return 0


cdef int start(void* state, int32_t id, const char* at) noexcept nogil:
    """Makes an env what it was when its history began; the next reset starts a game, as after a new seed."""
    cdef Env* env = &(<Envs*>state).env[id]
    cdef Head head
    memcpy(&head, at, sizeof(Head))
    env.rng = head.start
    env.is_fresh = True
    env.repeats = FIRST_GAME if head.is_first else LATER_GAME
    return 0


cdef int compare(void* state, int32_t id, const char* at) noexcept nogil:
    """Returns 0 if an env that was played again is what it was when it was saved, or an error code."""
    cdef const Envs* s = <const Envs*>state
    cdef const Env* env = &s.env[id]
    cdef uint8_t* automap = first_automap(s, env)
    cdef Head head
    memcpy(&head, at, sizeof(Head))
    if env.is_first != head.is_first:
        return NO_ENGINE                # that of the environment has ended, and another one has replaced it
    if (automap != NULL) != (head.automap_bytes > 0):
        return ENVPOOL_BAD_SNAPSHOT
    if automap != NULL:
        memcpy(automap, at + sizeof(Head), head.automap_bytes)
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
            s.env[snapshots.ids[i]].is_fresh = True     # the next reset must not continue the game
            s.env[snapshots.ids[i]].repeats = NO_GAME
    return status


cdef int copy_state(void* state, const envpool_copies* copies) noexcept nogil:
    return envpool_copy_through_snapshots(state, copies, snapshot_size, get_state, set_state)
