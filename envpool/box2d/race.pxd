"""race.h and track.h: what contacts tell CarRacing, and its tracks."""

from libc.stdint cimport int32_t, uint8_t, uint32_t
from libcpp cimport bool

from envpool.box2d.scene cimport b2ContactListener
from envpool.rng cimport ep_pcg64

cdef extern from "race.h" nogil:
    cdef struct Race:
        double reward
        double lap_percent
        int32_t num_tiles
        int32_t num_visited
        bool is_lap_complete
        uint32_t road_colour

    cdef struct RacePart:
        Race* race
        int32_t tile
        int32_t on_tiles
        bool is_visited
        uint32_t* colour

    cdef cppclass RaceListener(b2ContactListener):
        pass

cdef extern from "track.h" nogil:
    enum:
        TRACK_MAX
    const double TRACK_SCALE

    cdef struct track_point:
        double alpha
        double beta
        double x
        double y

    cdef struct track:
        int32_t length
        uint8_t border[2500]

    const track_point* track_at(const track* t, int32_t i)
    double track_sign(double x)
    void track_make(track* t, ep_pcg64* rng)
