"""Taxi: fetching a passenger and driving to the destination (Dietterich, Hierarchical Reinforcement Learning, 2000).

Source of the dynamics: ``gymnasium.envs.toy_text.taxi``. A table says what each action does; a fickle passenger, who
wants to go somewhere else after all, comes on top.
"""

import numpy as np

from cpython.pycapsule cimport PyCapsule_New
from libc.stdint cimport int32_t, int64_t, uint8_t, uint64_t
from libc.stdio cimport snprintf
from libc.stdlib cimport calloc, free
from libc.string cimport memcpy

from envpool.raster.canvas cimport canvas
from envpool.raster.image cimport sheet_copy, sheet_draw
from envpool.raster.scaled cimport scaled_begin, scaled_canvas, scaled_end, scaled_finish, scaled_frames
from envpool.env cimport (
    ENVPOOL_CAPSULE_NAME, ENVPOOL_MAX_BATCH, envpool_batch, envpool_env, envpool_env_init, envpool_frames,
)
from envpool.numerics.rng cimport ep_choice, ep_next_double, ep_pcg64
from envpool.toy_text cimport tabular

from envpool.native import Field, define
from envpool.toy_text.checks import check_probability
from envpool.toy_text.sprites import TAXI_SIZE, taxi
from envpool.toy_text.tabular import grid_targets, pack

cdef enum:
    NUM_STATES = 500            # ((row * 5 + column) * 5 + passenger) * 4 + destination
    NUM_ACTIONS = 6
    STATES_PER_CELL = 20
    RIDING = 4                  # the passenger is in the taxi; 0 to 3: waits at that stand
    NUM_MOVES = 4               # the first actions
    SOUTHWARD = 0
    OUT_OF_MEMORY = 1

SOUTH, NORTH, EAST, WEST, PICK_UP, DROP_OFF = range(NUM_ACTIONS)
MOVES = ((1, 0), (-1, 0), (0, 1), (0, -1))
# For each move the ones to its left and right.
SIDES = ((EAST, WEST), (WEST, EAST), (NORTH, SOUTH), (SOUTH, NORTH))
SIDE = 5                        # of the city
STANDS = (0, 4, 20, 23)         # cells of red, green, yellow, blue
cdef int32_t[4] STAND = STANDS
WALLS_EAST = (1, 6, 15, 17, 20, 22)  # cells with a wall between them and the next one in the row
PLAIN, REFUSED, DELIVERED = range(3)  # kinds of outcomes

# Followed by a tabular.Table.
cdef struct Config:
    double fickle_probability
    int64_t is_fickle           # whether passengers may change their mind at all
    uint8_t mask[500][6]        # 1 for each action that changes the state

cdef struct Taxis:
    const Config* config
    tabular.Walkers* walkers
    uint8_t* is_undecided       # (n): the passenger changes the destination on the first move
    uint8_t* heading            # (n): the last move of the episode, which the picture shows


cdef void destroy(void* state) noexcept nogil:
    cdef Taxis* s = <Taxis*>state
    if s.walkers != NULL:
        tabular.destroy(s.walkers)
    free(s.is_undecided)
    free(s.heading)
    free(s)


cdef void* create(const void* config, int32_t n) noexcept nogil:
    cdef Taxis* s = <Taxis*>calloc(1, sizeof(Taxis))
    if s == NULL:
        return NULL
    s.config = <const Config*>config
    s.walkers = <tabular.Walkers*>tabular.create(s.config + 1, n)
    s.is_undecided = <uint8_t*>calloc(n, 1)
    s.heading = <uint8_t*>calloc(n, 1)
    if s.walkers == NULL or s.is_undecided == NULL or s.heading == NULL:
        destroy(s)
        return NULL
    return s


cdef void seed_many(void* state, const int32_t* ids, int32_t n, const uint64_t* seeds) noexcept nogil:
    tabular.seed_many((<Taxis*>state).walkers, ids, n, seeds)


cdef inline int32_t cell_x(int32_t cell) noexcept nogil:
    """Where a cell is in the picture."""
    return 48 + 88 * (cell % 5)


