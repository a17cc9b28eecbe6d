"""BabyAI's levels in which the agent has to go to an object, one function each."""

from libc.stdint cimport int32_t, uint32_t

from envpool.minigrid.babyai.language cimport ask, like, task_of
from envpool.minigrid.babyai.level cimport check_reachable, choose, level_of, place_agent_outside, scatter
from envpool.minigrid.rooms cimport RANDOM, add_distractors, add_door, add_object, connect_all, place_agent_in_room
from envpool.minigrid.structs cimport (
    BALL, BLUE, COLOUR_SHIFT, DOOR, GO_TO, GREY, KEY, MAX_OBJECTS, OPEN, RED, REJECTED, Params, Rooms, World,
)
from envpool.minigrid.world cimport cells_of, colour_of, fail, kind_of, number_of, rand_int, with_state

from envpool.minigrid.babyai.level import BabyAI, ROOMS
from envpool.minigrid.rooms import rooms


cdef void go_to_one_like(Rooms* g, uint32_t cell) noexcept nogil:
    ask(g, task_of(GO_TO, like(cell), False))


cdef void red_ball_among(Rooms* g, const Params* p, bint others_are_grey) noexcept nogil:
    cdef World* w = g.world
    cdef uint32_t objects[MAX_OBJECTS]
    cdef uint32_t ball
    cdef int32_t i, count, place
    place_agent_in_room(g, RANDOM, RANDOM)
    ball = add_object(g, 0, 0, BALL, RED)
    count = add_distractors(g, RANDOM, RANDOM, p.options.num_dists, False, objects)
    for i in range(count if others_are_grey else 0):
        place = w.where[number_of(objects[i])]
        if place >= 0:
            cells_of(w)[place] = (objects[i] & ~<uint32_t>(0xff << COLOUR_SHIFT)) | GREY << COLOUR_SHIFT
    check_reachable(g)
    go_to_one_like(g, ball)


cdef void red_ball_grey(Rooms* g, const Params* p) noexcept nogil:
    red_ball_among(g, p, True)


cdef void red_ball(Rooms* g, const Params* p) noexcept nogil:
    red_ball_among(g, p, False)


cdef void go_to_object(Rooms* g, const Params* p) noexcept nogil:
    cdef uint32_t thing
    scatter(g, 1, True, &thing)
    go_to_one_like(g, thing)


cdef void go_to(Rooms* g, const Params* p) noexcept nogil:
    """One room or a maze."""
    cdef World* w = g.world
    cdef uint32_t objects[MAX_OBJECTS]
    cdef int32_t count = scatter(g, p.options.num_dists, False, objects), i
    check_reachable(g)
    go_to_one_like(g, choose(w, objects, count))
    if p.options.doors_open:
        for i in range(w.width * w.height):
            if kind_of(cells_of(w)[i]) == DOOR:
                cells_of(w)[i] = with_state(cells_of(w)[i], OPEN)


cdef void go_to_implicit_unlock(Rooms* g, const Params* p) noexcept nogil:
    """Upstream means to spare the locked room with the key and the other objects, but does not."""
    cdef World* w = g.world
    cdef int32_t column = rand_int(w, 0, g.columns), row = rand_int(w, 0, g.rows), i, j
    cdef uint32_t door = add_door(g, column, row, RANDOM, RANDOM, 1), thing
    i = rand_int(w, 0, g.columns)
    j = rand_int(w, 0, g.rows)
    add_object(g, i, j, KEY, colour_of(door))
    connect_all(g, RANDOM)
    for i in range(g.columns):
        for j in range(g.rows):
            add_distractors(g, i, j, 2, False, NULL)
    place_agent_outside(g, row * g.columns + column)
    check_reachable(g)
    add_distractors(g, column, row, 1, False, &thing)
    go_to_one_like(g, thing)


cdef void red_blue_ball(Rooms* g, const Params* p) noexcept nogil:
    cdef World* w = g.world
    cdef uint32_t objects[MAX_OBJECTS]
    cdef uint32_t ball
    cdef int32_t i, colour
    for i in range(scatter(g, p.options.num_dists, False, objects)):
        colour = colour_of(objects[i])
        if kind_of(objects[i]) == BALL and (colour == BLUE or colour == RED):
            fail(w, REJECTED)
    colour = BLUE if rand_int(w, 0, 2) else RED
    ball = add_object(g, 0, 0, BALL, colour)
    check_reachable(g)
    go_to_one_like(g, ball)


cdef void go_to_door(Rooms* g, const Params* p) noexcept nogil:
    cdef uint32_t doors[4]
    cdef int32_t i
    for i in range(4):
        doors[i] = add_door(g, 1, 1, RANDOM, RANDOM, RANDOM)
    place_agent_in_room(g, 1, 1)
    go_to_one_like(g, choose(g.world, doors, 4))


cdef void go_to_object_or_door(Rooms* g, const Params* p) noexcept nogil:
    cdef uint32_t objects[12]
    cdef int32_t i
    place_agent_in_room(g, 1, 1)
    add_distractors(g, 1, 1, 8, False, objects)
    for i in range(8, 12):
        objects[i] = add_door(g, 1, 1, RANDOM, RANDOM, RANDOM)
    check_reachable(g)
    go_to_one_like(g, choose(g.world, objects, 12))


# ---- definitions -----------------------------------------------------------------------------------------------------


class BabyAIGoToRedBallGrey(BabyAI):
    """Go to the red ball in a room in which all other objects are grey."""

    options = BabyAI.options | {"room_size": 8, "num_dists": 7}
    functions = level_of(red_ball_grey)


class BabyAIGoToRedBall(BabyAI):
    """Go to a red ball in a room with other objects."""

    options = BabyAI.options | {"room_size": 8, "num_dists": 7}
    functions = level_of(red_ball)


class BabyAIGoToObj(BabyAI):
    """Go to the only object in a room."""

    options = BabyAI.options | {"room_size": 8}
    functions = level_of(go_to_object)


class BabyAIGoToLocal(BabyAI):
    """Go to an object in a room with others."""

    options = BabyAI.options | {"room_size": 8, "num_dists": 8}
    functions = level_of(go_to)
    limits = BabyAI.limits | {"num_dists": (1, 100)}


class BabyAIGoTo(BabyAI):
    """Go to an object in a maze."""

    options = BabyAI.options | ROOMS | {"num_dists": 18, "doors_open": False}
    functions = level_of(go_to)
    limits = BabyAI.limits | {"num_dists": (1, 100)}


class BabyAIGoToImpUnlock(BabyAI):
    """Go to an object in a room whose door may have to be unlocked, which the mission does not say."""

    options = BabyAI.options | ROOMS
    functions = level_of(go_to_implicit_unlock)


class BabyAIGoToRedBlueBall(BabyAI):
    """Go to the ball, which is red or blue."""

    options = BabyAI.options | {"room_size": 8, "num_dists": 7}
    functions = level_of(red_blue_ball)


class BabyAIGoToDoor(BabyAI):
    """Go to a door of a room with four doors."""

    functions = level_of(go_to_door)
    fixed = rooms(7, 3, 3)


class BabyAIGoToObjDoor(BabyAI):
    """Go to an object or a door of a room."""

    functions = level_of(go_to_object_or_door)
    fixed = rooms(8, 3, 3)
