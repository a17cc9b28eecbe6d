"""ApplePicker: walk through an orchard and pick all apples.

The task, its actions, rewards and images are those of ``rlib.envs.apple_picker`` in jhare96/reinforcement-learning.
Which rules rlib's documentation leaves open, and how they were chosen here, is in docs/grid_worlds.md.

A reset draws one ``integers()`` for the agent and one for each apple; steps draw nothing.
"""

from dataclasses import replace

import numpy as np

from libc.float cimport FLT_MAX
from libc.stdint cimport int32_t, int64_t, uint8_t, uint64_t
from libc.string cimport memcpy, memset

from envpool.env cimport envpool_batch, envpool_env, envpool_frames, envpool_params, envpool_rows, envpool_setup
from envpool.numerics.rng cimport ep_integers, ep_pcg64
from envpool.raster.canvas cimport canvas, canvas_clear, canvas_colour, canvas_of_frame
from envpool.raster.cells cimport draw_cell
from envpool.scaffold cimport (
    envpool_config_bytes, envpool_finish_state, envpool_new_array, envpool_new_env, envpool_new_state, envpool_state,
    envpool_template, envpool_with_snapshots,
)

from envpool.native import EnvDefinition, Field, Param, define, param_fields
from envpool.rlib.maps import BLOCKED, check_grid

MAX_FRAME = 512             # pixels: the largest side of a frame, unless a tile is one pixel

cdef extern from *:
    int count_bits "__builtin_popcountll"(uint64_t bits) noexcept nogil
    int lowest_bit "__builtin_ctzll"(uint64_t bits) noexcept nogil

# Followed by the blocked tiles as a bitset, whose bits past the last tile are set; by the numbers of the free tiles,
# int32 (num_free), in increasing order; and by the image of the map, uint8 (height, width, 3).
cdef struct Config:
    int32_t height, width
    int32_t num_free
    int32_t num_words           # of a bitset of the tiles
    int64_t num_objects         # initial values of the parameters
    double default_reward
    int64_t is_deterministic

cdef struct Picker:             # one environment
    ep_pcg64 rng
    int64_t num_objects         # parameters
    double default_reward
    int32_t agent               # tile, row * width + column
    int32_t num_left            # apples that are left

cdef struct Orchards:
    envpool_state head
    uint64_t* apples            # (num_envs, num_words): bitsets of the tiles with an apple


cdef inline const uint64_t* blocked_tiles(const Config* c) noexcept nogil:
    return <const uint64_t*>(c + 1)


cdef inline const int32_t* free_tiles(const Config* c) noexcept nogil:
    return <const int32_t*>(blocked_tiles(c) + c.num_words)


cdef inline const uint8_t* map_image(const Config* c) noexcept nogil:
    return <const uint8_t*>(free_tiles(c) + c.num_free)


cdef inline bint has_bit(const uint64_t* bits, int32_t tile) noexcept nogil:
    return (bits[tile >> 6] >> (tile & 63)) & 1


cdef inline void flip_bit(uint64_t* bits, int32_t tile) noexcept nogil:
    bits[tile >> 6] ^= <uint64_t>1 << (tile & 63)


cdef int create(const envpool_setup* setup, void** state) noexcept nogil:
    cdef const Config* c = <const Config*>setup.config
    cdef Orchards* s = <Orchards*>envpool_new_state(setup, sizeof(Orchards), sizeof(Picker))
    cdef Picker* pickers
    cdef int32_t i
    if s != NULL:
        s.apples = <uint64_t*>envpool_new_array(s, c.num_words * sizeof(uint64_t))
        s.head.is_valid = is_valid
        pickers = <Picker*>s.head.records
        for i in range(setup.num_envs):
            pickers[i].num_objects, pickers[i].default_reward = c.num_objects, c.default_reward
    return envpool_finish_state(s, state)


cdef int is_valid(const envpool_state* state, int32_t id, int32_t resets) noexcept nogil:
    """The agent and the apples are on different free tiles; an episode whose last apple was picked has ended."""
    cdef const Config* c = <const Config*>state.config
    cdef const Picker* p = <const Picker*>state.records + id
    cdef const uint64_t* apples = (<const Orchards*>state).apples + <int64_t>id * c.num_words
    cdef int32_t tiles = c.height * c.width, count = 0, k
    if not (0 <= p.agent < tiles and 1 <= p.num_objects < c.num_free and -FLT_MAX <= p.default_reward <= FLT_MAX):
        return 0
    if not resets and (p.num_left == 0 or has_bit(blocked_tiles(c), p.agent) or has_bit(apples, p.agent)):
        return 0
    for k in range(c.num_words):
        if apples[k] & blocked_tiles(c)[k]:
            return 0
        count += count_bits(apples[k])
    return count == p.num_left


