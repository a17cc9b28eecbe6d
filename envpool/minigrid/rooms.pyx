"""Grids of rooms; rooms.pxd documents the functions."""

from libc.stdint cimport int32_t, uint32_t, uint64_t
from libc.stdlib cimport abs
from libc.string cimport memset

from envpool.minigrid.env cimport define_level
from envpool.minigrid.structs cimport (
    EMPTY, KEY, MAX_ROOMS, NOWHERE, NO_DOOR, NO_WALL, REJECTED, WALL, DONE, Level, Params, Room, Rooms, World,
)
from envpool.minigrid.world cimport (
    EMPTY_CELL, colour_of, dx_of, dy_of, fail, find_place, get, kind_of, new_door, new_object, place_agent_in, put,
    rand_bool, rand_colour, rand_int, set_agent, sorted_colour, wall_rect,
)

from envpool.errors import ConfigError
from envpool.config.checks import check_range
from envpool.minigrid.definition import MiniGrid

cdef extern from * nogil:
    int count_zeros "__builtin_ctzll"(unsigned long long bits)

cdef enum:
    TRIES = 1000                # to place something in a room
    CONNECTIONS = 5000          # tries to connect all rooms
    PATIENCE = 100              # tries to place the agent, after which it is checked whether there is a place


cdef void build_rooms(Rooms* g, World* w, const Params* p) noexcept nogil:
    cdef int32_t i, j, wall, last = p.options.room_size - 1
    cdef Room* room
    g.world = w
    g.size, g.rows, g.columns = p.options.room_size, p.options.num_rows, p.options.num_cols
    g.locked = NOWHERE
    memset(g.looks, 0, sizeof(g.looks))
    for j in range(g.rows):
        for i in range(g.columns):
            room = room_at(g, i, j)
            room.x, room.y = i * last, j * last
            room.is_locked = 0
            for wall in range(4):
                room.doors[wall] = NO_DOOR
            wall_rect(w, room.x, room.y, g.size, g.size)
    for j in range(g.rows):
        for i in range(g.columns):
            room = room_at(g, i, j)
            if i < g.columns - 1:
                room.door_x[0], room.door_y[0] = room.x + last, rand_int(w, room.y + 1, room.y + last)
                room_at(g, i + 1, j).door_x[2] = room.door_x[0]
                room_at(g, i + 1, j).door_y[2] = room.door_y[0]
            if j < g.rows - 1:
                room.door_x[1], room.door_y[1] = rand_int(w, room.x + 1, room.x + last), room.y + last
                room_at(g, i, j + 1).door_x[3] = room.door_x[1]
                room_at(g, i, j + 1).door_y[3] = room.door_y[1]
    set_agent(w, g.columns // 2 * last + g.size // 2, g.rows // 2 * last + g.size // 2, 0)


# ---- objects ---------------------------------------------------------------------------------------------------------


cdef bint is_next_to_agent(const World* w, int32_t x, int32_t y) noexcept nogil:
    return abs(w.x - x) + abs(w.y - y) < 2


cdef void place_in_room(Rooms* g, int32_t column, int32_t row, uint32_t cell) noexcept nogil:
    cdef Room* room = room_at(g, column, row)
    if find_place(g.world, cell, room.x, room.y, g.size, g.size, TRIES, is_next_to_agent) == NOWHERE:
        fail(g.world, REJECTED)
    g.looks[kind_of(cell)] |= 1 << colour_of(cell)


cdef uint32_t add_object(Rooms* g, int32_t column, int32_t row, int32_t kind, int32_t colour) noexcept nogil:
    cdef uint32_t cell
    if kind == RANDOM:
        kind = KEY + rand_int(g.world, 0, 3)
    if colour == RANDOM:
        colour = rand_colour(g.world)
    cell = new_object(g.world, kind, colour)
    place_in_room(g, column, row, cell)
    return cell


cdef int32_t add_distractors(Rooms* g, int32_t column, int32_t row, int32_t count, bint all_unique,
                             uint32_t* objects) noexcept nogil:
    cdef World* w = g.world
    cdef int32_t n = 0, colour, kind, i, j
    cdef uint32_t cell
    while n < count and not w.failure:
        colour = rand_colour(w)
        kind = KEY + rand_int(w, 0, 3)
        if all_unique and (g.looks[kind] >> colour) & 1:
            continue
        i = rand_int(w, 0, g.columns) if column == RANDOM else column
        j = rand_int(w, 0, g.rows) if row == RANDOM else row
        cell = add_object(g, i, j, kind, colour)
        if objects != NULL:
            objects[n] = cell
        n += 1
    return n


# ---- doors -----------------------------------------------------------------------------------------------------------


cdef inline Room* behind(Rooms* g, int32_t column, int32_t row, int32_t wall) noexcept nogil:
    return room_at(g, column + dx_of(wall), row + dy_of(wall))


cdef uint32_t add_door(Rooms* g, int32_t column, int32_t row, int32_t wall, int32_t colour,
                       int32_t is_locked) noexcept nogil:
    cdef World* w = g.world
    cdef Room* room = room_at(g, column, row)
    cdef uint32_t door
    cdef int32_t place
    if wall == RANDOM:
        while not w.failure:
            wall = rand_int(w, 0, 4)
            if has_neighbour(g, column, row, wall) and room.doors[wall] == NO_DOOR:
                break
    if colour == RANDOM:
        colour = rand_colour(w)
    if is_locked == RANDOM:
        is_locked = rand_bool(w)
    door = new_door(w, colour, is_locked)
    if w.failure or not has_neighbour(g, column, row, wall):
        fail(w, REJECTED)
        return door
    room.is_locked = is_locked
    put(w, room.door_x[wall], room.door_y[wall], door)
    place = room.door_y[wall] * w.width + room.door_x[wall]
    room.doors[wall] = place
    behind(g, column, row, wall).doors[(wall + 2) % 4] = place
    return door


cdef void remove_wall(Rooms* g, int32_t column, int32_t row, int32_t wall) noexcept nogil:
    cdef Room* room = room_at(g, column, row)
    cdef int32_t i, last = g.size - 1
    for i in range(1, last):
        if wall % 2 == 0:
            put(g.world, room.x + (last if wall == 0 else 0), room.y + i, EMPTY_CELL)
        else:
            put(g.world, room.x + i, room.y + (last if wall == 1 else 0), EMPTY_CELL)
    room.doors[wall] = NO_WALL
    behind(g, column, row, wall).doors[(wall + 2) % 4] = NO_WALL


cdef uint64_t reachable(Rooms* g, int32_t start) noexcept nogil:
    """Return the rooms that can be reached from a room through doors: a bit for each."""
    cdef uint64_t reach = <uint64_t>1 << start, todo = reach
    cdef int32_t room, wall, other
    while todo:
        room = count_zeros(todo)
        todo &= todo - 1
        for wall in range(4):
            if g.rooms[room].doors[wall] != NO_DOOR:
                other = room + dx_of(wall) + g.columns * dy_of(wall)
                if not (reach >> other) & 1:
                    reach |= <uint64_t>1 << other
                    todo |= <uint64_t>1 << other
    return reach


cdef void connect_all(Rooms* g, int32_t excluded) noexcept nogil:
    cdef World* w = g.world
    cdef int32_t count = g.rows * g.columns, start = room_of(g, w.x, w.y), tries, i, j, wall, k, colour
    cdef uint64_t every = ~<uint64_t>0 >> (64 - count)
    cdef bint is_new = True
    for tries in range(CONNECTIONS + 2):
        if tries > CONNECTIONS:
            fail(w, REJECTED)
        if w.failure or (is_new and reachable(g, start) == every):
            return
        is_new = False
        i = rand_int(w, 0, g.columns)
        j = rand_int(w, 0, g.rows)
        wall = rand_int(w, 0, 4)
        if not has_neighbour(g, i, j, wall) or room_at(g, i, j).doors[wall] != NO_DOOR:
            continue
        if room_at(g, i, j).is_locked or behind(g, i, j, wall).is_locked:
            continue
        k = rand_int(w, 0, 6 if excluded == RANDOM else 5)
        colour = sorted_colour(k)
        if excluded != RANDOM:
            colour = colour_without(excluded, k)
        add_door(g, i, j, wall, colour, 0)
        is_new = True


cdef inline int32_t colour_without(int32_t excluded, int32_t index) noexcept nogil:
    """Return the colour of an index into the sorted names without one of them."""
    cdef int32_t i, k = 0
    for i in range(6):
        if sorted_colour(i) != excluded:
            if k == index:
                return sorted_colour(i)
            k += 1
    return excluded


# ---- the agent -------------------------------------------------------------------------------------------------------


cdef inline bint has_view(const World* w, int32_t x, int32_t y, int32_t direction) noexcept nogil:
    """Return whether nothing or a wall is before an agent."""
    cdef int32_t kind = kind_of(get(w, x + dx_of(direction), y + dy_of(direction)))
    return kind == EMPTY or kind == WALL


cdef bint has_place_for_agent(const Rooms* g, const Room* room) noexcept nogil:
    cdef const World* w = g.world
    cdef int32_t x, y, direction
    for y in range(room.y, room.y + g.size):
        for x in range(room.x, room.x + g.size):
            for direction in range(4):
                if kind_of(get(w, x, y)) == EMPTY and has_view(w, x, y, direction):
                    return True
    return False


cdef void place_agent_in_room(Rooms* g, int32_t column, int32_t row) noexcept nogil:
    cdef World* w = g.world
    cdef int32_t tries = 0
    cdef Room* room
    if column == RANDOM:
        column = rand_int(w, 0, g.columns)
    if row == RANDOM:
        row = rand_int(w, 0, g.rows)
    room = room_at(g, column, row)
    while not w.failure:
        if not place_agent_in(w, room.x, room.y, g.size, g.size, TRIES):
            fail(w, REJECTED)
        elif has_view(w, w.x, w.y, w.direction):
            return
        tries += 1
        if tries == PATIENCE and not has_place_for_agent(g, room):
            fail(w, REJECTED)       # upstream would continue forever


# ---- levels ----------------------------------------------------------------------------------------------------------


cdef uint32_t key_corridor(Rooms* g, int32_t kind) noexcept nogil:
    cdef World* w = g.world
    cdef int32_t j, room
    cdef uint32_t door, thing
    for j in range(1, g.rows):
        remove_wall(g, 1, j, 3)
    room = rand_int(w, 0, g.rows)
    door = add_door(g, 2, room, 2, RANDOM, 1)
    thing = add_object(g, 2, room, kind, RANDOM)
    add_object(g, 0, rand_int(w, 0, g.rows), KEY, colour_of(door))
    place_agent_in_room(g, 1, g.rows // 2)
    connect_all(g, RANDOM)
    return thing


# ---- definitions -----------------------------------------------------------------------------------------------------


def rooms(size, rows, columns):
    """Return the options of a level about its rooms."""
    return {"room_size": size, "num_rows": rows, "num_cols": columns}


cdef class LevelFunctions:
    """The functions of a level, which its class keeps."""


cdef LevelFunctions room_level(Level level):
    cdef LevelFunctions functions = LevelFunctions.__new__(LevelFunctions)
    functions.level = level
    return functions


class RoomLevel(MiniGrid):
    """A level in a grid of rooms.

    Attributes
    ----------
    functions : LevelFunctions
        The functions of the level.
    fixed : dict
        Values of options that users cannot set; of `rooms`, those that the level has no option for.
    steps : int
        Largest number of steps of an episode, divided by the cells of a room, unless the option max_steps is given. In
        BabyAI, 0 stands for upstream's number of steps for the instruction.
    limits : dict
        Smallest and, if there is one, largest value of options.
    """

    functions = None
    fixed = rooms(6, 1, 2)
    steps = 8
    limits = {"room_size": (3,), "num_rows": (1,), "num_cols": (1,)}

    @classmethod
    def build(cls, config):
        return cls.define(config, cls.steps)

    @classmethod
    def define(cls, config, steps):
        """Return the capsule of the level; see `steps` above."""
        cdef LevelFunctions functions = cls.functions
        values = cls.fixed | config._asdict()
        for name, bounds in cls.limits.items():
            if name in values:
                check_range(name, values[name], *bounds)
        size, rows, columns = values["room_size"], values["num_rows"], values["num_cols"]
        if rows * columns > MAX_ROOMS:
            raise ConfigError(f"num_rows * num_cols must be at most {MAX_ROOMS}, got {rows} * {columns}")
        width, height = columns * (size - 1) + 1, rows * (size - 1) + 1
        return define_level(&functions.level, config, width, height, steps * size**2, DONE, cls.fixed)
