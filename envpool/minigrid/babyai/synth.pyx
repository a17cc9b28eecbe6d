"""BabyAI's levels with random instructions."""

from libc.stdint cimport int32_t, uint32_t

from envpool.minigrid.babyai.language cimport (
    ask_both, ask_clause, both, clause_of, describe, find_objects, put_next, task_of,
)
from envpool.minigrid.babyai.level cimport check_reachable, level_of, place_agent_outside
from envpool.minigrid.rooms cimport RANDOM, add_distractors, add_door, add_object, connect_all, has_neighbour
from envpool.minigrid.structs cimport (
    ANY, ANYWHERE, BOX, DOOR, GO_TO, KEY, NOWHERE, OPEN_DOOR, PUT_NEXT, REJECTED, Clause, Description, Params, Room,
    Rooms, Task, World,
)
from envpool.minigrid.world cimport colour_of, fail, rand_bool, rand_int, sorted_colour
from envpool.numerics.rng cimport ep_uniform

from envpool.minigrid.babyai.level import BabyAI, ROOMS

cdef enum:
    TRIES = 100                 # to describe an object

# Forms of instructions.
cdef enum Form:
    ONE_TASK, TWO_TASKS, TWO_CLAUSES


cdef void add_locked_room(Rooms* g) noexcept nogil:
    """Lock a room, and place its key in another one."""
    cdef World* w = g.world
    cdef int32_t column = 0, row = 0, wall
    cdef uint32_t door = 0
    while not w.failure:
        column = rand_int(w, 0, g.columns)
        row = rand_int(w, 0, g.rows)
        wall = rand_int(w, 0, 4)
        g.locked = row * g.columns + column
        if has_neighbour(g, column, row, wall):
            door = add_door(g, column, row, wall, RANDOM, 1)
            break
    while not w.failure:
        column = rand_int(w, 0, g.columns)
        row = rand_int(w, 0, g.rows)
        if row * g.columns + column != g.locked:
            add_object(g, column, row, KEY, colour_of(door))
            break


cdef bint are_all_locked_in(const Rooms* g, const Description* what) noexcept nogil:
    """Return whether all objects that a description fits are in the locked room, its walls included."""
    cdef const World* w = g.world
    cdef const Room* room = &g.rooms[g.locked]
    cdef int32_t i, x, y
    for i in range(1, w.num_objects + 1):
        if (what.objects[i >> 6] >> (i & 63)) & 1:
            x, y = w.where[i] % w.width, w.where[i] // w.width
            if not (room.x <= x < room.x + g.size and room.y <= y < room.y + g.size):
                return False
    return True


cdef Description describe_object(Rooms* g, const Params* p, int32_t first_kind, int32_t num_kinds) noexcept nogil:
    """Describe an object that there is. Kinds go downwards from first_kind: box, ball, key, door."""
    cdef World* w = g.world
    cdef Description what = describe(ANY, ANY, ANYWHERE)
    cdef int32_t _, colour, kind
    for _ in range(TRIES + 1):
        colour = rand_int(w, 0, 7)
        colour = sorted_colour(colour - 1) if colour else ANY
        kind = first_kind - rand_int(w, 0, num_kinds)
        what = describe(kind, colour, ANYWHERE)
        if p.options.locations and rand_bool(w):
            what.location = <signed char>rand_int(w, 0, 4)
        if w.failure:
            return what
        find_objects(g, &what)
        if what.count == 0:
            continue
        if not p.options.implicit_unlock and g.locked != NOWHERE and are_all_locked_in(g, &what):
            continue
        return what
    fail(w, REJECTED)
    return what


cdef Task random_task(Rooms* g, const Params* p) noexcept nogil:
    cdef int32_t verb = p.verbs[rand_int(g.world, 0, p.num_verbs)]
    cdef Description what
    if verb == OPEN_DOOR:
        return task_of(verb, describe_object(g, p, DOOR, 1), False)
    what = describe_object(g, p, BOX, 4 if verb == GO_TO else 3)
    if verb == PUT_NEXT:
        return put_next(what, describe_object(g, p, BOX, 4))
    return task_of(verb, what, False)


