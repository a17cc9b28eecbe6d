"""FrozenLake: cross slippery ice without falling into a hole.

Source of the dynamics: ``gymnasium.envs.toy_text.frozen_lake``; the transition probabilities are its float64 values.
"""

from dataclasses import replace

import numpy as np

from libc.stdint cimport int32_t, int64_t, uint8_t
from libc.stdio cimport snprintf
from libc.string cimport memcmp, memcpy

from envpool.env cimport envpool_env, envpool_frames, envpool_params, envpool_setup, envpool_snapshots
from envpool.raster.canvas cimport canvas, canvas_of_frame
from envpool.raster.image cimport sheet_copy, sheet_draw, sheet_numbers
from envpool.scaffold cimport (
    envpool_config_bytes, envpool_finish_state, envpool_new_array, envpool_note_params_vary, envpool_params_vary,
    envpool_set_records, envpool_state, envpool_template,
)
from envpool.toy_text cimport tabular

from envpool.native import EnvDefinition, Param, define, param_fields
from envpool.toy_text.checks import check_rewards
from envpool.toy_text.maps import check_map, letters_of, named_map
from envpool.toy_text.sprites import lake, lake_size
from envpool.toy_text.tabular import grid_targets, pack, slipping, transition_fields

MOVES = ((0, -1), (1, 0), (0, 1), (-1, 0))      # left, down, right, up
FROZEN, HOLE, GOAL = range(3)                   # kinds of outcomes, by the cell that is reached
KINDS = {"S": FROZEN, "F": FROZEN, "H": HOLE, "G": GOAL}

cdef enum:
    BAD_MAP = 1                 # error code of an environment
    IS_HOLE = 1                 # kind of a cell
    # Images of the sheet: the map, the walker, and the tiles.
    FIRST_TILE = 2

cdef uint8_t[4] LETTERS = [ord("F"), ord("H"), ord("G"), ord("S")]
cdef uint8_t[4] CELLS = [FROZEN, HOLE, GOAL, FROZEN | tabular.IS_START]

# Followed by the cells of the map, up to a multiple of 8 bytes, and a tabular.Table.
cdef struct Config:
    double success_rate
    int32_t rows, columns
    int64_t table_at            # bytes from the Config to the Table

cdef struct Lakes:
    tabular.Walkers walkers
    double* success_rate        # (num_envs)


cdef inline const uint8_t* usual_cells(const Config* config) noexcept nogil:
    return <const uint8_t*>(config + 1)


cdef inline tabular.Odds slip_odds(double success_rate) noexcept nogil:
    cdef double failure = (1.0 - success_rate) / 2.0
    return tabular.odds_of(failure, success_rate, failure)


cdef int create(const envpool_setup* setup, void** state) noexcept nogil:
    cdef const Config* config = <const Config*>setup.config
    cdef const tabular.Table* table = <const tabular.Table*>(<const char*>config + config.table_at)
    cdef Lakes* s = <Lakes*>tabular.new_walkers(setup, sizeof(Lakes), table)
    cdef int64_t size = <int64_t>config.rows * config.columns
    cdef int32_t i
    if s != NULL:
        s.walkers.columns = config.columns
        s.success_rate = <double*>envpool_new_array(s, sizeof(double))
        s.walkers.odds = <tabular.Odds*>envpool_new_array(s, sizeof(tabular.Odds))
        s.walkers.cells = <uint8_t*>envpool_new_array(s, size)
        s.walkers.head.is_valid = is_valid
        if not s.walkers.head.has_failed:
            for i in range(setup.num_envs):
                s.success_rate[i] = config.success_rate
                s.walkers.odds[i] = slip_odds(config.success_rate)
                memcpy(s.walkers.cells + i * size, usual_cells(config), size)
    return envpool_finish_state(s, state)


cdef inline int64_t num_cells(const Lakes* s) noexcept nogil:
    cdef const Config* config = <const Config*>s.walkers.head.config
    return <int64_t>config.rows * config.columns


cdef int is_valid(const envpool_state* state, int32_t id, int32_t resets) noexcept nogil:
    cdef const Lakes* s = <const Lakes*>state
    cdef const uint8_t* cells = s.walkers.cells + id * num_cells(s)
    cdef int64_t k
    cdef uint8_t found = 0
    for k in range(num_cells(s)):
        if cells[k] not in (CELLS[0], CELLS[1], CELLS[2], CELLS[3]):
            return False
        found |= cells[k]
    return tabular.is_valid(state, id, resets) and found & tabular.IS_START


cdef void note_own(Lakes* s, int32_t id) noexcept nogil:
    """Record whether the parameters of an environment differ from those of the config."""
    cdef const Config* config = <const Config*>s.walkers.head.config
    cdef int64_t size = num_cells(s)
    if (s.success_rate[id] != config.success_rate
            or memcmp(s.walkers.cells + id * size, usual_cells(config), size)):
        envpool_note_params_vary(&s.walkers.head)


