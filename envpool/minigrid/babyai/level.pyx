"""Shared code of BabyAI's levels; level.pxd documents the functions.

Source of the rules: minigrid 3.2.0, ``minigrid.envs.babyai`` (Chevalier-Boisvert et al., BabyAI: A Platform to Study
the Sample Efficiency of Grounded Language Learning, 2019). Rejected samples have drawn from the generator.
"""

from libc.stdint cimport int32_t, uint32_t, uint64_t
from libc.string cimport memcpy

from envpool.minigrid.babyai.language cimport FAILS, SUCCEEDS, Status, count_walks, is_sensible, say_instruction, verify
from envpool.minigrid.rooms cimport (
    RANDOM, LevelFunctions, add_distractors, build_rooms, connect_all, place_agent_in_room, room_level, room_of,
)
from envpool.minigrid.structs cimport (
    DOOR, DROP, EMPTY, ENDLESS, MAX_SIDE, REJECTED, SUCCESS, WALL, Level, Outcome, Params, Rooms, World,
)
from envpool.minigrid.world cimport MAX_DRAWS, cells_of, clear, fail, kind_of, rand_int, reward_now

from envpool.errors import ConfigError
from envpool.minigrid.rooms import RoomLevel, rooms


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
        if w.failure == SUCCESS and not is_sensible(&g, p.options.unblocking):
            fail(w, REJECTED)
        if w.failure != REJECTED:
            break
    if w.failure != SUCCESS:
        return
    say_instruction(&g)
    memcpy(w.tracked, w.where, sizeof(w.where))
    if p.max_steps == 0:
        w.max_steps = count_walks(w) * g.size * g.size * g.rows * g.columns


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


cdef LevelFunctions level_of(Plan plan):
    return room_level(Level(generate, plan, NULL, judge))


cdef enum:
    PASSABLE = 1 << EMPTY | 1 << DOOR   # kinds of cells, a bit for each
    NO_OBJECT = 1 << EMPTY | 1 << WALL


cdef inline uint64_t spread(uint64_t lit, uint64_t passable) noexcept nogil:
    """Return the passable cells of a row, a bit for each column, that are lit or reached from there along the row."""
    cdef uint64_t more
    lit |= passable & ~(passable + lit)     # upwards: the sum carries to the end of each run of passable cells
    more = (lit >> 1) & passable & ~lit
    while more:
        lit |= more
        more = (lit >> 1) & passable & ~lit
    return lit


cdef inline bint spread_into(uint64_t* seen, const uint64_t* passable, int32_t row, int32_t source) noexcept nogil:
    """Let a row be reached from one next to it; return whether this reaches more cells."""
    cdef uint64_t before = seen[row]
    seen[row] = spread(before | (seen[source] & passable[row]), passable[row])
    return seen[row] != before


cdef bint all_reachable(Rooms* g) noexcept nogil:
    """The cells of the grid's border are walls."""
    cdef const World* w = g.world
    cdef const uint32_t* cell = cells_of(g.world)
    cdef uint64_t passable[MAX_SIDE]
    cdef uint64_t objects[MAX_SIDE]
    cdef uint64_t seen[MAX_SIDE]
    cdef int32_t last = w.height - 1, x, y
    cdef uint64_t is_passable, is_object
    cdef bint is_growing = True
    for y in range(w.height):
        passable[y] = objects[y] = seen[y] = 0
        for x in range(w.width):
            is_passable = (PASSABLE >> kind_of(cell[0])) & 1
            is_object = (~NO_OBJECT >> kind_of(cell[0])) & 1
            passable[y] |= is_passable << x
            objects[y] |= is_object << x
            cell += 1
    seen[w.y] = spread(<uint64_t>1 << w.x & passable[w.y], passable[w.y])
    while is_growing:
        is_growing = False
        for y in range(1, last):
            is_growing |= spread_into(seen, passable, y, y - 1)
        for y in range(last - 1, 0, -1):
            is_growing |= spread_into(seen, passable, y, y + 1)
    for y in range(1, last):
        if objects[y] & ~(seen[y] | seen[y] << 1 | seen[y] >> 1 | seen[y - 1] | seen[y + 1]):
            return False
    return True


cdef void check_reachable(Rooms* g) noexcept nogil:
    if not g.world.failure and not all_reachable(g):
        fail(g.world, REJECTED)


cdef int32_t scatter(Rooms* g, int32_t count, bint all_unique, uint32_t* objects) noexcept nogil:
    place_agent_in_room(g, RANDOM, RANDOM)
    connect_all(g, RANDOM)      # draws nothing if there is only one room
    return add_distractors(g, RANDOM, RANDOM, count, all_unique, objects)


cdef uint32_t choose(World* w, const uint32_t* objects, int32_t count) noexcept nogil:
    return objects[rand_int(w, 0, count)]


cdef void place_agent_outside(Rooms* g, int32_t room) noexcept nogil:
    cdef World* w = g.world
    place_agent_in_room(g, RANDOM, RANDOM)
    while not w.failure and room_of(g, w.x, w.y) == room:
        place_agent_in_room(g, RANDOM, RANDOM)


class BabyAI(RoomLevel):
    """The options that all levels of BabyAI have; see ``envpool.minigrid.definition.MiniGrid``.

    Missions are sentences of BabyAI's language. ``mission_id`` is always -1.
    """

    options = RoomLevel.options | {"mission_bytes": 512}
    fixed = rooms(8, 1, 1)
    steps = 0
    limits = RoomLevel.limits | {"num_dists": (0, 100), "num_objs": (2, 18), "objs_per_room": (1, 9)}

    @classmethod
    def build(cls, config):
        if config.mission == "id":
            raise ConfigError("mission must be 'bytes' or 'text' for BabyAI, whose missions have no numbers, got 'id'")
        return super().build(config)


#: Options of levels whose rooms the user may choose, with upstream's defaults.
ROOMS = rooms(8, 3, 3)
