"""MiniGrid's levels in which the agent has to reach the goal, one function each.

`envpool.minigrid.env` says where the rules come from.
"""

from libc.stdint cimport int32_t, uint32_t

from envpool.minigrid.env cimport define_level
from envpool.minigrid.structs cimport (
    BALL, BLUE, FORWARD, GOAL, IMPOSSIBLE, KEY, MAX_SIDE, NOWHERE, YELLOW, EMPTY, Level, Outcome, Params, World,
)
from envpool.minigrid.world cimport (
    EMPTY_CELL, FOREVER, GOAL_CELL, LAVA_CELL, choose_colours, dx_of, dy_of, fail, find_place, get, horizontal, kind_of,
    new_door, new_object, place_anywhere, place_agent, place_agent_in, put, rand_int, say, say_colour, set_agent,
    vertical, wall_cell, wall_rect,
)
from envpool.numerics.rng cimport ep_choice, ep_shuffle

from envpool._support.text import shown
from envpool.errors import ConfigError
from envpool.minigrid.definition import MiniGrid
from envpool.config.checks import check_range


cdef void start_agent(World* w, const Params* p) noexcept nogil:
    """Put the agent where the options say, or at a random place."""
    if p.agent_x == NOWHERE:
        place_agent(w)
    else:
        set_agent(w, p.agent_x, p.agent_y, p.agent_dir)


cdef void empty(World* w, const Params* p) noexcept nogil:
    wall_rect(w, 0, 0, w.width, w.height)
    put(w, w.width - 2, w.height - 2, GOAL_CELL)
    start_agent(w, p)
    say(w, b"get to the green goal square")


cdef void door_key(World* w, const Params* p) noexcept nogil:
    cdef int32_t split
    wall_rect(w, 0, 0, w.width, w.height)
    put(w, w.width - 2, w.height - 2, GOAL_CELL)
    split = rand_int(w, 2, w.width - 2)
    vertical(w, split, 0, w.height, wall_cell())
    place_agent_in(w, 0, 0, split, w.height, FOREVER)
    put(w, split, rand_int(w, 1, w.height - 2), new_door(w, YELLOW, True))
    find_place(w, new_object(w, KEY, YELLOW), 0, 0, split, w.height, FOREVER, NULL)
    say(w, b"use the key to open the door and then get to the goal")


cdef void dist_shift(World* w, const Params* p) noexcept nogil:
    wall_rect(w, 0, 0, w.width, w.height)
    put(w, w.width - 2, 1, GOAL_CELL)
    horizontal(w, 3, 1, w.width - 6, LAVA_CELL)
    horizontal(w, 3, p.options.strip2_row, w.width - 6, LAVA_CELL)
    start_agent(w, p)
    say(w, b"get to the green goal square")


cdef void say_obstacle(World* w, const Params* p) noexcept nogil:
    say(w, b"avoid the lava" if p.obstacle == LAVA_CELL else b"find the opening")
    say(w, b" and get to the green goal square")


cdef void lava_gap(World* w, const Params* p) noexcept nogil:
    cdef int32_t x, y
    wall_rect(w, 0, 0, w.width, w.height)
    set_agent(w, 1, 1, 0)
    put(w, w.width - 2, w.height - 2, GOAL_CELL)
    x = rand_int(w, 2, w.width - 2)
    y = rand_int(w, 1, w.height - 1)
    vertical(w, x, 1, w.height - 2, p.obstacle)
    put(w, x, y, EMPTY_CELL)
    say_obstacle(w, p)


cdef int32_t limits_of(const int32_t* rivers, int32_t num_rivers, bint is_column, int32_t last,
                       int32_t* limits) noexcept nogil:
    """Write the places of the rivers in one direction, ascending, between 0 and last; return the number of rivers.

    A river is its place, with the sign of a column or of a row.
    """
    cdef int32_t i, k, place, n = 0
    limits[0] = 0
    for i in range(num_rivers):
        place = rivers[i] if is_column else -rivers[i]
        if place > 0:
            k = n
            while k > 0 and limits[k] > place:
                limits[k + 1] = limits[k]
                k -= 1
            limits[k + 1] = place
            n += 1
    limits[n + 1] = last
    return n


