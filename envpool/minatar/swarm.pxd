"""Swarms: the things of one kind in Seaquest, oldest first.

Upstream keeps them in a list, which it walks through from the end while it removes things by value. If two of them are
equal, it always removes the first one, and the other one takes a second turn. `remove_equal` does so, too.
"""

from libc.stdint cimport int8_t, int32_t, uint8_t
from libc.string cimport memcmp, memmove

from envpool.minatar.game cimport is_inside, put, put_trail

cdef enum:
    # A fish or a hostile submarine crosses the board in at most 60 steps, in each of which at most one more appears. At
    # most one torpedo is under way of each submarine that was there in the last 10 steps.
    CAPACITY = 72
    GONE = -1                   # in place of an index

cdef struct Thing:
    int8_t x, y
    int8_t is_rightward
    int8_t move_timer           # steps until it moves; bullets and torpedoes move in every step
    int8_t torpedo_timer        # steps until a hostile submarine fires

cdef struct Swarm:
    int32_t count
    Thing things[CAPACITY]


cdef inline void add(Swarm* swarm, int32_t x, int32_t y, int32_t is_rightward, int32_t move_timer,
                     int32_t torpedo_timer) noexcept nogil:
    """Append a thing. Only after a saved state that was made up, there may be no room for it."""
    cdef Thing* thing = &swarm.things[swarm.count]
    if swarm.count < CAPACITY:
        thing.x, thing.y = <int8_t>x, <int8_t>y
        thing.is_rightward = <int8_t>is_rightward
        thing.move_timer = <int8_t>move_timer
        thing.torpedo_timer = <int8_t>torpedo_timer
        swarm.count += 1


cdef inline void remove(Swarm* swarm, int32_t k) noexcept nogil:
    swarm.count -= 1
    memmove(&swarm.things[k], &swarm.things[k + 1], (swarm.count - k) * sizeof(Thing))


cdef inline int32_t remove_equal(Swarm* swarm, int32_t i) noexcept nogil:
    """Remove the first thing that equals thing i, and return the index at which thing i is after that, or GONE."""
    cdef int32_t k = 0
    while memcmp(&swarm.things[k], &swarm.things[i], sizeof(Thing)) != 0:
        k += 1
    remove(swarm, k)
    return i - 1 if k < i else GONE


cdef inline int32_t find(const Swarm* swarm, const Thing* thing) noexcept nogil:
    """Return the index of the first thing in the cell of another one, or GONE."""
    cdef int32_t k
    for k in range(swarm.count):
        if swarm.things[k].x == thing.x and swarm.things[k].y == thing.y:
            return k
    return GONE


cdef inline void move(Thing* thing) noexcept nogil:
    thing.x += 1 if thing.is_rightward else -1


cdef inline void put_swarm(uint8_t* obs, int32_t channels, const Swarm* swarm, int32_t channel,
                           int32_t trail) noexcept nogil:
    """Set the cells of all things, and the cells behind them unless the channel `trail` is GONE."""
    cdef const Thing* thing
    cdef int32_t k
    for k in range(swarm.count):
        thing = &swarm.things[k]
        put(obs, channels, thing.y, thing.x, channel)
        if trail != GONE:
            put_trail(obs, channels, thing.y, thing.x, thing.is_rightward, trail)


cdef inline bint is_valid_swarm(const Swarm* swarm, int32_t last_row, int32_t move_interval,
                                int32_t torpedo_interval) noexcept nogil:
    """Return whether all things are on the board, and their timers in range."""
    cdef const Thing* thing
    cdef int32_t k
    if not 0 <= swarm.count <= CAPACITY:
        return False
    for k in range(swarm.count):
        thing = &swarm.things[k]
        if not (is_inside(thing.x) and 0 <= thing.y <= last_row and 0 <= thing.is_rightward <= 1
                and 0 <= thing.move_timer <= move_interval and 0 <= thing.torpedo_timer <= torpedo_interval):
            return False
    return True
