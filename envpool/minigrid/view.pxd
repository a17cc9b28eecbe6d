"""The view of the agent: a square of cells in front of it, as it is turned with the agent."""

from libc.stdint cimport int32_t, uint32_t

from envpool.minigrid.structs cimport MAX_VIEW, OPAQUE_SHIFT, Params, World
from envpool.minigrid.world cimport cells_of, dx_of, dy_of, wall_cell

# The square: cell (i, j) is in column i from the left and row j from the far end; the agent is in the middle of the
# last row. Its cell has the object that it carries.
cdef struct View:
    uint32_t cells[MAX_VIEW * MAX_VIEW]     # i * size + j
    uint32_t visible[MAX_VIEW]              # by row j: a bit for each column i that the agent sees


cdef inline void clip(int32_t start, int32_t step, int32_t length, int32_t size, int32_t* first,
                      int32_t* end) noexcept nogil:
    """Find the k in [0, size) for which start + k * step is in [0, length); step is 1 or -1."""
    first[0] = max(0, -start if step > 0 else start - length + 1)
    end[0] = min(size, length - start if step > 0 else start + 1)


cdef inline uint32_t spread_up(uint32_t seen, uint32_t clear) noexcept nogil:
    """Return the clear cells of a row that are seen, or reached from there through clear cells of higher columns."""
    cdef uint32_t lit = seen & clear, path = clear
    cdef int32_t shift = 1
    while shift < MAX_VIEW:
        lit |= path & (lit << shift)
        path &= path << shift
        shift *= 2
    return lit


cdef inline uint32_t spread_down(uint32_t seen, uint32_t clear) noexcept nogil:
    """Do the same towards lower columns."""
    cdef uint32_t lit = seen & clear, path = clear
    cdef int32_t shift = 1
    while shift < MAX_VIEW:
        lit |= path & (lit >> shift)
        path &= path >> shift
        shift *= 2
    return lit


cdef inline void look_through(uint32_t* visible, const uint32_t* clear, int32_t size) noexcept nogil:
    """Find what the agent sees, row by row from its own: light spreads along a row first up, then down, and from each
    clear cell that it reaches to the next row, straight and in the direction in which it goes."""
    cdef uint32_t all_columns = (<uint32_t>1 << size) - 1, seen = <uint32_t>1 << size // 2, lit, ahead
    cdef int32_t j
    for j in range(size - 1, -1, -1):
        lit = spread_up(seen, clear[j]) & (all_columns >> 1)
        seen |= lit << 1
        ahead = lit | lit << 1
        lit = spread_down(seen, clear[j]) & ~<uint32_t>1
        seen |= lit >> 1
        ahead |= lit | lit >> 1
        visible[j] = seen
        seen = ahead


cdef inline void look(const World* w, const Params* p, View* view) noexcept nogil:
    """Find the cells in front of the agent, and which of them it sees."""
    cdef int32_t size = p.options.agent_view_size, half = size // 2
    cdef int32_t dx = dx_of(w.direction), dy = dy_of(w.direction)
    cdef int32_t x = w.x + dx * (size - 1) + dy * half, y = w.y + dy * (size - 1) - dx * half   # of cell (0, 0)
    cdef const uint32_t* cells = cells_of(<World*>w)
    cdef int32_t along_i = dx * w.width - dy, along_j = -(dy * w.width + dx), start = y * w.width + x
    cdef int32_t i, j, first_i, end_i, first_j, end_j
    cdef uint32_t clear[MAX_VIEW]
    cdef uint32_t cell
    if dx:
        clip(y, dx, w.height, size, &first_i, &end_i)
        clip(x, -dx, w.width, size, &first_j, &end_j)
    else:
        clip(x, -dy, w.width, size, &first_i, &end_i)
        clip(y, -dy, w.height, size, &first_j, &end_j)
    for j in range(size):
        clear[j] = 0
    if first_i > 0 or first_j > 0 or end_i < size or end_j < size:
        for i in range(size * size):
            view.cells[i] = wall_cell()
    for i in range(first_i, end_i):
        for j in range(first_j, end_j):
            cell = cells[start + i * along_i + j * along_j]
            view.cells[i * size + j] = cell
            clear[j] |= (~cell >> OPAQUE_SHIFT) << i
    if p.options.see_through_walls:
        for j in range(size):
            view.visible[j] = (<uint32_t>1 << size) - 1
    else:
        look_through(view.visible, clear, size)
    view.cells[half * size + size - 1] = w.carrying
