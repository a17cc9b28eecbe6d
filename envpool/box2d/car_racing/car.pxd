"""car.h: the car's hull and wheels, and the marks that sliding wheels leave."""

from libc.stdint cimport int64_t

from envpool.box2d.car_racing.frame cimport car_racing_mark
from envpool.box2d.car_racing.lap cimport Lap
from envpool.box2d.car_racing.track cimport track_point
from envpool.box2d.parameters cimport RacerParams
from envpool.box2d.scene cimport Archive, b2Body, b2RevoluteJoint, b2World

cdef extern from "envpool/box2d/car_racing/car.h" nogil:
    enum:
        CAR_WHEELS

    cdef struct Wheel:
        b2Body* body
        b2RevoluteJoint* joint
        double phase
        double omega

    cdef struct Car:
        b2Body* hull
        Wheel wheels[4]
        car_racing_mark marks[30]
        int64_t num_marks

    void car_create(Car* car, b2World* world, Lap* lap, const track_point* p, double size)
    void car_destroy(Car* car, b2World* world)
    void car_control(Car* car, double steer, double gas, double brake)
    void car_drive(Car* car, Wheel* w, const RacerParams* p)
    void car_transfer(Car* car, Archive* archive)
