# distutils: language = c++
"""CarRacing: a car seen from above that is to go around a track.

Source of the dynamics: ``gymnasium.envs.box2d.car_racing``, whose arithmetic is done in float64 here as there; Box2D
computes in float32. Version 2 is what ``gymnasium`` 0.29.1 called CarRacing-v2. As upstream, an env keeps its world
over episodes, so that an episode depends a little on those before.
"""

import numpy as np

from cpython.pycapsule cimport PyCapsule_New
from libc.math cimport cos, fabs, isnan, sin
from libc.stdint cimport int32_t, int64_t, uint8_t, uint32_t
from libc.string cimport memcpy, memset

from envpool.box2d.car_racing.car cimport WHEELS, Car, Wheel, car_control, car_destroy, car_drive, car_make
from envpool.box2d.car_racing.race cimport (
    CANVAS_HEIGHT, CANVAS_WIDTH, CAR_RACING_FIELD, CAR_RACING_SCALE, Race, RaceListener, RacePart, TRACK_MAX,
    car_racing_body, car_racing_brush, car_racing_draw, car_racing_draw_canvas, car_racing_scene, car_racing_tile,
    cell_tables_init, track, track_at, track_make, track_point, track_sign,
)
from envpool.box2d.scene cimport SCENE_FPS, b2_staticBody, b2Body, b2FixtureDef, scene_body, scene_polygon
from envpool.box2d.worlds cimport Env, Options, Outcome, Task, init_kind
from envpool.env cimport ENVPOOL_CAPSULE_NAME, envpool_env
from envpool.numerics.rng cimport ep_integers, ep_uniform

from envpool.box2d.car_racing import font as car_racing_font
from envpool.errors import ConfigError
from envpool.native import Field, define

cdef enum:
    BAD_ACTION = 1                      # error code
    PICTURE = 96
    PICTURE_BYTES = PICTURE * PICTURE * 3
    GLYPHS = 11

cdef double TRACK_WIDTH = 40 / CAR_RACING_SCALE
cdef double BORDER_WIDTH = 8 / CAR_RACING_SCALE

cdef struct Config:
    Options base
    bint continuous
    bint domain_randomize
    bint is_lap_truncated               # instead of terminated: version 2
    double lap_complete_percent

cdef struct Racer:
    Env base
    Car car
    Race race
    double last_reward                  # race.reward after the last step
    double shown_reward                 # race.reward in an observation: before the step's cost is taken off
    double time
    bint is_lap_finished                # in the last step
    double[3] field_colour
    double[3] grass_colour
    double[3] road_colour
    b2Body* tiles[TRACK_MAX]
    RacePart tile_parts[TRACK_MAX]
    car_racing_tile road[2 * TRACK_MAX]     # and its border, in drawing order
    int32_t road_length

cdef RaceListener LISTENER


cdef void set_colour(double* colour, double red, double green, double blue) noexcept nogil:
    colour[0] = red
    colour[1] = green
    colour[2] = blue


cdef uint32_t packed(const double* colour, double lighter) noexcept nogil:
    """Three numbers, each of which loses its fraction, as a colour."""
    return (<uint32_t>(colour[2] + lighter) << 16) | (<uint32_t>(colour[1] + lighter) << 8) | <uint32_t>(
        colour[0] + lighter)


# ---- road ------------------------------------------------------------------------------------------------------------

cdef void choose_colours(Racer* e, bint is_random) noexcept nogil:
    cdef int i
    if not is_random:
        set_colour(e.road_colour, 102, 102, 102)
        set_colour(e.field_colour, 102, 204, 102)
        set_colour(e.grass_colour, 102, 230, 102)
        return
    for i in range(3):
        e.road_colour[i] = ep_uniform(&e.base.rng, 0, 210)
    for i in range(3):
        e.field_colour[i] = e.grass_colour[i] = ep_uniform(&e.base.rng, 0, 210)
    e.grass_colour[ep_integers(&e.base.rng, 0, 3)] += 20