cdef inline int32_t cell_y(int32_t cell) noexcept nogil:
    return 128 + 56 * (cell // 5)


cdef inline bint has_moved_with_passenger(int32_t before, int32_t now) noexcept nogil:
    return (before >> 2) % 5 == RIDING and before // STATES_PER_CELL != now // STATES_PER_CELL


cdef int32_t other_destination(int32_t position, int32_t before, ep_pcg64* rng) noexcept nogil:
    """The state with a destination drawn from the three that the one before did not have."""
    cdef int32_t old = before & 3
    cdef int32_t new = <int32_t>ep_choice(rng, 3)
    return (position & ~3) | (new + (new >= old))


cdef int step_many(void* state, const envpool_batch* b) noexcept nogil:
    cdef Taxis* s = <Taxis*>state
    cdef const int32_t* actions = <const int32_t*>b.actions[0]
    cdef int32_t* position = s.walkers.position
    cdef int32_t before[ENVPOOL_MAX_BATCH]
    cdef ep_pcg64* rng
    cdef int32_t i, id
    for i in range(b.n):
        id = b.ids[i]
        s.heading[id] = SOUTHWARD if b.reset[i] else <uint8_t>actions[id] if actions[id] < NUM_MOVES else s.heading[id]
    if not s.config.is_fickle:
        return tabular.step_many(s.walkers, b)
    for i in range(b.n):
        before[i] = position[b.ids[i]]
    tabular.step_many(s.walkers, b)
    for i in range(b.n):
        id = b.ids[i]
        rng = &s.walkers.rng[id]
        if b.reset[i]:
            s.is_undecided[id] = ep_next_double(rng) < s.config.fickle_probability
        elif s.is_undecided[id] and has_moved_with_passenger(before[i], position[id]):
            s.is_undecided[id] = 0
            position[id] = other_destination(position[id], before[i], rng)
    return 0


cdef void write_many(void* state, const int32_t* ids, int32_t n, void* const* fields, int64_t row0) noexcept nogil:
    cdef Taxis* s = <Taxis*>state
    cdef uint8_t* mask = <uint8_t*>fields[2] + NUM_ACTIONS * row0
    cdef int32_t i
    tabular.write_many(s.walkers, ids, n, fields, row0)
    for i in range(n):
        memcpy(mask + NUM_ACTIONS * i, s.config.mask[s.walkers.position[ids[i]]], NUM_ACTIONS)


cdef void draw(const canvas* c, const void* sheet, int32_t position, int32_t heading) noexcept nogil:
    """The sheet has the city, the destination, the passenger, and the taxi by heading: empty, then full."""
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
    cdef Taxis* s = <Taxis*>state
    cdef scaled_frames frames
    cdef canvas c
    cdef int32_t i, id
    if not scaled_begin(&frames, f, ENV_DEF.frame_height, ENV_DEF.frame_width):
        return OUT_OF_MEMORY
    for i in range(f.n):
        id = f.ids[i]
        c = scaled_canvas(&frames, i)
        draw(&c, f.assets, s.walkers.position[id], s.heading[id])
        scaled_finish(&frames, i)
    scaled_end(&frames)
    return 0


cdef void error_text(void* state, int32_t id, int32_t code, char* text, size_t size) noexcept nogil:
    """There is only one code."""
    snprintf(text, size, "there is no memory for its picture")


cdef envpool_env ENV_DEF
envpool_env_init(&ENV_DEF, "Taxi")
ENV_DEF.create = create
ENV_DEF.destroy = destroy
ENV_DEF.seed_many = seed_many
ENV_DEF.step_many = step_many
ENV_DEF.write_many = write_many
ENV_DEF.error_text = error_text
ENV_DEF.render_many = render_many
ENV_DEF.frame_height, ENV_DEF.frame_width = TAXI_SIZE


def city_targets():
    """Where each move leads from each cell: int (25, 4)."""
    targets = grid_targets(SIDE, SIDE, MOVES)
    for cell in WALLS_EAST:
        targets[cell, EAST] = cell
        targets[cell + 1, WEST] = cell + 1
    return targets


def certain_outcomes():
    """What each action does in dry weather: next state and kind of outcome, int (500, 6) each."""
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
    """What each action does in the rain: next state, int (500, 6, 3): as wanted, to the left, to the right.

    A move that a wall blocks does not turn either.
    """
    targets = city_targets()
    cell = np.arange(SIDE * SIDE)[:, None, None]
    turned = np.stack([targets, *(targets[:, side] for side in zip(*SIDES))], axis=2)
    turned = np.where(targets[:, :, None] == cell, cell, turned)
    cell, rest = np.divmod(np.arange(NUM_STATES), STATES_PER_CELL)
    outcomes = np.repeat(next_state[:, :, None], 3, axis=2)
    outcomes[:, :PICK_UP] = turned[cell] * STATES_PER_CELL + rest[:, None, None]
    return outcomes


class Taxi:
    """A taxi in a city of 5 x 5 cells, a passenger, and four stands.

    Observation int32: ((row * 5 + column) * 5 + passenger) * 4 + destination; the passenger is at stand 0 to 3 or, as
    4, in the taxi. Action int32: 0 south, 1 north, 2 east, 3 west, 4 picks up, 5 drops off. Reward 20 for the passenger
    at the destination, which ends the episode, -10 for picking up or dropping off where that is not possible, else -1.

    Info ``prob`` float32: probability of the transition that happened, 1 after a reset. Info ``action_mask`` int8 (6,):
    1 for each action that changes the state.

    Taxi-v3 and Taxi-v4 are the same here: in Gymnasium they differ in rain and fickleness, which v4 mended.

    Options
    -------
    is_rainy : bool
        Whether moves may end up at the cell to the left or right of the one wanted.
    rainy_probability : float
        In [0, 1]: how likely a move goes where it should in the rain.
    fickle_passenger : bool
        Whether passengers may change the destination on the first move after they got in.
    fickle_probability : float
        In [0, 1]: how likely a passenger is to do so.
    """

    options = {
        "reward_threshold": 8.0,
        "is_rainy": False,
        "fickle_passenger": False,
        "rainy_probability": 0.8,
        "fickle_probability": 0.3,
    }

    @staticmethod
    def build(config):
        """Return the capsule of this kind."""
        cdef Config c
        cdef int state, action
        ahead = check_probability("rainy_probability", config.rainy_probability)
        aside = (1.0 - ahead) / 2.0
        c.fickle_probability = check_probability("fickle_probability", config.fickle_probability)
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
        fields = [
            Field("obs", np.int32, (-1,), 0, NUM_STATES - 1),
            Field("info:prob", np.float32, (-1,), 0, 1),
            Field("info:action_mask", np.int8, (NUM_ACTIONS,), 0, 1),
        ]
        actions = [Field("action", np.int32, (-1,), 0, NUM_ACTIONS - 1)]
        template = PyCapsule_New(&ENV_DEF, ENVPOOL_CAPSULE_NAME, NULL)
        return define(template, fields, actions, (<const char*>&c)[:sizeof(Config)] + table)

    @staticmethod
    def render_assets(config, height, width):
        """Return upstream's images."""
        return taxi()

    @staticmethod
    def render_fps(config):
        """Return the pictures a second of upstream."""
        return 4
