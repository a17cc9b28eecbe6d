"""MiniGrid's levels with doors and hallways, one function each.

`envpool.minigrid.env` says where the rules come from.
"""

from libc.stdint cimport int32_t

from envpool.minigrid.env cimport define_level
from envpool.minigrid.structs cimport (
    BALL, BLUE, GREEN, KEY, MAX_SIDE, OPEN, PICK_UP, RED, TOGGLE, Level, Outcome, Params, World,
)
from envpool.minigrid.world cimport (
    FOREVER, get, horizontal, new_door, new_object, place_anywhere, place_agent, place_agent_in, put, rand_colour,
    rand_int, reward_now, say, set_agent, state_of, vertical, wall_cell, wall_rect,
)

from envpool.errors import ConfigError
from envpool.minigrid.definition import MiniGrid
from envpool.config.checks import check_range


# ---- red and blue doors ----------------------------------------------------------------------------------------------


cdef void red_blue_doors(World* w, const Params* p) noexcept nogil:
    """`targets` are the cells of the doors."""
    cdef int32_t size = w.height, y
    wall_rect(w, 0, 0, w.width, size)
    wall_rect(w, size // 2, 0, size, size)
    place_agent_in(w, size // 2, 0, size, size, FOREVER)
    y = rand_int(w, 1, size - 1)
    put(w, size // 2, y, new_door(w, RED, False))
    w.targets[0] = y * w.width + size // 2
    y = rand_int(w, 1, size - 1)
    put(w, size // 2 + size - 1, y, new_door(w, BLUE, False))
    w.targets[1] = y * w.width + size // 2 + size - 1
    say(w, b"open the red door then the blue door")


cdef inline bint is_open(const World* w, int32_t place) noexcept nogil:
    return state_of(get(w, place % w.width, place // w.width)) == OPEN


cdef int32_t note_doors(World* w, const Params* p, int32_t action) noexcept nogil:
    """Note which doors are open before a step."""
    w.targets[2] = is_open(w, w.targets[0])
    w.targets[3] = is_open(w, w.targets[1])
    return action


cdef void judge_doors(World* w, const Params* p, int32_t action, Outcome* outcome) noexcept nogil:
    if is_open(w, w.targets[1]):
        outcome.is_terminated = 1
        outcome.reward = reward_now(w) if w.targets[2] else 0
    elif is_open(w, w.targets[0]) and w.targets[3]:
        outcome.is_terminated = 1
        outcome.reward = 0


# ---- memory ----------------------------------------------------------------------------------------------------------


cdef void memory(World* w, const Params* p) noexcept nogil:
    """`targets` are the cells in which the episode ends with success, and with failure."""
    cdef int32_t middle = w.height // 2, end, i, first, other, above, below
    wall_rect(w, 0, 0, w.width, w.height)
    end = rand_int(w, 4, w.width - 2) if p.options.random_length else w.width - 3
    horizontal(w, 1, middle - 2, 4, wall_cell())
    horizontal(w, 1, middle + 2, 4, wall_cell())
    put(w, 4, middle - 1, wall_cell())
    put(w, 4, middle + 1, wall_cell())
    horizontal(w, 5, middle - 1, max(0, end - 5), wall_cell())
    horizontal(w, 5, middle + 1, max(0, end - 5), wall_cell())
    for i in range(w.height):
        if i != middle:
            put(w, end, i, wall_cell())
        put(w, end + 2, i, wall_cell())
    set_agent(w, rand_int(w, 1, end + 1), middle, 0)
    first = BALL if rand_int(w, 0, 2) else KEY
    put(w, 1, middle - 1, new_object(w, first, GREEN))
    other = KEY if rand_int(w, 0, 2) else BALL
    put(w, end + 1, middle - 2, new_object(w, other, GREEN))
    put(w, end + 1, middle + 2, new_object(w, BALL if other == KEY else KEY, GREEN))
    above = (middle - 1) * w.width + end + 1
    below = (middle + 1) * w.width + end + 1
    w.targets[0] = above if first == other else below
    w.targets[1] = below if first == other else above
    say(w, b"go to the matching object at the end of the hallway")


cdef int32_t never_pick_up(World* w, const Params* p, int32_t action) noexcept nogil:
    return TOGGLE if action == PICK_UP else action


cdef void judge_memory(World* w, const Params* p, int32_t action, Outcome* outcome) noexcept nogil:
    cdef int32_t place = w.y * w.width + w.x
    if place == w.targets[0] or place == w.targets[1]:
        outcome.is_terminated = 1
        outcome.reward = reward_now(w) if place == w.targets[0] else 0


# ---- playground ------------------------------------------------------------------------------------------------------


cdef void playground(World* w, const Params* p) noexcept nogil:
    cdef int32_t room_w = w.width // 3, room_h = w.height // 3, i, j, _
    cdef int32_t left, top, right, bottom, at, kind
    wall_rect(w, 0, 0, w.width, w.height)
    for j in range(3):
        for i in range(3):
            left, top = i * room_w, j * room_h
            right, bottom = left + room_w, top + room_h
            if i < 2:
                vertical(w, right, top, room_h, wall_cell())
                at = rand_int(w, top + 1, bottom - 1)
                put(w, right, at, new_door(w, rand_colour(w), False))
            if j < 2:
                horizontal(w, left, bottom, room_w, wall_cell())
                at = rand_int(w, left + 1, right - 1)
                put(w, at, bottom, new_door(w, rand_colour(w), False))
    place_agent(w)
    for _ in range(12):
        kind = KEY + rand_int(w, 0, 3)
        place_anywhere(w, new_object(w, kind, rand_colour(w)))


# ---- definitions -----------------------------------------------------------------------------------------------------

cdef Level RED_BLUE_DOORS = Level(red_blue_doors, NULL, note_doors, judge_doors)
cdef Level MEMORY = Level(memory, NULL, never_pick_up, judge_memory)
cdef Level PLAYGROUND = Level(playground, NULL, NULL, NULL)


class MiniGridRedBlueDoors(MiniGrid):
    """Two doors; the red one must be opened first."""

    options = MiniGrid.options | {"size": 8}

    @staticmethod
    def build(config):
        check_range("size", config.size, 4, MAX_SIDE // 2)
        return define_level(&RED_BLUE_DOORS, config, 2 * config.size, config.size, 20 * config.size**2)


class MiniGridMemory(MiniGrid):
    """A hallway at whose end the agent has to go to the object that it saw at the beginning. The size is odd."""

    options = MiniGrid.options | {"size": 8, "random_length": False}

    @staticmethod
    def build(config):
        check_range("size", config.size, 7, MAX_SIDE)
        if config.size % 2 == 0:
            raise ConfigError(f"size must be odd, got {config.size}")
        return define_level(&MEMORY, config, config.size, config.size, 5 * config.size**2)


class MiniGridPlayground(MiniGrid):
    """Nine rooms with doors and twelve objects, and no mission."""

    @staticmethod
    def build(config):
        return define_level(&PLAYGROUND, config, 19, 19, 100)
