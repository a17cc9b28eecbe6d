"""Statistics of episodes, for the option `episode_statistics`, and the counters behind ``EnvPool.stats``.

The threads that simulate add up rewards and note when episodes begin; when a row is handed out, the consumer completes
the entries of episodes that have ended in it. So the results do not depend on the number of threads.

The sums of an env are touched by the thread that has claimed it while it is in flight, and by the consumer while it is
idle, like its other words; see structs.pxd. Everything here belongs to a Python object, so that it outlives the engine
and `totals` can be called at any time.

Invariant: the entries are those of gymnasium's ``wrappers.vector.RecordEpisodeStatistics`` around the same pool.
That adds rewards in float64, does not count the row of a reset, and starts again after each episode.
"""

import numpy as np

cimport numpy as cnp
from libc.math cimport NAN
from libc.stdint cimport int32_t, int64_t, uint8_t, uint64_t
from libc.string cimport memcpy, memset

from envpool._core.atomic cimport ep_add_sc64, ep_load_rlx64, ep_now, ep_store_rlx64
from envpool._core.flags cimport ep_find_flags
from envpool._core.policy cimport PROBED_SENDS, floor_log2
from envpool._core.structs cimport (
    Block, ELAPSED_STEP, Engine, ENV_ID, EPISODE_LENGTH, EPISODE_MASK, EPISODE_PLAYER_RETURN, EPISODE_RETURN,
    EPISODE_TIME,
    GAME_LENGTH, GAME_MASK, GAME_RETURN, GAME_TIME, GIVEN_UP, NUM_STEP_TIMES, Queue, RUNNING, SAME_STEP, Tally,
    TERMINATED, TRUNCATED,
)

cnp.import_array()

cdef extern from "statistics.h" nogil:
    void ep_add_rewards(double* returns, const float* reward, int64_t n)
    void ep_join_flags(uint8_t* joined, const uint8_t* a, const uint8_t* b, int64_t n)

cdef enum:
    LAST = 100          # episodes of which `totals` returns the means
    ENTRY = 8           # bytes of one entry of r, l and t
    FOUND_AT_ONCE = 1024    # rows of a batch in which ended episodes are looked for at once


# ---- threads that simulate -------------------------------------------------------------------------------------------

cdef void count_rewards(Engine* e, const int32_t* ids, int32_t n, bint contiguous, const float* reward,
                        const int32_t* resets, int32_t num_resets, int64_t started) noexcept nogil:
    """Adds the rewards of a chunk, and notes when the episodes of its `resets` (num_resets), positions, begin: when the
    execution of the chunk `started`, or now if that is 0.

    The reward of a reset is zero. With SAME_STEP an episode begins when the row of the last one is handed out.
    """
    cdef Tally* tally = e.tally
    cdef int64_t now
    cdef int32_t i, k
    if contiguous:
        ep_add_rewards(tally.returns + ids[0], reward, n)
    else:
        for i in range(n):
            tally.returns[ids[i]] += reward[i]
    if num_resets == 0 or e.autoreset == SAME_STEP:
        return
    now = started if started else ep_now()
    for k in range(num_resets):
        i = ids[resets[k]]
        tally.began[i] = now
        if tally.reward_field >= 0 and tally.game_lengths[i] == 0:
            tally.game_began[i] = now


cdef inline void clear(Block* b, int column, int64_t row, int64_t n) noexcept nogil:
    memset(<char*>b.core[column] + row * ENTRY, 0, n * ENTRY)


cdef void clear_entries(Block* b, int64_t row, int64_t n) noexcept nogil:
    """Zeroes the episode columns. A single call for many rows takes less time than several."""
    clear(b, EPISODE_RETURN, row, n)
    clear(b, EPISODE_LENGTH, row, n)
    clear(b, EPISODE_TIME, row, n)
    if b.core[GAME_MASK] != NULL:
        clear(b, GAME_RETURN, row, n)
        clear(b, GAME_LENGTH, row, n)
        clear(b, GAME_TIME, row, n)


