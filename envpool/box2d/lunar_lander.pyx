# distutils: language = c++
"""LunarLander: a vehicle with three engines that has to land on a landing pad.

The dynamics are those of ``gymnasium.envs.box2d.lunar_lander``. The arithmetic uses float64, as upstream's does; Box2D
computes in float32. Version 2 is LunarLander-v2 of ``gymnasium`` 0.29.1.
"""

import numpy as np

from libc.math cimport cos, fabs, pi, sin, sqrt, tanh
from libc.stdint cimport int32_t, int64_t, uint8_t, uint32_t, uint64_t
from libc.string cimport memcpy, memset
from libcpp cimport bool

from envpool.box2d.lunar_lander_frame cimport (
    Exhaust, LANDER_CHUNKS, LANDER_HEIGHT, LANDER_WIDTH, LanderScene, exhaust_catch_up, exhaust_emit, exhaust_fade,
    exhaust_has_world, exhaust_release, exhaust_renew, exhaust_restart, exhaust_step, exhaust_transfer,
    exhaust_transfer_world, lander_draw,
)
from envpool.box2d.parameters cimport LanderParams, fill_params
from envpool.box2d.scene cimport (
    SCENE_FPS, Archive, Touch, TouchListener, b2_dynamicBody, b2_staticBody, b2Body, b2FixtureDef, b2Vec2, b2World,
    scene_body, scene_box, scene_edge, scene_hull, scene_motor, scene_restart, transfer_touches,
)
from envpool.box2d.thrust cimport Thrust, continuous_thrust, discrete_thrust
from envpool.box2d.worlds cimport WorldEnv, WorldFunctions, WorldOptions, worlds_init
from envpool.env cimport envpool_env
from envpool.numerics.rng cimport ep_integers, ep_pcg64, ep_pcg64_seed_words, ep_uniform
from envpool.records cimport envpool_outcome
from envpool.scaffold cimport envpool_config_bytes, envpool_template

from envpool.box2d.definition import Box2DDefinition
from envpool.box2d.parameters import LANDER
from envpool._support.text import shown
from envpool.errors import ConfigError
from envpool.native import Field, define, param_fields

cdef enum:
    OBS = 8
    GROUND = 0x0001                     # category bits
    HULL = 0x0010
    LEG = 0x0020
    WIND_STREAM = 0x77696e64            # second word of the seed for version 2's wind

cdef int64_t MAX_WIND = 1LL << 50       # farther than wind_at and torque_at can get
cdef double SCALE = 30.0                # pixels of upstream's frame per metre
cdef double WIDTH = 600 / SCALE
cdef double HEIGHT = 400 / SCALE
cdef double[12] HULL_CORNERS = [-14, 17, -17, 0, -17, -10, 17, -10, 17, 0, 14, 17]

cdef struct Config:
    WorldOptions base
    bint continuous
    bint wind
    bint is_world_kept                  # version 2: the world and the wind persist across episodes

cdef struct Lander:
    WorldEnv base
    b2Body* moon
    b2Body* hull
    b2Body* legs[2]
    Touch hull_touch
    Touch leg_touch[2]
    Thrust thrust                       # of this step
    double[LANDER_CHUNKS] moon_x        # corners of the moon's surface
    double[LANDER_CHUNKS] moon_y
    double pad_y                        # height of the landing pad
    double shaping                      # of the last step
    int64_t wind_at                     # argument of the wind function
    int64_t torque_at                   # argument of the turbulence function
    float obs[OBS]
    Exhaust exhaust

cdef TouchListener LISTENER


cdef inline const LanderParams* params_in(const Lander* e) noexcept nogil:
    return <const LanderParams*>e.base.params


cdef void draw_wind(Lander* e, ep_pcg64* rng) noexcept nogil:
    e.wind_at = ep_integers(rng, -9999, 9999)
    e.torque_at = ep_integers(rng, -9999, 9999)


cdef void seed(WorldEnv* env, const WorldOptions* options, uint64_t seed) noexcept nogil:
    cdef ep_pcg64 other
    cdef uint32_t[2] words = [<uint32_t>seed, WIND_STREAM]
    # Upstream draws the wind of version 2 once, from a generator that is never seeded.
    if (<const Config*>options).is_world_kept:
        ep_pcg64_seed_words(&other, words, 2)
        draw_wind(<Lander*>env, &other)