cdef int get_params(void* state, const envpool_params* call) noexcept nogil:
    cdef const Picker* pickers = <const Picker*>(<envpool_state*>state).records
    cdef int32_t i, id
    for i in range(call.n):
        id = call.ids[i]
        (<int64_t*>call.values[0])[id] = pickers[id].num_objects
        (<double*>call.values[1])[id] = pickers[id].default_reward
    return 0


cdef int set_params(void* state, const envpool_params* call) noexcept nogil:
    cdef Picker* pickers = <Picker*>(<envpool_state*>state).records
    cdef int32_t i, id
    for i in range(call.n):
        id = call.ids[i]
        pickers[id].num_objects = (<const int64_t*>call.values[0])[id]
        pickers[id].default_reward = (<const double*>call.values[1])[id]
    return 0


cdef void reset(Picker* p, uint64_t* apples, const Config* c) noexcept nogil:
    """Put the agent on a free tile, and the apples on a random subset of the others (Floyd's algorithm)."""
    cdef const int32_t* free = free_tiles(c)
    cdef ep_pcg64 rng = p.rng
    cdef int32_t others = c.num_free - 1, start = <int32_t>ep_integers(&rng, 0, c.num_free)
    cdef int32_t last, chosen, tile
    memset(apples, 0, c.num_words * sizeof(uint64_t))
    for last in range(others - <int32_t>p.num_objects, others):
        chosen = <int32_t>ep_integers(&rng, 0, last + 1)
        tile = free[chosen + (chosen >= start)]
        if has_bit(apples, tile):
            tile = free[last + (last >= start)]
        flip_bit(apples, tile)
    p.agent = free[start]
    p.num_left = <int32_t>p.num_objects
    if not c.is_deterministic:      # otherwise the next reset draws the same numbers, until the environment is seeded
        p.rng = rng


cdef void move(Picker* p, const Config* c, int32_t action) noexcept nogil:
    """Go up, down, left or right, unless the map ends there or the tile is blocked."""
    cdef int32_t row = p.agent // c.width, column = p.agent % c.width
    row += (action == 1) - (action == 0)
    column += (action == 3) - (action == 2)
    if 0 <= row < c.height and 0 <= column < c.width and not has_bit(blocked_tiles(c), row * c.width + column):
        p.agent = row * c.width + column


cdef int step_many(void* state, const envpool_batch* b) noexcept nogil:
    cdef Orchards* s = <Orchards*>state
    cdef const Config* c = <const Config*>s.head.config
    cdef const int32_t* actions = <const int32_t*>b.actions[0]
    cdef uint64_t* apples
    cdef Picker* p
    cdef int32_t i
    for i in range(b.n):
        p = <Picker*>s.head.records + b.ids[i]
        apples = s.apples + <int64_t>b.ids[i] * c.num_words
        if b.reset[i]:
            reset(p, apples, c)
            continue
        move(p, c, actions[b.ids[i]])
        b.reward[i] = <float>p.default_reward
        if has_bit(apples, p.agent):
            flip_bit(apples, p.agent)
            p.num_left -= 1
            b.reward[i] = 1
        b.terminated[i] = p.num_left == 0
    return 0


cdef void write_many(void* state, const envpool_rows* rows) noexcept nogil:
    cdef const Orchards* s = <const Orchards*>state
    cdef const Config* c = <const Config*>s.head.config
    cdef int64_t size = <int64_t>3 * c.height * c.width
    cdef uint8_t* obs = <uint8_t*>rows.fields[0] + size * rows.row0
    cdef const uint64_t* apples
    cdef uint64_t bits
    cdef int32_t i, k
    for i in range(rows.n):
        memcpy(obs, map_image(c), size)
        obs[3 * (<const Picker*>s.head.records)[rows.ids[i]].agent] = 255
        apples = s.apples + <int64_t>rows.ids[i] * c.num_words
        for k in range(c.num_words):
            bits = apples[k]
            while bits:
                obs[3 * (64 * k + lowest_bit(bits)) + 1] = 255
                bits &= bits - 1
        obs += size


