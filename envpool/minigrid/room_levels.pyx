"""MiniGrid's levels in grids of rooms, one function each.

`envpool.minigrid.env` says where the rules come from.
"""

from libc.stdint cimport int32_t, uint32_t

from envpool.minigrid.rooms cimport (
    RANDOM, add_door, add_object, build_rooms, connect_all, define_rooms, place_agent_in_room, place_in_room,
    remove_wall, room_at,
)
from envpool.minigrid.structs cimport (
    BALL, BLUE, BOX, GREEN, GREY, KEY, OPEN, PICK_UP, TOGGLE, Level, Outcome, Params, Rooms, World,
)
from envpool.minigrid.world cimport (
    cells_of, colour_of, dx_of, dy_of, kind_of, new_object, number_of, put, rand_colour, rand_int, rand_subset,
    reward_now, say, say_colour, say_kind, sorted_colour, state_of,
)

from envpool._support.text import shown
from envpool.errors import ConfigError
from envpool.minigrid.definition import MiniGrid
from envpool.minigrid.params import pair_of
from envpool.config.checks import check_range

cdef enum:
    ROOM_SIZE = 6               # of levels without this option


cdef void say_pick_up(World* w, uint32_t cell) noexcept nogil:
    """Make an object the one to pick up, which is `targets[0]`."""
    w.targets[0] = number_of(cell)
    w.mission_id = colour_of(cell)
    say(w, b"pick up the ")
    say_colour(w, colour_of(cell))
    say(w, b" ")
    say_kind(w, kind_of(cell))


cdef void judge_pick_up(World* w, const Params* p, int32_t action, Outcome* outcome) noexcept nogil:
    if action == PICK_UP and number_of(w.carrying) == w.targets[0] and w.targets[0]:
        outcome.is_terminated = 1
        outcome.reward = reward_now(w)


# ---- locked doors ----------------------------------------------------------------------------------------------------


cdef void unlock(World* w, const Params* p) noexcept nogil:
    """`targets[0]` is the cell of the door."""
    cdef Rooms g
    build_rooms(&g, w, p)
    add_object(&g, 0, 0, KEY, colour_of(add_door(&g, 0, 0, 0, RANDOM, 1)))
    place_agent_in_room(&g, 0, 0)
    w.targets[0] = g.rooms[0].doors[0]
    say(w, b"open the door")


cdef void judge_unlock(World* w, const Params* p, int32_t action, Outcome* outcome) noexcept nogil:
    if action == TOGGLE and w.targets[0] >= 0 and state_of(cells_of(w)[w.targets[0]]) == OPEN:
        outcome.is_terminated = 1
        outcome.reward = reward_now(w)


cdef void unlock_pickup(World* w, const Params* p) noexcept nogil:
    """With `blocked`, a ball is in front of the door."""
    cdef Rooms g
    cdef uint32_t box, door
    build_rooms(&g, w, p)
    box = add_object(&g, 1, 0, BOX, RANDOM)
    door = add_door(&g, 0, 0, 0, RANDOM, 1)
    if p.blocked:
        put(w, g.rooms[0].door_x[0] - 1, g.rooms[0].door_y[0], new_object(w, BALL, rand_colour(w)))
    add_object(&g, 0, 0, KEY, colour_of(door))
    place_agent_in_room(&g, 0, 0)
    say_pick_up(w, box)