cdef void shape_moon(Lander* e) noexcept nogil:
    """Choose random corners of the ground, which is flat around the landing pad."""
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
    """Create the ground, a chain of edges."""
    cdef b2Body* moon = scene_body(world, b2_staticBody, 0, 0, 0)
    cdef b2FixtureDef fixture
    cdef int i
    scene_edge(moon, fixture, 0, 0, WIDTH, 0)
    fixture.friction = <float>params_in(e).moon_friction
    for i in range(LANDER_CHUNKS - 1):
        scene_edge(moon, fixture, e.moon_x[i], e.moon_y[i], e.moon_x[i + 1], e.moon_y[i + 1])
    return moon


cdef void make_lander(Lander* e, const Config* c) noexcept nogil:
    cdef const LanderParams* p = params_in(e)
    cdef double x = WIDTH / 2, y = HEIGHT, force_x, force_y
    cdef b2FixtureDef leg
    cdef int i, side
    e.hull = scene_hull(e.base.world, x, y, HULL_CORNERS, 6, SCALE, p.lander_density, 0.1, HULL, GROUND, &e.hull_touch)
    force_x = ep_uniform(&e.base.rng, -p.initial_random, p.initial_random)
    force_y = ep_uniform(&e.base.rng, -p.initial_random, p.initial_random)
    e.hull.ApplyForceToCenter(b2Vec2(<float>force_x, <float>force_y), True)
    if c.wind and not c.is_world_kept:
        draw_wind(e, &e.base.rng)
    leg.density = <float>p.leg_density
    leg.filter.categoryBits = LEG
    leg.filter.maskBits = GROUND
    for i in range(2):
        side = 2 * i - 1
        e.legs[i] = scene_body(e.base.world, b2_dynamicBody, x - side * p.leg_away / SCALE, y, side * 0.05)
        scene_box(e.legs[i], leg, p.leg_w / SCALE, p.leg_h / SCALE)
        e.legs[i].SetUserData(&e.leg_touch[i])
        scene_motor(e.base.world, e.hull, e.legs[i], 0, 0, side * p.leg_away / SCALE, p.leg_down / SCALE,
                    p.leg_spring_torque, 0.3 * side, -0.9 if i else 0.9 - 0.5, -0.9 + 0.5 if i else 0.9)


cdef void apply_wind(Lander* e) noexcept nogil:
    cdef const LanderParams* p = params_in(e)
    cdef double wind = tanh(sin(0.02 * e.wind_at) + sin(pi * 0.01 * e.wind_at)) * p.wind_power
    cdef double torque = tanh(sin(0.02 * e.torque_at) + sin(pi * 0.01 * e.torque_at)) * p.turbulence_power
    e.wind_at += 1
    e.torque_at += 1
    e.hull.ApplyForceToCenter(b2Vec2(<float>wind, 0), True)
    e.hull.ApplyTorque(<float>torque, True)


cdef void fire(Lander* e, double density, double brightness, double x, double y, const b2Vec2& place) noexcept nogil:
    """Emit a particle with the impulse (x, y), and push the hull into the opposite direction."""
    exhaust_emit(&e.exhaust, density, brightness, place, b2Vec2(<float>x, <float>y))
    e.hull.ApplyLinearImpulse(b2Vec2(<float>-x, <float>-y), place, True)


cdef void fire_engines(Lander* e) noexcept nogil:
    """Fire the engines of this step. Their dispersion uses two random numbers, even if both engines are off."""
    cdef const LanderParams* p = params_in(e)
    cdef double angle = e.hull.GetAngle()
    cdef double x = e.hull.GetPosition().x, y = e.hull.GetPosition().y
    cdef double tip_x = sin(angle), tip_y = cos(angle)
    cdef double side_x = -tip_y, side_y = tip_x
    cdef double first = ep_uniform(&e.base.rng, -1, 1) / SCALE
    cdef double second = ep_uniform(&e.base.rng, -1, 1) / SCALE
    cdef Thrust t = e.thrust
    cdef double ox, oy, below, aside
    if t.main > 0:
        below = p.main_engine_y_location / SCALE + 2 * first
        ox = tip_x * below + side_x * second
        oy = -tip_y * below - side_y * second
        fire(e, 3.5, t.main, ox * p.main_engine_power * t.main, oy * p.main_engine_power * t.main,
             b2Vec2(<float>(x + ox), <float>(y + oy)))
    if t.side > 0:
        aside = 3 * second + t.direction * p.side_engine_away / SCALE
        ox = tip_x * first + side_x * aside
        oy = -tip_y * first - side_y * aside
        fire(e, 0.7, t.side, ox * p.side_engine_power * t.side, oy * p.side_engine_power * t.side,
             b2Vec2(<float>(x + ox - tip_x * 17 / SCALE), <float>(y + oy + tip_y * p.side_engine_height / SCALE)))
    exhaust_step(&e.exhaust)


