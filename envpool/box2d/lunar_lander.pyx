# distutils: language = c++
"""LunarLander: a vehicle with three engines that is to be brought down on a landing pad.

Source of the dynamics: ``gymnasium.envs.box2d.lunar_lander``, whose arithmetic is done in float64 here as there; Box2D
computes in float32. Version 2 is what ``gymnasium`` 0.29.1 called LunarLander-v2.
"""

import numpy as np

from cpython.pycapsule cimport PyCapsule_New
from libc.math cimport cos, fabs, pi, sin, sqrt, tanh
from libc.stdint cimport int32_t, int64_t, uint8_t, uint32_t, uint64_t
from libc.string cimport memcpy, memset

from envpool.box2d.exhaust cimport (
    Exhaust, LANDER_CHUNKS, LANDER_HEIGHT, LANDER_WIDTH, LanderScene, exhaust_blow, exhaust_fade, exhaust_follow,
    exhaust_release, exhaust_renew, exhaust_restart, exhaust_step, lander_draw,
)
from envpool.box2d.scene cimport (
    SCENE_FPS, Touch, TouchListener, b2_dynamicBody, b2_staticBody, b2Body, b2FixtureDef, b2Vec2, b2World, scene_body,
    scene_box, scene_edge, scene_motor, scene_polygon, scene_restart,
)
from envpool.box2d.worlds cimport Env, Options, Outcome, Task, init_kind
from envpool.env cimport ENVPOOL_CAPSULE_NAME, envpool_env
from envpool.numerics.rng cimport ep_integers, ep_pcg64, ep_pcg64_seed_words, ep_uniform

from envpool.errors import ConfigError
from envpool.native import Field, define

cdef enum:
    OBS = 8
    GROUND = 0x0001                     # category bits
    HULL = 0x0010
    LEG = 0x0020
    WIND_STREAM = 0x77696e64            # second word of the seed of version 2's wind

cdef double SCALE = 30.0                # pixels of upstream's picture in a metre
cdef double WIDTH = 600 / SCALE
cdef double HEIGHT = 400 / SCALE
cdef double MAIN_POWER = 13.0
cdef double SIDE_POWER = 0.6
cdef double[12] HULL_CORNERS = [-14, 17, -17, 0, -17, -10, 17, -10, 17, 0, 14, 17]
cdef double LEG_AWAY = 20
cdef double LEG_DOWN = 18

cdef struct Config:
    Options base
    bint continuous
    bint wind
    bint is_world_kept                  # over episodes, and the wind goes on: version 2
    double wind_power
    double turbulence_power

cdef struct Thrust:
    double main                         # power of the main engine, 0 or 0.5 to 1
    double side                         # power of the side engines, 0 or 0.5 to 1
    double direction                    # -1: the left one, 1: the right one

cdef struct Lander:
    Env base
    b2Body* moon
    b2Body* hull
    b2Body* legs[2]
    Touch hull_touch
    Touch leg_touch[2]
    Thrust thrust                       # of this step
    double[LANDER_CHUNKS] moon_x               # corners of the moon's surface
    double[LANDER_CHUNKS] moon_y
    double pad_y                        # height of the landing pad
    double shaping                      # of the last step
    int64_t wind_at                     # argument of the wind
    int64_t torque_at                   # argument of the turbulence
    float obs[OBS]
    Exhaust exhaust

cdef TouchListener LISTENER


cdef void draw_wind(Lander* e, ep_pcg64* rng) noexcept nogil:
    e.wind_at = ep_integers(rng, -9999, 9999)
    e.torque_at = ep_integers(rng, -9999, 9999)


cdef void seed(Env* env, const Options* options, uint64_t seed) noexcept nogil:
    cdef ep_pcg64 other
    cdef uint32_t[2] words = [<uint32_t>seed, WIND_STREAM]
    if (<const Config*>options).is_world_kept:      # upstream draws it once, from a generator that nobody seeds
        ep_pcg64_seed_words(&other, words, 2)
        draw_wind(<Lander*>env, &other)


