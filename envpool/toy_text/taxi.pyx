"""Taxi: fetch a passenger and drive to the destination (Dietterich, Hierarchical Reinforcement Learning, 2000).

Source of the dynamics: ``gymnasium.envs.toy_text.taxi``. A table holds the outcomes of each action; a fickle passenger,
who may change the destination, is added on top of it.
"""

import numpy as np

from libc.stdint cimport int32_t, int64_t, uint8_t
from libc.string cimport memcpy

from envpool.env cimport (
    ENVPOOL_MAX_BATCH, envpool_batch, envpool_env, envpool_frames, envpool_params, envpool_rows, envpool_setup,
)
from envpool.numerics.rng cimport ep_choice, ep_next_double, ep_pcg64
from envpool.raster.canvas cimport canvas
from envpool.raster.image cimport sheet_copy, sheet_draw
from envpool.scaffold cimport (
    envpool_config_bytes, envpool_finish_state, envpool_new_array, envpool_new_env, envpool_new_params,
    envpool_no_memory_text, envpool_set_doubles, envpool_state, envpool_template, envpool_with_params,
    envpool_with_snapshots,
)
from envpool.toy_text cimport tabular
from envpool.toy_text.frames cimport render_scaled

from envpool.native import EnvDefinition, Field, Param, define, param_fields
from envpool.toy_text.sprites import TAXI_SIZE, taxi
from envpool.toy_text.tabular import grid_targets, pack, transition_fields

cdef enum:
    NUM_STATES = 500            # ((row * 5 + column) * 5 + passenger) * 4 + destination
    NUM_ACTIONS = 6
    STATES_PER_CELL = 20
    RIDING = 4                  # the passenger is in the taxi; 0 to 3: the passenger waits at that stand
    NUM_MOVES = 4               # the first actions
    SOUTHWARD = 0

SOUTH, NORTH, EAST, WEST, PICK_UP, DROP_OFF = range(NUM_ACTIONS)
MOVES = ((1, 0), (-1, 0), (0, 1), (0, -1))
# For each move, the moves to its left and right.
SIDES = ((EAST, WEST), (WEST, EAST), (NORTH, SOUTH), (SOUTH, NORTH))
SIDE = 5                        # of the city
STANDS = (0, 4, 20, 23)         # cells of red, green, yellow, blue
cdef int32_t[4] STAND = STANDS
WALLS_EAST = (1, 6, 15, 17, 20, 22)  # cells with a wall between them and the next one in the row
PLAIN, REFUSED, DELIVERED = range(3)  # kinds of outcomes

# Followed by a tabular.Table.
cdef struct Config:
    double rainy_probability
    double fickle_probability
    int64_t is_fickle           # whether passengers may change the destination at all
    uint8_t mask[500][6]        # 1 for each action that changes the state

cdef struct Taxis:
    tabular.Walkers walkers
    uint8_t* is_undecided       # (num_envs): 1: the passenger changes the destination on the first move
    uint8_t* heading            # (num_envs): the last move of the episode, which the frame shows
    double* params[2]           # (num_envs): rainy_probability, fickle_probability


cdef int create(const envpool_setup* setup, void** state) noexcept nogil:
    cdef const Config* config = <const Config*>setup.config
    cdef const tabular.Table* table = <const tabular.Table*>(config + 1)
    cdef Taxis* s = <Taxis*>tabular.new_walkers(setup, sizeof(Taxis), table)
    cdef int32_t i
    if s != NULL:
        s.is_undecided = <uint8_t*>envpool_new_array(s, 1)
        s.heading = <uint8_t*>envpool_new_array(s, 1)
        s.walkers.odds = <tabular.Odds*>envpool_new_array(s, sizeof(tabular.Odds))
        envpool_new_params(s, s.params, &config.rainy_probability, 2)
        s.walkers.head.is_valid = is_valid
        if s.walkers.odds != NULL:
            for i in range(setup.num_envs):
                s.walkers.odds[i] = rain_odds(config.rainy_probability)
    return envpool_finish_state(s, state)


cdef inline tabular.Odds rain_odds(double ahead) noexcept nogil:
    cdef double aside = (1.0 - ahead) / 2.0
    return tabular.odds_of(ahead, aside, aside)


cdef int set_params(void* state, const envpool_params* call) noexcept nogil:
    cdef Taxis* s = <Taxis*>state
    cdef int32_t i
    envpool_set_doubles(state, call)
    for i in range(call.n):
        s.walkers.odds[call.ids[i]] = rain_odds(s.params[0][call.ids[i]])
    return 0


cdef int is_valid(const envpool_state* state, int32_t id, int32_t resets) noexcept nogil:
    cdef const Taxis* s = <const Taxis*>state
    return tabular.is_valid(state, id, resets) and s.is_undecided[id] <= 1 and s.heading[id] < NUM_MOVES


