"""Frames: the pitch from above."""

from envpool.gfootball.library cimport football_info
from envpool.raster.canvas cimport canvas

cdef void draw_pitch(const football_info* info, const canvas* frame) noexcept nogil
