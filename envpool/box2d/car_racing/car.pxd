"""CarRacing's car: a hull and four wheels that push it, and the marks that they leave where they slide.

Source of the dynamics: ``gymnasium.envs.box2d.car_dynamics``.
"""

from libc.math cimport fabs, sqrt
from libc.stdint cimport int32_t, int64_t
from libc.string cimport memset

from envpool.box2d.car_racing.race cimport (
    CAR_RACING_HULL, CAR_RACING_HULL_PARTS, CAR_RACING_MARK_POINTS, CAR_RACING_MARKS, CAR_RACING_UNIT, CAR_RACING_WHEEL,
    CAR_RACING_WHEEL_RADIUS, Race, RacePart, car_racing_mark, car_racing_part, track_point, track_sign,
)
from envpool.box2d.scene cimport (
    SCENE_FPS, b2_dynamicBody, b2Body, b2FixtureDef, b2RevoluteJoint, b2Vec2, b2World, scene_body, scene_motor,
    scene_polygon,
)

cdef enum:
    WHEELS = 4                  # left front, right front, left rear, right rear

cdef struct Wheel:
    RacePart part
    b2Body* body
    b2RevoluteJoint* joint
    double gas
    double brake
    double steer                # wanted angle
    double phase                # rad
    double omega                # rad/s
    bint is_sliding             # in the last step, without a mark that goes on
    int64_t mark                # number of the mark that it leaves, from 1; 0: none
    int32_t mark_length         # points of it
    bint is_mark_on_grass

cdef struct Car:
    b2Body* hull
    Wheel wheels[WHEELS]
    car_racing_mark marks[CAR_RACING_MARKS]     # a ring
    int64_t num_marks           # ever made


cdef inline void car_add_part(b2Body* body, const b2FixtureDef& fixture, const car_racing_part* part) noexcept nogil:
    cdef double[8][2] corners
    cdef int i, k
    for i in range(part.count):
        for k in range(2):
            corners[i][k] = part.vertices[i][k] * CAR_RACING_UNIT
    scene_polygon(body, fixture, &corners[0][0], part.count)


cdef inline void car_make(Car* car, b2World* world, Race* race, const track_point* p) noexcept nogil:
    """Puts a car that stands still on a point of the track."""
    cdef double[2 * WHEELS] places = [-55, 80, 55, 80, -55, -82, 55, -82]
    cdef b2FixtureDef fixture
    cdef double x, y
    cdef Wheel* w
    cdef int i
    car.num_marks = 0
    fixture.density = 1.0
    car.hull = scene_body(world, b2_dynamicBody, p.x, p.y, p.beta)
    for i in range(CAR_RACING_HULL_PARTS):
        car_add_part(car.hull, fixture, &CAR_RACING_HULL[i])
    fixture.density = 0.1
    fixture.filter.categoryBits = 0x0020
    fixture.filter.maskBits = 0x0001
    for i in range(WHEELS):
        w = &car.wheels[i]
        memset(w, 0, sizeof(Wheel))
        w.part.race = race
        w.part.tile = -1
        x = places[2 * i] * CAR_RACING_UNIT
        y = places[2 * i + 1] * CAR_RACING_UNIT
        w.body = scene_body(world, b2_dynamicBody, p.x + x, p.y + y, p.beta)
        car_add_part(w.body, fixture, &CAR_RACING_WHEEL)
        w.joint = scene_motor(world, car.hull, w.body, x, y, 0, 0, 180 * 900 * CAR_RACING_UNIT * CAR_RACING_UNIT, 0,
                              -0.4, 0.4)
        w.body.SetUserData(&w.part)


cdef inline void car_destroy(Car* car, b2World* world) noexcept nogil:
    cdef int i
    world.DestroyBody(car.hull)
    for i in range(WHEELS):
        world.DestroyBody(car.wheels[i].body)


