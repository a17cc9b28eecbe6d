"""BabyAI's levels in which the agent has to put objects next to others, one function each."""

from libc.stdint cimport int32_t, uint32_t

from envpool.minigrid.babyai.language cimport ask, ask_both, clause_of, like, put_next
from envpool.minigrid.babyai.level cimport check_reachable, choose, generate, judge, level_of, scatter
from envpool.minigrid.rooms cimport add_distractors, place_agent_in_room, remove_wall, room_level
from envpool.minigrid.structs cimport MAX_OBJECTS, NOWHERE, Level, Params, Rooms, Task, World
from envpool.minigrid.world cimport EMPTY_CELL, cells_of, number_of, rand_bool, rand_int

from envpool.minigrid.babyai.level import BabyAI
from envpool.minigrid.rooms import rooms


cdef Task put_one_next_to(uint32_t moved, uint32_t fixed) noexcept nogil:
    return put_next(like(moved), like(fixed))


cdef void choose_two(World* w, const uint32_t* objects, int32_t count, uint32_t* first,
                     uint32_t* second) noexcept nogil:
    """Choose two different objects."""
    cdef int32_t a = rand_int(w, 0, count), b = rand_int(w, 0, count - 1)
    first[0] = objects[a]
    second[0] = objects[b + (b >= a)]


cdef void put_next_local(Rooms* g, const Params* p) noexcept nogil:
    cdef uint32_t objects[MAX_OBJECTS]
    cdef uint32_t moved, fixed
    scatter(g, p.options.num_objs, True, objects)
    check_reachable(g)
    choose_two(g.world, objects, p.options.num_objs, &moved, &fixed)
    ask(g, put_one_next_to(moved, fixed))


cdef void two_sides(Rooms* g, const Params* p, uint32_t* left, uint32_t* right) noexcept nogil:
    """Make one room of two, with objects on both sides."""
    place_agent_in_room(g, 0, 0)
    add_distractors(g, 0, 0, p.options.objs_per_room, True, left)
    add_distractors(g, 1, 0, p.options.objs_per_room, True, right)
    remove_wall(g, 0, 0, 0)


cdef void put_across(Rooms* g, const Params* p) noexcept nogil:
    """`targets[0]` is the number of the object to move."""
    cdef World* w = g.world
    cdef uint32_t left[9]
    cdef uint32_t right[9]
    cdef uint32_t a, b, moved
    two_sides(g, p, left, right)
    a = choose(w, left, p.options.objs_per_room)
    b = choose(w, right, p.options.objs_per_room)
    moved = b if rand_bool(w) else a
    w.targets[0] = number_of(moved)
    ask(g, put_one_next_to(moved, a if moved == b else b))


cdef int32_t start_carrying(World* w, const Params* p, int32_t action) noexcept nogil:
    """Give the agent the object, if it begins with it: upstream does after the first observation."""
    cdef int32_t moved = w.targets[0], place
    if p.options.start_carrying and w.step_count == 0 and 0 < moved < MAX_OBJECTS:
        place = w.where[moved]
        if place != NOWHERE:
            w.carrying = cells_of(w)[place]
            cells_of(w)[place] = EMPTY_CELL
            w.where[moved] = NOWHERE
    return action


cdef void move_two_across(Rooms* g, const Params* p) noexcept nogil:
    cdef World* w = g.world
    cdef uint32_t left[9]
    cdef uint32_t right[9]
    cdef uint32_t a, b, c, d
    two_sides(g, p, left, right)
    choose_two(w, left, p.options.objs_per_room, &a, &d)
    choose_two(w, right, p.options.objs_per_room, &b, &c)
    ask_both(g, clause_of(put_one_next_to(a, b)), clause_of(put_one_next_to(c, d)), False)


# ---- definitions -----------------------------------------------------------------------------------------------------


class BabyAIPutNextLocal(BabyAI):
    """Put an object next to another one in a room."""

    options = BabyAI.options | {"room_size": 8, "num_objs": 8}
    functions = level_of(put_next_local)


class BabyAIPutNext(BabyAI):
    """Put an object next to one on the other side of two rooms without a wall between them."""

    options = BabyAI.options | {"room_size": 6, "objs_per_room": 3, "start_carrying": False}
    functions = room_level(Level(generate, put_across, start_carrying, judge))
    fixed = rooms(8, 1, 2)
    steps = 8
    limits = BabyAI.limits | {"room_size": (4,)}


class BabyAIMoveTwoAcross(BabyAI):
    """Put an object next to one on the other side, then one of the other side next to one on this side."""

    options = BabyAI.options | {"room_size": 5, "objs_per_room": 2}
    functions = level_of(move_two_across)
    fixed = rooms(8, 1, 2)
    steps = 16
    limits = BabyAI.limits | {"objs_per_room": (2, 9)}