cdef inline int32_t cell_x(int32_t cell) noexcept nogil:
    """Return the left edge of a cell in the frame."""
    return 48 + 88 * (cell % 5)


cdef inline int32_t cell_y(int32_t cell) noexcept nogil:
    """Return the top edge of a cell in the frame."""
    return 128 + 56 * (cell // 5)


cdef inline bint has_moved_with_passenger(int32_t before, int32_t now) noexcept nogil:
    return (before >> 2) % 5 == RIDING and before // STATES_PER_CELL != now // STATES_PER_CELL


cdef int32_t other_destination(int32_t position, int32_t before, ep_pcg64* rng) noexcept nogil:
    """Return the state with a new destination, drawn from the three that the state before did not have."""
    cdef int32_t old = before & 3
    cdef int32_t new = <int32_t>ep_choice(rng, 3)
    return (position & ~3) | (new + (new >= old))


cdef int step_many(void* state, const envpool_batch* b) noexcept nogil:
    cdef Taxis* s = <Taxis*>state
    cdef const int32_t* actions = <const int32_t*>b.actions[0]
    cdef const Config* config = <const Config*>s.walkers.head.config
    cdef int32_t* position = s.walkers.position
    cdef int32_t before[ENVPOOL_MAX_BATCH]
    cdef ep_pcg64* rng
    cdef int32_t i, id
    for i in range(b.n):
        id = b.ids[i]
        s.heading[id] = SOUTHWARD if b.reset[i] else <uint8_t>actions[id] if actions[id] < NUM_MOVES else s.heading[id]
    if not config.is_fickle:
        return tabular.step_many(state, b)
    for i in range(b.n):
        before[i] = position[b.ids[i]]
    tabular.step_many(state, b)
    for i in range(b.n):
        id = b.ids[i]
        rng = <ep_pcg64*>s.walkers.head.records + id
        if b.reset[i]:
            s.is_undecided[id] = ep_next_double(rng) < s.params[1][id]
        elif s.is_undecided[id] and has_moved_with_passenger(before[i], position[id]):
            s.is_undecided[id] = 0
            position[id] = other_destination(position[id], before[i], rng)
    return 0


cdef void write_many(void* state, const envpool_rows* rows) noexcept nogil:
    cdef Taxis* s = <Taxis*>state
    cdef const Config* config = <const Config*>s.walkers.head.config
    cdef uint8_t* mask = <uint8_t*>rows.fields[2] + NUM_ACTIONS * rows.row0
    cdef int32_t i
    tabular.write_many(state, rows)
    for i in range(rows.n):
        memcpy(mask + NUM_ACTIONS * i, config.mask[s.walkers.position[rows.ids[i]]], NUM_ACTIONS)


cdef void draw(const canvas* c, const void* sheet, const void* state, int32_t id) noexcept nogil:
    """Draw a frame. The sheet has the city, the destination, the passenger, and the taxi by heading, empty and full."""
    cdef int32_t position = (<const Taxis*>state).walkers.position[id], heading = (<const Taxis*>state).heading[id]
    cdef int32_t destination = STAND[position & 3], passenger = (position >> 2) % 5
    cdef int32_t is_full = passenger == RIDING, is_aside = heading >= 2
    sheet_copy(c, sheet, 0)
    sheet_draw(c, sheet, 1, cell_x(destination), cell_y(destination))
    if not is_full:
        sheet_draw(c, sheet, 2, cell_x(STAND[passenger]) + 35, cell_y(STAND[passenger]) + 19)
    position = position // STATES_PER_CELL
    sheet_draw(c, sheet, 3 + 4 * is_full + heading, cell_x(position) + (15 if is_aside else 25),
               cell_y(position) + (9 if is_aside else 0))


cdef int render_many(void* state, const envpool_frames* f) noexcept nogil:
    return render_scaled(state, f, ENV_DEF.frame_height, ENV_DEF.frame_width, draw)


cdef envpool_env ENV_DEF = envpool_new_env("Taxi", create, step_many, write_many)
ENV_DEF.error_text = envpool_no_memory_text
ENV_DEF.render_many = render_many
ENV_DEF.frame_height, ENV_DEF.frame_width = TAXI_SIZE
envpool_with_snapshots(&ENV_DEF)
envpool_with_params(&ENV_DEF)
ENV_DEF.set_params = set_params


def city_targets():
    """Return the cell that each move leads to from each cell: int (25, 4)."""
    targets = grid_targets(SIDE, SIDE, MOVES)
    for cell in WALLS_EAST:
        targets[cell, EAST] = cell
        targets[cell + 1, WEST] = cell + 1
    return targets


def certain_outcomes():
    """Return the outcome of each action in dry weather: next state and kind of outcome, int (500, 6) each."""
    state = np.arange(NUM_STATES)
    cell, rest = np.divmod(state, STATES_PER_CELL)
    passenger, destination = np.divmod(rest, 4)
    stands = np.array(STANDS)
    next_state = np.repeat(state[:, None], NUM_ACTIONS, axis=1)
    kind = np.full((NUM_STATES, NUM_ACTIONS), PLAIN)
    next_state[:, :PICK_UP] = city_targets()[cell] * STATES_PER_CELL + rest[:, None]

    waits_here = (passenger < RIDING) & (stands[np.minimum(passenger, 3)] == cell)
    next_state[waits_here, PICK_UP] += 4 * (RIDING - passenger[waits_here])
    kind[~waits_here, PICK_UP] = REFUSED

    may_leave = (passenger == RIDING) & np.isin(cell, stands)
    stand = np.searchsorted(stands, cell[may_leave])
    next_state[may_leave, DROP_OFF] += 4 * (stand - RIDING)
    kind[~may_leave, DROP_OFF] = REFUSED
    kind[may_leave & (stands[destination] == cell), DROP_OFF] = DELIVERED
    return next_state, kind


def rainy_outcomes(next_state):
    """Return the next states of each action in the rain, int (500, 6, 3): straight on, to the left, to the right.

    A move that a wall blocks does not turn to a side either.
    """
    targets = city_targets()
    cell = np.arange(SIDE * SIDE)[:, None, None]
    turned = np.stack([targets, *(targets[:, side] for side in zip(*SIDES))], axis=2)
    turned = np.where(targets[:, :, None] == cell, cell, turned)
    cell, rest = np.divmod(np.arange(NUM_STATES), STATES_PER_CELL)
    outcomes = np.repeat(next_state[:, :, None], 3, axis=2)
    outcomes[:, :PICK_UP] = turned[cell] * STATES_PER_CELL + rest[:, None, None]
    return outcomes


class Taxi(EnvDefinition):
    """A taxi in a city of 5 x 5 cells, a passenger, and four stands.

    Observation int32: ((row * 5 + column) * 5 + passenger) * 4 + destination; the passenger is at stand 0 to 3 or, as
    4, in the taxi. Action int32: 0 south, 1 north, 2 east, 3 west, 4 picks up, 5 drops off. Reward 20 for dropping the
    passenger off at the destination, which ends the episode, -10 for picking up or dropping off where that is not
    possible, and -1 for every other step.

    ``info["prob"]`` float32: probability of the transition that happened; 1 after a reset. ``info["action_mask"]`` int8
    (6,): 1 for each action that changes the state.

    Taxi-v3 and Taxi-v4 are the same here. In Gymnasium they differ in rain and fickleness, which v4 fixed.

    Options
    -------
    is_rainy : bool
        If True, a move may turn to the left or right. Default False; `rainy_probability` is ignored then.
    fickle_passenger : bool
        If True, a passenger may change the destination on the first move after getting in. Default False;
        `fickle_probability` is ignored then.
    """

    continues_after_end = True
    options = {
        "reward_threshold": 8.0,
        "is_rainy": False,
        "fickle_passenger": False,
    }
    params = {
        "rainy_probability": Param(0.8, 0, 1, text="probability that a move does not turn in the rain"),
        "fickle_probability": Param(0.3, 0, 1, text="probability that a passenger is fickle"),
    }

    @staticmethod
    def build(config):
        cdef Config c
        cdef int state, action
        ahead, aside = config.rainy_probability, (1.0 - config.rainy_probability) / 2.0
        c.rainy_probability, c.fickle_probability = ahead, config.fickle_probability
        c.is_fickle = config.fickle_passenger
        next_state, kind = certain_outcomes()
        for state in range(NUM_STATES):
            for action in range(NUM_ACTIONS):
                c.mask[state][action] = next_state[state, action] != state
        if config.is_rainy:
            outcomes = rainy_outcomes(next_state)
            odds = [[ahead, aside, aside]] * len(MOVES) + [[1.0, 0.0, 0.0]] * 2
        else:
            outcomes = next_state[:, :, None]
            odds = [[1.0]] * NUM_ACTIONS
        passenger, destination = np.divmod(np.arange(NUM_STATES) % STATES_PER_CELL, 4)
        start = ((passenger != RIDING) & (passenger != destination)).astype(np.float64)
        table = pack(
            outcomes,
            kind[:, :, None],
            odds,
            rewards=(-1, -10, 20),
            terminated=(False, False, True),
            start=start / start.sum(),
        )
        fields, actions = transition_fields(NUM_STATES, NUM_ACTIONS)
        fields.append(Field("info:action_mask", np.int8, (NUM_ACTIONS,), 0, 1))
        config_bytes = envpool_config_bytes(&c, sizeof(c)) + table
        return define(envpool_template(&ENV_DEF), fields, actions, config_bytes, params=param_fields(Taxi.params))

    @staticmethod
    def render_assets(config, height, width):
        """Return upstream's sprites as a sheet."""
        return taxi()

    @staticmethod
    def render_fps(config):
        """Return the frame rate of the upstream environment, in frames per second."""
        return 4
