"""BabyAI's levels in which the agent has to pick up an object, one function each."""

from libc.stdint cimport int32_t, uint32_t

from envpool.minigrid.babyai.language cimport ask, like, of_kind, task_of
from envpool.minigrid.babyai.level cimport all_reachable, check_reachable, choose, level_of, scatter
from envpool.minigrid.rooms cimport (
    RANDOM, add_distractors, add_door, add_object, connect_all, key_corridor, place_agent_in_room,
)
from envpool.minigrid.structs cimport ANY, BALL, PICK_UP_OBJECT, REJECTED, Description, Params, Rooms, World
from envpool.minigrid.world cimport fail, rand_int

from envpool.minigrid.babyai.level import BabyAI, ROOMS
from envpool.minigrid.rooms import rooms


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


cdef void pick_up_in_corridor(Rooms* g, const Params* p) noexcept nogil:
    pick_up(g, of_kind(key_corridor(g, p.obj_kind)), False)


cdef void one_room(Rooms* g, const Params* p) noexcept nogil:
    cdef uint32_t ball = add_object(g, 0, 0, BALL, RANDOM)
    place_agent_in_room(g, RANDOM, RANDOM)
    pick_up(g, of_kind(ball), False)


# ---- definitions -----------------------------------------------------------------------------------------------------


class BabyAIPickup(BabyAI):
    """Pick up an object in a maze."""

    options = BabyAI.options | ROOMS
    functions = level_of(pick_up_any)


class BabyAIUnblockPickup(BabyAI):
    """Pick up an object in a maze where objects may be in the way."""

    options = BabyAI.options | ROOMS
    functions = level_of(unblock)


class BabyAIPickupDist(BabyAI):
    """Pick up an object by its kind, its colour or both; with `debug`, any other one ends the episode."""

    options = BabyAI.options | {"debug": False}
    functions = level_of(pick_up_by_look)
    fixed = rooms(7, 1, 1)


class BabyAIPickupAbove(BabyAI):
    """Pick up an object in the room above."""

    functions = level_of(pick_up_above)
    fixed = rooms(6, 3, 3)
    steps = 8


class BabyAIFindObj(BabyAI):
    """Pick up the only object in a maze."""

    options = BabyAI.options | {"room_size": 5}
    functions = level_of(find_object)
    fixed = rooms(8, 3, 3)
    steps = 20


class BabyAIKeyCorridor(BabyAI):
    """Pick up an object in a locked room at a corridor."""

    options = BabyAI.options | {"num_rows": 3, "obj_type": "ball", "room_size": 6}
    functions = level_of(pick_up_in_corridor)
    fixed = rooms(8, 1, 3)
    steps = 30


class BabyAIOneRoom(BabyAI):
    """Pick up the ball in a room."""

    options = BabyAI.options | {"room_size": 8}
    functions = level_of(one_room)