cdef void key_corridor(World* w, const Params* p) noexcept nogil:
    cdef Rooms g
    cdef int32_t j, room
    cdef uint32_t door, thing
    build_rooms(&g, w, p)
    for j in range(1, g.rows):
        remove_wall(&g, 1, j, 3)
    room = rand_int(w, 0, g.rows)
    door = add_door(&g, 2, room, 2, RANDOM, 1)
    thing = add_object(&g, 2, room, p.obj_kind, RANDOM)
    add_object(&g, 0, rand_int(w, 0, g.rows), KEY, colour_of(door))
    place_agent_in_room(&g, 1, g.rows // 2)
    connect_all(&g, RANDOM)
    say_pick_up(w, thing)


# ---- obstructed mazes ------------------------------------------------------------------------------------------------


cdef void choose_door_colours(World* w, int32_t* colours) noexcept nogil:
    cdef int32_t i
    for i in range(6):
        colours[i] = sorted_colour(i)
    rand_subset(w, colours, 6, 6)


cdef void obstruct_door(Rooms* g, const Params* p, int32_t column, int32_t row, int32_t wall,
                        int32_t colour) noexcept nogil:
    """Add a locked door, with a ball in front of it if the level has them."""
    cdef World* w = g.world
    add_door(g, column, row, wall, colour, 1)
    if p.blocked:
        put(w, room_at(g, column, row).door_x[wall] - dx_of(wall), room_at(g, column, row).door_y[wall] - dy_of(wall),
            new_object(w, BALL, GREEN))


cdef void hide_key(Rooms* g, const Params* p, int32_t column, int32_t row, int32_t colour) noexcept nogil:
    """Place a key in a room, inside of a box if the level has them."""
    cdef World* w = g.world
    cdef uint32_t key = new_object(w, KEY, colour), box
    if p.key_in_box:
        box = new_object(w, BOX, GREY)
        w.contents[number_of(box)] = key
        key = box
    place_in_room(g, column, row, key)


cdef void obstructed_maze_1d(World* w, const Params* p) noexcept nogil:
    cdef Rooms g
    cdef int32_t colours[6]
    cdef uint32_t ball
    build_rooms(&g, w, p)
    choose_door_colours(w, colours)
    obstruct_door(&g, p, 0, 0, 0, colours[0])
    hide_key(&g, p, 0, 0, colours[0])
    ball = add_object(&g, 1, 0, BALL, BLUE)
    place_agent_in_room(&g, 0, 0)
    say_pick_up(w, ball)
    w.mission_id = 0


cdef void obstructed_maze(World* w, const Params* p, bint keys_last) noexcept nogil:
    """The room in the middle has a door to rooms at its sides, each of which has two locked doors.

    In version 1, both keys of a room are placed after both doors, so that no ball lies on a key.
    """
    cdef Rooms g
    cdef int32_t colours[6]
    cdef int32_t i, k, column, row, corner
    cdef uint32_t ball
    build_rooms(&g, w, p)
    choose_door_colours(w, colours)
    for i in range(p.num_quarters):
        column, row = 1 + dx_of(i), 1 + dy_of(i)
        add_door(&g, 1, 1, i, colours[i], 0)
        for k in range(-1, 2, 2):
            obstruct_door(&g, p, column, row, (i + k + 4) % 4, colours[(i + k + 6) % 6])
            if not keys_last:
                hide_key(&g, p, column, row, colours[(i + k + 6) % 6])
        if keys_last:
            for k in range(-1, 2, 2):
                hide_key(&g, p, column, row, colours[(i + k + 6) % 6])
    corner = rand_int(w, 0, p.num_quarters)
    ball = add_object(&g, 2 if corner < 2 else 0, 2 if corner == 1 or corner == 2 else 0, BALL, BLUE)
    place_agent_in_room(&g, p.room_x, p.room_y)
    say_pick_up(w, ball)
    w.mission_id = 0


cdef void obstructed_maze_v0(World* w, const Params* p) noexcept nogil:
    obstructed_maze(w, p, False)


cdef void obstructed_maze_v1(World* w, const Params* p) noexcept nogil:
    obstructed_maze(w, p, True)


# ---- definitions -----------------------------------------------------------------------------------------------------

cdef Level UNLOCK = Level(unlock, NULL, NULL, judge_unlock)
cdef Level UNLOCK_PICKUP = Level(unlock_pickup, NULL, NULL, judge_pick_up)
cdef Level KEY_CORRIDOR = Level(key_corridor, NULL, NULL, judge_pick_up)
cdef Level OBSTRUCTED_MAZE_1D = Level(obstructed_maze_1d, NULL, NULL, judge_pick_up)
cdef Level OBSTRUCTED_MAZE_V0 = Level(obstructed_maze_v0, NULL, NULL, judge_pick_up)
cdef Level OBSTRUCTED_MAZE_V1 = Level(obstructed_maze_v1, NULL, NULL, judge_pick_up)


class MiniGridUnlock(MiniGrid):
    """Two rooms with a locked door between them, which has to be opened."""

    @staticmethod
    def build(config):
        return define_rooms(&UNLOCK, config, ROOM_SIZE, 1, 2, 8 * ROOM_SIZE**2)


class MiniGridUnlockPickup(MiniGrid):
    """Two rooms with a locked door between them, and a box in the second one, which has to be picked up."""

    @staticmethod
    def build(config):
        return define_rooms(&UNLOCK_PICKUP, config, ROOM_SIZE, 1, 2, 8 * ROOM_SIZE**2)


class MiniGridBlockedUnlockPickup(MiniGrid):
    """UnlockPickup with a ball in front of the door."""

    @staticmethod
    def build(config):
        return define_rooms(&UNLOCK_PICKUP, config, ROOM_SIZE, 1, 2, 16 * ROOM_SIZE**2, {"blocked": True})


class MiniGridKeyCorridor(MiniGrid):
    """A corridor with rooms on both sides: the key is on the left, the object to pick up behind a door on the right."""

    options = MiniGrid.options | {"num_rows": 3, "obj_type": "ball", "room_size": 6}

    @staticmethod
    def build(config):
        return define_rooms(&KEY_CORRIDOR, config, config.room_size, config.num_rows, 3, 30 * config.room_size**2)


class MiniGridObstructedMaze1D(MiniGrid):
    """Two rooms with a locked door between them: the key may be in a box, and a ball in front of the door."""

    options = MiniGrid.options | {"key_in_box": True, "blocked": True}

    @staticmethod
    def build(config):
        return define_rooms(&OBSTRUCTED_MAZE_1D, config, ROOM_SIZE, 1, 2, 4 * 2 * ROOM_SIZE**2)


class MiniGridObstructedMaze(MiniGrid):
    """Nine rooms with locked doors, boxes with keys and balls in front of doors, and a ball to pick up in a corner."""

    options = MiniGrid.options | {
        "agent_room": (1, 1), "key_in_box": True, "blocked": True, "num_quarters": 4, "num_rooms_visited": 25,
    }

    @staticmethod
    def build(config):
        return define_maze(&OBSTRUCTED_MAZE_V0, config)


class MiniGridObstructedMazeV1(MiniGridObstructedMaze):
    """ObstructedMaze in which no ball lies on a key."""

    @staticmethod
    def build(config):
        return define_maze(&OBSTRUCTED_MAZE_V1, config)


cdef object define_maze(const Level* level, object config):
    check_range("num_quarters", config.num_quarters, 1, 4)
    check_range("num_rooms_visited", config.num_rooms_visited, 1, 10**6)
    room = pair_of(config._asdict(), "agent_room", none_allowed=False)
    if not all(0 <= place <= 2 for place in room):
        raise ConfigError(
            f"agent_room must be a pair (column, row) from (0, 0) to (2, 2), got {shown(config.agent_room)}"
        )
    return define_rooms(level, config, ROOM_SIZE, 3, 3, 4 * config.num_rooms_visited * ROOM_SIZE**2)