cdef inline void car_control(Car* car, double steer, double gas, double brake) noexcept nogil:
    cdef double more
    cdef int i
    car.wheels[0].steer = car.wheels[1].steer = steer
    gas = min(max(gas, 0.0), 1.0)
    for i in range(2, WHEELS):
        more = gas - car.wheels[i].gas
        car.wheels[i].gas += 0.1 if more > 0.1 else more
    for i in range(WHEELS):
        car.wheels[i].brake = brake


cdef inline void car_add_to_mark(Car* car, Wheel* w) noexcept nogil:
    """Lets a wheel's mark go on to where the wheel is, unless so many are newer that it is forgotten."""
    cdef car_racing_mark* mark = &car.marks[(w.mark - 1) % CAR_RACING_MARKS]
    if w.mark > car.num_marks - CAR_RACING_MARKS:
        mark.points[w.mark_length][0] = w.body.GetPosition().x
        mark.points[w.mark_length][1] = w.body.GetPosition().y
        mark.length = w.mark_length + 1
    w.mark_length += 1


cdef inline void car_slide(Car* car, Wheel* w, bint is_sliding) noexcept nogil:
    """Marks the ground. A mark begins in the second step of sliding, with one point twice, as upstream's does."""
    cdef bint is_on_grass = not w.part.on_tiles
    if not is_sliding:
        w.is_sliding = False
        w.mark = 0
    elif w.mark and w.is_mark_on_grass == is_on_grass and w.mark_length < CAR_RACING_MARK_POINTS:
        car_add_to_mark(car, w)
    elif not w.is_sliding:
        w.is_sliding = True
    else:
        w.is_sliding = False
        w.is_mark_on_grass = is_on_grass
        w.mark_length = 0
        car.num_marks += 1
        w.mark = car.num_marks
        car.marks[(w.mark - 1) % CAR_RACING_MARKS].colour = 0x006666 if is_on_grass else 0
        car_add_to_mark(car, w)
        car_add_to_mark(car, w)


cdef inline void car_drive(Car* car, Wheel* w) noexcept nogil:
    """Turns a wheel for a step and pushes it."""
    cdef double unit = CAR_RACING_UNIT
    cdef double radius = CAR_RACING_WHEEL_RADIUS * unit, inertia = 4000 * unit * unit
    cdef double most = 1000000 * unit * unit    # friction that a wheel stands
    cdef double stiffness = 205000 * unit * unit    # force on a wheel that does not roll as the ground below it
    cdef double dt = 1.0 / SCENE_FPS, off = w.steer - w.joint.GetJointAngle(), limit, forward, aside, slower, force
    cdef b2Vec2 ahead = w.body.GetWorldVector(b2Vec2(0, 1)), side = w.body.GetWorldVector(b2Vec2(1, 0))
    cdef b2Vec2 v = w.body.GetLinearVelocity()
    w.joint.SetMotorSpeed(<float>(track_sign(off) * min(50.0 * fabs(off), 3.0)))
    limit = most if w.part.on_tiles else most * 0.6
    forward = <double>ahead.x * v.x + <double>ahead.y * v.y
    aside = <double>side.x * v.x + <double>side.y * v.y

    w.omega += dt * (100000000 * unit * unit) * w.gas / inertia / (fabs(w.omega) + 5.0)
    if w.brake >= 0.9:
        w.omega = 0
    elif w.brake > 0:
        slower = min(15 * w.brake, fabs(w.omega))
        w.omega += -track_sign(w.omega) * slower
    w.phase += w.omega * dt

    forward = (-forward + w.omega * radius) * stiffness
    aside = -aside * stiffness
    force = sqrt(forward * forward + aside * aside)
    car_slide(car, w, force > 2.0 * limit)
    if force > limit:
        forward = forward / force * limit
        aside = aside / force * limit
    w.omega -= dt * forward * radius / inertia
    w.body.ApplyForceToCenter(b2Vec2(<float>(aside * side.x + forward * ahead.x),
                                     <float>(aside * side.y + forward * ahead.y)), True)