cdef car_racing_tile* add_piece(Racer* e, const track_point* p, const track_point* q, double left,
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


cdef void make_road(Racer* e, const track* t) noexcept nogil:
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
        e.tiles[i] = scene_body(e.base.world, b2_staticBody, 0, 0, 0)
        scene_polygon(e.tiles[i], fixture, &piece.vertices[0][0], 4)
        e.tiles[i].SetUserData(part)
        if t.border[i]:
            side = track_sign(q.beta - p.beta)
            piece = add_piece(e, p, q, side * TRACK_WIDTH, side * (TRACK_WIDTH + BORDER_WIDTH))
            piece.colour = 0x0000ff if i % 2 else 0xffffff


# ---- steps -----------------------------------------------------------------------------------------------------------

cdef void start(Env* env, const Options* options) noexcept nogil:
    cdef Racer* e = <Racer*>env
    cdef const Config* c = <const Config*>options
    cdef track t
    cdef int32_t i
    e.base.world.SetContactListener(&LISTENER)
    for i in range(e.race.num_tiles):
        e.base.world.DestroyBody(e.tiles[i])
    if e.race.num_tiles:
        car_destroy(&e.car, e.base.world)
    memset(&e.race, 0, sizeof(e.race))
    e.race.lap_percent = c.lap_complete_percent
    e.last_reward = e.time = 0
    e.is_lap_finished = False
    choose_colours(e, c.domain_randomize)
    track_make(&t, &e.base.rng)
    make_road(e, &t)
    car_make(&e.car, e.base.world, &e.race, track_at(&t, 0))


cdef int32_t choose(Env* env, const Options* options, const void* actions, int32_t id) noexcept nogil:
    cdef Car* car = &(<Racer*>env).car
    cdef const float* throttle = <const float*>actions + 3 * <size_t>id
    cdef int32_t action
    if (<const Config*>options).continuous:
        if isnan(throttle[0]) or isnan(throttle[1]) or isnan(throttle[2]):
            return BAD_ACTION
        car_control(car, -throttle[0], throttle[1], throttle[2])
    else:
        action = (<const int32_t*>actions)[id]
        car_control(car, -0.6 * (action == 1) + 0.6 * (action == 2), 0.2 * (action == 3), 0.8 * (action == 4))
    return 0


cdef void push(Env* env, const Options* options) noexcept nogil:
    cdef Car* car = &(<Racer*>env).car
    cdef int i
    for i in range(WHEELS):
        car_drive(car, &car.wheels[i])


cdef void observe(Env* env, const Options* options, Outcome* out) noexcept nogil:
    cdef Racer* e = <Racer*>env
    cdef const Config* c = <const Config*>options
    cdef double x = e.car.hull.GetPosition().x, y = e.car.hull.GetPosition().y
    e.time += 1.0 / SCENE_FPS
    e.shown_reward = e.race.reward
    e.is_lap_finished = False
    if out == NULL:
        return
    e.race.reward -= 0.1
    out.reward = e.race.reward - e.last_reward
    e.last_reward = e.race.reward
    if e.race.num_visited == e.race.num_tiles or e.race.is_lap_complete:
        e.is_lap_finished = True
        out.truncated = c.is_lap_truncated
        out.terminated = not c.is_lap_truncated
    if fabs(x) > CAR_RACING_FIELD or fabs(y) > CAR_RACING_FIELD:
        e.is_lap_finished = False
        out.terminated = 1
        out.reward = -100


# ---- pictures --------------------------------------------------------------------------------------------------------

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


cdef car_racing_scene scene_of(Racer* e, const Config* c, double reward) noexcept nogil:
    """What both pictures show; without the marks on the ground."""
    cdef car_racing_scene scene
    cdef const Wheel* w
    cdef int i
    scene.road = e.road
    scene.road_length = e.road_length
    scene.marks = e.car.marks
    scene.num_marks = 0
    scene.field_colour = packed(e.field_colour, 0)
    scene.grass_colour = packed(e.grass_colour, 0)
    scene.time = e.time
    scene.hull = placed(e.car.hull)
    scene.hull_angle = e.car.hull.GetAngle()
    scene.hull_speed[0] = e.car.hull.GetLinearVelocity().x
    scene.hull_speed[1] = e.car.hull.GetLinearVelocity().y
    scene.hull_spin = e.car.hull.GetAngularVelocity()
    scene.steering_angle = e.car.wheels[0].joint.GetJointAngle()
    scene.reward = <double><int64_t>reward if c.is_lap_truncated else reward
    for i in range(WHEELS):
        w = &e.car.wheels[i]
        scene.wheels[i] = placed(w.body)
        scene.wheel_speed[i] = w.omega
        scene.wheel_phase[i] = w.phase
    return scene


cdef void write(const Env* env, const Options* options, void* const* fields, int64_t row) noexcept nogil:
    cdef Racer* e = <Racer*>env
    cdef car_racing_scene scene = scene_of(e, <const Config*>options, e.shown_reward)
    car_racing_draw(&BRUSH, &scene, <uint8_t*>fields[0] + PICTURE_BYTES * row)
    (<uint8_t*>fields[1])[row] = e.is_lap_finished


cdef bint draw(Env* env, const Options* options, uint8_t* canvas) noexcept nogil:
    cdef Racer* e = <Racer*>env
    cdef car_racing_scene scene = scene_of(e, <const Config*>options, e.race.reward)
    scene.num_marks = e.car.num_marks
    car_racing_draw_canvas(&BRUSH, &scene, canvas)
    return True


# ---- kind of env -----------------------------------------------------------------------------------------------------

cdef Task TASK = Task(sizeof(Racer), "the action has a NaN, allowed are numbers", NULL, NULL, start, choose, push,
                      observe, write, CANVAS_HEIGHT, CANVAS_WIDTH, draw)
cdef envpool_env ENV_DEF
init_kind(&ENV_DEF, "CarRacing")


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
    def render_fps(config):
        """Return how many pictures a second show the task at its own speed."""
        return SCENE_FPS

    @staticmethod
    def build(config):
        """Return the capsule of this kind."""
        cdef Config c
        c.base = Options(&TASK, 0)
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
        template = PyCapsule_New(&ENV_DEF, ENVPOOL_CAPSULE_NAME, NULL)
        return define(template, fields, actions, (<const char*>&c)[:sizeof(Config)])
