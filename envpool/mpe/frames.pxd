"""Frames of worlds."""

from envpool.mpe.world cimport Config, World
from envpool.raster.canvas cimport canvas

cdef enum:
    FRAME_SIZE = 700            # height and width of upstream's frames, in pixels

# Draws a world on a canvas of upstream's size. `letters` is the sheet of letters.py; NULL if no agent speaks.
cdef void draw_world(const World* w, const Config* c, const canvas* frame, const void* letters) noexcept nogil
