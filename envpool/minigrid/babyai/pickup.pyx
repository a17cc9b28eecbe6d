"""BabyAI's levels in which the agent has to pick up an object, one function each."""

from libc.stdint cimport int32_t, uint32_t

from envpool.minigrid.babyai.language cimport ask, like, of_kind, task_of
from envpool.minigrid.babyai.level cimport all_reachable, check_reachable, choose, define_baby, level_of, scatter
from envpool.minigrid.rooms cimport (
    RANDOM, add_distractors, add_door, add_object, connect_all, place_agent_in_room, remove_wall,
)
from envpool.minigrid.structs cimport ANY, BALL, KEY, PICK_UP_OBJECT, REJECTED, Description, Level, Params, Rooms, World
from envpool.minigrid.world cimport colour_of, fail, rand_int

from envpool.minigrid.babyai.level import BabyAI, ROOMS

cdef enum:
    ROOM_SIZE = 6               # of PickupAbove


cdef void pick_up(Rooms* g, Description what, bint is_strict) noexcept nogil:
    ask(g, task_of(PICK_UP_OBJECT, what, is_strict))


cdef void pick_up_any(Rooms* g, const Params* p) noexcept nogil:
    cdef uint32_t objects[18]
    scatter(g, 18, False, objects)
    check_reachable(g)
    pick_up(g, like(choose(g.world, objects, 18)), False)


cdef void unblock(Rooms* g, const Params* p) noexcept nogil:
    """Some object is out of reach."""
    cdef uint32_t objects[20]
    scatter(g, 20, False, objects)
    if not g.world.failure and all_reachable(g):
        fail(g.world, REJECTED)
    pick_up(g, like(choose(g.world, objects, 20)), False)


cdef void pick_up_by_look(Rooms* g, const Params* p) noexcept nogil:
    """The mission says the kind, the colour, or both."""
    cdef World* w = g.world
    cdef uint32_t objects[5]
    cdef int32_t said
    cdef Description what
    add_distractors(g, RANDOM, RANDOM, 5, True, objects)
    place_agent_in_room(g, 0, 0)
    what = like(choose(w, objects, 5))
    said = rand_int(w, 0, 3)
    if said == 0:
        what.colour = ANY
    elif said == 1:
        what.kind = ANY
    pick_up(g, what, p.is_strict)


cdef void pick_up_above(Rooms* g, const Params* p) noexcept nogil:
    cdef uint32_t thing = add_object(g, 1, 0, RANDOM, RANDOM)
    add_door(g, 1, 1, 3, RANDOM, 0)
    place_agent_in_room(g, 1, 1)
    connect_all(g, RANDOM)
    pick_up(g, like(thing), False)


cdef void find_object(Rooms* g, const Params* p) noexcept nogil:
    cdef World* w = g.world
    cdef int32_t column = rand_int(w, 0, g.rows), row = rand_int(w, 0, g.columns)
    cdef uint32_t thing = add_object(g, column, row, RANDOM, RANDOM)
    place_agent_in_room(g, 1, 1)
    connect_all(g, RANDOM)
    pick_up(g, of_kind(thing), False)


cdef void key_corridor(Rooms* g, const Params* p) noexcept nogil:
    cdef World* w = g.world
    cdef int32_t j, room
    cdef uint32_t door, thing
    for j in range(1, g.rows):
        remove_wall(g, 1, j, 3)
    room = rand_int(w, 0, g.rows)
    door = add_door(g, 2, room, 2, RANDOM, 1)
    thing = add_object(g, 2, room, p.obj_kind, RANDOM)
    add_object(g, 0, rand_int(w, 0, g.rows), KEY, colour_of(door))
    place_agent_in_room(g, 1, g.rows // 2)
    connect_all(g, RANDOM)
    pick_up(g, of_kind(thing), False)


cdef void one_room(Rooms* g, const Params* p) noexcept nogil:
    cdef uint32_t ball = add_object(g, 0, 0, BALL, RANDOM)
    place_agent_in_room(g, RANDOM, RANDOM)
    pick_up(g, of_kind(ball), False)


# ---- definitions -----------------------------------------------------------------------------------------------------

cdef Level PICK_UP_ANY = level_of(pick_up_any)
cdef Level UNBLOCK = level_of(unblock)
cdef Level BY_LOOK = level_of(pick_up_by_look)
cdef Level ABOVE = level_of(pick_up_above)
cdef Level FIND_OBJECT = level_of(find_object)
cdef Level KEY_CORRIDOR = level_of(key_corridor)
cdef Level ONE_ROOM = level_of(one_room)


class BabyAIPickup(BabyAI):
    """Pick up an object in a maze."""

    options = BabyAI.options | ROOMS

    @staticmethod
    def build(config):
        return define_baby(&PICK_UP_ANY, config, config.room_size, config.num_rows, config.num_cols)


class BabyAIUnblockPickup(BabyAI):
    """Pick up an object in a maze where objects may be in the way."""

    options = BabyAI.options | ROOMS

    @staticmethod
    def build(config):
        return define_baby(&UNBLOCK, config, config.room_size, config.num_rows, config.num_cols)


class BabyAIPickupDist(BabyAI):
    """Pick up an object by its kind, its colour or both; with `debug`, any other one ends the episode."""

    options = BabyAI.options | {"debug": False}

    @staticmethod
    def build(config):
        return define_baby(&BY_LOOK, config, 7, 1, 1)


class BabyAIPickupAbove(BabyAI):
    """Pick up an object in the room above."""

    @staticmethod
    def build(config):
        return define_baby(&ABOVE, config, ROOM_SIZE, 3, 3, 8 * ROOM_SIZE**2)


class BabyAIFindObj(BabyAI):
    """Pick up the only object in a maze."""

    options = BabyAI.options | {"room_size": 5}

    @staticmethod
    def build(config):
        return define_baby(&FIND_OBJECT, config, config.room_size, 3, 3, 20 * config.room_size**2)


class BabyAIKeyCorridor(BabyAI):
    """Pick up an object in a locked room at a corridor."""

    options = BabyAI.options | {"num_rows": 3, "obj_type": "ball", "room_size": 6}

    @staticmethod
    def build(config):
        return define_baby(&KEY_CORRIDOR, config, config.room_size, config.num_rows, 3, 30 * config.room_size**2)


class BabyAIOneRoom(BabyAI):
    """Pick up the ball in a room."""

    options = BabyAI.options | {"room_size": 8}

    @staticmethod
    def build(config):
        return define_baby(&ONE_ROOM, config, config.room_size, 1, 1)
