# distutils: language = c++
"""CarRacing: a car seen from above that is to go around a track.

Source of the dynamics: ``gymnasium.envs.box2d.car_racing`` and ``car_dynamics``, whose arithmetic is done in float64
here as there; Box2D computes in float32. Version 2 is what ``gymnasium`` 0.29.1 called CarRacing-v2. As upstream, an
env keeps its world over episodes, so that an episode depends a little on those before.
"""

import numpy as np

from cpython.pycapsule cimport PyCapsule_New
from libc.math cimport cos, fabs, isnan, sin, sqrt
from libc.stdint cimport int32_t, int64_t, uint8_t, uint32_t, uint64_t
from libc.stdio cimport snprintf
from libc.stdlib cimport calloc, free
from libc.string cimport memcpy, memset

from envpool.box2d.race cimport (
    CAR_RACING_FIELD, CAR_RACING_HULL, CAR_RACING_HULL_PARTS, CAR_RACING_SCALE, CAR_RACING_UNIT, CAR_RACING_WHEEL,
    CAR_RACING_WHEEL_RADIUS, Race, RaceListener, RacePart, TRACK_MAX, car_racing_body, car_racing_brush,
    car_racing_draw, car_racing_part, car_racing_scene, car_racing_tile, cell_tables_init, track, track_at, track_make,
    track_point, track_sign,
)
from envpool.box2d.scene cimport (
    SCENE_BLOCK, SCENE_FPS, SCENE_LANES, b2_dynamicBody, b2_staticBody, b2Body, b2FixtureDef, b2RevoluteJoint, b2Vec2,
    b2World, scene_body, scene_create, scene_motor, scene_polygon, scene_step, scene_warm_up,
)
from envpool.env cimport ENVPOOL_CAPSULE_NAME, envpool_batch, envpool_env, envpool_env_init
from envpool.rng cimport ep_integers, ep_pcg64, ep_pcg64_seed, ep_uniform

from envpool.box2d import car_racing_font
from envpool.errors import ConfigError
from envpool.native import Field, define

cdef enum:
    WHEELS = 4                          # left front, right front, left rear, right rear
    NAN_ACTION = 1                      # error code
    PICTURE = 96
    PICTURE_BYTES = PICTURE * PICTURE * 3
    GLYPHS = 11

cdef double TRACK_WIDTH = 40 / CAR_RACING_SCALE
cdef double BORDER_WIDTH = 8 / CAR_RACING_SCALE
cdef double UNIT = CAR_RACING_UNIT
cdef double WHEEL_RADIUS = CAR_RACING_WHEEL_RADIUS * UNIT
cdef double ENGINE_POWER = 100000000 * UNIT * UNIT
cdef double INERTIA = 4000 * UNIT * UNIT    # of a wheel
cdef double FRICTION_LIMIT = 1000000 * UNIT * UNIT
cdef double FORCE = 205000 * UNIT * UNIT    # of a wheel that does not roll as the ground below it
cdef double[2 * WHEELS] WHEEL_PLACES = [-55, 80, 55, 80, -55, -82, 55, -82]

cdef struct Config:
    bint continuous
    bint domain_randomize
    bint is_lap_truncated               # instead of terminated: version 2
    double lap_complete_percent

cdef struct Wheel:
    RacePart part
    b2Body* body
    b2RevoluteJoint* joint
    double gas
    double brake
    double steer                        # wanted angle
    double phase                        # rad
    double omega                        # rad/s

cdef struct Car:
    ep_pcg64 rng
    b2World* world
    b2Body* hull
    Wheel wheels[WHEELS]
    Race race
    double last_reward                  # race.reward after the last step
    double shown_reward                 # race.reward in the picture: before the step's cost is taken off
    double time
    bint is_lap_finished                # in the last step
    double[3] field_colour
    double[3] grass_colour
    double[3] road_colour
    b2Body* tiles[TRACK_MAX]
    RacePart tile_parts[TRACK_MAX]
    car_racing_tile road[2 * TRACK_MAX]     # and its border, in drawing order
    int32_t road_length

cdef struct Cars:
    Config config
    RaceListener* listener
    Car* envs                           # (n)
    int32_t n


cdef void destroy(void* state) noexcept nogil:
    cdef Cars* s = <Cars*>state
    cdef int32_t i
    if s.envs != NULL:
        for i in range(s.n):
            if s.envs[i].world != NULL:     # which would tell the listener
                s.envs[i].world.SetContactListener(NULL)
            del s.envs[i].world
    free(s.envs)
    del s.listener
    free(s)


