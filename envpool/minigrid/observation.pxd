"""The forms of observations, of upstream's environments and of its wrappers."""

from libc.stdint cimport int32_t, int64_t, uint8_t, uint32_t
from libc.string cimport memcpy, memset

from envpool.minigrid.painter cimport Atlas, Picture, paint, picture_view, picture_world
from envpool.minigrid.structs cimport AGENT, EMPTY, MAX_CELLS, Params, World
from envpool.minigrid.view cimport View, look
from envpool.minigrid.world cimport cells_of, kind_of
from envpool.minigrid.wrappers cimport tiles_of

# Forms of `image`, in the order of observation.FORMS.
cdef enum Form:
    PARTIAL, FULL, RGB_PARTIAL, RGB_FULL, ONE_HOT, FLAT, SYMBOLIC

cdef enum:
    LETTERS = 28                # a to z, space and comma, in FLAT
    NUM_BITS = 20               # of a cell in ONE_HOT
    COLOUR_BIT = 11
    STATE_BIT = 17


cdef inline void write_partial(const World* w, const Params* p, uint8_t* image) noexcept nogil:
    """Write kind, colour and state of each cell in the agent's view, zeros where it does not see."""
    cdef View view
    cdef int32_t size = p.options.agent_view_size, i, j
    cdef uint32_t cell
    look(w, p, &view)
    for i in range(size):
        for j in range(size):
            cell = view.cells[i * size + j] & (0 - ((view.visible[j] >> i) & 1))
            image[0] = cell & 0xff
            image[1] = (cell >> 8) & 0xff
            image[2] = (cell >> 16) & 0xff
            image += 3


cdef inline void write_full(const World* w, uint8_t* image) noexcept nogil:
    """Write kind, colour and state of each cell of the grid, by column; the agent's are its kind, 0 and direction."""
    cdef int32_t x, y
    cdef uint32_t cell
    for x in range(w.width):
        for y in range(w.height):
            cell = cells_of(<World*>w)[y * w.width + x]
            if x == w.x and y == w.y:
                cell = AGENT | <uint32_t>w.direction << 16
            image[0] = cell & 0xff
            image[1] = (cell >> 8) & 0xff
            image[2] = (cell >> 16) & 0xff
            image += 3


cdef inline void write_symbolic(const World* w, int64_t* image) noexcept nogil:
    """Write column, row and kind of each cell of the grid, by column; the kind of nothing is -1."""
    cdef int32_t x, y, kind
    for x in range(w.width):
        for y in range(w.height):
            kind = kind_of(cells_of(<World*>w)[y * w.width + x])
            image[0] = x
            image[1] = y
            image[2] = AGENT if x == w.x and y == w.y else -1 if kind == EMPTY else kind
            image += 3


cdef inline void write_one_hot(const World* w, const Params* p, uint8_t* image) noexcept nogil:
    """Write three ones for each cell in the agent's view: at its kind, its colour and its state."""
    cdef View view
    cdef int32_t size = p.options.agent_view_size, i, j
    cdef uint32_t cell
    look(w, p, &view)
    memset(image, 0, NUM_BITS * size * size)
    for i in range(size):
        for j in range(size):
            cell = view.cells[i * size + j] & (0 - ((view.visible[j] >> i) & 1))
            image[cell & 0xff] = 1
            image[COLOUR_BIT + ((cell >> 8) & 0xff)] = 1
            image[STATE_BIT + ((cell >> 16) & 0xff)] = 1
            image += NUM_BITS


cdef inline void write_flat(const World* w, const Params* p, uint8_t* obs) noexcept nogil:
    """Write the partial image, and a row of zeros and a one for each letter of the mission."""
    cdef int32_t i, letter
    write_partial(w, p, obs)
    obs += 3 * p.options.agent_view_size * p.options.agent_view_size
    memset(obs, 0, LETTERS * p.options.mission_bytes)
    for i in range(min(w.mission_length, p.options.mission_bytes)):
        letter = w.mission[i]
        obs[LETTERS * i + (26 if letter == c' ' else 27 if letter == c',' else letter - c'a')] = 1


# A world with its cells, on the stack.
cdef struct WorldCopy:
    World world
    uint32_t cells[MAX_CELLS]


cdef inline const World* settled(const World* w, const Params* p, WorldCopy* copy) noexcept nogil:
    """Return a world as upstream's wrappers and frames see it: after a reset, what a level prepares has happened."""
    if w.step_count or not p.options.start_carrying:
        return w
    memcpy(copy, w, sizeof(World) + w.width * w.height * sizeof(uint32_t))
    p.level.prepare(&copy.world, p, 0)
    return &copy.world


cdef inline void write_image(const World* w, const Params* p, void* image, int64_t row) noexcept nogil:
    """Write the image of a row, or the whole observation if it is FLAT."""
    cdef WorldCopy copy
    cdef Atlas atlas
    cdef Picture picture
    cdef uint8_t* bytes = <uint8_t*>image + row * p.image_size
    if p.form == PARTIAL:
        write_partial(w, p, bytes)
    elif p.form == ONE_HOT:
        write_one_hot(w, p, bytes)
    elif p.form == FLAT:
        write_flat(w, p, bytes)
    elif p.form == FULL:
        write_full(settled(w, p, &copy), bytes)
    elif p.form == SYMBOLIC:
        write_symbolic(settled(w, p, &copy), <int64_t*>bytes)
    else:
        atlas.tiles, atlas.size = tiles_of(p), p.options.obs_tile_size
        if p.form == RGB_PARTIAL:
            picture_view(settled(w, p, &copy), p, &atlas, &picture)
        else:
            picture_world(settled(w, p, &copy), p, &atlas, &picture)
        paint(&picture, atlas.size, bytes)
