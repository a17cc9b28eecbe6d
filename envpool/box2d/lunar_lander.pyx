# distutils: language = c++
"""LunarLander: a vehicle with three engines that is to be brought down on a landing pad.

Source of the dynamics: ``gymnasium.envs.box2d.lunar_lander``, whose arithmetic is done in float64 here as there; Box2D
computes in float32. Version 2 is what ``gymnasium`` 0.29.1 called LunarLander-v2.
"""

import numpy as np

from cpython.pycapsule cimport PyCapsule_New
from libc.math cimport cos, fabs, pi, sin, sqrt, tanh
from libc.stdint cimport int32_t, int64_t, uint8_t, uint32_t, uint64_t
from libc.stdlib cimport calloc, free
from libc.string cimport memcpy, memset

from envpool.box2d.scene cimport (
    SCENE_BLOCK, SCENE_FPS, SCENE_LANES, Touch, TouchListener, b2_dynamicBody, b2_staticBody, b2Body, b2FixtureDef,
    b2Vec2, b2World, scene_body, scene_box, scene_create, scene_edge, scene_motor, scene_polygon, scene_restart,
    scene_step, scene_warm_up,
)
from envpool.env cimport ENVPOOL_CAPSULE_NAME, envpool_batch, envpool_env, envpool_env_init
from envpool.rng cimport ep_integers, ep_pcg64, ep_pcg64_seed, ep_pcg64_seed_words, ep_uniform

from envpool.errors import ConfigError
from envpool.native import Field, define

cdef enum:
    CHUNKS = 11                         # of the moon's surface
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
    bint continuous
    bint wind
    bint is_world_kept                  # over episodes, and the wind goes on: version 2
    double gravity
    double wind_power
    double turbulence_power

cdef struct Lander:
    ep_pcg64 rng
    b2World* world
    b2Body* moon
    b2Body* hull
    b2Body* legs[2]
    Touch hull_touch
    Touch leg_touch[2]
    double pad_y                        # height of the landing pad
    double shaping                      # of the last step
    int64_t wind_at                     # argument of the wind
    int64_t torque_at                   # argument of the turbulence
    float obs[OBS]

cdef struct Landers:
    Config config
    TouchListener* listener
    Lander* envs                        # (n)
    int32_t n

cdef struct Thrust:
    double main                         # power of the main engine, 0 or 0.5 to 1
    double side                         # power of the side engines, 0 or 0.5 to 1
    double direction                    # -1: the left one, 1: the right one


cdef void destroy(void* state) noexcept nogil:
    cdef Landers* s = <Landers*>state
    cdef int32_t i
    if s.envs != NULL:
        for i in range(s.n):
            del s.envs[i].world
    free(s.envs)
    del s.listener
    free(s)


cdef void* create(const void* config, int32_t n) noexcept nogil:
    cdef Landers* s = <Landers*>calloc(1, sizeof(Landers))
    cdef int32_t i
    if s == NULL:
        return NULL
    s.config = (<const Config*>config)[0]
    s.n = n
    s.listener = new TouchListener()
    s.envs = <Lander*>calloc(n, sizeof(Lander))
    if s.envs == NULL:
        destroy(s)
        return NULL
    for i in range(n):
        s.envs[i].world = scene_create(s.config.gravity)
        if s.envs[i].world == NULL:
            destroy(s)
            return NULL
    return s


cdef void draw_wind(Lander* e, ep_pcg64* rng) noexcept nogil:
    e.wind_at = ep_integers(rng, -9999, 9999)
    e.torque_at = ep_integers(rng, -9999, 9999)


cdef void seed_many(void* state, const int32_t* ids, int32_t n, const uint64_t* seeds) noexcept nogil:
    cdef Landers* s = <Landers*>state
    cdef ep_pcg64 other
    cdef uint32_t[2] words
    cdef int32_t i
    for i in range(n):
        ep_pcg64_seed(&s.envs[ids[i]].rng, seeds[i])
        if s.config.is_world_kept:      # upstream draws it once, from a generator that nobody seeds
            words[0] = <uint32_t>seeds[i]
            words[1] = WIND_STREAM
            ep_pcg64_seed_words(&other, words, 2)
            draw_wind(&s.envs[ids[i]], &other)


