"""Boards of equal cells, drawn into frames of any size."""

from libc.stdint cimport int32_t, int64_t, uint32_t

from envpool.raster.canvas cimport canvas, canvas_span


cdef inline int32_t cell_border(int32_t cell, int32_t cells, int32_t pixels) noexcept nogil:
    """Return the first pixel of a cell in a row or column of cells."""
    return <int32_t>(<int64_t>cell * pixels // cells)


cdef inline void draw_cell(
    const canvas* c, int32_t rows, int32_t columns, int32_t row, int32_t column, uint32_t colour
) noexcept nogil:
    """Draw one cell of a board of rows x columns cells, which may be smaller than a pixel."""
    cdef int32_t top = cell_border(row, rows, c.height), left = cell_border(column, columns, c.width)
    cdef int32_t bottom = max(top, cell_border(row + 1, rows, c.height) - 1)
    cdef int32_t right = max(left, cell_border(column + 1, columns, c.width) - 1)
    cdef int32_t y
    for y in range(top, bottom + 1):
        canvas_span(c, y, left, right, colour)
