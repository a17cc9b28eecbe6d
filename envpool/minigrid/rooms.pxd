"""Grids of rooms of one size, with doors between them, objects in them, and the agent in one of them."""

from libc.stdint cimport int32_t, uint32_t

from envpool.minigrid.structs cimport Level, Params, Room, Rooms, World

cdef enum:
    RANDOM = -1                 # in place of a room's column or row, of a kind, a colour or a wall


cdef inline Room* room_at(Rooms* g, int32_t column, int32_t row) noexcept nogil:
    return &g.rooms[row * g.columns + column]


cdef inline bint has_neighbour(const Rooms* g, int32_t column, int32_t row, int32_t wall) noexcept nogil:
    """Return whether there is a room behind a wall, by its Direction."""
    if wall == 0:
        return column < g.columns - 1
    if wall == 1:
        return row < g.rows - 1
    if wall == 2:
        return column > 0
    return row > 0


cdef inline int32_t room_of(const Rooms* g, int32_t x, int32_t y) noexcept nogil:
    """Return the number of the room that a cell belongs to; walls belong to the room on their right, and below them."""
    return y // (g.size - 1) * g.columns + x // (g.size - 1)


# Builds the walls, draws the places of all doors, and puts the agent into the room in the middle.
cdef void build_rooms(Rooms* g, World* w, const Params* p) noexcept nogil

# Places an object in a room, not next to the agent: a new key, ball or box, or any cell.
cdef void place_in_room(Rooms* g, int32_t column, int32_t row, uint32_t cell) noexcept nogil
cdef uint32_t add_object(Rooms* g, int32_t column, int32_t row, int32_t kind, int32_t colour) noexcept nogil
# Adds objects of random kinds and colours to a room, or to random rooms, and returns how many; `objects` (count) are
# their cells, unless it is NULL. If they are unique, no two objects in the rooms look the same.
cdef int32_t add_distractors(Rooms* g, int32_t column, int32_t row, int32_t count, bint all_unique,
                             uint32_t* objects) noexcept nogil

# Adds a door to a wall, and returns its cell. is_locked may be RANDOM. If the wall is RANDOM, it is one without a door.
cdef uint32_t add_door(Rooms* g, int32_t column, int32_t row, int32_t wall, int32_t colour,
                       int32_t is_locked) noexcept nogil
cdef void remove_wall(Rooms* g, int32_t column, int32_t row, int32_t wall) noexcept nogil
# Adds doors until every room can be reached, in all colours but the excluded one (RANDOM for none).
cdef void connect_all(Rooms* g, int32_t excluded) noexcept nogil

# Places the agent in a room, before nothing or a wall.
cdef void place_agent_in_room(Rooms* g, int32_t column, int32_t row) noexcept nogil

# Makes the middle column a corridor, with an object of a kind in a locked room on the right, whose key is on the left.
# Returns the cell of the object.
cdef uint32_t key_corridor(Rooms* g, int32_t kind) noexcept nogil

# The functions of a level, for its class; see `RoomLevel` in rooms.pyx.
cdef class LevelFunctions:
    cdef Level level

cdef LevelFunctions room_level(Level level)
