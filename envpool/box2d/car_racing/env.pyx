# distutils: language = c++
"""CarRacing: a car, seen from above, that has to drive around a track.

The dynamics are those of ``gymnasium.envs.box2d.car_racing``. The arithmetic uses float64, as upstream's does; Box2D
computes in float32. Version 2 is CarRacing-v2 of ``gymnasium`` 0.29.1. As upstream, an env keeps its world across
episodes, so that an episode depends slightly on the episodes before it.
"""

import numpy as np

from libc.math cimport cos, fabs, fmax, isnan, sin
from libc.stdint cimport int32_t, int64_t, uint8_t, uint32_t
from libc.string cimport memcpy, memset
from libcpp cimport bool

from envpool.box2d.car_racing.car cimport (
    CAR_WHEELS, Car, Wheel, car_control, car_create, car_destroy, car_drive, car_transfer,
)
from envpool.box2d.car_racing.frame cimport (
    CANVAS_HEIGHT, CANVAS_WIDTH, OBS_SIZE, car_racing_body, car_racing_brush, car_racing_draw_frame,
    car_racing_draw_obs, car_racing_scene, car_racing_tile, cell_tables_init,
)
from envpool.box2d.car_racing.lap cimport Lap, LapBody, LapListener
from envpool.box2d.car_racing.track cimport (
    TRACK_MAX, track, track_at, track_make, track_point, track_sign,
)
from envpool.box2d.parameters cimport RacerParams, fill_params
from envpool.box2d.scene cimport SCENE_FPS, Archive, b2_staticBody, b2Body, b2FixtureDef, scene_body, scene_polygon
from envpool.box2d.worlds cimport WorldEnv, WorldFunctions, WorldOptions, worlds_env, worlds_init
from envpool.env cimport envpool_env, envpool_params
from envpool.numerics.rng cimport ep_integers, ep_uniform
from envpool.records cimport envpool_outcome
from envpool.scaffold cimport envpool_config_bytes, envpool_state, envpool_template

from envpool.box2d.car_racing import font
from envpool.box2d.definition import Box2DDefinition
from envpool.box2d.parameters import CAR
from envpool._support.text import shown
from envpool.errors import ConfigError
from envpool.native import Field, Param, define, param_fields

cdef enum:
    BAD_ACTION = 1                      # error code
    OBS_BYTES = OBS_SIZE * OBS_SIZE * 3
    GLYPHS = 11

cdef double MAX_REWARD = 1e9            # more than any episode yields

cdef struct Config:
    WorldOptions base
    bint continuous
    bint domain_randomize
    bint is_lap_truncated               # version 2: a finished lap truncates the episode instead of terminating it
    RacerParams defaults

cdef struct Racer:
    WorldEnv base
    Car car
    Lap lap
    double last_reward                  # lap.reward after the last step
    double shown_reward                 # lap.reward in an observation: before the cost of the step is subtracted
    double time                         # s
    bint is_lap_finished                # whether the last step finished the lap
    bint keeps_colours                  # an option of the next reset
    bint has_kept_colours               # whether the last reset had the option
    bint has_colours                    # whether random colours were ever chosen
    double[3] field_colour
    double[3] grass_colour
    double[3] road_colour
    b2Body* tiles[TRACK_MAX]
    LapBody tile_bodies[TRACK_MAX]
    car_racing_tile road[2 * TRACK_MAX]     # tiles and pieces of their borders, in drawing order
    int32_t road_length

cdef LapListener LISTENER


cdef void set_colour(double* colour, double red, double green, double blue) noexcept nogil:
    colour[0] = red
    colour[1] = green
    colour[2] = blue


cdef uint32_t packed(const double* colour, double lighter) noexcept nogil:
    """Return three brightnesses, whose fractions are discarded, as 0xBBGGRR."""
    return (<uint32_t>(colour[2] + lighter) << 16) | (<uint32_t>(colour[1] + lighter) << 8) | <uint32_t>(
        colour[0] + lighter)


# ---- road ------------------------------------------------------------------------------------------------------------

cdef void choose_colours(Racer* e, bint is_random) noexcept nogil:
    """Choose the colours of an episode. Before the first random ones, the usual colours are kept where upstream keeps
    those that its constructor has drawn from a generator without a seed."""
    cdef int i
    e.has_kept_colours = is_random and e.keeps_colours
    e.keeps_colours = False
    if e.has_kept_colours and e.has_colours:
        return
    e.has_colours = is_random and not e.has_kept_colours
    if not e.has_colours:
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
    """Add a quadrilateral between two points of the track; `left` and `right` are distances from the centre line."""
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