cdef void mark_ends_of_episodes(Engine* e, Block* b, const int32_t* ids, int32_t n, int64_t row, void** fields,
                                int64_t field_row) noexcept nogil:
    """Fills the masks of rows that ended an episode or a game; the other columns of the rows are written.

    `fields`, from `field_row` on, are the fields of the env as the steps left them, before any reset.
    """
    cdef uint8_t* terminated = <uint8_t*>b.core[TERMINATED] + row
    cdef uint8_t* truncated = <uint8_t*>b.core[TRUNCATED] + row
    ep_join_flags(<uint8_t*>b.core[EPISODE_MASK] + row, terminated, truncated, n)
    if b.core[GAME_MASK] != NULL:
        mark_ends_of_games(e, b, ids, n, row, fields, field_row)


cdef void mark_ends_of_games(Engine* e, Block* b, const int32_t* ids, int32_t n, int64_t row, void** fields,
                             int64_t field_row) noexcept nogil:
    """Fills the masks of rows that ended a game. Adds the rewards before clipping.

    An env that continues its game after a lost life may end it in the frames without an action, and begin another one:
    then it has more lives after the reset than before, and the row of the reset ends the game.
    """
    cdef Tally* tally = e.tally
    cdef const float* reward = <const float*>fields[tally.reward_field] + field_row
    cdef const int32_t* over = <const int32_t*>fields[tally.over_field] + field_row
    cdef const int32_t* lives = <const int32_t*>fields[tally.lives_field] + field_row
    cdef const uint8_t* truncated = <const uint8_t*>b.core[TRUNCATED] + row
    cdef const int32_t* elapsed = <const int32_t*>b.core[ELAPSED_STEP] + row
    cdef uint8_t* mask = <uint8_t*>b.core[GAME_MASK] + row
    cdef int32_t i, id
    for i in range(n):
        id = ids[i]
        if elapsed[i] > 0:
            mask[i] = over[i] != 0 or truncated[i]
            tally.game_returns[id] += reward[i]
            tally.game_lengths[id] += 1
        else:
            mask[i] = truncated[i] or (tally.game_lengths[id] > 0 and lives[i] > tally.game_lives[id])
        tally.game_ended[id] = mask[i]
        tally.game_lives[id] = lives[i]


cdef void note_step_time(Tally* tally, int64_t n, int64_t cost) noexcept nogil:
    """Counts n steps that took `cost` ns each."""
    cdef int32_t k = floor_log2(max(cost, 1))
    ep_add_sc64(&tally.step_times[min(k, NUM_STEP_TIMES - 1)], n)


cdef void set_probe(Tally* tally, Queue* q) noexcept nogil:
    """Notes the time and the position of the first env that is published next, unless an earlier probe is unclaimed."""
    tally.sends += 1
    if tally.sends % PROBED_SENDS == 1 and q.probe < ep_load_rlx64(&q.claim):
        ep_store_rlx64(&q.probed_at, ep_now())
        ep_store_rlx64(&q.probe, q.head)


cdef void note_claim(Tally* tally, const Queue* q) noexcept nogil:
    """Counts the wait of the env with a probe, which was claimed just now. A probe that moves meanwhile is harmless."""
    ep_add_sc64(&tally.queue_wait, max(ep_now() - ep_load_rlx64(&q.probed_at), 0))
    ep_add_sc64(&tally.probes, 1)


# ---- the sums of idle envs -------------------------------------------------------------------------------------------

cdef double* player_returns(const Tally* tally, int32_t id) noexcept:
    """Returns the sums of the players of an env (num_players)."""
    return tally.player_returns + <int64_t>id * tally.num_players


cdef inline void start_sums(Tally* tally, int32_t id, int64_t now) noexcept:
    tally.returns[id] = 0
    tally.began[id] = now
    if tally.player_returns != NULL:
        memset(player_returns(tally, id), 0, tally.num_players * sizeof(double))


cdef inline void start_game(Tally* tally, int32_t id, int64_t now) noexcept:
    tally.game_returns[id] = 0
    tally.game_lengths[id] = 0
    tally.game_began[id] = now