cdef void set_colour(double* colour, double red, double green, double blue) noexcept nogil:
    colour[0] = red
    colour[1] = green
    colour[2] = blue


cdef uint32_t packed(const double* colour, double lighter) noexcept nogil:
    """Three numbers, each of which loses its fraction, as a colour."""
    return (<uint32_t>(colour[2] + lighter) << 16) | (<uint32_t>(colour[1] + lighter) << 8) | <uint32_t>(
        colour[0] + lighter)


cdef void* create(const void* config, int32_t n) noexcept nogil:
    cdef Cars* s = <Cars*>calloc(1, sizeof(Cars))
    cdef int32_t i
    if s == NULL:
        return NULL
    s.config = (<const Config*>config)[0]
    s.n = n
    s.listener = new RaceListener()
    s.envs = <Car*>calloc(n, sizeof(Car))
    if s.envs == NULL:
        destroy(s)
        return NULL
    for i in range(n):
        set_colour(s.envs[i].road_colour, 102, 102, 102)
        set_colour(s.envs[i].field_colour, 102, 204, 102)
        set_colour(s.envs[i].grass_colour, 102, 230, 102)
        s.envs[i].world = scene_create(0)
        if s.envs[i].world == NULL:
            destroy(s)
            return NULL
        s.envs[i].world.SetContactListener(s.listener)
    return s


cdef void seed_many(void* state, const int32_t* ids, int32_t n, const uint64_t* seeds) noexcept nogil:
    cdef Cars* s = <Cars*>state
    cdef int32_t i
    for i in range(n):
        ep_pcg64_seed(&s.envs[ids[i]].rng, seeds[i])


# ---- road ------------------------------------------------------------------------------------------------------------

cdef void draw_colours(Car* e) noexcept nogil:
    cdef int i
    for i in range(3):
        e.road_colour[i] = ep_uniform(&e.rng, 0, 210)
    for i in range(3):
        e.field_colour[i] = e.grass_colour[i] = ep_uniform(&e.rng, 0, 210)
    e.grass_colour[ep_integers(&e.rng, 0, 3)] += 20


cdef car_racing_tile* add_piece(Car* e, const track_point* p, const track_point* q, double left,
                                double right) noexcept nogil:
    """A piece of road between two points of the track, from `left` to `right` of its middle."""
    cdef car_racing_tile* piece = &e.road[e.road_length]
    cdef double* c = &piece.vertices[0][0]
    e.road_length += 1
    c[0] = p.x + left * cos(p.beta)
    c[1] = p.y + left * sin(p.beta)
    c[2] = p.x + right * cos(p.beta)
    c[3] = p.y + right * sin(p.beta)
    c[4] = q.x + right * cos(q.beta)
    c[5] = q.y + right * sin(q.beta)
    c[6] = q.x + left * cos(q.beta)
    c[7] = q.y + left * sin(q.beta)
    return piece


cdef void make_road(Car* e, const track* t) noexcept nogil:
    cdef const track_point* p
    cdef const track_point* q
    cdef car_racing_tile* piece
    cdef RacePart* part
    cdef b2FixtureDef fixture
    cdef double side
    cdef int32_t i
    fixture.isSensor = True
    e.road_length = 0
    e.race.num_tiles = t.length
    e.race.road_colour = packed(e.road_colour, 0)
    for i in range(t.length):
        p = track_at(t, i)
        q = track_at(t, i - 1)
        piece = add_piece(e, p, q, -TRACK_WIDTH, TRACK_WIDTH)
        piece.colour = packed(e.road_colour, 0.01 * (i % 3) * 255)
        part = &e.tile_parts[i]
        part.race = &e.race
        part.tile = i
        part.is_visited = False
        part.colour = &piece.colour
        e.tiles[i] = scene_body(e.world, b2_staticBody, 0, 0, 0)
        scene_polygon(e.tiles[i], fixture, &piece.vertices[0][0], 4)
        e.tiles[i].SetUserData(part)
        if t.border[i]:
            side = track_sign(q.beta - p.beta)
            piece = add_piece(e, p, q, side * TRACK_WIDTH, side * (TRACK_WIDTH + BORDER_WIDTH))
            piece.colour = 0x0000ff if i % 2 else 0xffffff


# ---- car -------------------------------------------------------------------------------------------------------------

