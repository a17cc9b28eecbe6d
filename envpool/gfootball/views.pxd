"""Observations: what agents see of a game. Those of the right team see the pitch turned by 180 degrees."""

from libc.stdint cimport int32_t, int64_t, uint8_t
from libc.string cimport memset

from envpool.gfootball.library cimport FOOTBALL_LEFT, football_info, football_player
from envpool.gfootball.structs cimport (
    LAYERS, SIMPLE, SIMPLE115V2, STACK, Config, Game, View,
)

cdef enum:
    DIRECTIONS = 8


cdef inline void note_view(Game* g) noexcept nogil:
    """Keep what the engine shows."""
    cdef const football_info* info = &g.info
    cdef View* v
    cdef int32_t team, i, k
    g.memory.newest = (g.memory.newest + 1) % STACK
    v = &g.memory.views[g.memory.newest]
    for team in range(2):
        v.sizes[team] = info.sizes[team]
        for i in range(info.sizes[team]):
            for k in range(2):
                v.positions[team][i][k] = info.teams[team][i].position[k]
                v.directions[team][i][k] = info.teams[team][i].direction[k]
        for i in range(11):
            v.controlled[team][i] = info.controlled[team][i]
    for k in range(3):
        v.ball[k], v.ball_direction[k] = info.ball[k], info.ball_direction[k]
    v.owned_team, v.game_mode = info.ball_owned_team, info.game_mode


cdef inline void repeat_view(Game* g) noexcept nogil:
    """Copy the newest view to all ages, as at the start of an episode."""
    cdef View newest = g.memory.views[g.memory.newest]
    cdef int32_t age
    for age in range(STACK):
        g.memory.views[age] = newest


cdef inline const View* view_of(const Game* g, int32_t age) noexcept nogil:
    return &g.memory.views[(g.memory.newest - age + STACK) % STACK]


cdef inline float turned(float value, bint is_right) noexcept nogil:
    return -value if is_right else value


cdef inline int32_t turned_team(int32_t team, bint is_right) noexcept nogil:
    return 1 - team if is_right and team >= 0 else team


