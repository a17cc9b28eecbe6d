"""MiniGrid's MultiRoom: rooms in a row, each with a door to the next one, and the goal in the last one.

`envpool.minigrid.env` says where the rules come from.
"""

from libc.stdint cimport int32_t

from envpool.minigrid.env cimport define_level
from envpool.minigrid.structs cimport DOWNWARD, LEFTWARD, MAX_ROOMS, MAX_SIDE, RIGHTWARD, Level, Params, World
from envpool.minigrid.world cimport (
    FOREVER, GOAL_CELL, find_place, new_door, place_agent_in, put, rand_int, say, sorted_colour, wall_rect,
)

from envpool.minigrid.definition import MiniGrid
from envpool.config.checks import check_range

cdef enum:
    MIN_ROOM_SIZE = 4

cdef struct ChainRoom:
    int32_t x, y, width, height
    int32_t door_x, door_y      # of the door from the room before

cdef struct Chain:
    int32_t count
    ChainRoom rooms[MAX_ROOMS]


cdef bint overlaps(const ChainRoom* a, const ChainRoom* b) noexcept nogil:
    """Return whether room a overlaps room b; upstream's test is not the same for both."""
    return not (
        a.x + a.width < b.x or b.x + b.width <= a.x or a.y + a.height < b.y or b.y + b.height <= a.y
    )


cdef bint add_rooms(World* w, const Params* p, Chain* chain, int32_t num_left, int32_t entry_wall, int32_t door_x,
                    int32_t door_y) noexcept nogil:
    """Add a room behind a door, and rooms behind it until num_left were added or none fits.

    Returns whether the first of them was added. Walls are numbered as directions.
    """
    cdef ChainRoom room
    cdef int32_t i, _, wall, x, y
    room.width = rand_int(w, MIN_ROOM_SIZE, p.options.max_room_size + 1)
    room.height = rand_int(w, MIN_ROOM_SIZE, p.options.max_room_size + 1)
    room.door_x, room.door_y = room.x, room.y = door_x, door_y
    if chain.count > 0:
        if entry_wall == RIGHTWARD:
            room.x = door_x - room.width + 1
        elif entry_wall == DOWNWARD:
            room.y = door_y - room.height + 1
        if entry_wall == RIGHTWARD or entry_wall == LEFTWARD:
            room.y = rand_int(w, door_y - room.height + 2, door_y)
        else:
            room.x = rand_int(w, door_x - room.width + 2, door_x)
    if room.x < 0 or room.y < 0 or room.x + room.width > w.width or room.y + room.height >= w.height or w.failure:
        return False
    for i in range(chain.count - 1):
        if overlaps(&room, &chain.rooms[i]):
            return False
    chain.rooms[chain.count] = room
    chain.count += 1
    if num_left == 1:
        return True
    for _ in range(8):
        wall = rand_int(w, 0, 3)
        wall += wall >= entry_wall
        if wall == RIGHTWARD or wall == LEFTWARD:
            x = room.x + room.width - 1 if wall == RIGHTWARD else room.x
            y = room.y + rand_int(w, 1, room.height - 1)
        else:
            x = room.x + rand_int(w, 1, room.width - 1)
            y = room.y + room.height - 1 if wall == DOWNWARD else room.y
        if add_rooms(w, p, chain, num_left - 1, (wall + 2) % 4, x, y):
            break
    return True


cdef void draw_room(World* w, const ChainRoom* room) noexcept nogil:
    wall_rect(w, room.x, room.y, room.width, room.height)


cdef void multi_room(World* w, const Params* p) noexcept nogil:
    cdef Chain best, chain
    cdef const ChainRoom* room
    cdef int32_t count = rand_int(w, p.options.min_num_rooms, p.options.max_num_rooms + 1), i, x, y, index, last = -1
    best.count = 0
    while best.count < count and not w.failure:
        chain.count = 0
        x = rand_int(w, 0, w.width - 2)
        y = rand_int(w, 0, w.width - 2)
        add_rooms(w, p, &chain, count, LEFTWARD, x, y)
        if chain.count > best.count:
            best = chain
    if w.failure:
        return
    for i in range(count):
        room = &best.rooms[i]
        draw_room(w, room)
        if i > 0:
            index = rand_int(w, 0, 6 if last < 0 else 5)
            index += 0 <= last <= index     # each colour but the last one, in the order of their names
            last = index
            put(w, room.door_x, room.door_y, new_door(w, sorted_colour(index), False))
    room = &best.rooms[0]
    place_agent_in(w, room.x, room.y, room.width, room.height, FOREVER)
    room = &best.rooms[count - 1]
    find_place(w, GOAL_CELL, room.x, room.y, room.width, room.height, FOREVER, NULL)
    say(w, b"traverse the rooms to get to the goal")


cdef Level MULTI_ROOM = Level(multi_room, NULL, NULL, NULL)


class MiniGridMultiRoom(MiniGrid):
    """Rooms in a row, each with a door to the next one, and the goal in the last one."""

    options = MiniGrid.options | {
        "width": 25, "height": 25, "min_num_rooms": 6, "max_num_rooms": 6, "max_room_size": 10,
    }

    @staticmethod
    def build(config):
        check_range("width", config.width, 6, MAX_SIDE)
        check_range("height", config.height, 6, MAX_SIDE)
        check_range("min_num_rooms", config.min_num_rooms, 1, MAX_ROOMS)
        check_range("max_num_rooms", config.max_num_rooms, config.min_num_rooms, MAX_ROOMS)
        check_range("max_room_size", config.max_room_size, MIN_ROOM_SIZE, MAX_SIDE)
        return define_level(&MULTI_ROOM, config, config.width, config.height, 20 * config.max_num_rooms)
