"""MiniGrid's levels in grids of rooms, one function each.

`envpool.minigrid.env` says where the rules come from.
"""

from libc.stdint cimport int32_t, uint32_t

from envpool.minigrid.rooms cimport (
    RANDOM, add_door, add_object, build_rooms, key_corridor, place_agent_in_room, place_in_room, room_at, room_level,
)
from envpool.minigrid.structs cimport (
    BALL, BLUE, BOX, GREEN, GREY, KEY, OPEN, PICK_UP, TOGGLE, Level, Outcome, Params, Rooms, World,
)
from envpool.minigrid.world cimport (
    cells_of, choose_colours, colour_of, dx_of, dy_of, kind_of, new_object, number_of, put, rand_colour, rand_int,
    reward_now, say, say_colour, say_kind, state_of,
)

from envpool._support.text import shown
from envpool.errors import ConfigError
from envpool.minigrid.params import pair_of
from envpool.minigrid.rooms import RoomLevel, rooms


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
    if p.options.blocked:
        put(w, g.rooms[0].door_x[0] - 1, g.rooms[0].door_y[0], new_object(w, BALL, rand_colour(w)))
    add_object(&g, 0, 0, KEY, colour_of(door))
    place_agent_in_room(&g, 0, 0)
    say_pick_up(w, box)


cdef void pick_up_in_corridor(World* w, const Params* p) noexcept nogil:
    cdef Rooms g
    build_rooms(&g, w, p)
    say_pick_up(w, key_corridor(&g, p.obj_kind))


# ---- obstructed mazes ------------------------------------------------------------------------------------------------


cdef void obstruct_door(Rooms* g, const Params* p, int32_t column, int32_t row, int32_t wall,
                        int32_t colour) noexcept nogil:
    """Add a locked door, with a ball in front of it if the level has them."""
    cdef World* w = g.world
    add_door(g, column, row, wall, colour, 1)
    if p.options.blocked:
        put(w, room_at(g, column, row).door_x[wall] - dx_of(wall), room_at(g, column, row).door_y[wall] - dy_of(wall),
            new_object(w, BALL, GREEN))


cdef void hide_key(Rooms* g, const Params* p, int32_t column, int32_t row, int32_t colour) noexcept nogil:
    """Place a key in a room, inside of a box if the level has them."""
    cdef World* w = g.world
    cdef uint32_t key = new_object(w, KEY, colour), box
    if p.options.key_in_box:
        box = new_object(w, BOX, GREY)
        w.contents[number_of(box)] = key
        key = box
    place_in_room(g, column, row, key)


cdef void obstructed_maze_1d(World* w, const Params* p) noexcept nogil:
    cdef Rooms g
    cdef int32_t colours[6]
    cdef uint32_t ball
    build_rooms(&g, w, p)
    choose_colours(w, colours, 6)
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
    choose_colours(w, colours, 6)
    for i in range(p.options.num_quarters):
        column, row = 1 + dx_of(i), 1 + dy_of(i)
        add_door(&g, 1, 1, i, colours[i], 0)
        for k in range(-1, 2, 2):
            obstruct_door(&g, p, column, row, (i + k + 4) % 4, colours[(i + k + 6) % 6])
            if not keys_last:
                hide_key(&g, p, column, row, colours[(i + k + 6) % 6])
        if keys_last:
            for k in range(-1, 2, 2):
                hide_key(&g, p, column, row, colours[(i + k + 6) % 6])
    corner = rand_int(w, 0, p.options.num_quarters)
    ball = add_object(&g, 2 if corner < 2 else 0, 2 if corner == 1 or corner == 2 else 0, BALL, BLUE)
    place_agent_in_room(&g, p.room_x, p.room_y)
    say_pick_up(w, ball)
    w.mission_id = 0


cdef void obstructed_maze_v0(World* w, const Params* p) noexcept nogil:
    obstructed_maze(w, p, False)


cdef void obstructed_maze_v1(World* w, const Params* p) noexcept nogil:
    obstructed_maze(w, p, True)


# ---- definitions -----------------------------------------------------------------------------------------------------


class MiniGridUnlock(RoomLevel):
    """Two rooms with a locked door between them, which has to be opened."""

    functions = room_level(Level(unlock, NULL, NULL, judge_unlock))


class MiniGridUnlockPickup(RoomLevel):
    """Two rooms with a locked door between them, and a box in the second one, which has to be picked up."""

    functions = room_level(Level(unlock_pickup, NULL, NULL, judge_pick_up))


class MiniGridBlockedUnlockPickup(RoomLevel):
    """UnlockPickup with a ball in front of the door."""

    functions = room_level(Level(unlock_pickup, NULL, NULL, judge_pick_up))
    fixed = rooms(6, 1, 2) | {"blocked": True}
    steps = 16


class MiniGridKeyCorridor(RoomLevel):
    """A corridor with rooms on both sides: the key is on the left, the object to pick up behind a door on the right."""

    options = RoomLevel.options | {"num_rows": 3, "obj_type": "ball", "room_size": 6}
    functions = room_level(Level(pick_up_in_corridor, NULL, NULL, judge_pick_up))
    fixed = rooms(6, 1, 3)
    steps = 30


class MiniGridObstructedMaze1D(RoomLevel):
    """Two rooms with a locked door between them: the key may be in a box, and a ball in front of the door."""

    options = RoomLevel.options | {"key_in_box": True, "blocked": True}
    functions = room_level(Level(obstructed_maze_1d, NULL, NULL, judge_pick_up))


class MiniGridObstructedMaze(RoomLevel):
    """Nine rooms with locked doors, boxes with keys and balls in front of doors, and a ball to pick up in a corner."""

    options = RoomLevel.options | {
        "agent_room": (1, 1), "key_in_box": True, "blocked": True, "num_quarters": 4, "num_rooms_visited": 25,
    }

    functions = room_level(Level(obstructed_maze_v0, NULL, NULL, judge_pick_up))
    fixed = rooms(6, 3, 3)
    limits = RoomLevel.limits | {"num_quarters": (1, 4), "num_rooms_visited": (1, 10**6)}

    @classmethod
    def build(cls, config):
        room = pair_of(config._asdict(), "agent_room", none_allowed=False)
        if not all(0 <= place <= 2 for place in room):
            raise ConfigError(
                f"agent_room must be a pair (column, row) from (0, 0) to (2, 2), got {shown(config.agent_room)}"
            )
        return cls.define(config, 4 * config.num_rooms_visited)


class MiniGridObstructedMazeV1(MiniGridObstructedMaze):
    """ObstructedMaze in which no ball lies on a key."""

    functions = room_level(Level(obstructed_maze_v1, NULL, NULL, judge_pick_up))
