"""BabyAI's instructions; language.pxd documents the functions.

Objects are known by their numbers. A description keeps the objects that it fitted at the beginning of the episode; what
they look like later is irrelevant. Where they are is noted after each DROP.
"""

from libc.stdint cimport int8_t, int32_t, uint32_t, uint64_t
from libc.stdlib cimport abs
from libc.string cimport memset

from envpool.minigrid.rooms cimport room_of
from envpool.minigrid.structs cimport (
    ANY, ANYWHERE, DOOR, DROP, GO_TO, GREY, IN_FRONT, KEY, LOCKED, NOWHERE, ON_LEFT, ON_RIGHT, OPEN, OPEN_DOOR, PICK_UP,
    PICK_UP_OBJECT, PUT_NEXT, TOGGLE, Clause, Description, Instruction, Room, Rooms, Task, World,
)
from envpool.minigrid.world cimport (
    begin, cells_of, colour_of, dx_of, dy_of, get, kind_of, number_of, say, say_colour, say_kind, state_of,
)

cdef extern from * nogil:
    int count_zeros "__builtin_ctzll"(unsigned long long bits)

cdef enum:
    MANY = 1 << 20              # number of the walls of a grid, which nothing counts


# ---- descriptions ----------------------------------------------------------------------------------------------------


cdef Description describe(int32_t kind, int32_t colour, int32_t location) noexcept nogil:
    cdef Description what
    memset(&what, 0, sizeof(what))
    what.kind = <int8_t>kind
    what.colour = <int8_t>colour
    what.location = <int8_t>location
    return what


cdef Description like(uint32_t cell) noexcept nogil:
    return describe(kind_of(cell), colour_of(cell), ANYWHERE)


cdef Description of_kind(uint32_t cell) noexcept nogil:
    return describe(kind_of(cell), ANY, ANYWHERE)


cdef inline bint has(const Description* what, int32_t number) noexcept nogil:
    return (what.objects[number >> 6] >> (number & 63)) & 1


cdef bint is_at(const Rooms* g, int32_t location, int32_t x, int32_t y) noexcept nogil:
    """Return whether a cell is in the agent's room, walls included, and on this side of the agent."""
    cdef const World* w = g.world
    cdef const Room* room = &g.rooms[room_of(g, w.x, w.y)]
    cdef int32_t dx = dx_of(w.direction), dy = dy_of(w.direction)
    cdef int32_t ahead = (x - w.x) * dx + (y - w.y) * dy, right = (y - w.y) * dx - (x - w.x) * dy
    if not (room.x <= x < room.x + g.size and room.y <= y < room.y + g.size):
        return False
    if location == ON_LEFT:
        return right < 0
    if location == ON_RIGHT:
        return right > 0
    return ahead > 0 if location == IN_FRONT else ahead < 0