cdef inline const RacerParams* params_in(const Racer* e) noexcept nogil:
    return <const RacerParams*>e.base.params


cdef void make_road(Racer* e, const track* t, double width, double border) noexcept nogil:
    """Create tiles of half a width, and borders of a width."""
    cdef const track_point* p
    cdef const track_point* q
    cdef car_racing_tile* piece
    cdef LapBody* tile
    cdef b2FixtureDef fixture
    cdef double side
    cdef int32_t i
    fixture.isSensor = True
    e.road_length = 0
    e.lap.num_tiles = t.length
    e.lap.road_colour = packed(e.road_colour, 0)
    for i in range(t.length):
        p = track_at(t, i)
        q = track_at(t, i - 1)
        piece = add_piece(e, p, q, -width, width)
        piece.colour = packed(e.road_colour, 0.01 * (i % 3) * 255)
        tile = &e.tile_bodies[i]
        tile.lap = &e.lap
        tile.tile = i
        tile.is_visited = False
        tile.colour = &piece.colour
        e.tiles[i] = scene_body(e.base.world, b2_staticBody, 0, 0, 0)
        scene_polygon(e.tiles[i], fixture, &piece.vertices[0][0], 4)
        e.tiles[i].SetUserData(tile)
        if t.border[i]:
            side = track_sign(q.beta - p.beta)
            piece = add_piece(e, p, q, side * width, side * (width + border))
            piece.colour = 0x0000ff if i % 2 else 0xffffff


# ---- dynamics --------------------------------------------------------------------------------------------------------

cdef int reset(WorldEnv* env, const WorldOptions* options) noexcept nogil:
    cdef Racer* e = <Racer*>env
    cdef const Config* c = <const Config*>options
    cdef const RacerParams* p = params_in(e)
    cdef track t
    cdef bint is_closed
    cdef int32_t i
    e.base.world.SetContactListener(&LISTENER)
    for i in range(e.lap.num_tiles):
        e.base.world.DestroyBody(e.tiles[i])
    if e.lap.num_tiles:
        car_destroy(&e.car, e.base.world)
    memset(&e.lap, 0, sizeof(e.lap))
    e.lap.lap_percent = p.lap_complete_percent
    e.last_reward = e.time = 0
    e.is_lap_finished = False
    choose_colours(e, c.domain_randomize)
    is_closed = track_make(p, &t, &e.base.rng)
    while not is_closed and not track_make(&c.defaults, &t, &e.base.rng):
        pass
    make_road(e, &t, p.track_width, p.border)
    car_create(&e.car, e.base.world, &e.lap, track_at(&t, 0), p.size)
    return is_closed


cdef int32_t set_action(WorldEnv* env, const WorldOptions* options, const void* actions, int32_t id) noexcept nogil:
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


cdef void apply_forces(WorldEnv* env, const WorldOptions* options) noexcept nogil:
    cdef Car* car = &(<Racer*>env).car
    cdef int i
    for i in range(CAR_WHEELS):
        car_drive(car, &car.wheels[i], params_in(<Racer*>env))


cdef void observe(WorldEnv* env, const WorldOptions* options, envpool_outcome* out) noexcept nogil:
    cdef Racer* e = <Racer*>env
    cdef const Config* c = <const Config*>options
    cdef double x = e.car.hull.GetPosition().x, y = e.car.hull.GetPosition().y
    e.time += 1.0 / SCENE_FPS
    e.shown_reward = e.lap.reward
    e.is_lap_finished = False
    if out == NULL:
        return
    e.lap.reward -= 0.1
    out.reward = e.lap.reward - e.last_reward
    e.last_reward = e.lap.reward
    if e.lap.num_visited == e.lap.num_tiles or e.lap.is_lap_complete:
        e.is_lap_finished = True
        out.truncated = c.is_lap_truncated
        out.terminated = not c.is_lap_truncated
    if fabs(x) > params_in(e).playfield or fabs(y) > params_in(e).playfield:
        e.is_lap_finished = False
        out.terminated = 1
        out.reward = -100


# ---- observations and frames -----------------------------------------------------------------------------------------

cdef car_racing_brush BRUSH             # filled in below, during import
cdef bytes glyphs = font.brightness()
cdef list kerning = font.kerning()
cdef int first_glyph, second_glyph
cell_tables_init(&BRUSH.tables)
assert len(glyphs) == sizeof(BRUSH.glyphs)
memcpy(BRUSH.glyphs, <const char*>glyphs, sizeof(BRUSH.glyphs))
for first_glyph in range(GLYPHS):
    BRUSH.advance[first_glyph] = font.ADVANCE[first_glyph]
    for second_glyph in range(GLYPHS):
        BRUSH.kerning[first_glyph][second_glyph] = kerning[GLYPHS * first_glyph + second_glyph]