cdef void add_part(b2Body* body, const b2FixtureDef& fixture, const car_racing_part* part) noexcept nogil:
    cdef double[8][2] corners
    cdef int i, k
    for i in range(part.count):
        for k in range(2):
            corners[i][k] = part.vertices[i][k] * UNIT
    scene_polygon(body, fixture, &corners[0][0], part.count)


cdef void make_car(Car* e, const track_point* p) noexcept nogil:
    cdef b2FixtureDef fixture
    cdef double x, y
    cdef Wheel* w
    cdef int i
    fixture.density = 1.0
    e.hull = scene_body(e.world, b2_dynamicBody, p.x, p.y, p.beta)
    for i in range(CAR_RACING_HULL_PARTS):
        add_part(e.hull, fixture, &CAR_RACING_HULL[i])
    fixture.density = 0.1
    fixture.filter.categoryBits = 0x0020
    fixture.filter.maskBits = 0x0001
    for i in range(WHEELS):
        w = &e.wheels[i]
        memset(w, 0, sizeof(Wheel))
        w.part.race = &e.race
        w.part.tile = -1
        x = WHEEL_PLACES[2 * i] * UNIT
        y = WHEEL_PLACES[2 * i + 1] * UNIT
        w.body = scene_body(e.world, b2_dynamicBody, p.x + x, p.y + y, p.beta)
        add_part(w.body, fixture, &CAR_RACING_WHEEL)
        w.joint = scene_motor(e.world, e.hull, w.body, x, y, 0, 0, 180 * 900 * UNIT * UNIT, 0, -0.4, 0.4)
        w.body.SetUserData(&w.part)


cdef void start(Car* e, const Config* c) noexcept nogil:
    """A new episode; a step without controls belongs to it."""
    cdef track t
    cdef int32_t i
    for i in range(e.race.num_tiles):
        e.world.DestroyBody(e.tiles[i])
    if e.race.num_tiles:
        e.world.DestroyBody(e.hull)
        for i in range(WHEELS):
            e.world.DestroyBody(e.wheels[i].body)
    memset(&e.race, 0, sizeof(e.race))
    e.race.lap_percent = c.lap_complete_percent
    e.last_reward = e.time = 0
    if c.domain_randomize:
        draw_colours(e)
    track_make(&t, &e.rng)
    make_road(e, &t)
    make_car(e, track_at(&t, 0))


cdef void control(Car* e, double steer, double gas, double brake) noexcept nogil:
    cdef double more
    cdef int i
    e.wheels[0].steer = e.wheels[1].steer = steer
    gas = min(max(gas, 0.0), 1.0)
    for i in range(2, WHEELS):
        more = gas - e.wheels[i].gas
        e.wheels[i].gas += 0.1 if more > 0.1 else more
    for i in range(WHEELS):
        e.wheels[i].brake = brake


cdef void drive(Wheel* w) noexcept nogil:
    """Turns a wheel for a step and pushes it."""
    cdef double dt = 1.0 / SCENE_FPS, off = w.steer - w.joint.GetJointAngle(), limit, forward, aside, slower, force
    cdef b2Vec2 ahead = w.body.GetWorldVector(b2Vec2(0, 1)), side = w.body.GetWorldVector(b2Vec2(1, 0))
    cdef b2Vec2 v = w.body.GetLinearVelocity()
    w.joint.SetMotorSpeed(<float>(track_sign(off) * min(50.0 * fabs(off), 3.0)))
    limit = FRICTION_LIMIT if w.part.on_tiles else FRICTION_LIMIT * 0.6
    forward = <double>ahead.x * v.x + <double>ahead.y * v.y
    aside = <double>side.x * v.x + <double>side.y * v.y

    w.omega += dt * ENGINE_POWER * w.gas / INERTIA / (fabs(w.omega) + 5.0)
    if w.brake >= 0.9:
        w.omega = 0
    elif w.brake > 0:
        slower = min(15 * w.brake, fabs(w.omega))
        w.omega += -track_sign(w.omega) * slower
    w.phase += w.omega * dt

    forward = (-forward + w.omega * WHEEL_RADIUS) * FORCE
    aside = -aside * FORCE
    force = sqrt(forward * forward + aside * aside)
    if force > limit:
        forward = forward / force * limit
        aside = aside / force * limit
    w.omega -= dt * forward * WHEEL_RADIUS / INERTIA
    w.body.ApplyForceToCenter(b2Vec2(<float>(aside * side.x + forward * ahead.x),
                                     <float>(aside * side.y + forward * ahead.y)), True)


