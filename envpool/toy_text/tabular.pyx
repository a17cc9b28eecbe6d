"""Walkers on a table of transitions: what FrozenLake, CliffWalking and Taxi have in common.

The .pxd says how a table is laid out and what a step draws.
"""

import numpy as np

from libc.stdint cimport int32_t, int64_t, uint8_t, uint32_t, uint64_t
from libc.stdlib cimport calloc, free
from libc.string cimport memcpy, memset

from envpool.raster.canvas cimport canvas, canvas_of_frame
from envpool.raster.image cimport sheet_copy, sheet_draw, sheet_numbers
from envpool.env cimport ENVPOOL_MAX_BATCH, envpool_batch, envpool_frames
from envpool.numerics.rng cimport ep_next64, ep_pcg64, ep_pcg64_seed


cdef void destroy(void* state) noexcept nogil:
    cdef Walkers* s = <Walkers*>state
    free(s.rng)
    free(s.position)
    free(s.prob)
    free(s)


cdef void* create(const void* config, int32_t n) noexcept nogil:
    cdef Walkers* s = <Walkers*>calloc(1, sizeof(Walkers))
    if s == NULL:
        return NULL
    s.table = <const Table*>config
    s.start_limits = <const uint64_t*>(s.table + 1)
    s.entries = <const uint32_t*>(s.start_limits + s.table.num_starts + 1)
    s.start_states = <const int32_t*>(s.entries + s.table.num_entries)
    s.rng = <ep_pcg64*>calloc(n, sizeof(ep_pcg64))
    s.position = <int32_t*>calloc(n, sizeof(int32_t))
    s.prob = <float*>calloc(n, sizeof(float))
    if s.rng == NULL or s.position == NULL or s.prob == NULL:
        destroy(s)
        return NULL
    return s


cdef void seed_many(void* state, const int32_t* ids, int32_t n, const uint64_t* seeds) noexcept nogil:
    cdef Walkers* s = <Walkers*>state
    cdef int32_t i
    for i in range(n):
        ep_pcg64_seed(&s.rng[ids[i]], seeds[i])


cdef inline int32_t draw_start(const Walkers* s, uint64_t draw) noexcept nogil:
    """The start whose limit is the first above a draw of 53 bits. All are equally likely, so a guess is next to it."""
    cdef uint64_t k = ((draw >> 21) * <uint64_t>s.table.num_starts) >> 32
    while k > 0 and draw < s.start_limits[k - 1]:
        k -= 1
    while draw >= s.start_limits[k]:
        k += 1
    return s.start_states[k]


cdef int step_many(void* state, const envpool_batch* b) noexcept nogil:
    """Envs that reset take a step too, since it needs the same draw and costs no branch; then they go to a start."""
    cdef Walkers* s = <Walkers*>state
    cdef const Table* table = s.table
    cdef const uint32_t* entries = s.entries
    cdef const int32_t* actions = <const int32_t*>b.actions[0]
    cdef const int32_t* ids = b.ids
    cdef const uint8_t* reset = b.reset
    cdef float* reward = b.reward
    cdef uint8_t* terminated = b.terminated
    cdef ep_pcg64* rng = s.rng
    cdef int32_t* position = s.position
    cdef float* prob = s.prob
    cdef uint64_t draws[ENVPOOL_MAX_BATCH]
    cdef uint64_t draw
    cdef int32_t num_actions = table.num_actions, shift = table.shift
    cdef int32_t i, id, action, row, outcome
    cdef uint32_t entry
    for i in range(b.n):
        id = ids[i]
        draw = ep_next64(&rng[id]) >> 11
        draws[i] = draw
        action = actions[id] & -(reset[i] == 0)         # an env that resets may have been given any action
        row = position[id] * num_actions + action
        outcome = (
            (draw >= table.limits[action][0]) + (draw >= table.limits[action][1]) + (draw >= table.limits[action][2])
        )
        entry = entries[(row << shift) + outcome]
        position[id] = <int32_t>(entry >> 2)
        prob[id] = table.prob[action][outcome]
        reward[i] = table.reward[entry & 3]
        terminated[i] = table.terminated[entry & 3]
    for i in range(b.num_resets):
        id = ids[b.resets[i]]
        position[id] = draw_start(s, draws[b.resets[i]])
        prob[id] = 1
    return 0


cdef void write_many(void* state, const int32_t* ids, int32_t n, void* const* fields, int64_t row0) noexcept nogil:
    cdef Walkers* s = <Walkers*>state
    cdef int32_t* obs = <int32_t*>fields[0] + row0
    cdef float* prob = <float*>fields[1] + row0
    cdef int32_t i
    for i in range(n):
        obs[i] = s.position[ids[i]]
        prob[i] = s.prob[ids[i]]