cdef car_racing_body pose_of(b2Body* body) noexcept nogil:
    cdef car_racing_body b
    b.x = body.GetTransform().p.x
    b.y = body.GetTransform().p.y
    b.sine = body.GetTransform().q.s
    b.cosine = body.GetTransform().q.c
    return b


cdef car_racing_scene scene_of(Racer* e, const Config* c, double reward) noexcept nogil:
    """Return what observations and frames both show: everything but the marks on the ground."""
    cdef const RacerParams* p = params_in(e)
    cdef car_racing_scene scene
    cdef const Wheel* w
    cdef int i
    scene.road = e.road
    scene.road_length = e.road_length
    scene.marks = e.car.marks
    scene.num_marks = 0
    scene.field_colour = packed(e.field_colour, 0)
    scene.grass_colour = packed(e.grass_colour, 0)
    scene.field = p.playfield
    scene.reach = 30 + 4 * (fmax(p.track_width - 7, 0) + fmax(p.border - 2, 0) + fmax(p.track_detail_step - 4, 0)
                            + fmax(p.playfield / 20 - 17, 0))
    scene.size = p.size
    scene.time = e.time
    scene.hull = pose_of(e.car.hull)
    scene.hull_angle = e.car.hull.GetAngle()
    scene.hull_speed[0] = e.car.hull.GetLinearVelocity().x
    scene.hull_speed[1] = e.car.hull.GetLinearVelocity().y
    scene.hull_spin = e.car.hull.GetAngularVelocity()
    scene.steering_angle = e.car.wheels[0].joint.GetJointAngle()
    scene.reward = <double><int64_t>reward if c.is_lap_truncated else reward
    for i in range(CAR_WHEELS):
        w = &e.car.wheels[i]
        scene.wheels[i] = pose_of(w.body)
        scene.wheel_speed[i] = w.omega
        scene.wheel_phase[i] = w.phase
    return scene


cdef void write(const void* env, const void* options, void* const* fields, int64_t row) noexcept nogil:
    cdef Racer* e = <Racer*>env
    cdef car_racing_scene scene = scene_of(e, <const Config*>options, e.shown_reward)
    car_racing_draw_obs(&BRUSH, &scene, <uint8_t*>fields[0] + OBS_BYTES * row)
    (<uint8_t*>fields[1])[row] = e.is_lap_finished


cdef bint draw(WorldEnv* env, const WorldOptions* options, uint8_t* canvas) noexcept nogil:
    cdef Racer* e = <Racer*>env
    cdef car_racing_scene scene = scene_of(e, <const Config*>options, e.lap.reward)
    scene.num_marks = e.car.num_marks
    car_racing_draw_frame(&BRUSH, &scene, canvas)
    return True


# ---- saved states ----------------------------------------------------------------------------------------------------

cdef void forget(WorldEnv* env) noexcept nogil:
    (<Racer*>env).lap.num_tiles = 0


cdef void transfer_before(WorldEnv* env, const WorldOptions* options, Archive* archive) noexcept nogil:
    """Only colours that the last reset has kept do not follow from its generator."""
    cdef Racer* e = <Racer*>env
    cdef double* colours[3]
    cdef int i, k
    archive.integer(&e.has_colours, 0, 1)
    archive.integer(&e.has_kept_colours, 0, 1)
    e.keeps_colours = e.has_kept_colours and archive.is_loading
    colours[0], colours[1], colours[2] = e.field_colour, e.grass_colour, e.road_colour
    for k in range(3):
        archive.numbers(colours[k], 3)
        for i in range(3):
            archive.require(0 <= colours[k][i] <= 230)


cdef void transfer(WorldEnv* env, const WorldOptions* options, Archive* archive) noexcept nogil:
    cdef Racer* e = <Racer*>env
    cdef LapBody* tile
    cdef bool is_touched
    cdef int32_t i
    archive.numbers(&e.lap.reward, 1)
    archive.require(fabs(e.lap.reward) <= MAX_REWARD)
    archive.integer(&e.lap.num_visited, 0, e.lap.num_tiles)
    archive.flag(&e.lap.is_lap_complete)
    archive.numbers(&e.last_reward, 1)
    archive.numbers(&e.shown_reward, 1)
    archive.require(fabs(e.shown_reward) <= MAX_REWARD)
    archive.numbers(&e.time, 1)
    archive.require(e.time >= 0)
    archive.integer(&e.is_lap_finished, 0, 1)
    for i in range(e.lap.num_tiles):
        tile = &e.tile_bodies[i]
        is_touched = tile.colour[0] == e.lap.road_colour
        archive.flag(&tile.is_visited)
        archive.flag(&is_touched)
        if archive.is_loading and is_touched:
            tile.colour[0] = e.lap.road_colour
    car_transfer(&e.car, archive)