cdef inline int32_t turned_direction(int32_t action) noexcept nogil:
    """Return the opposite of an action that is a direction; any other action is its own."""
    if FOOTBALL_LEFT <= action < FOOTBALL_LEFT + DIRECTIONS:
        return FOOTBALL_LEFT + (action - FOOTBALL_LEFT + DIRECTIONS // 2) % DIRECTIONS
    return action


# ---- the minimap -----------------------------------------------------------------------------------------------------


cdef inline int32_t pixel_of(double value, double reach, int32_t pixels) noexcept nogil:
    """Return the pixel of a coordinate from -reach to reach: rounded down, and within the map."""
    cdef double place = (value - -reach) / (reach - -reach) * pixels
    if not place > 0:
        return 0
    return pixels - 1 if place >= pixels - 1 else <int32_t>place


cdef inline void mark(uint8_t* layer, const Config* c, float x, float y) noexcept nogil:
    cdef int64_t place = <int64_t>pixel_of(y, 1.0 / 2.25, c.height) * c.width + pixel_of(x, 1.0, c.width)
    layer[place * c.stack * LAYERS] = 255


cdef inline void write_minimap(const Game* g, const Config* c, bint is_right, int32_t agent,
                               uint8_t* to) noexcept nogil:
    """Write uint8 (height, width, layers): own team, other team, ball, controlled player; the oldest map first."""
    cdef const View* v
    cdef uint8_t* layer
    cdef const float* place
    cdef int32_t age, side, team, i
    memset(to, 0, <size_t>c.height * c.width * c.stack * LAYERS)
    for age in range(c.stack):
        v = view_of(g, c.stack - 1 - age)
        layer = to + age * LAYERS
        for side in range(2):
            team = side ^ is_right
            for i in range(v.sizes[team]):
                place = v.positions[team][i]
                mark(layer + side, c, turned(place[0], is_right), turned(place[1], is_right))
        mark(layer + 2, c, turned(v.ball[0], is_right), turned(v.ball[1], is_right))
        i = v.controlled[is_right][agent]
        if i >= 0:
            place = v.positions[is_right][i]
            mark(layer + 3, c, turned(place[0], is_right), turned(place[1], is_right))


# ---- simple115 -------------------------------------------------------------------------------------------------------


cdef inline float* write_pairs(float* to, const float (*pairs)[2], int32_t count, bint is_right) noexcept nogil:
    cdef int32_t i
    for i in range(count):
        to[0], to[1] = turned(pairs[i][0], is_right), turned(pairs[i][1], is_right)
        to += 2
    return to


cdef inline float* fill_to(float* to, const float* end) noexcept nogil:
    while to < end:
        to[0] = -1
        to += 1
    return to


cdef inline float* write_one_hot(float* to, int32_t index, int32_t count) noexcept nogil:
    memset(to, 0, count * sizeof(float))
    if 0 <= index < count:
        to[index] = 1
    return to + count


cdef inline void write_simple(const Game* g, const Config* c, bint is_right, int32_t agent, float* to) noexcept nogil:
    """Write float32 (115) for each observation, the oldest one first."""
    cdef const View* v
    cdef float* start
    cdef int32_t age, side, team, k
    for age in range(c.stack - 1, -1, -1):
        v = view_of(g, age)
        start = to
        for side in range(2):
            team = side ^ is_right
            to = write_pairs(to, v.positions[team], v.sizes[team], is_right)
            if c.representation == SIMPLE115V2:
                to = fill_to(to, start + 44 * side + 22)
            to = write_pairs(to, v.directions[team], v.sizes[team], is_right)
            if c.representation == SIMPLE115V2:
                to = fill_to(to, start + 44 * side + 44)
        to = fill_to(to, start + 88)
        for k in range(3):
            to[k] = turned(v.ball[k], is_right and k < 2)
            to[3 + k] = turned(v.ball_direction[k], is_right and k < 2)
        to = write_one_hot(to + 6, 1 + turned_team(v.owned_team, is_right), 3)
        to = write_one_hot(to, v.controlled[is_right][agent], 11)
        to = write_one_hot(to, v.game_mode, 7)


# ---- raw -------------------------------------------------------------------------------------------------------------


cdef inline void write_team(const football_info* info, int32_t team, int32_t rows, bint is_right, void* const* fields,
                            int64_t row) noexcept nogil:
    """Write a team to six arrays; rows of missing players are zero."""
    cdef float* position = <float*>fields[0] + row * rows * 2
    cdef float* direction = <float*>fields[1] + row * rows * 2
    cdef float* tired = <float*>fields[2] + row * rows
    cdef uint8_t* card = <uint8_t*>fields[3] + row * rows
    cdef uint8_t* active = <uint8_t*>fields[4] + row * rows
    cdef int32_t* role = <int32_t*>fields[5] + row * rows
    cdef const football_player* p
    cdef int32_t i, k
    for i in range(rows):
        if i >= info.sizes[team]:
            position[2 * i] = position[2 * i + 1] = direction[2 * i] = direction[2 * i + 1] = tired[i] = 0
            card[i] = active[i] = role[i] = 0
            continue
        p = &info.teams[team][i]
        for k in range(2):
            position[2 * i + k] = turned(p.position[k], is_right)
            direction[2 * i + k] = turned(p.direction[k], is_right)
        tired[i], card[i], active[i], role[i] = p.tired_factor, p.yellow_card != 0, p.active != 0, p.role


cdef inline int32_t designated_player(const football_info* info, int32_t team) noexcept nogil:
    cdef int32_t i, found = -1
    for i in range(info.sizes[team]):
        if info.teams[team][i].designated:
            found = i
    return found


cdef inline void write_raw(const Game* g, const Config* c, bint is_right, int32_t agent, int32_t steps_left,
                           void* const* fields, int64_t row) noexcept nogil:
    """Write the arrays of raw_fields() in env.pyx, in their order."""
    cdef const football_info* info = &g.info
    cdef uint8_t* sticky = <uint8_t*>fields[20] + row * c.num_sticky
    cdef int32_t k, action
    for k in range(3):
        (<float*>fields[0])[3 * row + k] = turned(info.ball[k], is_right and k < 2)
        (<float*>fields[1])[3 * row + k] = turned(info.ball_direction[k], is_right and k < 2)
        (<float*>fields[2])[3 * row + k] = info.ball_rotation[k]
    (<int32_t*>fields[3])[row] = turned_team(info.ball_owned_team, is_right)
    (<int32_t*>fields[4])[row] = info.ball_owned_player
    for k in range(2):
        write_team(info, k ^ is_right, c.team_rows[k], is_right, fields + 5 + 6 * k, row)
        (<int32_t*>fields[17])[2 * row + k] = info.goals[k ^ is_right]
    (<int32_t*>fields[18])[row] = steps_left
    (<int32_t*>fields[19])[row] = info.game_mode
    for k in range(c.num_sticky):
        action = turned_direction(FOOTBALL_LEFT + k) - FOOTBALL_LEFT if is_right and k < DIRECTIONS else k
        sticky[k] = info.sticky[is_right][agent][action]
    (<int32_t*>fields[21])[row] = info.controlled[is_right][agent]
    (<int32_t*>fields[22])[row] = designated_player(info, is_right)
