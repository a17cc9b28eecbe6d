"""BabyAI's levels with locked doors, and one with every kind of task, one function each."""

from libc.stdint cimport int32_t, uint32_t

from envpool.minigrid.babyai.language cimport ask, like, of_kind, task_of
from envpool.minigrid.babyai.level cimport check_reachable, choose, level_of, place_agent_outside
from envpool.minigrid.rooms cimport (
    RANDOM, add_distractors, add_door, add_object, connect_all, place_agent_in_room, place_in_room,
)
from envpool.minigrid.structs cimport BALL, BOX, DOOR, GO_TO, KEY, OPEN_DOOR, PICK_UP_OBJECT, Params, Rooms, World
from envpool.minigrid.world cimport (
    choose_colours, colour_of, kind_of, new_object, number_of, put, rand_bool, rand_colour, rand_int,
)

from envpool.minigrid.babyai.level import BabyAI, ROOMS
from envpool.minigrid.rooms import rooms


cdef void unlock(Rooms* g, const Params* p) noexcept nogil:
    """Upstream means to spare the locked room with the key and the other objects, but does not."""
    cdef World* w = g.world
    cdef int32_t column = rand_int(w, 0, g.columns), row = rand_int(w, 0, g.rows), i, j
    cdef uint32_t door = add_door(g, column, row, RANDOM, RANDOM, 1)
    i = rand_int(w, 0, g.columns)
    j = rand_int(w, 0, g.rows)
    add_object(g, i, j, KEY, colour_of(door))
    connect_all(g, colour_of(door) if rand_bool(w) else RANDOM)
    for i in range(g.columns):
        for j in range(g.rows):
            add_distractors(g, i, j, 3, False, NULL)
    place_agent_outside(g, row * g.columns + column)
    check_reachable(g)
    ask(g, task_of(OPEN_DOOR, like(door), False))


cdef void unlock_local(Rooms* g, const Params* p) noexcept nogil:
    cdef uint32_t door = add_door(g, 1, 1, RANDOM, RANDOM, 1)
    add_object(g, 1, 1, KEY, colour_of(door))
    if p.options.distractors:
        add_distractors(g, 1, 1, 3, True, NULL)
    place_agent_in_room(g, 1, 1)
    ask(g, task_of(OPEN_DOOR, of_kind(door), False))


cdef void key_in_box(Rooms* g, const Params* p) noexcept nogil:
    cdef World* w = g.world
    cdef uint32_t door = add_door(g, 1, 1, RANDOM, RANDOM, 1)
    cdef uint32_t key = new_object(w, KEY, colour_of(door)), box = new_object(w, BOX, rand_colour(w))
    w.contents[number_of(box)] = key
    place_in_room(g, 1, 1, box)
    place_agent_in_room(g, 1, 1)
    ask(g, task_of(OPEN_DOOR, of_kind(door), False))


cdef void unlock_pickup(Rooms* g, const Params* p) noexcept nogil:
    """With `blocked`, a ball is in front of the door, and the mission does not say the colour."""
    cdef World* w = g.world
    cdef uint32_t box = add_object(g, 1, 0, BOX, RANDOM)
    cdef uint32_t door = add_door(g, 0, 0, 0, RANDOM, 1)
    if p.options.blocked:
        put(w, g.rooms[0].door_x[0] - 1, g.rooms[0].door_y[0], new_object(w, BALL, rand_colour(w)))
    add_object(g, 0, 0, KEY, colour_of(door))
    if p.options.distractors:
        add_distractors(g, RANDOM, RANDOM, 4, True, NULL)
    place_agent_in_room(g, 0, 0)
    ask(g, task_of(PICK_UP_OBJECT, of_kind(box) if p.options.blocked else like(box), False))


cdef void unlock_to_unlock(Rooms* g, const Params* p) noexcept nogil:
    """The key of the first door is behind the second one."""
    cdef int32_t colours[6]
    cdef uint32_t ball
    choose_colours(g.world, colours, 2)
    add_door(g, 0, 0, 0, colours[0], 1)
    add_object(g, 2, 0, KEY, colours[0])
    add_door(g, 1, 0, 0, colours[1], 1)
    add_object(g, 1, 0, KEY, colours[1])
    ball = add_object(g, 0, 0, BALL, RANDOM)
    place_agent_in_room(g, 1, 0)
    ask(g, task_of(PICK_UP_OBJECT, of_kind(ball), False))


cdef void action_on_object_or_door(Rooms* g, const Params* p) noexcept nogil:
    cdef World* w = g.world
    cdef uint32_t objects[9]
    cdef uint32_t thing
    cdef int32_t i, verb
    add_distractors(g, 1, 1, 5, True, objects)
    for i in range(5, 9):
        objects[i] = add_door(g, 1, 1, RANDOM, RANDOM, 0)
    place_agent_in_room(g, 1, 1)
    thing = choose(w, objects, 9)
    verb = GO_TO if rand_bool(w) else OPEN_DOOR if kind_of(thing) == DOOR else PICK_UP_OBJECT
    ask(g, task_of(verb, like(thing), False))


# ---- definitions -----------------------------------------------------------------------------------------------------


class BabyAIUnlock(BabyAI):
    """Unlock a door in a maze."""

    options = BabyAI.options | ROOMS
    functions = level_of(unlock)


class BabyAIUnlockLocal(BabyAI):
    """Unlock a door of a room with the key that is there."""

    options = BabyAI.options | {"distractors": False}
    functions = level_of(unlock_local)
    fixed = rooms(8, 3, 3)


class BabyAIKeyInBox(BabyAI):
    """Unlock a door of a room with the key in a box that is there."""

    functions = level_of(key_in_box)
    fixed = rooms(8, 3, 3)


class BabyAIUnlockPickup(BabyAI):
    """Unlock a door and pick up the box behind it."""

    options = BabyAI.options | {"distractors": False}
    functions = level_of(unlock_pickup)
    fixed = rooms(6, 1, 2)


class BabyAIBlockedUnlockPickup(BabyAI):
    """UnlockPickup with a ball in front of the door."""

    functions = level_of(unlock_pickup)
    fixed = rooms(6, 1, 2) | {"blocked": True}
    steps = 16


class BabyAIUnlockToUnlock(BabyAI):
    """Unlock a door to get the key of another one, and pick up the ball behind that."""

    functions = level_of(unlock_to_unlock)
    fixed = rooms(6, 1, 3)
    steps = 30


class BabyAIActionObjDoor(BabyAI):
    """Go to an object or a door of a room, or pick it up, or open it."""

    functions = level_of(action_on_object_or_door)
    fixed = rooms(7, 3, 3)
