"""Building blocks of levels: cells, random numbers, walls, objects, the agent and the words of a mission."""

from libc.stdint cimport int32_t, uint32_t

from envpool.minigrid.structs cimport (
    BOX, COLOUR_SHIFT, DOOR, EMPTY, FLOOR, GOAL, GREEN, GREY, KEY, LAVA, MAX_OBJECTS, NUMBER_SHIFT, OPAQUE_SHIFT, OPEN,
    RED, STATE_SHIFT, WALL, World,
)

cdef enum:
    EMPTY_CELL = EMPTY
    GOAL_CELL = GOAL | GREEN << COLOUR_SHIFT
    LAVA_CELL = LAVA | RED << COLOUR_SHIFT
    FOREVER = 1 << 30           # number of tries to place something
    MAX_DRAWS = 1 << 22         # of one generation


cdef inline uint32_t wall_cell() noexcept nogil:
    return WALL | GREY << COLOUR_SHIFT | <uint32_t>1 << OPAQUE_SHIFT


cdef inline uint32_t* cells_of(World* w) noexcept nogil:
    return <uint32_t*>(w + 1)


cdef inline int32_t kind_of(uint32_t cell) noexcept nogil:
    return cell & 0xff


cdef inline int32_t colour_of(uint32_t cell) noexcept nogil:
    return (cell >> COLOUR_SHIFT) & 0xff


cdef inline int32_t state_of(uint32_t cell) noexcept nogil:
    return (cell >> STATE_SHIFT) & 0xff


cdef inline int32_t number_of(uint32_t cell) noexcept nogil:
    return (cell >> NUMBER_SHIFT) & (MAX_OBJECTS - 1)


cdef inline uint32_t with_state(uint32_t door, int32_t state) noexcept nogil:
    """Return a door in another state. Only open doors can be seen past."""
    door &= ~(<uint32_t>0xff << STATE_SHIFT | <uint32_t>1 << OPAQUE_SHIFT)
    return door | <uint32_t>state << STATE_SHIFT | <uint32_t>(state != OPEN) << OPAQUE_SHIFT


cdef inline bint can_overlap(uint32_t cell) noexcept nogil:
    """Return whether the agent can stand on a cell."""
    cdef int32_t kind = kind_of(cell)
    return kind == EMPTY or kind == GOAL or kind == FLOOR or kind == LAVA or (kind == DOOR and state_of(cell) == OPEN)


cdef inline bint can_pick_up(uint32_t cell) noexcept nogil:
    return KEY <= kind_of(cell) <= BOX


cdef inline bint is_inside(const World* w, int32_t x, int32_t y) noexcept nogil:
    return <uint32_t>x < <uint32_t>w.width and <uint32_t>y < <uint32_t>w.height


cdef inline uint32_t get(const World* w, int32_t x, int32_t y) noexcept nogil:
    """Return a cell; outside of the grid, a wall."""
    return cells_of(<World*>w)[y * w.width + x] if is_inside(w, x, y) else wall_cell()


cdef inline int32_t dx_of(int32_t direction) noexcept nogil:
    return (direction == 0) - (direction == 2)


cdef inline int32_t dy_of(int32_t direction) noexcept nogil:
    return (direction == 1) - (direction == 3)


cdef inline int32_t sorted_colour(int32_t index) noexcept nogil:
    """Return the colour of an index into the sorted names: blue, green, grey, purple, red, yellow."""
    return (0x403512 >> 4 * index) & 15


# Writes a cell, and notes where the object in it is; a place outside of the grid is a failure.
cdef void put(World* w, int32_t x, int32_t y, uint32_t cell) noexcept nogil

# A new object. Doors are closed or locked, and of a number of their own, too.
cdef uint32_t new_object(World* w, int32_t kind, int32_t colour) noexcept nogil
cdef uint32_t new_door(World* w, int32_t colour, bint is_locked) noexcept nogil

# Generator.integers(low, high). After a failure, and for an empty range, which is a failure, the result is `low`
# without a draw. So a level need not check for failures, except in loops that wait for a certain number.
cdef int32_t rand_int(World* w, int32_t low, int32_t high) noexcept nogil
cdef bint rand_bool(World* w) noexcept nogil
cdef int32_t rand_colour(World* w) noexcept nogil
# Draws `count` of the `n` items without replacement, and moves them to the front in the order of the draws.
cdef void rand_subset(World* w, int32_t* items, int32_t n, int32_t count) noexcept nogil
# Chooses some of the six colours; `colours` has room for all of them.
cdef void choose_colours(World* w, int32_t* colours, int32_t count) noexcept nogil

# Makes all cells empty.
cdef void clear(World* w) noexcept nogil
cdef void horizontal(World* w, int32_t x, int32_t y, int32_t length, uint32_t cell) noexcept nogil
cdef void vertical(World* w, int32_t x, int32_t y, int32_t length, uint32_t cell) noexcept nogil
cdef void wall_rect(World* w, int32_t x, int32_t y, int32_t width, int32_t height) noexcept nogil

ctypedef bint (*Reject)(const World* w, int32_t x, int32_t y) noexcept nogil

# Puts a cell at a random free place of a rectangle, where the agent is not and which `reject` (NULL for none) accepts.
# Returns the index of the cell, or NOWHERE: after more than max_tries failed tries, or if generation has failed.
cdef int32_t find_place(World* w, uint32_t cell, int32_t x, int32_t y, int32_t width, int32_t height, int32_t max_tries,
                        Reject reject) noexcept nogil
# Puts a cell at a random free place of the whole grid, with any number of tries, and returns its index. If generation
# has failed, the index is 0.
cdef int32_t place_anywhere(World* w, uint32_t cell) noexcept nogil
# Places the agent in a rectangle, with a random direction. Returns whether it found a place.
cdef bint place_agent_in(World* w, int32_t x, int32_t y, int32_t width, int32_t height,
                         int32_t max_tries) noexcept nogil
cdef void place_agent(World* w) noexcept nogil
cdef void set_agent(World* w, int32_t x, int32_t y, int32_t direction) noexcept nogil

# The mission: `begin` forgets it, the others append words.
cdef void begin(World* w) noexcept nogil
cdef void say(World* w, const char* words) noexcept nogil
cdef void say_colour(World* w, int32_t colour) noexcept nogil
cdef void say_kind(World* w, int32_t kind) noexcept nogil

# Makes a failure known, unless there is one already.
cdef void fail(World* w, int32_t failure) noexcept nogil

# 1 - 0.9 * (step_count / max_steps), what reaching the goal pays now
cdef double reward_now(const World* w) noexcept nogil
