"""lap.h: the tiles that the wheels touch and have visited."""

from libc.stdint cimport int32_t, uint32_t
from libcpp cimport bool

from envpool.box2d.scene cimport b2ContactListener

cdef extern from "envpool/box2d/car_racing/lap.h" nogil:
    cdef struct Lap:
        double reward
        double lap_percent
        int32_t num_tiles
        int32_t num_visited
        bool is_lap_complete
        uint32_t road_colour

    cdef struct LapBody:
        Lap* lap
        int32_t tile
        bool is_visited
        uint32_t* colour

    cdef cppclass LapListener(b2ContactListener):
        pass