cdef void forget_episodes(Engine* e, const int32_t* ids, int32_t n, const uint8_t* has_seed, uint8_t how) noexcept:
    """Starts the sums of envs that the user is about to reset again. A game continues if such resets continue it, an
    episode has ended, and the game has not.

    It may have ended in a row that the reset of the whole pool has dropped.
    """
    cdef Tally* tally = e.tally
    cdef int64_t now = ep_now()
    cdef bint continues
    cdef int32_t i, id
    for i in range(n):
        id = ids[i]
        start_sums(tally, id, now)
        continues = tally.resets_continue_games and how != GIVEN_UP and e.reset[id] != RUNNING
        if tally.reward_field >= 0 and (has_seed[i] or tally.game_ended[id] or not continues):
            start_game(tally, id, now)


cdef void save_sums(const Engine* e, int32_t id, Sums* sums) noexcept:
    cdef const Tally* tally = e.tally
    cdef int64_t now = ep_now()
    memset(sums, 0, sizeof(Sums))
    sums.episode_return = tally.returns[id]
    sums.episode_ns = max(now - tally.began[id], 0)
    if tally.reward_field >= 0:
        sums.game_return = tally.game_returns[id]
        sums.game_length = tally.game_lengths[id]
        sums.game_ns = max(now - tally.game_began[id], 0)
        sums.game_lives = <int32_t>tally.game_lives[id]
        sums.game_ended = <int32_t>tally.game_ended[id]


cdef bint are_possible(const Sums* sums) noexcept:
    """Whether save_sums() may have returned these: times that a sum with the clock cannot overflow."""
    cdef int64_t limit = <int64_t>1 << 60
    return 0 <= sums.episode_ns <= limit and 0 <= sums.game_ns <= limit and 0 <= sums.game_length <= limit


cdef void restore_sums(Engine* e, int32_t id, const Sums* sums) noexcept:
    """Restores the sums of an env whose other words are restored; NULL: they are unknown.

    The return of an episode whose beginning was not counted is NaN, since every number would be wrong.
    """
    cdef Tally* tally = e.tally
    cdef int64_t now = ep_now()
    cdef int32_t p
    start_sums(tally, id, now)
    if sums != NULL:
        tally.returns[id] = sums.episode_return
        tally.began[id] = now - sums.episode_ns
    elif e.reset[id] == RUNNING and e.elapsed[id] > 0:
        tally.returns[id] = NAN
        for p in range(tally.num_players):
            player_returns(tally, id)[p] = NAN
    if tally.reward_field < 0:
        return
    start_game(tally, id, now)
    if sums != NULL:
        tally.game_returns[id] = sums.game_return
        tally.game_lengths[id] = sums.game_length
        tally.game_began[id] = now - sums.game_ns
        tally.game_lives[id] = sums.game_lives
        tally.game_ended[id] = sums.game_ended
    elif not e.seed_pending[id] and (tally.resets_continue_games or (e.reset[id] == RUNNING and e.elapsed[id] > 0)):
        tally.game_returns[id] = NAN


# ---- the consumer ----------------------------------------------------------------------------------------------------

