"""MiniGrid's levels with objects, one function each.

`envpool.minigrid.env` says where the rules come from.
"""

from libc.stdint cimport int32_t, uint32_t
from libc.stdlib cimport abs

from envpool.minigrid.env cimport define_level
from envpool.minigrid.structs cimport DONE, DROP, EMPTY, KEY, MAX_SIDE, PICK_UP, TOGGLE, Level, Outcome, Params, World
from envpool.minigrid.world cimport (
    FOREVER, Reject, colour_of, dx_of, dy_of, find_place, get, kind_of, new_door, new_object, place_anywhere,
    place_agent, place_agent_in, put, rand_colour, rand_int, reward_now, say, say_colour, say_kind, wall_rect,
)

from envpool.minigrid.definition import MiniGrid
from envpool.config.checks import check_range

cdef enum:
    MAX_THINGS = 64             # of levels that choose among their objects

# Objects that were placed, without their numbers.
cdef struct Things:
    int32_t count
    int32_t kinds[MAX_THINGS]
    int32_t colours[MAX_THINGS]
    int32_t places[MAX_THINGS]


cdef inline int32_t look_of(const Things* things, int32_t i) noexcept nogil:
    """Return the number of the kind and colour of an object, 0 to 17."""
    return 3 * things.colours[i] + things.kinds[i] - KEY


cdef void place_things(World* w, Things* things, int32_t count, Reject reject) noexcept nogil:
    """Place keys, balls and boxes, no two of which look the same."""
    cdef uint32_t looks = 0
    cdef int32_t i
    things.count = 0
    while things.count < count and not w.failure:
        i = things.count
        things.kinds[i] = KEY + rand_int(w, 0, 3)
        things.colours[i] = rand_colour(w)
        if (looks >> look_of(things, i)) & 1:
            continue
        looks |= <uint32_t>1 << look_of(things, i)
        things.places[i] = max(0, find_place(w, new_object(w, things.kinds[i], things.colours[i]), 0, 0, w.width,
                                             w.height, FOREVER, reject))
        things.count += 1


cdef void say_look(World* w, int32_t colour, int32_t kind) noexcept nogil:
    say_colour(w, colour)
    say(w, b" ")
    say_kind(w, kind)


# ---- fetch -----------------------------------------------------------------------------------------------------------


cdef void fetch(World* w, const Params* p) noexcept nogil:
    """`targets` are colour and kind of the object to fetch."""
    cdef const char* requests = b"get a \0       go get a \0    fetch a \0     go fetch a \0  you must fetch a \0"
    cdef int32_t kinds[MAX_THINGS]
    cdef int32_t colours[MAX_THINGS]
    cdef int32_t i, request
    wall_rect(w, 0, 0, w.width, w.height)
    for i in range(p.options.num_objs):
        kinds[i] = KEY + rand_int(w, 0, 2)
        colours[i] = rand_colour(w)
        place_anywhere(w, new_object(w, kinds[i], colours[i]))
    place_agent(w)
    i = rand_int(w, 0, p.options.num_objs)
    w.targets[0] = colours[i]
    w.targets[1] = kinds[i]
    request = rand_int(w, 0, 5)
    say(w, requests + 14 * request)
    say_look(w, colours[i], kinds[i])
    w.mission_id = 12 * request + 2 * colours[i] + kinds[i] - KEY


cdef void judge_fetch(World* w, const Params* p, int32_t action, Outcome* outcome) noexcept nogil:
    if kind_of(w.carrying) != EMPTY:
        outcome.is_terminated = 1
        outcome.reward = 0
        if colour_of(w.carrying) == w.targets[0] and kind_of(w.carrying) == w.targets[1]:
            outcome.reward = reward_now(w)


# ---- go to a door or an object ---------------------------------------------------------------------------------------


cdef void go_to_door(World* w, const Params* p) noexcept nogil:
    """The room is a random part of the grid, with a door in each wall. `targets` is the place of one of them."""
    cdef int32_t width = rand_int(w, 5, w.width + 1), height = rand_int(w, 5, w.height + 1)
    cdef int32_t xs[4]
    cdef int32_t ys[4]
    cdef int32_t colours[4]
    cdef int32_t i, n = 0, chosen, used = 0
    wall_rect(w, 0, 0, width, height)
    xs[0], ys[0] = rand_int(w, 2, width - 2), 0
    xs[1], ys[1] = rand_int(w, 2, width - 2), height - 1
    xs[2], ys[2] = 0, rand_int(w, 2, height - 2)
    xs[3], ys[3] = width - 1, rand_int(w, 2, height - 2)
    while n < 4 and not w.failure:
        colours[n] = rand_colour(w)
        if (used >> colours[n]) & 1 == 0:
            used |= 1 << colours[n]
            n += 1
    for i in range(n):
        put(w, xs[i], ys[i], new_door(w, colours[i], False))
    place_agent_in(w, 0, 0, width, height, FOREVER)
    chosen = rand_int(w, 0, 4)
    w.targets[0] = xs[chosen]
    w.targets[1] = ys[chosen]
    say(w, b"go to the ")
    if n == 4:
        say_colour(w, colours[chosen])
        w.mission_id = colours[chosen]
    say(w, b" door")


