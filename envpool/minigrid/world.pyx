"""Building blocks of levels; world.pxd documents the functions."""

from libc.stdint cimport int16_t, int32_t, uint32_t
from libc.string cimport memmove, memset, strlen

from envpool.minigrid.structs cimport (
    BALL, BOX, CLOSED, COLOUR_SHIFT, DOOR, ENDLESS, IMPOSSIBLE, KEY, LOCKED, MAX_MISSION, MAX_OBJECTS, NOWHERE,
    NUMBER_SHIFT, SUCCESS, TOO_MANY_OBJECTS, World,
)
from envpool.numerics.rng cimport ep_bounded


cdef void fail(World* w, int32_t failure) noexcept nogil:
    if w.failure == SUCCESS:
        w.failure = failure


# ---- cells -----------------------------------------------------------------------------------------------------------


cdef void put(World* w, int32_t x, int32_t y, uint32_t cell) noexcept nogil:
    cdef int32_t number = number_of(cell)
    if not is_inside(w, x, y):
        fail(w, IMPOSSIBLE)
        return
    cells_of(w)[y * w.width + x] = cell
    if number:
        w.where[number] = <int16_t>(y * w.width + x)


cdef uint32_t new_object(World* w, int32_t kind, int32_t colour) noexcept nogil:
    if w.num_objects == MAX_OBJECTS - 1:
        fail(w, TOO_MANY_OBJECTS)
    else:
        w.num_objects += 1
    w.where[w.num_objects] = NOWHERE
    w.contents[w.num_objects] = 0
    return kind | <uint32_t>colour << COLOUR_SHIFT | <uint32_t>w.num_objects << NUMBER_SHIFT


cdef uint32_t new_door(World* w, int32_t colour, bint is_locked) noexcept nogil:
    return with_state(new_object(w, DOOR, colour), LOCKED if is_locked else CLOSED)


cdef void clear(World* w) noexcept nogil:
    cdef int32_t i
    for i in range(w.width * w.height):
        cells_of(w)[i] = EMPTY_CELL
    w.num_objects = 0


cdef void horizontal(World* w, int32_t x, int32_t y, int32_t length, uint32_t cell) noexcept nogil:
    cdef int32_t i
    for i in range(length):
        put(w, x + i, y, cell)


cdef void vertical(World* w, int32_t x, int32_t y, int32_t length, uint32_t cell) noexcept nogil:
    cdef int32_t i
    for i in range(length):
        put(w, x, y + i, cell)


cdef void wall_rect(World* w, int32_t x, int32_t y, int32_t width, int32_t height) noexcept nogil:
    horizontal(w, x, y, width, wall_cell())
    horizontal(w, x, y + height - 1, width, wall_cell())
    vertical(w, x, y, height, wall_cell())
    vertical(w, x + width - 1, y, height, wall_cell())


# ---- random numbers --------------------------------------------------------------------------------------------------


cdef int32_t rand_int(World* w, int32_t low, int32_t high) noexcept nogil:
    if w.failure:
        return low
    w.draws += 1
    if high <= low or w.draws > MAX_DRAWS:
        fail(w, IMPOSSIBLE if high <= low else ENDLESS)
        return low
    return low + <int32_t>ep_bounded(&w.rng, <uint32_t>(high - low - 1))


cdef bint rand_bool(World* w) noexcept nogil:
    return rand_int(w, 0, 2) == 0


cdef int32_t rand_colour(World* w) noexcept nogil:
    return sorted_colour(rand_int(w, 0, 6))


cdef void rand_subset(World* w, int32_t* items, int32_t n, int32_t count) noexcept nogil:
    cdef int32_t i, chosen, item
    for i in range(count):
        chosen = i + rand_int(w, 0, n - i)
        item = items[chosen]
        memmove(items + i + 1, items + i, (chosen - i) * sizeof(int32_t))
        items[i] = item


cdef void choose_colours(World* w, int32_t* colours, int32_t count) noexcept nogil:
    cdef int32_t i
    for i in range(6):
        colours[i] = sorted_colour(i)
    rand_subset(w, colours, 6, count)


# ---- places ----------------------------------------------------------------------------------------------------------


cdef int32_t find_place(World* w, uint32_t cell, int32_t x, int32_t y, int32_t width, int32_t height, int32_t max_tries,
                        Reject reject) noexcept nogil:
    cdef int32_t right, bottom, px, py, tries = 0
    x = max(x, 0)
    y = max(y, 0)
    right = min(x + width, w.width)
    bottom = min(y + height, w.height)
    while tries <= max_tries:
        tries += 1
        px = rand_int(w, x, right)
        py = rand_int(w, y, bottom)
        if w.failure:
            return NOWHERE
        if get(w, px, py) != EMPTY_CELL or (px == w.x and py == w.y) or (reject != NULL and reject(w, px, py)):
            continue
        put(w, px, py, cell)
        return py * w.width + px
    return NOWHERE


cdef int32_t place_anywhere(World* w, uint32_t cell) noexcept nogil:
    return max(0, find_place(w, cell, 0, 0, w.width, w.height, FOREVER, NULL))


cdef bint place_agent_in(World* w, int32_t x, int32_t y, int32_t width, int32_t height,
                         int32_t max_tries) noexcept nogil:
    cdef int32_t index
    w.x = w.y = -1
    index = find_place(w, EMPTY_CELL, x, y, width, height, max_tries, NULL)
    if index == NOWHERE:
        return False
    set_agent(w, index % w.width, index // w.width, rand_int(w, 0, 4))
    return True


cdef void place_agent(World* w) noexcept nogil:
    place_agent_in(w, 0, 0, w.width, w.height, FOREVER)


cdef void set_agent(World* w, int32_t x, int32_t y, int32_t direction) noexcept nogil:
    w.x = x
    w.y = y
    w.direction = direction


# ---- missions --------------------------------------------------------------------------------------------------------


cdef void begin(World* w) noexcept nogil:
    memset(w.mission, 0, sizeof(w.mission))
    w.mission_length = 0
    w.mission_id = 0


cdef void say(World* w, const char* words) noexcept nogil:
    cdef size_t room = MAX_MISSION - 1 - w.mission_length, length = min(strlen(words), room)
    memmove(w.mission + w.mission_length, words, length)
    w.mission_length += <int32_t>length


cdef void say_colour(World* w, int32_t colour) noexcept nogil:
    cdef const char* names = b"red\0   green\0 blue\0  purple\0yellow\0grey\0  "
    say(w, names + 7 * colour)


cdef void say_kind(World* w, int32_t kind) noexcept nogil:
    if kind == KEY:
        say(w, b"key")
    elif kind == BALL:
        say(w, b"ball")
    elif kind == BOX:
        say(w, b"box")
    elif kind == DOOR:
        say(w, b"door")
    else:
        say(w, b"object")


cdef double reward_now(const World* w) noexcept nogil:
    return 1 - 0.9 * (<double>w.step_count / <double>w.max_steps)
