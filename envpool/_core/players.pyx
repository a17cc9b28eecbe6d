"""The players of envs, in pools whose env definition has the flag ENVPOOL_PLAYERS; see include/envpool/env.h.

A block has a place for each player of each env, present or not, so that every row of an env is where it would be
without players, only larger: the layout of a batch does not depend on who is present, and arrays (envs, players, ...)
need no copy. pools/styles/players.py turns them into the rows and groups that users see.

The report of a step on the players stays in arrays by env id until the rows of the env are written: they belong to the
thread that has claimed the env. With SAME_STEP, the reset that follows has arrays of its own.

Invariants:
- Whatever an env reports, a player that is not present has no reward, no end and a row of zeros.
- `player_flags` says of an idle env which players have rows in its last result, and which of them act next. If players
  move in turn, that is at most one, `mover_of`, as the field of the env says; when the episode ends, all have rows.
- If only movers have rows, what a player gets in between is owed until it has one.
"""

from libc.stdint cimport int32_t, int64_t, uint8_t
from libc.string cimport memcpy, memset

from envpool._core.calls cimport write_envs_of_players
from envpool._core.structs cimport (
    Block, Engine, EPISODE_PLAYER_RETURN, PLAYER_MASK, PLAYER_REWARD, PLAYER_TERMINATED, PLAYER_TRUNCATED, PlayerArrays,
)
from envpool.env cimport envpool_batch


cdef void begin_players(Engine* e, int which, const int32_t* ids, int32_t n, envpool_batch* batch) noexcept nogil:
    """Sets the members for players, and what they point to for the envs of the batch."""
    cdef PlayerArrays* a = &e.players[which]
    cdef int64_t at, size = e.num_players
    cdef int32_t i
    for i in range(n):
        at = ids[i] * size
        memset(a.present + at, 1, size)
        memset(a.reward + at, 0, size * sizeof(float))
        memset(a.terminated + at, 0, size)
        memset(a.truncated + at, 0, size)
    batch.player_present = a.present
    batch.player_reward = a.reward
    batch.player_terminated = a.terminated
    batch.player_truncated = a.truncated


cdef void end_players(Engine* e, int which, const int32_t* ids, int32_t n, const uint8_t* reset, const int32_t* errors,
                      float* reward, const uint8_t* terminated, const uint8_t* truncated) noexcept nogil:
    """Completes what n envs have reported of their players, and fills `reward` (n) with the sums.

    If a step has failed, the players that acted have a row; if a reset has failed, nobody has one. `reset` may be NULL:
    all envs were reset.
    """
    cdef PlayerArrays* a = &e.players[which]
    cdef uint8_t* flags
    cdef int64_t at
    cdef int32_t i, p
    cdef double total
    cdef uint8_t present, ended, cut
    cdef bint is_reset
    for i in range(n):
        at = <int64_t>ids[i] * e.num_players
        flags = e.player_flags + at
        is_reset = reset == NULL or reset[i]
        total = 0
        for p in range(e.num_players):
            if errors[i]:
                present = 0 if is_reset else e.turns != NULL or (flags[p] & ACTS) != 0
                ended, cut = 0, present
                a.reward[at + p] = 0
            elif is_reset:
                present = a.present[at + p] != 0
                ended = cut = 0
                a.reward[at + p] = 0
            else:
                present = a.present[at + p] != 0
                ended = present & ((a.terminated[at + p] != 0) | terminated[i])
                cut = present & ((a.truncated[at + p] != 0) | truncated[i])
                if not present:
                    a.reward[at + p] = 0
                total += a.reward[at + p]
            a.present[at + p] = present
            a.terminated[at + p] = ended
            a.truncated[at + p] = cut
            flags[p] = present | (ACTS if present and not (ended | cut) else 0)
            if which == FIRST:
                flags[p] |= e.players[LAST].present[at + p]
        reward[i] = <float>total
        if is_reset and e.turns != NULL:
            memset(e.turns.owed + at, 0, e.num_players * sizeof(float))
        if e.tally != NULL and which == LAST:
            for p in range(e.num_players):
                e.tally.player_returns[at + p] += a.reward[at + p]