cdef void apply_forces(WorldEnv* env, const WorldOptions* options) noexcept nogil:
    cdef Lander* e = <Lander*>env
    cdef const Config* c = <const Config*>options
    if c.wind and not (e.leg_touch[0].is_touching or e.leg_touch[1].is_touching):
        apply_wind(e)
    fire_engines(e)


cdef void observe(WorldEnv* env, const WorldOptions* options, envpool_outcome* out) noexcept nogil:
    cdef Lander* e = <Lander*>env
    cdef double[OBS] o
    cdef double gain, shaping
    cdef int i
    o[0] = (e.hull.GetPosition().x - WIDTH / 2) / (WIDTH / 2)
    o[1] = (e.hull.GetPosition().y - (e.pad_y + params_in(e).leg_down / SCALE)) / (HEIGHT / 2)
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


cdef int reset(WorldEnv* env, const WorldOptions* options) noexcept nogil:
    cdef Lander* e = <Lander*>env
    cdef const Config* c = <const Config*>options
    if not c.is_world_kept:
        scene_restart(e.base.world, 0)
    elif e.moon != NULL:
        e.base.world.SetContactListener(NULL)
        e.base.world.DestroyBody(e.moon)
        e.base.world.DestroyBody(e.hull)
        e.base.world.DestroyBody(e.legs[0])
        e.base.world.DestroyBody(e.legs[1])
    e.base.world.SetGravity(b2Vec2(0, <float>params_in(e).gravity))
    e.base.world.SetContactListener(&LISTENER)
    memset(&e.hull_touch, 0, sizeof(e.hull_touch))
    memset(e.leg_touch, 0, sizeof(e.leg_touch))
    shape_moon(e)
    e.moon = make_moon(e, e.base.world)
    exhaust_restart(&e.exhaust)
    memset(&e.thrust, 0, sizeof(e.thrust))
    make_lander(e, c)
    return True


cdef int32_t set_action(WorldEnv* env, const WorldOptions* options, const void* actions, int32_t id) noexcept nogil:
    cdef Lander* e = <Lander*>env
    if (<const Config*>options).continuous:
        e.thrust = continuous_thrust(<const float*>actions + 2 * <size_t>id)
    else:
        e.thrust = discrete_thrust((<const int32_t*>actions)[id])
    return 0


cdef void write(const void* env, const void* options, void* const* fields, int64_t row) noexcept nogil:
    memcpy(<float*>fields[0] + OBS * row, (<const Lander*>env).obs, OBS * sizeof(float))


# ---- frames ----------------------------------------------------------------------------------------------------------

cdef bint draw(WorldEnv* env, const WorldOptions* options, uint8_t* canvas) noexcept nogil:
    cdef Lander* e = <Lander*>env
    cdef LanderScene scene
    cdef int state = exhaust_renew(&e.exhaust, params_in(e).gravity)
    if state < 0:
        return False
    if state > 0:
        make_moon(e, e.exhaust.world)
    exhaust_catch_up(&e.exhaust)
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


cdef void release(WorldEnv* env) noexcept nogil:
    exhaust_release(&(<Lander*>env).exhaust)


# ---- saved states ----------------------------------------------------------------------------------------------------

cdef void forget(WorldEnv* env) noexcept nogil:
    (<Lander*>env).moon = NULL


