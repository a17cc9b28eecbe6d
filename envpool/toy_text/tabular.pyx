"""Walkers on a table of transitions, on which FrozenLake, CliffWalking and Taxi are built.

tabular.pxd documents the layout of a table and the random numbers that a step draws.
"""

import numpy as np

from libc.math cimport ceil
from libc.stdint cimport int32_t, int64_t, uint8_t, uint32_t, uint64_t
from libc.string cimport memcpy, memset

from envpool.env cimport ENVPOOL_MAX_BATCH, envpool_batch, envpool_env, envpool_frames, envpool_rows, envpool_setup
from envpool.numerics.rng cimport ep_next64, ep_pcg64
from envpool.raster.canvas cimport canvas, canvas_of_frame
from envpool.raster.image cimport sheet_copy, sheet_draw, sheet_numbers
from envpool.scaffold cimport (
    envpool_finish_state, envpool_new_array, envpool_new_env, envpool_new_state, envpool_params_vary, envpool_state,
    envpool_with_snapshots,
)

from envpool.native import Field


cdef void* new_walkers(const envpool_setup* setup, size_t size, const Table* table) noexcept nogil:
    cdef Walkers* s = <Walkers*>envpool_new_state(setup, size, sizeof(ep_pcg64))
    if s != NULL:
        s.table = table
        s.start_limits = <const uint64_t*>(table + 1)
        s.entries = <const uint32_t*>(s.start_limits + table.num_starts + 1)
        s.start_states = <const int32_t*>(s.entries + table.num_entries)
        s.position = <int32_t*>envpool_new_array(s, sizeof(int32_t))
        s.prob = <float*>envpool_new_array(s, sizeof(float))
        s.head.is_valid = is_valid
    return s


cdef int is_valid(const envpool_state* state, int32_t id, int32_t resets) noexcept nogil:
    cdef const Walkers* s = <const Walkers*>state
    cdef int32_t num_states = (s.table.num_entries >> s.table.shift) // s.table.num_actions
    return 0 <= s.position[id] < num_states and 0 <= s.prob[id] <= 1


cdef int create(const envpool_setup* setup, void** state) noexcept nogil:
    return envpool_finish_state(new_walkers(setup, sizeof(Walkers), <const Table*>setup.config), state)


cdef inline int32_t draw_start(const Walkers* s, uint64_t draw) noexcept nogil:
    """Return the start whose limit is the first one above a draw of 53 bits.

    All starts are equally likely, so the first guess is right or next to it.
    """
    cdef uint64_t k = ((draw >> 21) * <uint64_t>s.table.num_starts) >> 32
    while k > 0 and draw < s.start_limits[k - 1]:
        k -= 1
    while draw >= s.start_limits[k]:
        k += 1
    return s.start_states[k]


cdef Odds odds_of(double first, double second, double third) noexcept nogil:
    """Compute what `pack` computes with NumPy."""
    cdef Odds odds
    cdef double p[MAX_OUTCOMES]
    cdef double total = 0
    cdef int32_t k
    p[0], p[1], p[2] = first, second, third
    for k in range(MAX_OUTCOMES):
        total += p[k]
        odds.limits[k] = <uint64_t>ceil(total * 9007199254740992.0)     # 2**53
        odds.prob[k] = <float>p[k]
    odds.prob[MAX_OUTCOMES] = <float>first
    return odds


cdef int32_t draw_own_start(const uint8_t* cells, int32_t num_states, uint64_t draw) noexcept nogil:
    """Return the start of an environment with cells of its own: ``argmax(cumsum(start / start.sum()) > random())``."""
    cdef double total = 0, share, random = <double>draw * (1.0 / 9007199254740992.0)
    cdef int32_t state, num_starts = 0
    for state in range(num_states):
        num_starts += (cells[state] & IS_START) != 0
    share = 1.0 / num_starts
    for state in range(num_states):
        if cells[state] & IS_START:
            total += share
            if total > random:
                return state
    return 0


cdef inline int32_t neighbour(int32_t cell, int32_t move, int32_t columns, int32_t num_cells) noexcept nogil:
    """Return the cell that a move leads to, as `grid_targets` does: left, down, right, up."""
    if move == 0:
        return cell - (cell % columns > 0)
    if move == 2:
        return cell + (cell % columns < columns - 1)
    if move == 1:
        return cell + columns if cell + columns < num_cells else cell
    return cell - columns if cell >= columns else cell


cdef int step_own(Walkers* s, const envpool_batch* b) noexcept nogil:
    """Step a batch of environments that may have odds or cells of their own."""
    cdef const Table* table = s.table
    cdef const int32_t* actions = <const int32_t*>b.actions[0]
    cdef ep_pcg64* rng = <ep_pcg64*>s.head.records
    cdef int32_t num_states = (table.num_entries >> table.shift) // table.num_actions
    cdef const uint64_t* limits
    cdef const float* prob
    cdef const uint8_t* cells = NULL
    cdef uint64_t draw
    cdef uint32_t entry
    cdef int32_t i, id, action, outcome, kind, move
    for i in range(b.n):
        id = b.ids[i]
        draw = ep_next64(&rng[id]) >> 11
        if s.cells != NULL:
            cells = s.cells + <int64_t>id * num_states
        if b.reset[i]:
            s.position[id] = draw_start(s, draw) if cells == NULL else draw_own_start(cells, num_states, draw)
            s.prob[id] = 1
            b.terminated[i] = 0
            continue
        action = actions[id]
        limits, prob = table.limits[action], table.prob[action]
        if s.odds != NULL and table.shift and action < NUM_MOVES:
            limits, prob = s.odds[id].limits, s.odds[id].prob
        outcome = (draw >= limits[0]) + (draw >= limits[1]) + (draw >= limits[2])
        s.prob[id] = prob[outcome]
        if cells == NULL:
            entry = s.entries[((s.position[id] * table.num_actions + action) << table.shift) + outcome]
            s.position[id] = <int32_t>(entry >> 2)
            kind = entry & 3
        elif cells[s.position[id]] & 3:     # upstream's walkers stay where they are
            s.prob[id] = 1
            kind = PAST_END
        else:                               # the table knows the usual cells only
            move = (action + outcome % MAX_OUTCOMES - 1) & 3 if table.shift else action
            s.position[id] = neighbour(s.position[id], move, s.columns, num_states)
            kind = cells[s.position[id]] & 3
        b.reward[i] = table.reward[kind]
        b.terminated[i] = table.terminated[kind]
    return 0


