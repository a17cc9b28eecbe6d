"""track.h: random tracks."""

from libc.stdint cimport int32_t, uint8_t

from envpool.box2d.parameters cimport RacerParams
from envpool.numerics.rng cimport ep_pcg64

cdef extern from "envpool/box2d/car_racing/track.h" nogil:
    enum:
        TRACK_MAX

    cdef struct track_point:
        double beta
        double x
        double y

    cdef struct track:
        int32_t length
        uint8_t border[2500]

    const track_point* track_at(const track* t, int32_t i)
    double track_sign(double x)
    bint track_make(const RacerParams* p, track* t, ep_pcg64* rng)
