"""What BabyAI's levels share; level.pxd documents the functions.

Source of the rules: minigrid 3.2.0, ``minigrid.envs.babyai`` (Chevalier-Boisvert et al., BabyAI: A Platform to Study
the Sample Efficiency of Grounded Language Learning, 2019). Rejected samples have drawn from the generator.
"""

from libc.stdint cimport int32_t, uint8_t, uint32_t
from libc.string cimport memcpy, memset

from envpool.minigrid.babyai.language cimport FAILS, SUCCEEDS, Status, count_walks, is_sensible, say_instruction, verify
from envpool.minigrid.rooms cimport (
    RANDOM, add_distractors, build_rooms, connect_all, define_rooms, place_agent_in_room, room_of,
)
from envpool.minigrid.structs cimport (
    DOOR, DROP, EMPTY, ENDLESS, MAX_CELLS, REJECTED, SUCCESS, WALL, Level, Outcome, Params, Rooms, World,
)
from envpool.minigrid.world cimport (
    MAX_DRAWS, cells_of, clear, fail, kind_of, rand_int, rand_subset, reward_now, sorted_colour,
)

from envpool.errors import ConfigError
from envpool.minigrid.definition import MiniGrid
from envpool.spec import check_range


cdef void generate(World* w, const Params* p) noexcept nogil:
    cdef Rooms g
    while True:
        w.failure = SUCCESS
        w.draws += 1            # so that levels that draw nothing end, too
        if w.draws > MAX_DRAWS:
            fail(w, ENDLESS)
        clear(w)
        build_rooms(&g, w, p)
        p.level.plan(&g, p)
        if w.failure == SUCCESS and not is_sensible(&g, p.unblocking):
            fail(w, REJECTED)
        if w.failure != REJECTED:
            break
    if w.failure != SUCCESS:
        return
    say_instruction(&g)
    memcpy(w.tracked, w.where, sizeof(w.where))
    if p.max_steps == 0:
        w.max_steps = count_walks(w) * p.room_size * p.room_size * p.num_rows * p.num_cols


cdef void judge(World* w, const Params* p, int32_t action, Outcome* outcome) noexcept nogil:
    cdef Status status
    if action == DROP:
        memcpy(w.tracked, w.where, sizeof(w.where))
    status = verify(w, action)
    if status == SUCCEEDS:
        outcome.is_terminated = 1
        outcome.reward = reward_now(w)
    elif status == FAILS:
        outcome.is_terminated = 1
        outcome.reward = 0


cdef Level level_of(Plan plan) noexcept nogil:
    return Level(generate, plan, NULL, judge)


cdef inline bint is_passable(uint32_t cell) noexcept nogil:
    return kind_of(cell) == EMPTY or kind_of(cell) == DOOR


cdef bint all_reachable(Rooms* g) noexcept nogil:
    """The cells of the grid's border are walls, so that a neighbour of a passable cell is always inside."""
    cdef const World* w = g.world
    cdef const uint32_t* cells = cells_of(g.world)
    cdef int32_t[4] neighbours = [1, w.width, -1, -w.width]
    cdef uint8_t reached[MAX_CELLS]
    cdef int32_t stack[MAX_CELLS]
    cdef int32_t n = 0, i, k, at = w.y * w.width + w.x, next_to
    memset(reached, 0, w.width * w.height)
    reached[at] = 1
    if is_passable(cells[at]):
        stack[0] = at
        n = 1
    while n:
        n -= 1
        at = stack[n]
        for k in range(4):
            next_to = at + neighbours[k]
            if not reached[next_to]:
                reached[next_to] = 1
                if is_passable(cells[next_to]):
                    stack[n] = next_to
                    n += 1
    for i in range(w.width * w.height):
        if not reached[i] and kind_of(cells[i]) != EMPTY and kind_of(cells[i]) != WALL:
            return False
    return True


cdef void check_reachable(Rooms* g) noexcept nogil:
    if not g.world.failure and not all_reachable(g):
        fail(g.world, REJECTED)


cdef int32_t scatter(Rooms* g, int32_t count, bint all_unique, uint32_t* objects) noexcept nogil:
    place_agent_in_room(g, RANDOM, RANDOM)
    connect_all(g, RANDOM)      # draws nothing if there is only one room
    return add_distractors(g, RANDOM, RANDOM, count, all_unique, objects)


cdef void choose_colours(World* w, int32_t* colours, int32_t count) noexcept nogil:
    cdef int32_t i
    for i in range(6):
        colours[i] = sorted_colour(i)
    rand_subset(w, colours, 6, count)


cdef uint32_t choose(World* w, const uint32_t* objects, int32_t count) noexcept nogil:
    return objects[rand_int(w, 0, count)]


cdef void place_agent_outside(Rooms* g, int32_t room) noexcept nogil:
    cdef World* w = g.world
    place_agent_in_room(g, RANDOM, RANDOM)
    while not w.failure and room_of(g, w.x, w.y) == room:
        place_agent_in_room(g, RANDOM, RANDOM)


cdef object define_baby(const Level* level, object config, int room_size, int rows, int columns, int max_steps=0,
                        dict fixed=None):
    for name, lowest, highest in (("num_dists", 0, 100), ("num_objs", 2, 18), ("objs_per_room", 1, 9)):
        if name in config._fields:
            check_range(name, getattr(config, name), lowest, highest)
    if config.mission == "id":
        raise ConfigError("mission must be 'bytes' or 'text' for BabyAI, whose missions have no numbers, got 'id'")
    return define_rooms(level, config, room_size, rows, columns, max_steps, fixed)


class BabyAI(MiniGrid):
    """The options that all levels of BabyAI have; see ``envpool.minigrid.definition.MiniGrid``.

    Missions are sentences of BabyAI's language. ``mission_id`` is always -1.
    """

    options = MiniGrid.options | {"mission_bytes": 512}


#: Options of levels whose rooms the user may choose, with upstream's defaults.
ROOMS = {"room_size": 8, "num_rows": 3, "num_cols": 3}