cdef int run_many(void* state, const envpool_batch* b, void* const* fields, int64_t row0) noexcept nogil:
    cdef Walkers* s = <Walkers*>state
    step_many(state, b)
    if b.contiguous:
        memcpy(<int32_t*>fields[0] + row0, s.position + b.ids[0], b.n * sizeof(int32_t))
        memcpy(<float*>fields[1] + row0, s.prob + b.ids[0], b.n * sizeof(float))
    else:
        write_many(state, b.ids, b.n, fields, row0)
    return 0


cdef int render_many(void* state, const envpool_frames* f) noexcept nogil:
    cdef Walkers* s = <Walkers*>state
    cdef const int32_t* places = sheet_numbers(f.assets)
    cdef const int32_t* place
    cdef canvas c
    cdef int32_t i
    for i in range(f.n):
        c = canvas_of_frame(f, i)
        place = places + 2 * s.position[f.ids[i]]
        sheet_copy(&c, f.assets, 0)
        sheet_draw(&c, f.assets, 1, place[0], place[1])
    return 0


def limits_of(probabilities):
    """The integer limits of ``np.cumsum(probabilities) > random()``, for draws of 53 bits: uint64, same shape."""
    return np.ceil(np.cumsum(probabilities, axis=-1) * 2.0**53).astype(np.uint64)


def pack(next_state, kind, odds, rewards, terminated, start):
    """Lays out a table of transitions as the bytes that ``create`` takes.

    Parameters
    ----------
    next_state, kind : numpy.ndarray
        int (states, actions, outcomes) with 1 to 3 outcomes: where each leads, and its index in rewards and terminated.
    odds : array_like
        float64 (actions, outcomes): their probabilities, the same in every state.
    rewards, terminated : sequence
        (kinds,) with at most 4 kinds.
    start : numpy.ndarray
        float64 (states,): how likely an episode starts in a state.

    Returns
    -------
    bytes
        A ``Table`` and its arrays.
    """
    cdef Table table
    num_states, num_actions, num_outcomes = next_state.shape
    odds = np.asarray(odds, np.float64)
    memset(&table, 0, sizeof(Table))
    table.num_actions = num_actions
    table.shift = 0 if num_outcomes == 1 else 2
    for action in range(MAX_ACTIONS):
        for outcome in range(MAX_OUTCOMES):
            table.limits[action][outcome] = 1 << 53             # out of reach
        for outcome in range(MAX_OUTCOMES + 1):
            table.prob[action][outcome] = 1
    for action in range(num_actions):
        limits = limits_of(odds[action])
        for outcome in range(num_outcomes):
            table.limits[action][outcome] = limits[outcome]
            table.prob[action][outcome] = odds[action, outcome]
        # A draw above all limits, which rounding allows, is the first outcome: what argmax gives where nothing is true.
        table.prob[action][MAX_OUTCOMES] = odds[action, 0]
    for index, (reward, ends) in enumerate(zip(rewards, terminated, strict=True)):
        table.reward[index] = reward
        table.terminated[index] = ends

    states = np.flatnonzero(start)
    # Above all limits argmax gives state 0, whether it is a start or not.
    start_limits = np.append(limits_of(start)[states], np.uint64(1 << 53))
    start_states = np.append(states, 0).astype(np.int32)
    entries = np.empty((num_states * num_actions, 1 << table.shift), np.uint32)
    entries[:, :num_outcomes] = (4 * next_state + kind).reshape(-1, num_outcomes)
    entries[:, num_outcomes:] = entries[:, :1]
    table.num_starts = len(states)
    table.num_entries = entries.size
    header = (<const char*>&table)[:sizeof(Table)]
    return header + start_limits.tobytes() + entries.tobytes() + start_states.tobytes()


def grid_targets(num_rows, num_columns, moves):
    """Where each move leads from each cell of a grid whose border holds.

    Parameters
    ----------
    num_rows, num_columns : int
        Size of the grid; cells are counted row by row.
    moves : sequence of (int, int)
        Change of row and column for each move.

    Returns
    -------
    numpy.ndarray
        int64 (cells, moves).
    """
    row, column = np.divmod(np.arange(num_rows * num_columns), num_columns)
    return np.stack(
        [
            np.clip(row + down, 0, num_rows - 1) * num_columns + np.clip(column + right, 0, num_columns - 1)
            for down, right in moves
        ],
        axis=1,
    )


def slipping(targets):
    """The outcomes of moves of which each may turn by a quarter: to the move before it, itself, the move after it.

    Parameters
    ----------
    targets : numpy.ndarray
        int (cells, moves), as ``grid_targets`` gives them, with the moves in the order of the compass.

    Returns
    -------
    numpy.ndarray
        int (cells, moves, 3).
    """
    return np.stack([np.roll(targets, 1, axis=1), targets, np.roll(targets, -1, axis=1)], axis=2)