cdef Clause random_clause(Rooms* g, const Params* p, int32_t num_forms) noexcept nogil:
    """Return one task or, of two forms, perhaps two tasks."""
    cdef int32_t form = rand_int(g.world, 0, num_forms)
    return random_clause_of(g, p, form)


cdef Clause random_clause_of(Rooms* g, const Params* p, int32_t form) noexcept nogil:
    cdef Task first
    if form == ONE_TASK:
        return clause_of(random_task(g, p))
    first = random_task(g, p)
    return both(first, random_task(g, p))


cdef void random_level(Rooms* g, const Params* p) noexcept nogil:
    cdef World* w = g.world
    cdef Clause first, second
    cdef int32_t form
    if ep_uniform(&w.rng, 0, 1) < p.options.locked_room_prob:
        add_locked_room(g)
    connect_all(g, RANDOM)
    add_distractors(g, RANDOM, RANDOM, p.options.num_dists, False, NULL)
    place_agent_outside(g, g.locked)
    if not p.options.unblocking:
        check_reachable(g)
    form = p.forms[rand_int(w, 0, p.num_forms)]
    if form == TWO_CLAUSES:
        first = random_clause(g, p, 2)
        second = random_clause(g, p, 2)
        ask_both(g, first, second, rand_int(w, 0, 2) == 1)
    else:
        first = random_clause_of(g, p, form)
        ask_clause(g, first)


# ---- definitions -----------------------------------------------------------------------------------------------------

#: Options of upstream's LevelGen.
LEVEL_GEN = {
    "num_dists": 18,
    "locked_room_prob": 0.5,
    "locations": True,
    "unblocking": True,
    "implicit_unlock": True,
    "action_kinds": "goto,pickup,open,putnext",
    "instr_kinds": "action,and,seq",
}


class BabyAILevelGen(BabyAI):
    """Random instructions in a maze, where one room may be locked.

    Options
    -------
    num_dists : int
        Number of objects. Default 18.
    locked_room_prob : float
        Probability that there is a locked room. Default 0.5.
    locations : bool
        If True, missions may say where an object is, seen from the agent. Default True.
    unblocking : bool
        If True, objects may be in the way. Default True.
    implicit_unlock : bool
        If True, a mission may need a door to be unlocked without saying so. Default True.
    action_kinds, instr_kinds : str
        Kinds of tasks, of "goto", "pickup", "open" and "putnext", and forms of instructions, of "action", "and" and
        "seq", separated by commas. Default: all.
    """

    options = BabyAI.options | ROOMS | LEVEL_GEN
    functions = level_of(random_level)


class BabyAIGoToSeq(BabyAILevelGen):
    """Go to several objects in an order."""

    options = BabyAILevelGen.options | {
        "action_kinds": "goto", "locked_room_prob": 0.0, "locations": False, "unblocking": False,
    }


class BabyAIPickupLoc(BabyAILevelGen):
    """Pick up an object in a room, which may be described by its location."""

    options = BabyAILevelGen.options | {
        "action_kinds": "pickup", "instr_kinds": "action", "num_rows": 1, "num_cols": 1, "num_dists": 8,
        "locked_room_prob": 0.0, "unblocking": False,
    }


class BabyAISynth(BabyAILevelGen):
    """One task of any kind."""

    options = BabyAILevelGen.options | {"instr_kinds": "action", "locations": False, "implicit_unlock": False}


class BabyAISynthLoc(BabyAILevelGen):
    """One task of any kind, with locations."""

    options = BabyAILevelGen.options | {"instr_kinds": "action", "implicit_unlock": False}


class BabyAISynthSeq(BabyAILevelGen):
    """Any instruction without implicit unlocking."""

    options = BabyAILevelGen.options | {"implicit_unlock": False}


class BabyAIMiniBossLevel(BabyAILevelGen):
    """Any instruction in a small maze."""

    options = BabyAILevelGen.options | {
        "num_rows": 2, "num_cols": 2, "room_size": 5, "num_dists": 7, "locked_room_prob": 0.25,
    }


class BabyAIBossLevel(BabyAILevelGen):
    """Any instruction."""


class BabyAIBossLevelNoUnlock(BabyAILevelGen):
    """Any instruction in a maze without locked rooms."""

    options = BabyAILevelGen.options | {"locked_room_prob": 0.0, "implicit_unlock": False}