cdef void transfer_exhaust(Lander* e, Archive* archive) noexcept nogil:
    """Saves or restores the particles, and their world if frames have been drawn in this episode."""
    cdef bool has_world
    exhaust_transfer(&e.exhaust, archive)
    has_world = exhaust_has_world(&e.exhaust)
    archive.flag(&has_world)
    if not archive.is_valid:
        return
    if archive.is_loading:
        e.exhaust.is_world_old = True
        if not has_world:
            return
        archive.require(exhaust_renew(&e.exhaust, params_in(e).gravity) > 0)
        if not archive.is_valid:
            return
        make_moon(e, e.exhaust.world)
    if has_world:
        exhaust_transfer_world(&e.exhaust, archive)


cdef void transfer(WorldEnv* env, const WorldOptions* options, Archive* archive) noexcept nogil:
    cdef Lander* e = <Lander*>env
    transfer_touches(&e.hull_touch, 1, archive)
    transfer_touches(e.leg_touch, 2, archive)
    archive.numbers(&e.thrust.main, 1)
    archive.numbers(&e.thrust.side, 1)
    archive.numbers(&e.thrust.direction, 1)
    archive.numbers(&e.shaping, 1)
    archive.integer(&e.wind_at, -MAX_WIND, MAX_WIND)
    archive.integer(&e.torque_at, -MAX_WIND, MAX_WIND)
    archive.bytes(e.obs, sizeof(e.obs))
    transfer_exhaust(e, archive)


# ---- env definition --------------------------------------------------------------------------------------------------

cdef WorldFunctions FUNCTIONS = WorldFunctions(
    env_size=sizeof(Lander), bad_action=NULL, bad_reset=NULL, release=release, seed=seed, reset=reset,
    set_action=set_action, apply_forces=apply_forces, observe=observe, write=write, draw=draw,
    canvas_height=LANDER_HEIGHT, canvas_width=LANDER_WIDTH, forget=forget, transfer=transfer,
    transfer_before=NULL, state_size=1 << 20,
)
cdef envpool_env ENV_DEF
worlds_init(&ENV_DEF, "LunarLander")


class LunarLander(Box2DDefinition):
    """A vehicle with a main engine and two side engines above a rugged moon.

    The observation is float32 (8,): position relative to the landing pad (in half widths and half heights of the
    frame), velocity (scaled), angle (rad), angular velocity (rad per 0.4 s), and whether the left and the right leg
    touch the ground. The action is int32: 0 no-op, 1 left engine, 2 main engine, 3 right engine. If the task is
    continuous, the action is float32 (2,), clipped to [-1, 1]: throttle of the main engine (off below 0) and of the
    side engines (off between -0.5 and 0.5). The reward is the progress towards an upright landing minus the fuel used;
    it is 100 for coming to rest and -100 for crashing or leaving the frame. Both end the episode.

    Options
    -------
    version : int
        2 or 3, the default. In version 2 the world persists across episodes, so that an episode depends slightly on the
        episodes before it; the wind continues across episodes instead of being drawn again; and the observation space
        is narrower.
    continuous : bool
        If True, the action consists of throttles; if False, an action switches one engine on.
    enable_wind : bool
        If True, wind blows until a leg touches the ground.
    """

    options = {
        "reward_threshold": 200.0,
        "version": 3,
        "continuous": False,
        "enable_wind": False,
    }
    params = LANDER

    @staticmethod
    def build(config):
        """Return the capsule of LunarLander under a configuration."""
        cdef Config c
        if config.version not in (2, 3):
            raise ConfigError(f"version must be 2 or 3, got {shown(config.version)}")
        c.continuous = config.continuous
        c.wind = config.enable_wind
        c.is_world_kept = config.version == 2
        c.base.functions = &FUNCTIONS
        fill_params(&c.base.params, LANDER, config, sizeof(LanderParams))
        high = np.array([2.5, 2.5, 10, 10, 2 * np.pi, 10, 1, 1], np.float32)
        if config.version == 2:
            high = np.array([1.5, 1.5, 5, 5, np.pi, 5, 1, 1], np.float32)
        low = np.concatenate([-high[:6], np.float32([-0.0, -0.0])])
        fields = [Field("obs", np.float32, (OBS,), low, high)]
        if config.continuous:
            actions = [Field("action", np.float32, (-1, 2), -1, 1)]
        else:
            actions = [Field("action", np.int32, (-1,), 0, 3)]
        config_bytes = envpool_config_bytes(&c, sizeof(c))
        return define(envpool_template(&ENV_DEF), fields, actions, config_bytes, params=param_fields(LANDER))