# ---- env definition --------------------------------------------------------------------------------------------------

cdef WorldFunctions FUNCTIONS = WorldFunctions(
    env_size=sizeof(Racer), bad_action="the action contains NaN; pass numbers",
    bad_reset="no track is closed with these parameters; choose values nearer to their defaults for the track",
    release=NULL, seed=NULL, reset=reset,
    set_action=set_action, apply_forces=apply_forces, observe=observe, write=write, draw=draw,
    canvas_height=CANVAS_HEIGHT, canvas_width=CANVAS_WIDTH, forget=forget, transfer=transfer,
    transfer_before=transfer_before, state_size=1 << 18,
)
cdef envpool_env ENV_DEF
worlds_init(&ENV_DEF, "CarRacing")
ENV_DEF.state_version += 1              # the colours are in snapshots
# The functions for parameters, without the option of resets that follows the parameters.
cdef int (*get_numbers)(void* state, const envpool_params* call) noexcept nogil
cdef int (*set_numbers)(void* state, const envpool_params* call) noexcept nogil
get_numbers, set_numbers = ENV_DEF.get_params, ENV_DEF.set_params
cdef int32_t NUM_PARAMS = len(CAR)


cdef int get_params(void* state, const envpool_params* call) noexcept nogil:
    cdef int32_t i
    for i in range(call.n):
        (<uint8_t*>call.values[NUM_PARAMS])[call.ids[i]] = True
    return get_numbers(state, call)


cdef int set_params(void* state, const envpool_params* call) noexcept nogil:
    cdef int32_t i
    for i in range(call.n):
        (<Racer*>worlds_env(<const envpool_state*>state, call.ids[i])).keeps_colours = not (
            <const uint8_t*>call.values[NUM_PARAMS])[call.ids[i]]
    return set_numbers(state, call)


ENV_DEF.get_params, ENV_DEF.set_params = get_params, set_params


class CarRacing(Box2DDefinition):
    """A car with rear-wheel drive on a track that is random in every episode.

    The observation is uint8 (96, 96, 3), an RGB image of the car and its surroundings. The action is float32 (3,):
    steering (-1 left to 1 right), gas and brake (0 to 1); NaN is an error. If the task is not continuous, the action is
    int32: 0 no-op, 1 right, 2 left, 3 gas, 4 brake. The reward is 1000 / number of tiles for each newly visited tile,
    minus 0.1 per step; it is -100 for leaving the field. An episode ends when the car leaves the field or finishes the
    lap. ``info["lap_finished"]`` (bool) says whether the step finished the lap.

    Options
    -------
    version : int
        2 or 3, the default. In version 2 a finished lap truncates the episode instead of terminating it, and the
        displayed reward is truncated to an integer instead of rounded.
    domain_randomize : bool
        If True, every episode has random colours.
    continuous : bool
        If True, the action consists of steering, gas and brake; if False, it is one of five discrete actions.
    """

    options = {
        "reward_threshold": 900.0,
        "version": 3,
        "domain_randomize": False,
        "continuous": True,
    }
    params = CAR
    reset_options = {
        "randomize": Param(True, text="whether the episode has new colours; only with domain_randomize=True"),
    }

    @staticmethod
    def build(config):
        """Return the capsule of CarRacing under a configuration."""
        cdef Config c
        c.base.functions = &FUNCTIONS
        fill_params(&c.base.params, CAR, config, sizeof(RacerParams))
        if config.version not in (2, 3):
            raise ConfigError(f"version must be 2 or 3, got {shown(config.version)}")
        c.continuous = config.continuous
        c.domain_randomize = config.domain_randomize
        c.is_lap_truncated = config.version == 2
        for i, param in enumerate(CAR.values()):
            (<double*>&c.defaults)[i] = param.default
        fields = [Field("obs", np.uint8, (OBS_SIZE, OBS_SIZE, 3), 0, 255), Field("info:lap_finished", np.bool_)]
        if config.continuous:
            actions = [Field("action", np.float32, (-1, 3), np.float32([-1, 0, 0]), np.float32([1, 1, 1]))]
        else:
            actions = [Field("action", np.int32, (-1,), 0, 4)]
        config_bytes = envpool_config_bytes(&c, sizeof(c))
        table = param_fields(CAR, CarRacing.reset_options)
        return define(envpool_template(&ENV_DEF), fields, actions, config_bytes, params=table)
