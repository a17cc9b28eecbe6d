"""Frames that are drawn from a sheet at upstream's size, and scaled if another size is asked for."""

from libc.stdint cimport int32_t

from envpool.env cimport ENVPOOL_NO_MEMORY, envpool_frames
from envpool.raster.canvas cimport canvas
from envpool.raster.scaled cimport scaled_begin, scaled_canvas, scaled_end, scaled_finish, scaled_frames

# Draws environment `id` of a state.
ctypedef void (*draw_function)(const canvas* c, const void* sheet, const void* state, int32_t id) noexcept nogil


# The body of a render_many whose `draw` draws frames of one size (height, width).
cdef inline int render_scaled(void* state, const envpool_frames* f, int32_t height, int32_t width,
                              draw_function draw) noexcept nogil:
    cdef scaled_frames frames
    cdef canvas c
    cdef int32_t i
    if not scaled_begin(&frames, f, height, width):
        return ENVPOOL_NO_MEMORY
    for i in range(f.n):
        c = scaled_canvas(&frames, i)
        draw(&c, f.assets, state, f.ids[i])
        scaled_finish(&frames, i)
    scaled_end(&frames)
    return 0