cdef void crossing(World* w, const Params* p) noexcept nogil:
    cdef int32_t rivers[MAX_SIDE]
    cdef int32_t path[MAX_SIDE]
    cdef int32_t columns[MAX_SIDE]
    cdef int32_t rows[MAX_SIDE]
    cdef int32_t i, x, y, n = 0, num_rivers, num_columns, num_rows, column = 0, row = 0
    wall_rect(w, 0, 0, w.width, w.height)
    set_agent(w, 1, 1, 0)
    put(w, w.width - 2, w.height - 2, GOAL_CELL)
    for i in range(2, w.height - 2, 2):
        rivers[n] = i
        n += 1
    for i in range(2, w.width - 2, 2):
        rivers[n] = -i
        n += 1
    ep_shuffle(&w.rng, rivers, n, sizeof(int32_t))
    num_rivers = min(p.options.num_crossings, n)
    num_columns = limits_of(rivers, num_rivers, True, w.height - 1, columns)
    num_rows = limits_of(rivers, num_rivers, False, w.width - 1, rows)
    for i in range(1, num_rows + 1):
        horizontal(w, 1, rows[i], w.width - 2, p.obstacle)
    for i in range(1, num_columns + 1):
        vertical(w, columns[i], 1, w.height - 2, p.obstacle)
    for i in range(num_rivers):
        path[i] = i < num_columns       # whether the step of the path crosses a column
    ep_shuffle(&w.rng, path, num_rivers, sizeof(int32_t))
    for i in range(num_rivers):
        if path[i]:
            x = columns[column + 1]
            y = rows[row] + 1 + <int32_t>ep_choice(&w.rng, rows[row + 1] - rows[row] - 1)
            column += 1
        else:
            x = columns[column] + 1 + <int32_t>ep_choice(&w.rng, columns[column + 1] - columns[column] - 1)
            y = rows[row + 1]
            row += 1
        put(w, x, y, EMPTY_CELL)
    say_obstacle(w, p)


cdef void four_rooms(World* w, const Params* p) noexcept nogil:
    cdef int32_t room_w = w.width // 2, room_h = w.height // 2, i, j, left, top, right, bottom
    wall_rect(w, 0, 0, w.width, w.height)
    for j in range(2):
        for i in range(2):
            left, top = i * room_w, j * room_h
            right, bottom = left + room_w, top + room_h
            if i == 0:
                vertical(w, right, top, room_h, wall_cell())
                put(w, right, rand_int(w, top + 1, bottom), EMPTY_CELL)
            if j == 0:
                horizontal(w, left, bottom, room_w, wall_cell())
                put(w, rand_int(w, left + 1, right), bottom, EMPTY_CELL)
    if p.agent_x == NOWHERE:
        place_agent(w)
    else:
        put(w, p.agent_x, p.agent_y, EMPTY_CELL)
        set_agent(w, p.agent_x, p.agent_y, rand_int(w, 0, 4))
    if p.goal_x == NOWHERE:
        place_anywhere(w, GOAL_CELL)
    else:
        put(w, p.goal_x, p.goal_y, GOAL_CELL)
    say(w, b"reach the goal")


