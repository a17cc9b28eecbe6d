# optimize: -Og
"""Snapshots of games, whose memory cannot be copied: a snapshot contains what the game was started from, and actions.

A snapshot is a Head, the list of scores at the start of the game, the items of its reset, and the indices of the
actions since. Restoring makes the folder of the environment new, writes the list of scores, and plays the same game
again.
"""

from libc.stddef cimport size_t
from libc.stdint cimport int32_t, int64_t, uint8_t, uint64_t
from libc.string cimport memchr, memcpy, memset, strlen

from envpool.env cimport (
    ENVPOOL_BAD_SNAPSHOT, ENVPOOL_NO_MEMORY, ENVPOOL_SLOW_SNAPSHOTS, envpool_copies, envpool_env, envpool_snapshots,
)
from envpool.nethack.episodes cimport config_of, env_of, row_bytes, step_many
from envpool.nethack.game cimport prepare
from envpool.nethack.structs cimport Config, DIVERGED, Env, NH_SCORES_BYTES, NO_SCORES, WIZKIT_BYTES
from envpool.numerics.rng cimport ep_pcg64, ep_pcg64_is_valid
from envpool.replay cimport (
    envpool_copy_through_snapshots, envpool_digest, envpool_number_of, envpool_replay, envpool_restore_by_replay,
    envpool_save_all,
)
from envpool.scaffold cimport envpool_state

cdef extern from "envpool/nethack/scores.h" nogil:
    bint nh_are_scores(const char* text, size_t size)
    int nh_write_scores(const char* folder, const char* text, size_t size)

cdef enum:
    MAX_FROZEN = 1_000_000_000      # so that its square fits into 64 bits

cdef struct Head:
    ep_pcg64 rng
    int64_t num_frozen
    uint64_t digest                 # of what the last step has left behind
    int64_t scores_bytes
    int64_t wizkit_bytes


cdef uint64_t digest_of(const Env* env) noexcept nogil:
    cdef int64_t[4] numbers = [env.num_steps, env.num_frozen, env.num_idle, env.end_status]
    return envpool_digest(
        envpool_digest(0, numbers, sizeof(numbers)), env.game.memory, env.game.memory_bytes
    )


cdef int64_t state_size(void* state) noexcept nogil:
    cdef const Config* config = config_of(state)
    return <int64_t>sizeof(Head) + NH_SCORES_BYTES + WIZKIT_BYTES + config.max_steps * <int64_t>row_bytes(config)


cdef int64_t snapshot_size(void* state, int32_t id) noexcept nogil:
    cdef const Env* env = env_of(state, id)
    cdef int64_t rows = env.history.num_rows * <int64_t>row_bytes(config_of(state))
    return <int64_t>sizeof(Head) + env.start.scores_bytes + <int64_t>strlen(env.start.wizkit) + rows


cdef int save(void* state, int32_t id, char* at) noexcept nogil:
    """Writes the snapshot of an env and returns 0, or an error code."""
    cdef const Env* env = env_of(state, id)
    cdef Head head
    if env.start.problem:
        return env.start.problem
    if env.history.is_lost:
        return ENVPOOL_NO_MEMORY
    head.rng, head.num_frozen = env.start.rng, env.start.num_frozen
    head.digest, head.scores_bytes = digest_of(env), env.start.scores_bytes
    head.wizkit_bytes = <int64_t>strlen(env.start.wizkit)
    memcpy(at, &head, sizeof(Head))
    at += sizeof(Head)
    memcpy(at, env.start.scores, env.start.scores_bytes)
    at += env.start.scores_bytes
    memcpy(at, env.start.wizkit, head.wizkit_bytes)
    if env.history.num_rows:
        memcpy(at + head.wizkit_bytes, env.history.rows, env.history.num_rows * row_bytes(config_of(state)))
    return 0


cdef int get_state(void* state, const envpool_snapshots* snapshots) noexcept nogil:
    return envpool_save_all(state, snapshots, snapshot_size, save)


# ---- restoring -------------------------------------------------------------------------------------------------------


