"""BabyAI's levels in which the agent has to open doors, one function each."""

from libc.stdint cimport int32_t, uint32_t

from envpool.minigrid.babyai.language cimport ask, ask_both, clause_of, describe, like, task_of
from envpool.minigrid.babyai.level cimport check_reachable, level_of, scatter
from envpool.minigrid.rooms cimport RANDOM, add_door, place_agent_in_room, room_at
from envpool.minigrid.structs cimport ANY, DOOR, MAX_ROOMS, OPEN_DOOR, RED, Description, Params, Rooms, Task, World
from envpool.minigrid.world cimport cells_of, choose_colours, rand_int, rand_subset

from envpool.minigrid.babyai.level import BabyAI, ROOMS
from envpool.minigrid.rooms import rooms


cdef Task open_one_like(uint32_t door, bint is_strict) noexcept nogil:
    return task_of(OPEN_DOOR, like(door), is_strict)


cdef void open_any(Rooms* g, const Params* p) noexcept nogil:
    """Each door is found from both sides."""
    cdef World* w = g.world
    cdef int32_t places[4 * MAX_ROOMS]
    cdef int32_t i, j, wall, n = 0
    scatter(g, 18, False, NULL)
    check_reachable(g)
    for i in range(g.columns):
        for j in range(g.rows):
            for wall in range(4):
                if room_at(g, i, j).doors[wall] >= 0:
                    places[n] = room_at(g, i, j).doors[wall]
                    n += 1
    i = rand_int(w, 0, n)
    if not w.failure:
        ask(g, open_one_like(cells_of(w)[places[i]], False))


cdef void open_red(Rooms* g, const Params* p) noexcept nogil:
    cdef uint32_t door = add_door(g, 0, 0, 0, RED, 0)
    place_agent_in_room(g, 0, 0)
    ask(g, open_one_like(door, False))


cdef void open_one(Rooms* g, const Params* p) noexcept nogil:
    """The door is the first one by its colour, or one by its location."""
    cdef World* w = g.world
    cdef int32_t colours[6]
    cdef uint32_t doors[4]
    cdef int32_t i
    cdef bint by_location
    cdef Description what
    choose_colours(w, colours, 4)
    for i in range(4):
        doors[i] = add_door(g, 1, 1, i, colours[i], 0)
    by_location = p.select_by == 2 if p.select_by else rand_int(w, 0, 2) == 1
    what = describe(DOOR, ANY, rand_int(w, 0, 4)) if by_location else like(doors[0])
    place_agent_in_room(g, 1, 1)
    ask(g, task_of(OPEN_DOOR, what, p.is_strict))


cdef void open_two(Rooms* g, const Params* p) noexcept nogil:
    cdef int32_t colours[6]
    cdef uint32_t first, second
    choose_colours(g.world, colours, 2)
    first = add_door(g, 1, 1, 2, colours[0] if p.first_colour == ANY else p.first_colour, 0)
    second = add_door(g, 1, 1, 0, colours[1] if p.second_colour == ANY else p.second_colour, 0)
    place_agent_in_room(g, 1, 1)
    ask_both(g, clause_of(open_one_like(first, p.is_strict)), clause_of(open_one_like(second, False)), False)


cdef void open_in_order(Rooms* g, const Params* p) noexcept nogil:
    cdef World* w = g.world
    cdef int32_t colours[6]
    cdef int32_t chosen[4]
    cdef uint32_t doors[4]
    cdef int32_t i, form
    cdef Task first, second
    choose_colours(w, colours, p.options.num_doors)
    for i in range(p.options.num_doors):
        doors[i] = add_door(g, 1, 1, RANDOM, colours[i], 0)
        chosen[i] = i
    place_agent_in_room(g, 1, 1)
    rand_subset(w, chosen, p.options.num_doors, 2)
    form = rand_int(w, 0, 3)
    first, second = open_one_like(doors[chosen[0]], p.is_strict), open_one_like(doors[chosen[1]], p.is_strict)
    if form == 0:
        ask(g, first)
    else:
        ask_both(g, clause_of(first), clause_of(second), form == 2)


# ---- definitions -----------------------------------------------------------------------------------------------------


class BabyAIOpen(BabyAI):
    """Open a door in a maze."""

    options = BabyAI.options | ROOMS
    functions = level_of(open_any)


class BabyAIOpenRedDoor(BabyAI):
    """Open the only door of a room."""

    functions = level_of(open_red)
    fixed = rooms(5, 1, 2)


class BabyAIOpenDoor(BabyAI):
    """Open a door of a room with four doors, by its colour or its location; with `debug`, any other one ends it."""

    options = BabyAI.options | {"select_by": "", "debug": False}
    functions = level_of(open_one)
    fixed = rooms(8, 3, 3)


class BabyAIOpenTwoDoors(BabyAI):
    """Open a door, then another one; with `strict`, opening them the other way round ends the episode."""

    options = BabyAI.options | {"first_color": "", "second_color": "", "strict": False}
    functions = level_of(open_two)
    fixed = rooms(6, 3, 3)
    steps = 20


class BabyAIOpenDoorsOrder(BabyAI):
    """Open one or two doors in a given order; with `debug`, every other door ends the episode."""

    options = BabyAI.options | {"num_doors": 2, "debug": False}
    functions = level_of(open_in_order)
    fixed = rooms(6, 3, 3)
    steps = 20
    limits = BabyAI.limits | {"num_doors": (2, 4)}