cdef void shape_moon(Lander* e) noexcept nogil:
    """Corners of the ground, which is flat around the landing pad."""
    cdef double[LANDER_CHUNKS + 1] height
    cdef int i
    for i in range(LANDER_CHUNKS + 1):
        height[i] = ep_uniform(&e.base.rng, 0, HEIGHT / 2)
    e.pad_y = HEIGHT / 4
    for i in range(LANDER_CHUNKS // 2 - 2, LANDER_CHUNKS // 2 + 3):
        height[i] = e.pad_y
    for i in range(LANDER_CHUNKS):
        e.moon_x[i] = WIDTH / (LANDER_CHUNKS - 1) * i
        e.moon_y[i] = 0.33 * (height[i - 1 if i else LANDER_CHUNKS] + height[i] + height[i + 1])


cdef b2Body* make_moon(const Lander* e, b2World* world) noexcept nogil:
    """The ground: a chain of edges."""
    cdef b2Body* moon = scene_body(world, b2_staticBody, 0, 0, 0)
    cdef b2FixtureDef fixture
    cdef int i
    scene_edge(moon, fixture, 0, 0, WIDTH, 0)
    fixture.friction = 0.1
    for i in range(LANDER_CHUNKS - 1):
        scene_edge(moon, fixture, e.moon_x[i], e.moon_y[i], e.moon_x[i + 1], e.moon_y[i + 1])
    return moon


cdef void make_lander(Lander* e, const Config* c) noexcept nogil:
    cdef double x = WIDTH / 2, y = HEIGHT, force_x, force_y
    cdef double[12] corners
    cdef b2FixtureDef hull, leg
    cdef int i, side
    for i in range(12):
        corners[i] = HULL_CORNERS[i] / SCALE
    hull.density = 5.0
    hull.friction = 0.1
    hull.filter.categoryBits = HULL
    hull.filter.maskBits = GROUND
    e.hull = scene_body(e.base.world, b2_dynamicBody, x, y, 0)
    scene_polygon(e.hull, hull, corners, 6)
    e.hull.SetUserData(&e.hull_touch)
    force_x = ep_uniform(&e.base.rng, -1000, 1000)
    force_y = ep_uniform(&e.base.rng, -1000, 1000)
    e.hull.ApplyForceToCenter(b2Vec2(<float>force_x, <float>force_y), True)
    if c.wind and not c.is_world_kept:
        draw_wind(e, &e.base.rng)
    leg.density = 1.0
    leg.filter.categoryBits = LEG
    leg.filter.maskBits = GROUND
    for i in range(2):
        side = 2 * i - 1
        e.legs[i] = scene_body(e.base.world, b2_dynamicBody, x - side * LEG_AWAY / SCALE, y, side * 0.05)
        scene_box(e.legs[i], leg, 2 / SCALE, 8 / SCALE)
        e.legs[i].SetUserData(&e.leg_touch[i])
        scene_motor(e.base.world, e.hull, e.legs[i], 0, 0, side * LEG_AWAY / SCALE, LEG_DOWN / SCALE, 40, 0.3 * side,
                    -0.9 if i else 0.9 - 0.5, -0.9 + 0.5 if i else 0.9)


cdef void blow(Lander* e, const Config* c) noexcept nogil:
    """The wind of this step."""
    cdef double wind = tanh(sin(0.02 * e.wind_at) + sin(pi * 0.01 * e.wind_at)) * c.wind_power
    cdef double torque = tanh(sin(0.02 * e.torque_at) + sin(pi * 0.01 * e.torque_at)) * c.turbulence_power
    e.wind_at += 1
    e.torque_at += 1
    e.hull.ApplyForceToCenter(b2Vec2(<float>wind, 0), True)
    e.hull.ApplyTorque(<float>torque, True)


cdef void fire(Lander* e) noexcept nogil:
    """The engines of this step; they scatter, and draw for it even when off."""
    cdef double angle = e.hull.GetAngle()
    cdef double x = e.hull.GetPosition().x, y = e.hull.GetPosition().y
    cdef double tip_x = sin(angle), tip_y = cos(angle)
    cdef double side_x = -tip_y, side_y = tip_x
    cdef double first = ep_uniform(&e.base.rng, -1, 1) / SCALE
    cdef double second = ep_uniform(&e.base.rng, -1, 1) / SCALE
    cdef Thrust t = e.thrust
    cdef double ox, oy
    cdef b2Vec2 place
    if t.main > 0:
        ox = tip_x * (4 / SCALE + 2 * first) + side_x * second
        oy = -tip_y * (4 / SCALE + 2 * first) - side_y * second
        place = b2Vec2(<float>(x + ox), <float>(y + oy))
        exhaust_blow(&e.exhaust, 3.5, t.main, place,
                     b2Vec2(<float>(ox * MAIN_POWER * t.main), <float>(oy * MAIN_POWER * t.main)))
        e.hull.ApplyLinearImpulse(b2Vec2(<float>(-ox * MAIN_POWER * t.main), <float>(-oy * MAIN_POWER * t.main)), place,
                                  True)
    if t.side > 0:
        ox = tip_x * first + side_x * (3 * second + t.direction * 12 / SCALE)
        oy = -tip_y * first - side_y * (3 * second + t.direction * 12 / SCALE)
        place = b2Vec2(<float>(x + ox - tip_x * 17 / SCALE), <float>(y + oy + tip_y * 14 / SCALE))
        exhaust_blow(&e.exhaust, 0.7, t.side, place,
                     b2Vec2(<float>(ox * SIDE_POWER * t.side), <float>(oy * SIDE_POWER * t.side)))
        e.hull.ApplyLinearImpulse(b2Vec2(<float>(-ox * SIDE_POWER * t.side), <float>(-oy * SIDE_POWER * t.side)), place,
                                  True)
    exhaust_step(&e.exhaust)


cdef void push(Env* env, const Options* options) noexcept nogil:
    cdef Lander* e = <Lander*>env
    cdef const Config* c = <const Config*>options
    if c.wind and not (e.leg_touch[0].is_touching or e.leg_touch[1].is_touching):
        blow(e, c)
    fire(e)


cdef void observe(Env* env, const Options* options, Outcome* out) noexcept nogil:
    cdef Lander* e = <Lander*>env
    cdef double[OBS] o
    cdef double gain, shaping
    cdef int i
    o[0] = (e.hull.GetPosition().x - WIDTH / 2) / (WIDTH / 2)
    o[1] = (e.hull.GetPosition().y - (e.pad_y + LEG_DOWN / SCALE)) / (HEIGHT / 2)
    o[2] = e.hull.GetLinearVelocity().x * (WIDTH / 2) / SCENE_FPS
    o[3] = e.hull.GetLinearVelocity().y * (HEIGHT / 2) / SCENE_FPS
    o[4] = e.hull.GetAngle()
    o[5] = 20.0 * e.hull.GetAngularVelocity() / SCENE_FPS
    o[6] = 1.0 if e.leg_touch[0].is_touching else 0.0
    o[7] = 1.0 if e.leg_touch[1].is_touching else 0.0
    for i in range(OBS):
        e.obs[i] = <float>o[i]

    shaping = (-100 * sqrt(o[0] * o[0] + o[1] * o[1]) - 100 * sqrt(o[2] * o[2] + o[3] * o[3]) - 100 * fabs(o[4])
               + 10 * o[6] + 10 * o[7])
    gain = shaping - e.shaping
    e.shaping = shaping
    if out == NULL:
        return
    out.reward = gain - e.thrust.main * 0.30
    out.reward -= e.thrust.side * 0.03
    if e.hull_touch.was_touched or fabs(o[0]) >= 1.0:
        out.terminated = 1
        out.reward = -100
    if not e.hull.IsAwake():
        out.terminated = 1
        out.reward = 100


cdef void start(Env* env, const Options* options) noexcept nogil:
    cdef Lander* e = <Lander*>env
    cdef const Config* c = <const Config*>options
    if not c.is_world_kept:
        scene_restart(e.base.world, options.gravity)
    elif e.moon != NULL:
        e.base.world.SetContactListener(NULL)
        e.base.world.DestroyBody(e.moon)
        e.base.world.DestroyBody(e.hull)
        e.base.world.DestroyBody(e.legs[0])
        e.base.world.DestroyBody(e.legs[1])
    e.base.world.SetContactListener(&LISTENER)
    memset(&e.hull_touch, 0, sizeof(e.hull_touch))
    memset(e.leg_touch, 0, sizeof(e.leg_touch))
    shape_moon(e)
    e.moon = make_moon(e, e.base.world)
    exhaust_restart(&e.exhaust)
    memset(&e.thrust, 0, sizeof(e.thrust))
    make_lander(e, c)


cdef Thrust discrete_thrust(int32_t action) noexcept nogil:
    cdef Thrust t
    t.main = 1.0 if action == 2 else 0.0
    t.side = 1.0 if action == 1 or action == 3 else 0.0
    t.direction = action - 2
    return t


cdef Thrust continuous_thrust(const float* action) noexcept nogil:
    """NaN leaves an engine off."""
    cdef Thrust t
    cdef double main = action[0], side = action[1]
    t.main = t.side = t.direction = 0.0
    if main > 0.0:
        t.main = ((1.0 if main > 1.0 else main) + 1.0) * 0.5
    if fabs(side) > 0.5:
        t.side = 1.0 if fabs(side) > 1.0 else fabs(side)
        t.direction = 1.0 if side > 0 else -1.0
    return t


cdef int32_t choose(Env* env, const Options* options, const void* actions, int32_t id) noexcept nogil:
    cdef Lander* e = <Lander*>env
    if (<const Config*>options).continuous:
        e.thrust = continuous_thrust(<const float*>actions + 2 * <size_t>id)
    else:
        e.thrust = discrete_thrust((<const int32_t*>actions)[id])
    return 0


cdef void write(const Env* env, const Options* options, void* const* fields, int64_t row) noexcept nogil:
    memcpy(<float*>fields[0] + OBS * row, (<const Lander*>env).obs, OBS * sizeof(float))


# ---- picture ---------------------------------------------------------------------------------------------------------

cdef bint draw(Env* env, const Options* options, uint8_t* canvas) noexcept nogil:
    cdef Lander* e = <Lander*>env
    cdef LanderScene scene
    cdef int state = exhaust_renew(&e.exhaust, options.gravity)
    if state < 0:
        return False
    if state > 0:
        make_moon(e, e.exhaust.world)
    exhaust_follow(&e.exhaust)
    exhaust_fade(&e.exhaust)
    scene.x = e.moon_x
    scene.y = e.moon_y
    scene.pad_y = e.pad_y
    scene.parts[0] = e.hull
    scene.parts[1] = e.legs[0]
    scene.parts[2] = e.legs[1]
    scene.exhaust = &e.exhaust
    lander_draw(&scene, canvas)
    return True


cdef void release(Env* env) noexcept nogil:
    exhaust_release(&(<Lander*>env).exhaust)


# ---- kind of env -----------------------------------------------------------------------------------------------------

cdef Task TASK = Task(sizeof(Lander), NULL, release, seed, start, choose, push, observe, write, LANDER_HEIGHT,
                      LANDER_WIDTH, draw)
cdef envpool_env ENV_DEF
init_kind(&ENV_DEF, "LunarLander")


class LunarLander:
    """Vehicle with a main engine and two side engines above a rugged moon.

    Observation float32 (8,): position relative to the landing pad (half the picture's width, half its height), velocity
    (scaled), angle (rad), angular velocity (over 0.4 s), whether the left and the right leg touch the ground. Action
    int32: 0 nothing, 1 left, 2 main, 3 right engine; or, if continuous, float32 (2,): throttle of the main engine (off
    below 0), of the side engines (off between -0.5 and 0.5), clipped to [-1, 1]. Reward: progress towards landing
    upright, less fuel; 100 for coming to rest, -100 for crashing or leaving the picture, both of which end the episode.

    Options
    -------
    version : int
        3, or 2: the world is kept over episodes, so that an episode depends a little on those before; the wind goes on
        where it was instead of being drawn anew; the observation space is narrower.
    continuous : bool
        Throttles instead of engines that are on or off.
    gravity : float
        Between -12 and 0 (m/s**2).
    enable_wind : bool
        Whether wind blows until a leg touches the ground.
    wind_power, turbulence_power : float
        Largest force (N) and torque (N m) of the wind; upstream recommends 0 to 20 and 0 to 2.
    """

    options = {
        "reward_threshold": 200.0,
        "version": 3,
        "continuous": False,
        "gravity": -10.0,
        "enable_wind": False,
        "wind_power": 15.0,
        "turbulence_power": 1.5,
    }

    @staticmethod
    def render_fps(config):
        """Return how many pictures a second show the task at its own speed."""
        return SCENE_FPS

    @staticmethod
    def build(config):
        """Return the capsule of this kind."""
        cdef Config c
        if config.version not in (2, 3):
            raise ConfigError(f"version is {config.version}, allowed are 2 and 3")
        if not -12 < config.gravity < 0:
            raise ConfigError(f"gravity is {config.gravity}, allowed are numbers between -12 and 0, without these")
        for name in ("wind_power", "turbulence_power"):
            if not abs(getattr(config, name)) <= 1000:
                raise ConfigError(f"{name} is {getattr(config, name)}, allowed are -1000 to 1000")
        c.continuous = config.continuous
        c.wind = config.enable_wind
        c.is_world_kept = config.version == 2
        c.base = Options(&TASK, config.gravity)
        c.wind_power = config.wind_power
        c.turbulence_power = config.turbulence_power
        high = np.array([2.5, 2.5, 10, 10, 2 * np.pi, 10, 1, 1], np.float32)
        if config.version == 2:
            high = np.array([1.5, 1.5, 5, 5, np.pi, 5, 1, 1], np.float32)
        low = np.concatenate([-high[:6], np.float32([-0.0, -0.0])])
        fields = [Field("obs", np.float32, (OBS,), low, high)]
        if config.continuous:
            actions = [Field("action", np.float32, (-1, 2), -1, 1)]
        else:
            actions = [Field("action", np.int32, (-1,), 0, 3)]
        template = PyCapsule_New(&ENV_DEF, ENVPOOL_CAPSULE_NAME, NULL)
        return define(template, fields, actions, (<const char*>&c)[:sizeof(Config)])