cdef int act(Car* e, const Cars* s, const envpool_batch* b, int32_t id) noexcept nogil:
    """Sets the controls; returns an error code."""
    cdef const float* throttle
    cdef int32_t action
    if s.config.continuous:
        throttle = <const float*>b.actions[0] + 3 * <size_t>id
        if isnan(throttle[0]) or isnan(throttle[1]) or isnan(throttle[2]):
            return NAN_ACTION
        control(e, -throttle[0], throttle[1], throttle[2])
    else:
        action = (<const int32_t*>b.actions[0])[id]
        control(e, -0.6 * (action == 1) + 0.6 * (action == 2), 0.2 * (action == 3), 0.8 * (action == 4))
    return 0


cdef double observe(Car* e, const Config* c, uint8_t* terminated, uint8_t* truncated) noexcept nogil:
    """What came of a step with controls; returns the reward."""
    cdef double reward
    cdef b2Vec2 place = e.hull.GetPosition()
    e.race.reward -= 0.1
    reward = e.race.reward - e.last_reward
    e.last_reward = e.race.reward
    terminated[0] = 0
    if e.race.num_visited == e.race.num_tiles or e.race.is_lap_complete:
        e.is_lap_finished = True
        truncated[0] = c.is_lap_truncated
        terminated[0] = not c.is_lap_truncated
    if fabs(place.x) > CAR_RACING_FIELD or fabs(place.y) > CAR_RACING_FIELD:
        e.is_lap_finished = False
        terminated[0] = 1
        reward = -100
    return reward


# ---- batches ---------------------------------------------------------------------------------------------------------

cdef int step_block(Cars* s, const envpool_batch* b, int32_t first, int32_t n) noexcept nogil:
    """Steps positions first to first + n - 1 of the batch."""
    cdef b2World* worlds[SCENE_BLOCK]
    cdef int32_t at[SCENE_BLOCK]
    cdef Car* e
    cdef int32_t i, k, position, num = 0
    memset(worlds, 0, sizeof(worlds))
    for i in range(n):
        position = first + i
        e = &s.envs[b.ids[position]]
        e.is_lap_finished = False
        if b.reset[position]:
            start(e, &s.config)
        else:
            b.errors[position] = act(e, s, b, b.ids[position])
            if b.errors[position]:
                continue
        for k in range(WHEELS):
            drive(&e.wheels[k])
        at[num] = position
        worlds[num] = e.world
        num += 1
    scene_step(worlds, num)
    for i in range(num):
        position = at[i]
        e = &s.envs[b.ids[position]]
        e.time += 1.0 / SCENE_FPS
        e.shown_reward = e.race.reward
        if not b.reset[position]:
            b.reward[position] = <float>observe(e, &s.config, &b.terminated[position], &b.truncated[position])
    return num < n


cdef int step_many(void* state, const envpool_batch* b) noexcept nogil:
    cdef int failed = 0
    cdef int32_t first = 0
    while first < b.n:
        failed |= step_block(<Cars*>state, b, first, min(SCENE_BLOCK, b.n - first))
        first += SCENE_BLOCK
    return failed


# ---- picture ---------------------------------------------------------------------------------------------------------

cdef car_racing_brush BRUSH             # written below, at import
cdef bytes glyphs = car_racing_font.brightness()
cdef list kerning = car_racing_font.kerning()
cdef int first_glyph, second_glyph
cell_tables_init(&BRUSH.tables)
assert len(glyphs) == sizeof(BRUSH.glyphs)
memcpy(BRUSH.glyphs, <const char*>glyphs, sizeof(BRUSH.glyphs))
for first_glyph in range(GLYPHS):
    BRUSH.advance[first_glyph] = car_racing_font.ADVANCE[first_glyph]
    for second_glyph in range(GLYPHS):
        BRUSH.kerning[first_glyph][second_glyph] = kerning[GLYPHS * first_glyph + second_glyph]


cdef car_racing_body placed(b2Body* body) noexcept nogil:
    cdef car_racing_body b
    b.x = body.GetTransform().p.x
    b.y = body.GetTransform().p.y
    b.sine = body.GetTransform().q.s
    b.cosine = body.GetTransform().q.c
    return b