cdef void locked_room(World* w, const Params* p) noexcept nogil:
    cdef int32_t left = w.width // 2 - 2, right = w.width // 2 + 2, height = w.height // 3 + 1
    cdef int32_t colours[6]
    cdef int32_t i, n, y, locked, key_room, side, x
    wall_rect(w, 0, 0, w.width, w.height)
    vertical(w, left, 0, w.height, wall_cell())
    vertical(w, right, 0, w.height, wall_cell())
    for n in range(3):
        y = n * (w.height // 3)
        horizontal(w, 0, y, left, wall_cell())
        horizontal(w, right, y, w.width - right, wall_cell())
    # Rooms 0, 2, 4 are on the left, rooms 1, 3, 5 on the right; both sides have the width of the left one.
    locked = rand_int(w, 0, 6)
    side = right if locked % 2 else 0
    y = locked // 2 * (w.height // 3)
    x = rand_int(w, side + 1, side + left)
    put(w, x, rand_int(w, y + 1, y + height - 1), GOAL_CELL)
    choose_colours(w, colours, 6)
    for i in range(6):
        y = i // 2 * (w.height // 3) + 3
        put(w, right if i % 2 else left, y, new_door(w, colours[i], i == locked))
    key_room = rand_int(w, 0, 6)
    while key_room == locked and not w.failure:
        key_room = rand_int(w, 0, 6)
    side = right if key_room % 2 else 0
    y = key_room // 2 * (w.height // 3)
    x = rand_int(w, side + 1, side + left)
    put(w, x, rand_int(w, y + 1, y + height - 1), new_object(w, KEY, colours[locked]))
    place_agent_in(w, left, 0, right - left, w.height, FOREVER)
    say(w, b"get the ")
    say_colour(w, colours[locked])
    say(w, b" key from the ")
    say_colour(w, colours[key_room])
    say(w, b" room, unlock the ")
    say_colour(w, colours[locked])
    say(w, b" door and go to the goal")
    w.mission_id = 6 * colours[locked] + colours[key_room]


# ---- dynamic obstacles -----------------------------------------------------------------------------------------------


cdef void dynamic_obstacles(World* w, const Params* p) noexcept nogil:
    """The obstacles are the objects 1 to n_obstacles."""
    cdef int32_t _
    wall_rect(w, 0, 0, w.width, w.height)
    put(w, w.width - 2, w.height - 2, GOAL_CELL)
    start_agent(w, p)
    for _ in range(p.options.n_obstacles):
        if find_place(w, new_object(w, BALL, BLUE), 0, 0, w.width, w.height, 100, NULL) == NOWHERE:
            fail(w, IMPOSSIBLE)
    say(w, b"get to the green goal square")


cdef int32_t move_obstacles(World* w, const Params* p, int32_t action) noexcept nogil:
    """Move each obstacle to a random free cell next to it. `targets[0]` is whether a step forward hits something."""
    cdef int32_t i, old, kind = kind_of(get(w, w.x + dx_of(w.direction), w.y + dy_of(w.direction)))
    cdef uint32_t ball
    w.targets[0] = kind != EMPTY and kind != GOAL
    w.draws = 0
    for i in range(1, p.options.n_obstacles + 1):
        old = w.where[i]
        if old == NOWHERE:
            continue
        ball = get(w, old % w.width, old // w.width)
        if find_place(w, ball, old % w.width - 1, old // w.width - 1, 3, 3, 100, NULL) != NOWHERE:
            put(w, old % w.width, old // w.width, EMPTY_CELL)
    return action


cdef void judge_collision(World* w, const Params* p, int32_t action, Outcome* outcome) noexcept nogil:
    if action == FORWARD and w.targets[0]:
        outcome.reward = -1
        outcome.is_terminated = 1


# ---- definitions -----------------------------------------------------------------------------------------------------

cdef Level EMPTY_LEVEL = Level(empty, NULL, NULL, NULL)
cdef Level DOOR_KEY = Level(door_key, NULL, NULL, NULL)
cdef Level DIST_SHIFT = Level(dist_shift, NULL, NULL, NULL)
cdef Level LAVA_GAP = Level(lava_gap, NULL, NULL, NULL)
cdef Level CROSSING = Level(crossing, NULL, NULL, NULL)
cdef Level FOUR_ROOMS = Level(four_rooms, NULL, NULL, NULL)
cdef Level LOCKED_ROOM = Level(locked_room, NULL, NULL, NULL)
cdef Level DYNAMIC_OBSTACLES = Level(dynamic_obstacles, NULL, move_obstacles, judge_collision)


def check_start(config, name, width, height):
    """Raise ConfigError if a place is not inside the walls of a grid."""
    value = getattr(config, name)
    try:
        is_allowed = value is None or (
            len(value) == 2 and 1 <= value[0] < width - 1 and 1 <= value[1] < height - 1
        ) or tuple(value) == (-1, -1)
    except (TypeError, ValueError):      # ValueError: of an array
        is_allowed = False
    if not is_allowed:
        raise ConfigError(
            f"{name} must be None, for a random place, or a pair (column, row) from (1, 1) to "
            f"{(width - 2, height - 2)}, got {shown(value)}"
        )


class MiniGridEmpty(MiniGrid):
    """A room with nothing in it but the goal."""

    options = MiniGrid.options | {
        "size": 8, "agent_start_pos": (1, 1), "agent_start_dir": 0, "see_through_walls": True,
    }

    @staticmethod
    def build(config):
        check_range("size", config.size, 4, MAX_SIDE)
        check_start(config, "agent_start_pos", config.size, config.size)
        return define_level(&EMPTY_LEVEL, config, config.size, config.size, 4 * config.size**2)


class MiniGridDoorKey(MiniGrid):
    """Two rooms with a locked door between them, the key in the first and the goal in the second."""

    options = MiniGrid.options | {"size": 8}

    @staticmethod
    def build(config):
        check_range("size", config.size, 5, MAX_SIDE)
        return define_level(&DOOR_KEY, config, config.size, config.size, 10 * config.size**2)


class MiniGridDistShift(MiniGrid):
    """A room with two strips of lava, one of which is in another row in a second version of the task."""

    options = MiniGrid.options | {
        "width": 9, "height": 7, "agent_start_pos": (1, 1), "agent_start_dir": 0, "strip2_row": 2,
        "see_through_walls": True,
    }

    @staticmethod
    def build(config):
        check_range("width", config.width, 6, MAX_SIDE)
        check_range("height", config.height, 4, MAX_SIDE)
        check_range("strip2_row", config.strip2_row, 1, config.height - 2)
        check_start(config, "agent_start_pos", config.width, config.height)
        return define_level(&DIST_SHIFT, config, config.width, config.height, 4 * config.width * config.height)


class MiniGridLavaGap(MiniGrid):
    """A wall of lava with one gap. With ``obstacle_type="wall"``, the wall is an ordinary one."""

    options = MiniGrid.options | {"size": 7, "obstacle_type": "lava"}

    @staticmethod
    def build(config):
        check_range("size", config.size, 5, MAX_SIDE)
        return define_level(&LAVA_GAP, config, config.size, config.size, 4 * config.size**2)


class MiniGridCrossing(MiniGrid):
    """Rivers of lava, or walls, each of which has one opening on the way to the goal. The size is odd."""

    options = MiniGrid.options | {"size": 9, "num_crossings": 1, "obstacle_type": "lava"}

    @staticmethod
    def build(config):
        check_range("size", config.size, 5, MAX_SIDE)
        check_range("num_crossings", config.num_crossings, 0)
        if config.size % 2 == 0:
            raise ConfigError(f"size must be odd, got {config.size}")
        return define_level(&CROSSING, config, config.size, config.size, 4 * config.size**2)


class MiniGridFourRooms(MiniGrid):
    """Four rooms with an opening between each two that are next to each other; the goal is at a random place."""

    options = MiniGrid.options | {"agent_pos": None, "goal_pos": None}

    @staticmethod
    def build(config):
        check_start(config, "agent_pos", 19, 19)
        check_start(config, "goal_pos", 19, 19)
        return define_level(&FOUR_ROOMS, config, 19, 19, 100)


class MiniGridLockedRoom(MiniGrid):
    """Six rooms at a corridor: one room has the key of another one, in which the goal is."""

    options = MiniGrid.options | {"size": 19}

    @staticmethod
    def build(config):
        check_range("size", config.size, 12, MAX_SIDE)
        return define_level(&LOCKED_ROOM, config, config.size, config.size, 10 * config.size)


class MiniGridDynamicObstacles(MiniGrid):
    """Balls that move at random: running into one ends the episode with reward -1. The only actions are moves."""

    options = MiniGrid.options | {
        "size": 8, "agent_start_pos": (1, 1), "agent_start_dir": 0, "n_obstacles": 4, "see_through_walls": True,
    }

    @staticmethod
    def build(config):
        size = config.size
        check_range("size", size, 5, MAX_SIDE)
        check_range("n_obstacles", config.n_obstacles, 0)
        check_start(config, "agent_start_pos", size, size)
        allowed = config.n_obstacles if config.n_obstacles <= size / 2 + 1 else size // 2
        return define_level(
            &DYNAMIC_OBSTACLES, config._replace(n_obstacles=allowed), size, size, 4 * size**2, FORWARD
        )