cdef void find_objects(const Rooms* g, Description* what) noexcept nogil:
    cdef const World* w = g.world
    cdef int32_t i, place
    cdef uint32_t cell
    what.objects[0] = what.objects[1] = 0
    # A description without a kind fits walls, too. Nothing can be done with them, but they are counted.
    what.count = MANY if what.kind == ANY and (what.colour == ANY or what.colour == GREY) else 0
    for i in range(1, w.num_objects + 1):
        place = w.where[i]
        if place == NOWHERE:
            continue
        cell = cells_of(<World*>w)[place]
        if (what.kind != ANY and kind_of(cell) != what.kind) or (what.colour != ANY and colour_of(cell) != what.colour):
            continue
        if what.location != ANYWHERE and not is_at(g, what.location, place % w.width, place // w.width):
            continue
        what.objects[i >> 6] |= <uint64_t>1 << (i & 63)
        what.count += 1


# ---- tasks and clauses -----------------------------------------------------------------------------------------------


cdef Task task_of(int32_t verb, Description what, bint is_strict) noexcept nogil:
    cdef Task task
    memset(&task, 0, sizeof(task))
    task.verb = verb
    task.is_strict = is_strict
    task.what = what
    return task


cdef Task put_next(Description what, Description fixed) noexcept nogil:
    cdef Task task = task_of(PUT_NEXT, what, False)
    task.fixed = fixed
    return task


cdef Clause clause_of(Task task) noexcept nogil:
    cdef Clause clause
    memset(&clause, 0, sizeof(clause))
    clause.count = 1
    clause.tasks[0] = task
    return clause


cdef Clause both(Task a, Task b) noexcept nogil:
    cdef Clause clause = clause_of(a)
    clause.count = 2
    clause.tasks[1] = b
    return clause


cdef void ask(Rooms* g, Task task) noexcept nogil:
    ask_clause(g, clause_of(task))


cdef void ask_clause(Rooms* g, Clause clause) noexcept nogil:
    cdef Instruction* instruction = &g.world.instruction
    memset(instruction, 0, sizeof(Instruction))
    instruction.count = 1
    instruction.clauses[0] = clause


cdef void ask_both(Rooms* g, Clause a, Clause b, bint is_reversed) noexcept nogil:
    ask_clause(g, a)
    g.world.instruction.count = 2
    g.world.instruction.first = is_reversed
    g.world.instruction.clauses[1] = b


# ---- whether an instruction makes sense ------------------------------------------------------------------------------


cdef bint are_next(const World* w, int32_t a, int32_t b) noexcept nogil:
    """Return whether two cells, by their indices, are next to each other."""
    return a >= 0 and b >= 0 and abs(a % w.width - b % w.width) + abs(a // w.width - b // w.width) == 1


cdef bint is_useful_key(const World* w, const Description* what) noexcept nogil:
    """Return whether a description is one of a key of a locked door."""
    cdef int32_t i
    cdef uint32_t cell
    if what.kind != KEY or what.colour == ANY:
        return False
    for i in range(1, w.num_objects + 1):
        if w.where[i] != NOWHERE:
            cell = cells_of(<World*>w)[w.where[i]]
            if kind_of(cell) == DOOR and state_of(cell) == LOCKED and colour_of(cell) == what.colour:
                return True
    return False


cdef bint is_sensible_task(Rooms* g, Task* task, bint is_unblocking) noexcept nogil:
    cdef const World* w = g.world
    cdef int32_t i, j
    if task.verb == PUT_NEXT:
        find_objects(g, &task.what)
        find_objects(g, &task.fixed)
        if task.what.objects[0] & task.fixed.objects[0] or task.what.objects[1] & task.fixed.objects[1]:
            return False
        for i in range(1, w.num_objects + 1):
            if has(&task.what, i):
                for j in range(1, w.num_objects + 1):
                    if has(&task.fixed, j) and are_next(w, w.where[i], w.where[j]):
                        return False
    if not is_unblocking:
        return True
    return not (is_useful_key(w, &task.what) or (task.verb == PUT_NEXT and is_useful_key(w, &task.fixed)))


cdef bint is_sensible(Rooms* g, bint is_unblocking) noexcept nogil:
    cdef Instruction* instruction = &g.world.instruction
    cdef int32_t i, j
    for i in range(instruction.count):
        for j in range(instruction.clauses[i].count):
            if not is_sensible_task(g, &instruction.clauses[i].tasks[j], is_unblocking):
                return False
    return True


cdef int32_t count_walks(const World* w) noexcept nogil:
    cdef int32_t i, j, count = 0
    for i in range(w.instruction.count):
        for j in range(w.instruction.clauses[i].count):
            count += 2 if w.instruction.clauses[i].tasks[j].verb == PUT_NEXT else 1
    return count


# ---- sentences -------------------------------------------------------------------------------------------------------

# By Location and by Verb.
cdef const char* PLACES[4]
cdef const char* VERBS[4]
PLACES[:] = [b" on your left", b" on your right", b" in front of you", b" behind you"]
VERBS[:] = [b"go to ", b"pick up ", b"open ", b"put "]


cdef void say_objects(Rooms* g, Description* what) noexcept nogil:
    """Say which objects; a description that fits several things has the indefinite article."""
    cdef World* w = g.world
    find_objects(g, what)
    say(w, b"a " if what.count > 1 else b"the ")
    if what.colour != ANY:
        say_colour(w, what.colour)
        say(w, b" ")
    say_kind(w, what.kind)
    if what.location != ANYWHERE:
        say(w, PLACES[what.location])


cdef void say_task(Rooms* g, Task* task) noexcept nogil:
    say(g.world, VERBS[task.verb])
    say_objects(g, &task.what)
    if task.verb == PUT_NEXT:
        say(g.world, b" next to ")
        say_objects(g, &task.fixed)


cdef void say_clause(Rooms* g, Clause* clause) noexcept nogil:
    say_task(g, &clause.tasks[0])
    if clause.count == 2:
        say(g.world, b" and ")
        say_task(g, &clause.tasks[1])


cdef void say_instruction(Rooms* g) noexcept nogil:
    cdef Instruction* instruction = &g.world.instruction
    begin(g.world)
    g.world.mission_id = -1
    say_clause(g, &instruction.clauses[0])
    if instruction.count == 2:
        say(g.world, b" after you " if instruction.first == 1 else b", then ")
        say_clause(g, &instruction.clauses[1])


# ---- what is done ----------------------------------------------------------------------------------------------------


cdef inline bint is_one_at(const World* w, const Description* what, int32_t place, bint is_next) noexcept nogil:
    """Return whether one of the objects was in a cell, or next to it, when places were noted."""
    cdef int32_t half, noted
    cdef uint64_t left
    for half in range(2):
        left = what.objects[half]
        while left:
            noted = w.tracked[64 * half + count_zeros(left)]
            if are_next(w, noted, place) if is_next else noted == place:
                return True
            left &= left - 1
    return False


cdef Status verify_task(World* w, Task* task, int32_t action) noexcept nogil:
    cdef int32_t x = w.x + dx_of(w.direction), y = w.y + dy_of(w.direction)
    cdef int32_t carried = task.carried, carrying = number_of(w.carrying)
    cdef uint32_t cell
    if task.verb == GO_TO:
        return SUCCEEDS if is_one_at(w, &task.what, y * w.width + x, False) else GOES_ON
    if task.verb == OPEN_DOOR:
        cell = get(w, x, y)
        if action != TOGGLE or kind_of(cell) != DOOR:
            return GOES_ON
        if has(&task.what, number_of(cell)) and state_of(cell) == OPEN:
            return SUCCEEDS
        return FAILS if task.is_strict else GOES_ON
    task.carried = carrying
    if task.verb == PICK_UP_OBJECT:
        if action != PICK_UP:
            return GOES_ON
        if carried == 0 and has(&task.what, carrying):
            return SUCCEEDS
        return FAILS if task.is_strict and carrying else GOES_ON
    if action == DROP and has(&task.what, carried) and is_one_at(w, &task.fixed, w.where[carried], True):
        return SUCCEEDS
    return GOES_ON


cdef Status verify_clause(World* w, Clause* clause, int32_t action) noexcept nogil:
    cdef int32_t i
    if clause.count == 1:
        return verify_task(w, &clause.tasks[0], action)
    for i in range(2):
        if not clause.is_done[i]:
            clause.is_done[i] = verify_task(w, &clause.tasks[i], action) == SUCCEEDS
    return SUCCEEDS if clause.is_done[0] and clause.is_done[1] else GOES_ON


cdef Status verify(World* w, int32_t action) noexcept nogil:
    cdef Instruction* instruction = &w.instruction
    cdef Status status
    if instruction.count == 1:
        return verify_clause(w, &instruction.clauses[0], action)
    if not instruction.is_first_done:
        status = verify_clause(w, &instruction.clauses[instruction.first], action)
        if status != SUCCEEDS:
            return status
        instruction.is_first_done = 1       # the step that ends the first clause counts for the other one, too
    return verify_clause(w, &instruction.clauses[1 - instruction.first], action)
