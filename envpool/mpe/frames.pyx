"""Frames of worlds: entities are discs, seen from above, and what agents say is written below each other."""

from libc.math cimport fabs, floor, rint
from libc.stdint cimport int32_t, uint32_t
from libc.string cimport strlen

from envpool.mpe.world cimport Config, Kind, World, kind_of, position, speech
from envpool.raster.canvas cimport canvas, canvas_clear, canvas_colour, canvas_coordinate
from envpool.raster.disc cimport disc_draw, disc_ring
from envpool.raster.image cimport sheet_draw, sheet_numbers

cdef enum:
    MAX_RADIUS = 16383          # in pixels
    MAX_TEXT = 512
    LETTERS = 26
    DIGITS = 2 * LETTERS        # first digit in a sheet of letters.py
    SIGNS = DIGITS + 10
    SPACE = SIGNS + 5           # has no image

cdef const char* SIGN_CHARACTERS = b"_[],."


# ---- text ------------------------------------------------------------------------------------------------------------

cdef struct Text:
    char characters[MAX_TEXT]
    int32_t length


cdef inline void add(Text* text, char character) noexcept nogil:
    if text.length < MAX_TEXT:
        text.characters[text.length] = character
        text.length += 1


cdef inline void add_all(Text* text, const char* characters) noexcept nogil:
    cdef size_t i
    for i in range(strlen(characters)):
        add(text, characters[i])


cdef void add_hundredths(Text* text, double number) noexcept nogil:
    """Write a number from 0 to 1 with two decimals. Times 100, numbers of single precision are exact."""
    cdef int32_t hundredths = canvas_coordinate(rint(100 * number))
    hundredths = max(0, min(hundredths, 100))
    add(text, c"0" + hundredths // 100)
    add(text, c".")
    add(text, c"0" + hundredths // 10 % 10)
    add(text, c"0" + hundredths % 10)


cdef void describe(Text* text, const World* w, const Config* c, const Kind* kind, int32_t number,
                   int32_t agent) noexcept nogil:
    """Write who says what: `number` counts the agents of a kind."""
    cdef const double* said = speech(w, c, agent)
    cdef int32_t i, loudest = 0
    cdef bint is_silent = 1
    text.length = 0
    for i in range(c.dim_c):
        is_silent &= said[i] == 0
        if said[i] > said[loudest]:
            loudest = i
    add_all(text, kind.name)
    add(text, c"_")
    add(text, c"0" + number)
    add_all(text, b" sends ")
    if is_silent:
        add(text, c"_")
    elif c.is_continuous:
        for i in range(c.dim_c):
            add(text, c"," if i > 0 else c"[")
            add_hundredths(text, said[i])
        add(text, c"]")
    else:
        add(text, c"A" + loudest)
    add_all(text, b"   ")


cdef int32_t index_of(char character) noexcept nogil:
    """Return the place of a character in a sheet of letters.py."""
    cdef int32_t i
    if c"a" <= character <= c"z":
        return character - c"a"
    if c"A" <= character <= c"Z":
        return LETTERS + character - c"A"
    if c"0" <= character <= c"9":
        return DIGITS + character - c"0"
    for i in range(SPACE - SIGNS):
        if SIGN_CHARACTERS[i] == character:
            return SIGNS + i
    return SPACE


cdef void draw_text(const canvas* frame, const Text* text, const void* letters, int32_t x, int32_t y) noexcept nogil:
    """Draw a text so that its first letter touches column x, and its highest letter row y."""
    cdef const int32_t* numbers = sheet_numbers(letters)    # of each character: left, top, advance
    cdef int32_t i, k, top = 0
    for i in range(text.length):
        top = max(top, numbers[3 * index_of(text.characters[i]) + 1])
    x -= numbers[3 * index_of(text.characters[0])]
    for i in range(text.length):
        k = index_of(text.characters[i])
        if k != SPACE:
            sheet_draw(frame, letters, k, x + numbers[3 * k], y + top - numbers[3 * k + 1])
        x += numbers[3 * k + 2]


# ---- worlds ----------------------------------------------------------------------------------------------------------


cdef inline double in_pixels(double coordinate, double reach) noexcept nogil:
    return floor(coordinate / reach * FRAME_SIZE / 2) * 0.9 + FRAME_SIZE // 2


cdef inline uint32_t pixel_colour(const double* colour) noexcept nogil:
    return canvas_colour(<uint32_t>(colour[0] * 200), <uint32_t>(colour[1] * 200), <uint32_t>(colour[2] * 200))


cdef bint look(const World* w, const Config* c, int32_t entity, const Kind* kind, double* colour) noexcept nogil:
    """Write the colour of an entity; return whether it is drawn."""
    colour[0], colour[1], colour[2] = kind.colour[0], kind.colour[1], kind.colour[2]
    return c.rules.colour_of == NULL or c.rules.colour_of(w, c, entity, colour)


cdef void draw_world(const World* w, const Config* c, const canvas* frame, const void* letters) noexcept nogil:
    cdef double colour[3]
    cdef double x, y, zoom, reach = 0
    cdef const Kind* kind
    cdef Text text
    cdef int32_t k, i, radius, entity = 0, line = 0
    canvas_clear(frame, canvas_colour(255, 255, 255))
    for i in range(c.num_entities):
        if look(w, c, i, kind_of(c, i), colour):
            reach = max(reach, max(fabs(position(w, i)[0]), fabs(position(w, i)[1])))
    zoom = 0.9 * w.first_range / reach
    for k in range(c.num_kinds):
        kind = &c.kinds[k]
        for i in range(kind.count):
            if look(w, c, entity, kind, colour):
                x, y = in_pixels(position(w, entity)[0], reach), in_pixels(-position(w, entity)[1], reach)
                radius = canvas_coordinate(kind.size * 350 * zoom if c.has_dynamic_rescaling else kind.size * 350)
                if 0 < radius <= MAX_RADIUS:
                    disc_draw(frame, x, y, radius, pixel_colour(colour))
                    disc_ring(frame, x, y, radius, 0)
                if kind.speaks and letters != NULL:
                    describe(&text, w, c, kind, i, entity)
                    draw_text(frame, &text, letters, canvas_coordinate(FRAME_SIZE * 0.05),
                              canvas_coordinate(FRAME_SIZE * 0.95 - FRAME_SIZE * 0.05 * line))
                    line += 1
            entity += 1