cdef void draw(Car* e, const Config* c, uint8_t* picture) noexcept nogil:
    cdef car_racing_scene scene
    cdef Wheel* w
    cdef int i
    scene.road = e.road
    scene.road_length = e.road_length
    scene.field_colour = packed(e.field_colour, 0)
    scene.grass_colour = packed(e.grass_colour, 0)
    scene.time = e.time
    scene.hull = placed(e.hull)
    scene.hull_angle = e.hull.GetAngle()
    scene.hull_speed[0] = e.hull.GetLinearVelocity().x
    scene.hull_speed[1] = e.hull.GetLinearVelocity().y
    scene.hull_spin = e.hull.GetAngularVelocity()
    scene.steering_angle = e.wheels[0].joint.GetJointAngle()
    scene.reward = <double><int64_t>e.shown_reward if c.is_lap_truncated else e.shown_reward
    for i in range(WHEELS):
        w = &e.wheels[i]
        scene.wheels[i] = placed(w.body)
        scene.wheel_speed[i] = w.omega
        scene.wheel_phase[i] = w.phase
    car_racing_draw(&BRUSH, &scene, picture)


cdef void write_many(void* state, const int32_t* ids, int32_t n, void* const* fields, int64_t row0) noexcept nogil:
    cdef Cars* s = <Cars*>state
    cdef uint8_t* pictures = <uint8_t*>fields[0] + PICTURE_BYTES * row0
    cdef uint8_t* finished = <uint8_t*>fields[1] + row0
    cdef int32_t i
    for i in range(n):
        draw(&s.envs[ids[i]], &s.config, pictures + PICTURE_BYTES * i)
        finished[i] = s.envs[ids[i]].is_lap_finished


cdef void error_text(void* state, int32_t id, int32_t code, char* text, size_t size) noexcept nogil:
    snprintf(text, size, "the action has a NaN, allowed are numbers")


cdef envpool_env KIND
envpool_env_init(&KIND, "CarRacing")
KIND.create = create
KIND.destroy = destroy
KIND.seed_many = seed_many
KIND.step_many = step_many
KIND.write_many = write_many
KIND.lanes = SCENE_LANES
KIND.error_text = error_text
scene_warm_up()


class CarRacing:
    """Car with rear-wheel drive on a track that is another one in every episode.

    Observation uint8 (96, 96, 3): a picture, red, green, blue. Action float32 (3,): steering (-1 left to 1 right), gas
    and brake (0 to 1); or, if not continuous, int32: 0 nothing, 1 right, 2 left, 3 gas, 4 brake. NaN is an error.
    Reward: 1000 / number of tiles for each tile that is visited first, less 0.1 a step; -100 for leaving the field. An
    episode ends there and when the lap is finished. ``info["lap_finished"]`` (bool): whether it ended so.

    Options
    -------
    version : int
        3, or 2: a finished lap truncates the episode instead of terminating it, and the reward is shown without its
        fraction instead of rounded.
    lap_complete_percent : float
        Part of the tiles, 0 to 1, that have to be visited for a lap.
    domain_randomize : bool
        Other colours in every episode.
    continuous : bool
        Whether the action is steering, gas and brake, or one of five.
    """

    options = {
        "reward_threshold": 900.0,
        "version": 3,
        "lap_complete_percent": 0.95,
        "domain_randomize": False,
        "continuous": True,
    }

    @staticmethod
    def build(config):
        """Return the capsule of this kind."""
        cdef Config c
        if config.version not in (2, 3):
            raise ConfigError(f"version is {config.version}, allowed are 2 and 3")
        if not 0 <= config.lap_complete_percent <= 1:
            raise ConfigError(f"lap_complete_percent is {config.lap_complete_percent}, allowed are 0 to 1 (a part, 1 "
                              "being all tiles)")
        c.continuous = config.continuous
        c.domain_randomize = config.domain_randomize
        c.is_lap_truncated = config.version == 2
        c.lap_complete_percent = config.lap_complete_percent
        fields = [Field("obs", np.uint8, (PICTURE, PICTURE, 3), 0, 255), Field("info:lap_finished", np.bool_)]
        if config.continuous:
            actions = [Field("action", np.float32, (-1, 3), np.float32([-1, 0, 0]), np.float32([1, 1, 1]))]
        else:
            actions = [Field("action", np.int32, (-1,), 0, 4)]
        template = PyCapsule_New(&KIND, ENVPOOL_CAPSULE_NAME, NULL)
        return define(template, fields, actions, (<const char*>&c)[:sizeof(Config)])
