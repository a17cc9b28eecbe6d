"""Pictures of worlds, from the tiles of envpool.minigrid.tiles."""

from libc.stdint cimport int32_t, uint8_t, uint32_t
from libc.string cimport memcpy

from envpool.minigrid.structs cimport DOOR, FLOOR, GOAL, KEY, LAVA, MAX_CELLS, UPWARD, WALL, Params, World
from envpool.minigrid.view cimport View, look
from envpool.minigrid.world cimport EMPTY_CELL, cells_of, colour_of, dx_of, dy_of, is_inside, kind_of, state_of

cdef enum:
    AGENTS = 5                  # the agent is absent, or looks in one of four directions
    ABSENT = -1                 # in place of a direction

# Tiles of one size: uint8 (looks, AGENTS, 2, size, size, 3), for each look and agent first for a cell that is not seen.
cdef struct Atlas:
    const uint8_t* tiles
    int32_t size


# The tiles of a picture, row by row.
cdef struct Picture:
    int32_t rows, columns
    const uint8_t* tiles[MAX_CELLS]


cdef inline int32_t look_number(uint32_t cell) noexcept nogil:
    """Return the number of a cell's look, in the order of tiles.looks()."""
    cdef int32_t kind = kind_of(cell), colour = colour_of(cell)
    if kind == WALL:
        return 1 + colour
    if kind == FLOOR:
        return 7 + colour
    if kind == DOOR:
        return 13 + 3 * colour + state_of(cell)
    if KEY <= kind <= GOAL:
        return 31 + 6 * (kind - KEY) + colour
    return 55 if kind == LAVA else 0


cdef inline const uint8_t* tile_of(const Atlas* atlas, uint32_t cell, int32_t direction, bint is_seen) noexcept nogil:
    cdef size_t number = (look_number(cell) * AGENTS + direction + 1) * 2 + is_seen
    return atlas.tiles + number * 3 * atlas.size * atlas.size


cdef inline void picture_view(const World* w, const Params* p, const Atlas* atlas, Picture* picture) noexcept nogil:
    """Find the tiles of what the agent sees: it is in the middle of the last row and looks up."""
    cdef View view
    cdef int32_t size = p.options.agent_view_size, i, j
    cdef bint is_seen
    look(w, p, &view)
    picture.rows = picture.columns = size
    for j in range(size):
        for i in range(size):
            is_seen = (view.visible[j] >> i) & 1
            picture.tiles[j * size + i] = tile_of(
                atlas, view.cells[i * size + j] if is_seen else EMPTY_CELL,
                UPWARD if i == size // 2 and j == size - 1 else ABSENT, is_seen,
            )


cdef inline void picture_world(const World* w, const Params* p, const Atlas* atlas, Picture* picture) noexcept nogil:
    """Find the tiles of the grid; with `highlight`, tiles of cells that the agent sees are lighter."""
    cdef View view
    cdef uint8_t seen[MAX_CELLS]
    cdef int32_t size = p.options.agent_view_size, half = size // 2, dx = dx_of(w.direction), dy = dy_of(w.direction)
    cdef int32_t i, j, x, y
    for i in range(w.width * w.height):
        seen[i] = 0
    if p.options.highlight:
        look(w, p, &view)
        for j in range(size):
            for i in range(size):
                x = w.x + dx * (size - 1 - j) - dy * (i - half)
                y = w.y + dy * (size - 1 - j) + dx * (i - half)
                if is_inside(w, x, y):
                    seen[y * w.width + x] = (view.visible[j] >> i) & 1
    picture.rows, picture.columns = w.height, w.width
    for i in range(w.width * w.height):
        picture.tiles[i] = tile_of(
            atlas, cells_of(<World*>w)[i], w.direction if i == w.y * w.width + w.x else ABSENT, seen[i]
        )


cdef inline void paint(const Picture* picture, int32_t tile_size, uint8_t* pixels) noexcept nogil:
    """Paint (rows * tile_size) x (columns * tile_size) pixels."""
    cdef int32_t row, column, y, length = 3 * tile_size
    for row in range(picture.rows):
        for y in range(tile_size):
            for column in range(picture.columns):
                memcpy(pixels, picture.tiles[row * picture.columns + column] + y * length, length)
                pixels += length


cdef inline void paint_scaled(const Picture* picture, int32_t tile_size, int32_t height, int32_t width,
                              uint8_t* pixels) noexcept nogil:
    """Paint height x width pixels, each of which is the one below its upper left corner."""
    cdef int32_t y, x, source_y, source_x
    cdef const uint8_t* pixel
    for y in range(height):
        source_y = y * picture.rows * tile_size // height
        for x in range(width):
            source_x = x * picture.columns * tile_size // width
            pixel = picture.tiles[source_y // tile_size * picture.columns + source_x // tile_size]
            pixel += 3 * (source_y % tile_size * tile_size + source_x % tile_size)
            memcpy(pixels, pixel, 3)
            pixels += 3