cdef int render_many(void* state, const envpool_frames* f) noexcept nogil:
    cdef const Orchards* s = <const Orchards*>state
    cdef const Config* c = <const Config*>s.head.config
    cdef const uint64_t* apples
    cdef canvas frame
    cdef int32_t i, tile, agent
    for i in range(f.n):
        frame = canvas_of_frame(f, i)
        canvas_clear(&frame, canvas_colour(0, 0, 0))
        apples = s.apples + <int64_t>f.ids[i] * c.num_words
        agent = (<const Picker*>s.head.records)[f.ids[i]].agent
        for tile in range(c.height * c.width):
            if has_bit(blocked_tiles(c), tile):
                draw_cell(&frame, c.height, c.width, tile // c.width, tile % c.width, canvas_colour(0, 0, 255))
            elif has_bit(apples, tile):
                draw_cell(&frame, c.height, c.width, tile // c.width, tile % c.width, canvas_colour(0, 255, 0))
        draw_cell(&frame, c.height, c.width, agent // c.width, agent % c.width, canvas_colour(255, 0, 0))
    return 0


cdef envpool_env ENV_DEF = envpool_new_env("ApplePicker", create, step_many, write_many)
ENV_DEF.render_many = render_many
ENV_DEF.get_params, ENV_DEF.set_params = get_params, set_params
envpool_with_snapshots(&ENV_DEF)


def tables_of(rows):
    """Return the bytes that follow the Config, and the number of free tiles."""
    is_blocked = np.array([[tile == BLOCKED for tile in row] for row in rows])
    padded = np.pad(is_blocked.ravel(), (0, -is_blocked.size % 64), constant_values=True)
    free = np.flatnonzero(~is_blocked).astype(np.int32)
    image = np.zeros((*is_blocked.shape, 3), np.uint8)
    image[is_blocked, 2] = 255
    return np.packbits(padded, bitorder="little").tobytes() + free.tobytes() + image.tobytes(), len(free)


class ApplePicker(EnvDefinition):
    """A walk through an orchard, in which an agent picks all apples in as few steps as possible.

    Observation uint8 (height, width, 3), an image with one pixel per tile: the agent is red, apples are green and
    blocked tiles are blue (255 in that channel). Action int32: 0 up, 1 down, 2 left, 3 right; the agent stays where it
    is if the map ends there or the tile is blocked. A step that picks an apple has the reward 1, every other step the
    reward `default_reward`. The episode terminates when all apples are picked.

    Options
    -------
    grid : list of str, optional
        Map, one string per row: ``"."`` is a free tile, ``"#"`` a blocked one. By default the orchard of 84 x 84 tiles.
    is_deterministic : bool
        If False, the default, each episode begins with the agent and the apples on other tiles. If True, all episodes
        of an environment begin alike, as its seed determines; another seed leads to other tiles.
    """

    options = {"grid": None, "is_deterministic": False}
    params = {
        "num_objects": Param(20, 1, text="number of apples at the beginning of an episode"),
        "default_reward": Param(0.0, -FLT_MAX, FLT_MAX, text="reward of a step that picks no apple"),
    }

    @classmethod
    def resolve_params(cls, config):
        """Return the parameters; the map bounds the number of apples."""
        num_free = sum(row.count(".") for row in check_grid(config.grid))
        return cls.params | {"num_objects": replace(cls.params["num_objects"], high=num_free - 1)}

    @staticmethod
    def build(config):
        cdef Config c
        rows = check_grid(config.grid)
        c.height, c.width = len(rows), len(rows[0])
        tables, c.num_free = tables_of(rows)
        c.num_words = (c.height * c.width + 63) // 64
        c.num_objects, c.default_reward = config.num_objects, config.default_reward
        c.is_deterministic = config.is_deterministic
        fields = [Field("obs", np.uint8, (c.height, c.width, 3), 0, 255)]
        actions = [Field("action", np.int32, (-1,), 0, 3)]
        tile = max(1, MAX_FRAME // max(c.height, c.width))
        return define(
            envpool_template(&ENV_DEF),
            fields,
            actions,
            envpool_config_bytes(&c, sizeof(c)) + tables,
            params=param_fields(ApplePicker.resolve_params(config)),
            frame_size=(c.height * tile, c.width * tile),
        )