cdef void go_to_object(World* w, const Params* p) noexcept nogil:
    """`targets` is the place of the object."""
    cdef Things things
    cdef int32_t i
    wall_rect(w, 0, 0, w.width, w.height)
    place_things(w, &things, p.options.num_objs, NULL)
    place_agent(w)
    i = rand_int(w, 0, things.count)
    if w.failure:
        return
    w.targets[0] = things.places[i] % w.width
    w.targets[1] = things.places[i] // w.width
    say(w, b"go to the ")
    say_look(w, things.colours[i], things.kinds[i])
    w.mission_id = look_of(&things, i)


cdef void judge_arrival(World* w, const Params* p, int32_t action, Outcome* outcome) noexcept nogil:
    """The action DONE next to the target is rewarded; this and TOGGLE end the episode anywhere."""
    cdef int32_t dx = w.x - w.targets[0], dy = w.y - w.targets[1]
    if action == TOGGLE or action == DONE:
        outcome.is_terminated = 1
    if action == DONE and dx * dx + dy * dy == 1:
        outcome.reward = reward_now(w)


# ---- put near --------------------------------------------------------------------------------------------------------


cdef bint is_near_object(const World* w, int32_t x, int32_t y) noexcept nogil:
    """Return whether an object is in one of the nine cells around a cell."""
    cdef int32_t i, place
    for i in range(1, w.num_objects + 1):
        place = w.where[i]
        if place >= 0 and abs(place % w.width - x) <= 1 and abs(place // w.width - y) <= 1:
            return True
    return False


cdef void put_near(World* w, const Params* p) noexcept nogil:
    """`targets` are colour and kind of the object to move, and the place of the other one."""
    cdef Things things
    cdef int32_t moved, fixed
    wall_rect(w, 0, 0, w.width, w.height)
    place_things(w, &things, p.options.num_objs, is_near_object)
    place_agent(w)
    moved = rand_int(w, 0, things.count)
    fixed = rand_int(w, 0, things.count)
    while fixed == moved and not w.failure:
        fixed = rand_int(w, 0, things.count)
    if w.failure:
        return
    w.targets[0] = things.colours[moved]
    w.targets[1] = things.kinds[moved]
    w.targets[2] = things.places[fixed] % w.width
    w.targets[3] = things.places[fixed] // w.width
    say(w, b"put the ")
    say_look(w, things.colours[moved], things.kinds[moved])
    say(w, b" near the ")
    say_look(w, things.colours[fixed], things.kinds[fixed])
    w.mission_id = 18 * look_of(&things, moved) + look_of(&things, fixed)


cdef void judge_put_near(World* w, const Params* p, int32_t action, Outcome* outcome) noexcept nogil:
    cdef int32_t x = w.x + dx_of(w.direction), y = w.y + dy_of(w.direction)
    if action == PICK_UP and kind_of(w.carrying) != EMPTY:
        if kind_of(w.carrying) != w.targets[1] or colour_of(w.carrying) != w.targets[0]:
            outcome.is_terminated = 1
    if action == DROP and kind_of(outcome.carried) != EMPTY:
        if get(w, x, y) == outcome.carried and abs(x - w.targets[2]) <= 1 and abs(y - w.targets[3]) <= 1:
            outcome.reward = reward_now(w)
        outcome.is_terminated = 1


# ---- definitions -----------------------------------------------------------------------------------------------------

cdef Level FETCH = Level(fetch, NULL, NULL, judge_fetch)
cdef Level GO_TO_DOOR = Level(go_to_door, NULL, NULL, judge_arrival)
cdef Level GO_TO_OBJECT = Level(go_to_object, NULL, NULL, judge_arrival)
cdef Level PUT_NEAR = Level(put_near, NULL, NULL, judge_put_near)


class MiniGridFetch(MiniGrid):
    """Pick up a key or a ball of a given colour; picking up any other object ends the episode, too."""

    options = MiniGrid.options | {"size": 8, "num_objs": 3, "see_through_walls": True}

    @staticmethod
    def build(config):
        check_range("size", config.size, 4, MAX_SIDE)
        check_range("num_objs", config.num_objs, 1, min(MAX_THINGS, (config.size - 2) ** 2 - 1))
        return define_level(&FETCH, config, config.size, config.size, 5 * config.size**2)


class MiniGridGoToDoor(MiniGrid):
    """A room with four doors; the agent has to say DONE next to the right one."""

    options = MiniGrid.options | {"size": 5, "see_through_walls": True}

    @staticmethod
    def build(config):
        check_range("size", config.size, 5, MAX_SIDE)
        return define_level(&GO_TO_DOOR, config, config.size, config.size, 4 * config.size**2)


class MiniGridGoToObject(MiniGrid):
    """A room with objects; the agent has to say DONE next to the right one."""

    options = MiniGrid.options | {"size": 6, "num_objs": 2, "see_through_walls": True}

    @staticmethod
    def build(config):
        check_range("size", config.size, 4, MAX_SIDE)
        check_range("num_objs", config.num_objs, 1, min(18, (config.size - 2) ** 2 - 1))
        return define_level(&GO_TO_OBJECT, config, config.size, config.size, 5 * config.size**2)


class MiniGridPutNear(MiniGrid):
    """Put one object next to another one; picking up any other object ends the episode."""

    options = MiniGrid.options | {"size": 6, "num_objs": 2, "see_through_walls": True}

    @staticmethod
    def build(config):
        check_range("size", config.size, 5, MAX_SIDE)
        check_range("num_objs", config.num_objs, 2, 18)
        return define_level(&PUT_NEAR, config, config.size, config.size, 5 * config.size)