cdef int set_state(void* state, const envpool_snapshots* call) noexcept nogil:
    cdef int status = envpool_set_records(state, call)
    cdef int32_t i
    if not call.only_checks:
        for i in range(call.n):
            note_own(<Lakes*>state, call.ids[i])
    return status


cdef inline uint8_t cell_of(uint8_t letter) noexcept nogil:
    """Return the cell of a letter, or 255."""
    cdef int32_t k
    for k in range(4):
        if LETTERS[k] == letter:
            return CELLS[k]
    return 255


cdef inline uint8_t letter_of(uint8_t cell) noexcept nogil:
    cdef int32_t k
    for k in range(4):
        if CELLS[k] == cell:
            return LETTERS[k]
    return 0


cdef int get_params(void* state, const envpool_params* call) noexcept nogil:
    cdef const Lakes* s = <const Lakes*>state
    cdef int64_t size = num_cells(s), k, at
    cdef int32_t i
    for i in range(call.n):
        at = call.ids[i] * size
        for k in range(size):
            (<uint8_t*>call.values[0])[at + k] = letter_of(s.walkers.cells[at + k])
        (<double*>call.values[1])[call.ids[i]] = s.success_rate[call.ids[i]]
    return 0


cdef bint is_map(const uint8_t* letters, int64_t size) noexcept nogil:
    """Return whether a map has only known letters, and a start."""
    cdef int64_t k
    cdef bint has_start = False
    for k in range(size):
        if cell_of(letters[k]) == 255:
            return False
        has_start |= cell_of(letters[k]) & tabular.IS_START
    return has_start


cdef int set_params(void* state, const envpool_params* call) noexcept nogil:
    cdef Lakes* s = <Lakes*>state
    cdef const uint8_t* letters
    cdef int64_t size = num_cells(s), k
    cdef int32_t i, id
    cdef int status = 0
    for i in range(call.n):
        id = call.ids[i]
        letters = <const uint8_t*>call.values[0] + id * size
        if not is_map(letters, size):
            status = call.errors[i] = BAD_MAP
            continue
        for k in range(size):
            s.walkers.cells[id * size + k] = cell_of(letters[k])
        s.success_rate[id] = (<const double*>call.values[1])[id]
        s.walkers.odds[id] = slip_odds(s.success_rate[id])
        note_own(s, id)
    return status


cdef void error_text(void* state, int32_t id, int32_t code, char* text, size_t size) noexcept nogil:
    snprintf(text, size, "the parameter desc must have the letters S, F, H and G, and at least one S: set another map")


cdef int32_t tile_of(uint8_t cell, int32_t row, int32_t column) noexcept nogil:
    """Return the image of a cell, in the order of ``sprites.TILES``."""
    cdef int32_t crack = (3 * column + 5 * row) % 7
    if cell & tabular.IS_START:
        return FIRST_TILE + 3
    return FIRST_TILE + (4 + crack if cell == 0 and crack < 2 else cell)