cdef void note_turns(Engine* e, int which, const int32_t* ids, int32_t n, void** fields, int64_t row) noexcept nogil:
    """Notes whose turn it is in n envs, and which moves are legal, as their rows from `row` on say. With
    `movers_only`, the other players have no row unless their episode ends.

    It may be called again for the last rows of an episode.
    """
    cdef PlayerArrays* a = &e.players[which]
    cdef uint8_t* flags
    cdef int32_t* turn
    cdef const char* mask
    cdef int64_t at, size = e.turns.num_moves
    cdef int32_t i, p, mover, legal = e.turns.legal_field
    for i in range(n):
        at = <int64_t>ids[i] * e.num_players
        flags = e.player_flags + at
        turn = <int32_t*>fields[e.turns.turn_field] + row + i
        mover = turn[0] if 0 <= turn[0] < e.num_players and flags[turn[0]] & ACTS else -1
        turn[0] = mover
        for p in range(e.num_players):
            if p == mover:
                continue
            if e.turns.movers_only and flags[p] & ACTS:
                a.present[at + p] = 0
                e.turns.owed[at + p] += a.reward[at + p]
                a.reward[at + p] = 0
                flags[p] = HAS_ROW if which == FIRST and e.players[LAST].present[at + p] else 0
            flags[p] &= ~ACTS
        for p in range(e.num_players):
            if a.present[at + p]:
                a.reward[at + p] += e.turns.owed[at + p]
                e.turns.owed[at + p] = 0
        if size and mover >= 0:
            mask = <char*>fields[legal] + (row + i) * e.field_bytes[legal]
            memcpy(e.turns.legal + ids[i] * size, mask + (mover * size if e.has_players[legal] else 0), size)
        elif size:
            memset(e.turns.legal + ids[i] * size, 0, size)


cdef void clear_absent(const Engine* e, int which, const int32_t* ids, int32_t n, void** fields,
                       int64_t row) noexcept nogil:
    """Zeroes the rows of players that are not present, in the rows of n envs from `row` on."""
    cdef const uint8_t* present
    cdef int64_t at, size
    cdef int32_t i, p, f
    for i in range(n):
        present = e.players[which].present + <int64_t>ids[i] * e.num_players
        for p in range(e.num_players):
            if present[p]:
                continue
            for f in range(e.env_def.num_fields):
                if e.has_players[f]:
                    size = e.field_bytes[f] // e.num_players
                    at = (row + i) * e.field_bytes[f] + p * size
                    memset(<char*>fields[f] + at, 0, size)


cdef void write_rows_of_players(Engine* e, int which, const int32_t* ids, int32_t n, void** fields,
                                int64_t row) noexcept nogil:
    """Writes the fields of n <= ENVPOOL_MAX_BATCH envs that have not failed into the rows from `row` on."""
    write_envs_of_players(e.env_def, e.state, ids, n, fields, row)
    if e.turns != NULL:
        note_turns(e, which, ids, n, fields, row)
    clear_absent(e, which, ids, n, fields, row)


cdef void forget_turn(const Engine* e, void** fields, int64_t row) noexcept nogil:
    """Says in the row of an env that has failed that it is nobody's turn."""
    if e.turns != NULL:
        (<int32_t*>fields[e.turns.turn_field])[row] = -1


cdef void write_players(const Engine* e, Block* b, const int32_t* ids, int32_t n, int64_t row) noexcept nogil:
    """Fills the columns of players in the rows of n envs from `row` on, whose resets, if any, are done."""
    cdef const PlayerArrays* a = &e.players[LAST]
    cdef const uint8_t* flags
    cdef uint8_t* mask
    cdef int64_t source, target, size = e.num_players
    cdef int32_t i, p
    for i in range(n):
        source, target = ids[i] * size, (row + i) * size
        memcpy(<float*>b.core[PLAYER_REWARD] + target, a.reward + source, size * sizeof(float))
        memcpy(<uint8_t*>b.core[PLAYER_TERMINATED] + target, a.terminated + source, size)
        memcpy(<uint8_t*>b.core[PLAYER_TRUNCATED] + target, a.truncated + source, size)
        mask = <uint8_t*>b.core[PLAYER_MASK] + target
        flags = e.player_flags + source
        for p in range(e.num_players):
            mask[p] = flags[p] & HAS_ROW
    if b.core[EPISODE_PLAYER_RETURN] != NULL:
        memset(<double*>b.core[EPISODE_PLAYER_RETURN] + row * size, 0, n * size * sizeof(double))