cdef int step_many(void* state, const envpool_batch* b) noexcept nogil:
    cdef Walkers* s = <Walkers*>state
    if envpool_params_vary(&s.head):
        return step_own(s, b)
    return step_common(s, b)


cdef int step_common(Walkers* s, const envpool_batch* b) noexcept nogil:
    """Step a batch of environments with the odds and cells of the table.

    Environments that reset take a step too: it needs the same draw and costs no branch.
    """
    cdef const Table* table = s.table
    cdef const uint32_t* entries = s.entries
    cdef const int32_t* actions = <const int32_t*>b.actions[0]
    cdef const int32_t* ids = b.ids
    cdef const uint8_t* reset = b.reset
    cdef float* reward = b.reward
    cdef uint8_t* terminated = b.terminated
    cdef ep_pcg64* rng = <ep_pcg64*>s.head.records
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
        action = actions[id] & -(reset[i] == 0)         # the action of an environment that resets may be anything
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


cdef void write_many(void* state, const envpool_rows* rows) noexcept nogil:
    cdef Walkers* s = <Walkers*>state
    cdef int32_t* obs = <int32_t*>rows.fields[0] + rows.row0
    cdef float* prob = <float*>rows.fields[1] + rows.row0
    cdef int32_t i
    for i in range(rows.n):
        obs[i] = s.position[rows.ids[i]]
        prob[i] = s.prob[rows.ids[i]]


cdef int run_many(void* state, const envpool_batch* b, const envpool_rows* rows) noexcept nogil:
    cdef Walkers* s = <Walkers*>state
    step_many(state, b)
    if b.contiguous:
        memcpy(<int32_t*>rows.fields[0] + rows.row0, s.position + b.ids[0], b.n * sizeof(int32_t))
        memcpy(<float*>rows.fields[1] + rows.row0, s.prob + b.ids[0], b.n * sizeof(float))
    else:
        write_many(state, rows)
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


cdef envpool_env definition(const char* name) noexcept:
    cdef envpool_env env = envpool_new_env(name, create, step_many, write_many)
    env.run_many = run_many
    env.render_many = render_many
    envpool_with_snapshots(&env)
    return env


def transition_fields(num_states, num_actions):
    """Return the field tables of an environment that is built on Walkers.

    Parameters
    ----------
    num_states, num_actions : int
        Size of the table.

    Returns
    -------
    fields, actions : list of Field
        The state and ``info["prob"]``; the action.
    """
    fields = [Field("obs", np.int32, (-1,), 0, num_states - 1), Field("info:prob", np.float32, (-1,), 0, 1)]
    return fields, [Field("action", np.int32, (-1,), 0, num_actions - 1)]


def limits_of(probabilities):
    """Return the integer limits of ``np.cumsum(probabilities) > random()`` for draws of 53 bits, as uint64."""
    return np.ceil(np.cumsum(probabilities, axis=-1) * 2.0**53).astype(np.uint64)


def pack(next_state, kind, odds, rewards, terminated, start):
    """Return a table of transitions as bytes, the config of ``definition``.

    Parameters
    ----------
    next_state, kind : numpy.ndarray
        int (states, actions, outcomes) with 1 to 3 outcomes: the state that each outcome leads to, and the index of the
        outcome in `rewards` and `terminated`.
    odds : array_like
        float64 (actions, outcomes): probabilities of the outcomes, which are the same in every state.
    rewards, terminated : sequence
        (kinds,): the reward of each kind of outcome, and whether it ends the episode. At most 4 kinds.
    start : numpy.ndarray
        float64 (states,): the probability that an episode starts in each state.

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
        # A draw above all limits, which rounding allows, is the first outcome: argmax returns 0 if nothing is true.
        table.prob[action][MAX_OUTCOMES] = odds[action, 0]
    for index, (reward, ends) in enumerate(zip(rewards, terminated, strict=True)):
        table.reward[index] = reward
        table.terminated[index] = ends

    states = np.flatnonzero(start)
    # For a draw above all limits argmax returns state 0, whether it is a start or not.
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
    """Return the cell that each move leads to from each cell of a grid, in which no move crosses the border.

    Parameters
    ----------
    num_rows, num_columns : int
        Size of the grid; cells are numbered row by row.
    moves : sequence of (int, int)
        Change of row and column by each move.

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
    """Return the outcomes of moves that may slip by a quarter turn: the previous move, the move itself, the next move.

    Parameters
    ----------
    targets : numpy.ndarray
        int (cells, moves), from ``grid_targets``, with the moves in the order of the compass.

    Returns
    -------
    numpy.ndarray
        int (cells, moves, 3).
    """
    return np.stack([np.roll(targets, 1, axis=1), targets, np.roll(targets, -1, axis=1)], axis=2)