cdef void draw_own(const canvas* c, const void* sheet, const Lakes* s, int32_t id) noexcept nogil:
    """Draw the frame of an environment that may have a map of its own."""
    cdef const Config* config = <const Config*>s.walkers.head.config
    cdef const uint8_t* cells = s.walkers.cells + id * num_cells(s)
    cdef const uint8_t* usual = usual_cells(config)
    cdef const int32_t* size = sheet_numbers(sheet) + 2 * num_cells(s)     # of a cell, and the walker's place in it
    cdef int32_t row, column, k
    sheet_copy(c, sheet, 0)
    for row in range(config.rows):
        for column in range(config.columns):
            k = row * config.columns + column
            if cells[k] != usual[k]:
                sheet_draw(c, sheet, tile_of(cells[k], row, column), column * size[0], row * size[1])
    k = s.walkers.position[id]
    if cells[k] != IS_HOLE:
        sheet_draw(c, sheet, 1, k % config.columns * size[0] + size[2], k // config.columns * size[1] + size[3])


cdef int render_many(void* state, const envpool_frames* f) noexcept nogil:
    cdef const Lakes* s = <const Lakes*>state
    cdef canvas c
    cdef int32_t i
    if not envpool_params_vary(&s.walkers.head):
        return tabular.render_many(state, f)
    for i in range(f.n):
        c = canvas_of_frame(f, i)
        draw_own(&c, f.assets, s, f.ids[i])
    return 0


cdef envpool_env ENV_DEF = tabular.definition("FrozenLake")
ENV_DEF.create = create
ENV_DEF.set_state = set_state
ENV_DEF.get_params, ENV_DEF.set_params = get_params, set_params
ENV_DEF.render_many = render_many
ENV_DEF.error_text = error_text


def rows_of(config):
    """Return the map of a configuration as a tuple of strings."""
    return tuple(bytes(row).decode() for row in config.desc)


class FrozenLake(EnvDefinition):
    """A walk over a lake of frozen cells with holes.

    Observation int32: row * columns + column. Action int32: 0 left, 1 down, 2 right, 3 up. On slippery ice the walker
    goes where it wants with probability `success_rate`, otherwise to one of the two sides. A hole or the goal ends the
    episode. By default only reaching the goal has a reward, which is 1.

    ``info["prob"]`` float32: probability of the transition that happened; 1 after a reset.

    Options
    -------
    size : {4, 8}
        Side of the map, in cells. The option is EnvPool's; it is ignored if `map_name` or `desc` is given.
    map_name : {"4x4", "8x8"}, optional
        Upstream's name of the map. It is ignored if `desc` is given.
    is_slippery : bool
        If True, the default, the walker may slip. If False, `success_rate` is ignored.
    reward_schedule : tuple of float
        Rewards for reaching the goal, a hole, and any other cell. Default (1, 0, 0).

    Notes
    -----
    The parameter `desc` is a custom map: one string per row, of the letters S (start), F (frozen), H (hole) and G
    (goal). If there are several S, one is drawn for each episode. Upstream treats any other letter as F; here it is an
    error. If both `map_name` and `desc` are None, upstream draws a random map, whereas here `size` chooses one;
    ``gymnasium.envs.toy_text.frozen_lake.generate_random_map`` returns random maps to pass as `desc`. A list of maps of
    the same shape gives each environment its own. ``get_params()["desc"].view("S1")`` has the letters.
    """

    options = {
        "reward_threshold": 0.7,
        "size": 4,
        "map_name": None,
        "is_slippery": True,
        "reward_schedule": (1, 0, 0),
    }
    params = {
        "desc": Param(None, ord("F"), ord("S"), text="map, as ASCII codes of S, F, H and G", convert=letters_of),
        "success_rate": Param(1.0 / 3.0, 0, 1, text="probability of going in the direction of the action"),
    }

    continues_after_end = True

    @staticmethod
    def info_past_end(config):
        """Return upstream's probability of staying in a hole or at the goal."""
        return {"prob": np.float32(1)}

    @classmethod
    def resolve_params(cls, config):
        """Return the parameters; `desc` has the shape of the map that the options choose."""
        desc = letters_of(named_map(config.map_name, config.size) if config.desc is None else config.desc)
        return cls.params | {"desc": replace(cls.params["desc"], default=desc[0] if desc.ndim == 3 else desc)}

    @staticmethod
    def build(config):
        cdef Config c
        rows = check_map(rows_of(config))
        goal, hole, frozen = check_rewards("reward_schedule", config.reward_schedule, ("goal", "hole", "frozen"))
        success, failure = config.success_rate, (1.0 - config.success_rate) / 2.0
        targets = grid_targets(len(rows), len(rows[0]), MOVES)
        outcomes = slipping(targets) if config.is_slippery else targets[:, :, None]
        letters = np.array(list("".join(rows)))
        kind = np.array([KINDS[letter] for letter in letters], np.uint8)
        has_ended = kind != FROZEN
        kinds = kind[outcomes]
        outcomes[has_ended] = np.flatnonzero(has_ended)[:, None, None]
        kinds[has_ended] = tabular.PAST_END
        start = (letters == "S").astype(np.float64)
        table = pack(
            outcomes,
            kinds,
            [[failure, success, failure] if config.is_slippery else [1.0]] * len(MOVES),
            rewards=(frozen, hole, goal, 0),
            terminated=(False, True, True, True),
            start=start / start.sum(),
        )
        cells = bytes(cell_of(ord(letter)) for letter in letters).ljust(-(-len(letters) // 8) * 8, b"\0")
        c.success_rate = success
        c.rows, c.columns = len(rows), len(rows[0])
        c.table_at = sizeof(Config) + len(cells)
        fields, actions = transition_fields(len(letters), len(MOVES))
        return define(
            envpool_template(&ENV_DEF),
            fields,
            actions,
            envpool_config_bytes(&c, sizeof(c)) + cells + table,
            params=param_fields(FrozenLake.resolve_params(config)),
            frame_size=lake_size(rows),
        )

    @staticmethod
    def render_assets(config, height, width):
        """Return the sheet of the map and the walker."""
        return lake(rows_of(config), height, width)

    @staticmethod
    def render_fps(config):
        """Return the frame rate of the upstream environment, in frames per second."""
        return 4