cdef inline double seconds(int64_t ns) noexcept:
    """Returns a time in seconds, rounded to six digits."""
    return <double>((ns + 500) // 1000) / 1e6


cdef inline void keep(Recent* recent, double total, int64_t length) noexcept:
    cdef uint64_t at = <uint64_t>recent.count % HISTORY
    recent.returns[at] = total
    recent.lengths[at] = length
    recent.count += 1


cdef tuple means(const Recent* recent):
    """Returns the mean return and the mean length of the last episodes, or None for both without an episode.

    Episodes whose return is unknown do not count in the mean of the returns.
    """
    kept = [k % HISTORY for k in range(max(recent.count - LAST, 0), recent.count)]
    returns = [recent.returns[<int>k] for k in kept]
    known = [r for r in returns if r == r]
    mean_return = float(np.mean(known)) if known else None
    return mean_return, float(np.mean([recent.lengths[<int>k] for k in kept])) if kept else None


cdef tuple player_means(const Recent* recent, const double* returns, int32_t num_players):
    """Returns the mean return of each player in the last episodes, None where it is unknown."""
    kept = [k % HISTORY for k in range(max(recent.count - LAST, 0), recent.count)]
    found = []
    for p in range(num_players):
        known = [returns[<int>k * num_players + <int>p] for k in kept]
        known = [r for r in known if r == r]
        found.append(float(np.mean(known)) if known else None)
    return tuple(found)


cdef int entries_of(const Block* b, int64_t row) noexcept:
    """Returns which entries a row has that was completed."""
    cdef int entries = 0
    if b.core[EPISODE_MASK] != NULL and (<const uint8_t*>b.core[EPISODE_MASK])[row]:
        entries = EPISODES
    if b.core[GAME_MASK] != NULL and (<const uint8_t*>b.core[GAME_MASK])[row]:
        entries |= GAMES
    return entries


cdef inline void end_game_in_reset(Tally* tally, Block* b, int64_t r, int32_t id) noexcept:
    """SAME_STEP: a row that ended an episode has the lives of the next one; see mark_ends_of_games()."""
    cdef int32_t lives = (<const int32_t*>b.fields[tally.lives_field])[r]
    (<uint8_t*>b.core[GAME_MASK])[r] |= lives > tally.game_lives[id]
    tally.game_lives[id] = lives
    tally.game_ended[id] = 0


cdef class Statistics:
    """Counters of a pool.

    Parameters
    ----------
    num_envs : int
        Number of envs.
    counts_episodes : bool
        True if the option `episode_statistics` is on.
    games : tuple of int, optional
        For tasks whose episodes may be parts of a game: the numbers of the fields with the reward before clipping,
        float32, whether the game is over, int32, and the number of lives, int32; and whether a reset that does not
        follow the end of a game continues it.
    num_players : int
        Places for players in each env; 0 if the envs have none.
    """

    def __init__(self, int64_t num_envs, bint counts_episodes, games=None, int32_t num_players=0):
        cdef Tally* tally = &self.tally
        self.counts_episodes = counts_episodes
        tally.reward_field = -1
        if not counts_episodes:
            return
        arrays = np.zeros((7 if games else 2, num_envs))
        self.memory = arrays
        tally.returns = <double*>cnp.PyArray_DATA(arrays)
        tally.began = <int64_t*>(tally.returns + num_envs)
        arrays[1].view(np.int64)[:] = ep_now()
        if num_players:
            sums = np.zeros((num_envs + HISTORY, num_players))
            self.player_memory = sums
            tally.player_returns = <double*>cnp.PyArray_DATA(sums)
            self.last_player_returns = tally.player_returns + num_envs * num_players
            tally.num_players = num_players
        if games:
            tally.reward_field, tally.over_field, tally.lives_field, tally.resets_continue_games = games
            tally.game_returns = <double*>(tally.began + num_envs)
            tally.game_lengths = <int64_t*>(tally.game_returns + num_envs)
            tally.game_began = tally.game_lengths + num_envs
            tally.game_lives = tally.game_began + num_envs
            tally.game_ended = tally.game_lives + num_envs
            arrays[4] = arrays[1]

    cdef void attach(self, Engine* e) noexcept:
        """Lets the threads of an engine, which must not be running yet, count here."""
        cdef int32_t k
        e.counters = &self.counters
        if self.counts_episodes:
            e.tally = &self.tally
            for k in range(e.num_queues):
                e.queues[k].probe = -1

    cdef void note_resets(self, Engine* e, const int32_t* ids, int32_t n, const uint8_t* has_seed,
                          uint8_t how) noexcept:
        """Counts resets that the user is about to send; `how` is their value of Engine.reset."""
        self.resets += n
        if e.tally != NULL:
            forget_episodes(e, ids, n, has_seed, how)

    cdef int record(self, Block* b, int64_t first, int64_t end) noexcept:
        """Completes the entries of rows first to end - 1 of a block, and returns which entries these rows have."""
        cdef Tally* tally = &self.tally
        cdef const uint8_t* mask = <const uint8_t*>b.core[EPISODE_MASK]
        cdef const int32_t* ids = <const int32_t*>b.core[ENV_ID]
        cdef int32_t* elapsed = b.final_elapsed if b.final_mask != NULL else <int32_t*>b.core[ELAPSED_STEP]
        cdef double* returns = <double*>b.core[EPISODE_RETURN]
        cdef int64_t* lengths = <int64_t*>b.core[EPISODE_LENGTH]
        cdef double* times = <double*>b.core[EPISODE_TIME]
        cdef int32_t ended[FOUND_AT_ONCE]
        cdef int64_t start = first, now = 0, r
        cdef int32_t id, k, num_ended
        while start < end:
            num_ended = ep_find_flags(mask + start, min(end - start, FOUND_AT_ONCE), ended)
            if num_ended and now == 0:
                now = ep_now()
            for k in range(num_ended):
                r = start + ended[k]
                id = ids[r]
                returns[r] = tally.returns[id]
                lengths[r] = elapsed[r]
                times[r] = seconds(now - tally.began[id])
                if tally.player_returns != NULL:
                    memcpy(<double*>b.core[EPISODE_PLAYER_RETURN] + r * tally.num_players, player_returns(tally, id),
                           tally.num_players * sizeof(double))
                    memcpy(self.last_player_returns + self.episodes.count % HISTORY * tally.num_players,
                           player_returns(tally, id), tally.num_players * sizeof(double))
                keep(&self.episodes, tally.returns[id], elapsed[r])
                start_sums(tally, id, now)
            start += FOUND_AT_ONCE
        if b.core[GAME_MASK] == NULL:
            return EPISODES if now else 0
        return (EPISODES if now else 0) | self.record_games(b, first, end)

    cdef int record_games(self, Block* b, int64_t first, int64_t end) noexcept:
        """Completes the entries of games; see record()."""
        cdef Tally* tally = &self.tally
        cdef const uint8_t* mask = <const uint8_t*>b.core[GAME_MASK]
        cdef int64_t r, now = ep_now()
        cdef int32_t id
        cdef int entries = 0
        for r in range(first, end):
            id = (<const int32_t*>b.core[ENV_ID])[r]
            if b.final_mask != NULL and b.final_mask[r]:
                end_game_in_reset(tally, b, r, id)
            if mask[r]:
                (<double*>b.core[GAME_RETURN])[r] = tally.game_returns[id]
                (<int64_t*>b.core[GAME_LENGTH])[r] = tally.game_lengths[id]
                (<double*>b.core[GAME_TIME])[r] = seconds(now - tally.game_began[id])
                keep(&self.games, tally.game_returns[id], tally.game_lengths[id])
                start_game(tally, id, now)
                entries = GAMES
        return entries

    cdef dict totals(self, tuple block_counts):
        """Returns the arguments of `envpool.pools.statistics.PoolStats`."""
        cdef int64_t probes = ep_load_rlx64(&self.tally.probes)
        cdef int32_t k
        on = self.counts_episodes
        has_games = self.tally.reward_field >= 0
        mean_return, mean_length = means(&self.episodes)
        game_return, game_length = means(&self.games)
        return {
            "steps": self.steps,
            "resets": self.resets,
            "recv_wait": ep_load_rlx64(&self.counters.recv_wait) / 1e9,
            "wakes": ep_load_rlx64(&self.counters.wakes),
            "blocks_allocated": block_counts[0],
            "blocks_reused": block_counts[1],
            "episodes": self.episodes.count if on else None,
            "mean_return": mean_return,
            "mean_length": mean_length,
            "mean_player_returns": player_means(
                &self.episodes, self.last_player_returns, self.tally.num_players
            ) if self.last_player_returns != NULL and self.episodes.count else None,
            "games": self.games.count if has_games else None,
            "mean_game_return": game_return,
            "mean_game_length": game_length,
            "queue_wait": ep_load_rlx64(&self.tally.queue_wait) / (1e9 * probes) if probes else None,
            "step_times": tuple(
                [ep_load_rlx64(&self.tally.step_times[k]) for k in range(NUM_STEP_TIMES)]
            ) if on else None,
        }