cdef void make_moon(Lander* e) noexcept nogil:
    """The ground: a chain of edges that is flat around the landing pad."""
    cdef double[CHUNKS + 1] height
    cdef double[CHUNKS] x
    cdef double[CHUNKS] y
    cdef b2FixtureDef fixture
    cdef int i
    for i in range(CHUNKS + 1):
        height[i] = ep_uniform(&e.rng, 0, HEIGHT / 2)
    e.pad_y = HEIGHT / 4
    for i in range(CHUNKS // 2 - 2, CHUNKS // 2 + 3):
        height[i] = e.pad_y
    for i in range(CHUNKS):
        x[i] = WIDTH / (CHUNKS - 1) * i
        y[i] = 0.33 * (height[i - 1 if i else CHUNKS] + height[i] + height[i + 1])
    e.moon = scene_body(e.world, b2_staticBody, 0, 0, 0)
    scene_edge(e.moon, fixture, 0, 0, WIDTH, 0)
    fixture.friction = 0.1
    for i in range(CHUNKS - 1):
        scene_edge(e.moon, fixture, x[i], y[i], x[i + 1], y[i + 1])


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
    e.hull = scene_body(e.world, b2_dynamicBody, x, y, 0)
    scene_polygon(e.hull, hull, corners, 6)
    e.hull.SetUserData(&e.hull_touch)
    force_x = ep_uniform(&e.rng, -1000, 1000)
    force_y = ep_uniform(&e.rng, -1000, 1000)
    e.hull.ApplyForceToCenter(b2Vec2(<float>force_x, <float>force_y), True)
    if c.wind and not c.is_world_kept:
        draw_wind(e, &e.rng)
    leg.density = 1.0
    leg.filter.categoryBits = LEG
    leg.filter.maskBits = GROUND
    for i in range(2):
        side = 2 * i - 1
        e.legs[i] = scene_body(e.world, b2_dynamicBody, x - side * LEG_AWAY / SCALE, y, side * 0.05)
        scene_box(e.legs[i], leg, 2 / SCALE, 8 / SCALE)
        e.legs[i].SetUserData(&e.leg_touch[i])
        scene_motor(e.world, e.hull, e.legs[i], 0, 0, side * LEG_AWAY / SCALE, LEG_DOWN / SCALE, 40, 0.3 * side,
                    -0.9 if i else 0.9 - 0.5, -0.9 + 0.5 if i else 0.9)


cdef void blow(Lander* e, const Config* c) noexcept nogil:
    """The wind of this step."""
    cdef double wind = tanh(sin(0.02 * e.wind_at) + sin(pi * 0.01 * e.wind_at)) * c.wind_power
    cdef double torque = tanh(sin(0.02 * e.torque_at) + sin(pi * 0.01 * e.torque_at)) * c.turbulence_power
    e.wind_at += 1
    e.torque_at += 1
    e.hull.ApplyForceToCenter(b2Vec2(<float>wind, 0), True)
    e.hull.ApplyTorque(<float>torque, True)


cdef void fire(Lander* e, Thrust t) noexcept nogil:
    """The engines of this step; they scatter, and draw for it even when off."""
    cdef double angle = e.hull.GetAngle()
    cdef double x = e.hull.GetPosition().x, y = e.hull.GetPosition().y
    cdef double tip_x = sin(angle), tip_y = cos(angle)
    cdef double side_x = -tip_y, side_y = tip_x
    cdef double first = ep_uniform(&e.rng, -1, 1) / SCALE
    cdef double second = ep_uniform(&e.rng, -1, 1) / SCALE
    cdef double ox, oy
    if t.main > 0:
        ox = tip_x * (4 / SCALE + 2 * first) + side_x * second
        oy = -tip_y * (4 / SCALE + 2 * first) - side_y * second
        e.hull.ApplyLinearImpulse(b2Vec2(<float>(-ox * MAIN_POWER * t.main), <float>(-oy * MAIN_POWER * t.main)),
                                  b2Vec2(<float>(x + ox), <float>(y + oy)), True)
    if t.side > 0:
        ox = tip_x * first + side_x * (3 * second + t.direction * 12 / SCALE)
        oy = -tip_y * first - side_y * (3 * second + t.direction * 12 / SCALE)
        e.hull.ApplyLinearImpulse(b2Vec2(<float>(-ox * SIDE_POWER * t.side), <float>(-oy * SIDE_POWER * t.side)),
                                  b2Vec2(<float>(x + ox - tip_x * 17 / SCALE), <float>(y + oy + tip_y * 14 / SCALE)),
                                  True)


cdef void act(Lander* e, const Config* c, Thrust t) noexcept nogil:
    """What happens before the world moves."""
    if c.wind and not (e.leg_touch[0].is_touching or e.leg_touch[1].is_touching):
        blow(e, c)
    fire(e, t)


cdef double observe(Lander* e, Thrust t, uint8_t* terminated) noexcept nogil:
    """What came of it; returns the reward."""
    cdef double[OBS] o
    cdef double shaping, reward
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
    reward = shaping - e.shaping
    e.shaping = shaping
    reward -= t.main * 0.30
    reward -= t.side * 0.03
    terminated[0] = 0
    if e.hull_touch.was_touched or fabs(o[0]) >= 1.0:
        terminated[0] = 1
        reward = -100
    if not e.hull.IsAwake():
        terminated[0] = 1
        reward = 100
    return reward


cdef void start(Lander* e, Landers* s) noexcept nogil:
    """A new episode; a step without thrust belongs to it."""
    if not s.config.is_world_kept:
        scene_restart(e.world, s.config.gravity)
    elif e.moon != NULL:
        e.world.SetContactListener(NULL)
        e.world.DestroyBody(e.moon)
        e.world.DestroyBody(e.hull)
        e.world.DestroyBody(e.legs[0])
        e.world.DestroyBody(e.legs[1])
    e.world.SetContactListener(s.listener)
    memset(&e.hull_touch, 0, sizeof(e.hull_touch))
    memset(e.leg_touch, 0, sizeof(e.leg_touch))
    make_moon(e)
    make_lander(e, &s.config)


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


cdef Thrust chosen_thrust(const Landers* s, const envpool_batch* b, int32_t id) noexcept nogil:
    if s.config.continuous:
        return continuous_thrust(<const float*>b.actions[0] + 2 * <size_t>id)
    return discrete_thrust((<const int32_t*>b.actions[0])[id])


cdef void step_block(Landers* s, const envpool_batch* b, int32_t first, int32_t n) noexcept nogil:
    """Steps positions first to first + n - 1 of the batch."""
    cdef b2World* worlds[SCENE_BLOCK]
    cdef Thrust thrust[SCENE_BLOCK]
    cdef Lander* e
    cdef double reward
    cdef uint8_t terminated
    cdef int32_t i, at
    memset(worlds, 0, sizeof(worlds))
    memset(thrust, 0, n * sizeof(Thrust))
    for i in range(n):
        at = first + i
        e = &s.envs[b.ids[at]]
        if b.reset[at]:
            start(e, s)
        else:
            thrust[i] = chosen_thrust(s, b, b.ids[at])
        act(e, &s.config, thrust[i])
        worlds[i] = e.world
    scene_step(worlds, n)
    for i in range(n):
        at = first + i
        reward = observe(&s.envs[b.ids[at]], thrust[i], &terminated)
        if not b.reset[at]:
            b.reward[at] = <float>reward
            b.terminated[at] = terminated


cdef int step_many(void* state, const envpool_batch* b) noexcept nogil:
    cdef int32_t first = 0
    while first < b.n:
        step_block(<Landers*>state, b, first, min(SCENE_BLOCK, b.n - first))
        first += SCENE_BLOCK
    return 0


cdef void write_many(void* state, const int32_t* ids, int32_t n, void* const* fields, int64_t row0) noexcept nogil:
    cdef Landers* s = <Landers*>state
    cdef float* obs = <float*>fields[0] + OBS * row0
    cdef int32_t i
    for i in range(n):
        memcpy(obs + OBS * i, s.envs[ids[i]].obs, OBS * sizeof(float))


cdef envpool_env KIND
envpool_env_init(&KIND, "LunarLander")
KIND.create = create
KIND.destroy = destroy
KIND.seed_many = seed_many
KIND.step_many = step_many
KIND.write_many = write_many
KIND.lanes = SCENE_LANES
scene_warm_up()


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
        c.gravity = config.gravity
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
        template = PyCapsule_New(&KIND, ENVPOOL_CAPSULE_NAME, NULL)
        return define(template, fields, actions, (<const char*>&c)[:sizeof(Config)])