cdef int find_rows(const void* state, const char* at, int64_t size, int64_t* rows_at) noexcept nogil:
    """Checks a snapshot and finds its rows. Returns 0, or an error code."""
    cdef const Config* config = config_of(state)
    cdef size_t bytes = row_bytes(config)
    cdef const uint8_t* rows
    cdef int64_t k, num_rows
    cdef Head head
    if size < <int64_t>sizeof(Head):
        return ENVPOOL_BAD_SNAPSHOT
    memcpy(&head, at, sizeof(Head))
    size -= sizeof(Head)
    if not ep_pcg64_is_valid(&head.rng) or not 0 <= head.num_frozen <= MAX_FROZEN:
        return ENVPOOL_BAD_SNAPSHOT
    if not 0 <= head.scores_bytes <= min(size, <int64_t>NH_SCORES_BYTES - 1):
        return ENVPOOL_BAD_SNAPSHOT
    if not nh_are_scores(at + sizeof(Head), head.scores_bytes):
        return ENVPOOL_BAD_SNAPSHOT
    size -= head.scores_bytes
    rows_at[0] = <int64_t>sizeof(Head) + head.scores_bytes
    if not 0 <= head.wizkit_bytes <= min(size, <int64_t>WIZKIT_BYTES - 1):
        return ENVPOOL_BAD_SNAPSHOT
    if memchr(at + rows_at[0], 0, head.wizkit_bytes) != NULL:
        return ENVPOOL_BAD_SNAPSHOT
    size -= head.wizkit_bytes
    rows_at[0] += head.wizkit_bytes
    rows = <const uint8_t*>at + rows_at[0]
    num_rows = size // <int64_t>bytes
    if num_rows * <int64_t>bytes != size or num_rows > config.max_steps:
        return ENVPOOL_BAD_SNAPSHOT
    for k in range(num_rows):
        if envpool_number_of(rows + k * bytes, bytes) >= <uint64_t>config.num_keys:
            return ENVPOOL_BAD_SNAPSHOT
    return 0


cdef int read_row(const void* state, const uint8_t* row, void* action) noexcept nogil:
    (<int32_t*>action)[0] = envpool_number_of(row, row_bytes(config_of(state)))
    return 0


cdef int start_again(void* state, int32_t id, const char* at) noexcept nogil:
    """Makes an env what it was before its game was started. Returns 0, or an error code."""
    cdef Env* env = env_of(state, id)
    cdef int failure = prepare(&env.game, config_of(state))
    cdef Head head
    if failure:
        return failure
    memcpy(&head, at, sizeof(Head))
    if nh_write_scores(env.game.folder, at + sizeof(Head), head.scores_bytes):
        return NO_SCORES
    env.rng, env.num_frozen = head.rng, head.num_frozen
    memset(env.wizkit, 0, WIZKIT_BYTES)
    memcpy(env.wizkit, at + sizeof(Head) + head.scores_bytes, head.wizkit_bytes)
    return 0


cdef int compare(void* state, int32_t id, const char* at) noexcept nogil:
    """Returns 0 if an env that was played again is what it was when it was saved, or an error code."""
    cdef Head head
    memcpy(&head, at, sizeof(Head))
    return 0 if digest_of(env_of(state, id)) == head.digest else DIVERGED


cdef int set_state(void* state, const envpool_snapshots* snapshots) noexcept nogil:
    cdef envpool_replay replay
    replay.state, replay.step_many, replay.read_row = state, step_many, read_row
    replay.row_bytes, replay.action_bytes = row_bytes(config_of(state)), sizeof(int32_t)
    replay.num_envs = (<const envpool_state*>state).num_envs
    return envpool_restore_by_replay(&replay, snapshots, find_rows, start_again, compare)


cdef int copy_state(void* state, const envpool_copies* copies) noexcept nogil:
    return envpool_copy_through_snapshots(state, copies, snapshot_size, get_state, set_state)


cdef void with_snapshots(envpool_env* env_def) noexcept:
    env_def.flags = ENVPOOL_SLOW_SNAPSHOTS
    env_def.state_size, env_def.snapshot_size = state_size, snapshot_size
    env_def.get_state, env_def.set_state, env_def.copy_state = get_state, set_state, copy_state
    env_def.state_version = 1       # version 0 did not contain items that a game begins with
