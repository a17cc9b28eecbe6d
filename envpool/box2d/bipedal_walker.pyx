# distutils: language = c++
"""BipedalWalker: a robot with two legs of two segments that has to walk over rough terrain.

The dynamics are those of ``gymnasium.envs.box2d.bipedal_walker``. Every operation has upstream's precision; Box2D
computes in float32. As upstream, an env keeps its world across episodes, so that an episode depends slightly on the
episodes before it.
"""

import numpy as np

from libc.math cimport cos, fabs, fabsf, isnan, sin
from libc.stdint cimport int32_t, int64_t, uint8_t
from libc.string cimport memcpy, memset

from envpool.box2d.bipedal_terrain cimport (
    GROUND, WALKER_HEIGHT, WALKER_WIDTH, Terrain, WalkerScene, make_clouds, make_terrain, walker_draw,
)
from envpool.box2d.parameters cimport WalkerParams, fill_params
from envpool.box2d.scene cimport (
    SCENE_FPS, Archive, Touch, TouchListener, b2_dynamicBody, b2Body, b2FixtureDef, b2RevoluteJoint, b2Vec2, scene_body,
    scene_box, scene_hull, scene_look, scene_look_at, scene_motor, transfer_touches,
)
from envpool.box2d.worlds cimport WorldEnv, WorldFunctions, WorldOptions, worlds_init
from envpool.env cimport envpool_env
from envpool.numerics.rng cimport ep_uniform
from envpool.records cimport envpool_outcome
from envpool.scaffold cimport envpool_config_bytes, envpool_template

from envpool.box2d.definition import Box2DDefinition
from envpool.box2d.parameters import WALKER as PARAMS
from envpool.native import Field, define, param_fields

cdef enum:
    OBS = 24
    MOTORS = 4                          # hip and knee of both legs
    RAYS = 10
    WALKER = 0x0020                     # category bit
    NAN_ACTION = 1                      # error code
    LIDAR_ROUND = 100                   # period, in frames, of the lidar's display

cdef double SCALE = 30.0                # pixels of upstream's frame per metre
cdef double WIDTH = 600.0
cdef double HEIGHT = 400.0
cdef double[10] HULL_CORNERS = [-30, 9, 6, 9, 34, 1, 34, -8, -30, -8]

cdef double[2 * RAYS] RAY               # directions of the lidar rays: right, and down
cdef int ray
for ray in range(RAYS):
    RAY[2 * ray] = sin(1.5 * ray / 10.0)
    RAY[2 * ray + 1] = cos(1.5 * ray / 10.0)

cdef struct Config:
    WorldOptions base
    bint hardcore

cdef struct Walker:
    WorldEnv base
    Terrain terrain
    b2Body* hull
    b2Body* legs[MOTORS]                # upper and lower segment of the first leg and of the second leg
    b2RevoluteJoint* joints[MOTORS]
    Touch hull_touch
    Touch foot_touch[2]
    double shaping                      # of the last step
    int32_t lidar_shown                 # frames drawn in this episode, modulo LIDAR_ROUND
    float action[MOTORS]                # of this step
    float obs[OBS]

cdef TouchListener LISTENER


cdef inline const WalkerParams* params_in(const Walker* e) noexcept nogil:
    return <const WalkerParams*>e.base.params


# ---- walker ----------------------------------------------------------------------------------------------------------

cdef void make_leg(Walker* e, int i, double x, double y) noexcept nogil:
    """Create leg 0 or 1 of a robot whose hull is at (x, y)."""
    cdef const WalkerParams* p = params_in(e)
    cdef int side = 2 * i - 1
    cdef b2Body* upper
    cdef b2Body* lower
    cdef b2FixtureDef fixture
    fixture.density = <float>p.leg_density
    fixture.filter.categoryBits = WALKER
    fixture.filter.maskBits = GROUND
    upper = scene_body(e.base.world, b2_dynamicBody, x, y - p.leg_h / 2 - p.leg_down, side * 0.05)
    scene_box(upper, fixture, p.leg_w / 2, p.leg_h / 2)
    e.joints[2 * i] = scene_motor(e.base.world, e.hull, upper, 0, p.leg_down, 0, p.leg_h / 2, p.motors_torque,
                                  side, -0.8, 1.1)
    lower = scene_body(e.base.world, b2_dynamicBody, x, y - p.leg_h * 3 / 2 - p.leg_down, side * 0.05)
    scene_box(lower, fixture, 0.8 * p.leg_w / 2, p.leg_h / 2)
    e.joints[2 * i + 1] = scene_motor(e.base.world, upper, lower, 0, -p.leg_h / 2, 0, p.leg_h / 2,
                                      p.motors_torque, 1, -1.6, -0.1)
    lower.SetUserData(&e.foot_touch[i])
    e.legs[2 * i] = upper
    e.legs[2 * i + 1] = lower


cdef void make_walker(Walker* e) noexcept nogil:
    cdef const WalkerParams* p = params_in(e)
    cdef double x = p.terrain_step * p.terrain_startpad / 2, y = p.terrain_height + 2 * p.leg_h
    e.hull = scene_hull(e.base.world, x, y, HULL_CORNERS, 5, SCALE, p.hull_density, p.hull_friction, WALKER, GROUND,
                        &e.hull_touch)
    e.hull.ApplyForceToCenter(b2Vec2(<float>ep_uniform(&e.base.rng, -p.initial_random, p.initial_random), 0), True)
    make_leg(e, 0, x, y)
    make_leg(e, 1, x, y)


cdef void clear(Walker* e) noexcept nogil:
    """Remove all bodies from the world, in upstream's order: the order affects later episodes."""
    cdef int i
    e.base.world.SetContactListener(NULL)
    for i in range(e.terrain.num_bodies):
        e.base.world.DestroyBody(e.terrain.bodies[e.terrain.num_bodies - 1 - i])
    e.base.world.DestroyBody(e.hull)
    for i in range(MOTORS):
        e.base.world.DestroyBody(e.legs[i])


cdef int reset(WorldEnv* env, const WorldOptions* options) noexcept nogil:
    cdef Walker* e = <Walker*>env
    if e.terrain.num_bodies:
        clear(e)
    e.base.world.SetGravity(b2Vec2(0, <float>params_in(e).gravity))
    e.base.world.SetContactListener(&LISTENER)
    memset(&e.hull_touch, 0, sizeof(e.hull_touch))
    memset(e.foot_touch, 0, sizeof(e.foot_touch))
    memset(e.action, 0, sizeof(e.action))
    e.lidar_shown = 0
    make_terrain(&e.terrain, e.base.world, params_in(e), &e.base.rng, (<const Config*>options).hardcore)
    make_clouds(&e.terrain, params_in(e), &e.base.rng)
    make_walker(e)
    return True


cdef inline float effort(float action) noexcept nogil:
    """Return the fraction of a motor's torque that an action uses."""
    return min(fabsf(action), <float>1)


cdef int32_t set_action(WorldEnv* env, const WorldOptions* options, const void* actions, int32_t id) noexcept nogil:
    cdef const float* action = <const float*>actions + MOTORS * <size_t>id
    cdef int i
    for i in range(MOTORS):
        if isnan(action[i]):
            return NAN_ACTION
    memcpy((<Walker*>env).action, action, MOTORS * sizeof(float))
    return 0


cdef void apply_forces(WorldEnv* env, const WorldOptions* options) noexcept nogil:
    cdef Walker* e = <Walker*>env
    cdef const WalkerParams* p = params_in(e)
    cdef float[2] speed = [<float>p.speed_hip, <float>p.speed_knee]
    cdef int i
    for i in range(MOTORS):
        e.joints[i].SetMotorSpeed(speed[i % 2] * <float>((e.action[i] > 0) - (e.action[i] < 0)))
        e.joints[i].SetMaxMotorTorque(<float>p.motors_torque * effort(e.action[i]))


cdef void observe(WorldEnv* env, const WorldOptions* options, envpool_outcome* out) noexcept nogil:
    cdef Walker* e = <Walker*>env
    cdef const WalkerParams* p = params_in(e)
    cdef double x = e.hull.GetPosition().x, y = e.hull.GetPosition().y, angle = e.hull.GetAngle(), shaping
    cdef float* o = e.obs
    cdef float reward, cost = <float>(0.00035 * p.motors_torque)
    cdef int i, leg
    o[0] = <float>angle
    o[1] = <float>(2.0 * e.hull.GetAngularVelocity() / SCENE_FPS)
    o[2] = <float>(0.3 * e.hull.GetLinearVelocity().x * (WIDTH / SCALE) / SCENE_FPS)
    o[3] = <float>(0.3 * e.hull.GetLinearVelocity().y * (HEIGHT / SCALE) / SCENE_FPS)
    for leg in range(2):
        i = 4 + 5 * leg
        o[i] = e.joints[2 * leg].GetJointAngle()
        o[i + 1] = <float>(<double>e.joints[2 * leg].GetJointSpeed() / p.speed_hip)
        o[i + 2] = <float>(<double>e.joints[2 * leg + 1].GetJointAngle() + 1.0)
        o[i + 3] = <float>(<double>e.joints[2 * leg + 1].GetJointSpeed() / p.speed_knee)
        o[i + 4] = 1.0 if e.foot_touch[leg].is_touching else 0.0
    for i in range(RAYS):
        o[14 + i] = scene_look(e.base.world, e.hull.GetPosition(), x + RAY[2 * i] * p.lidar_range,
                               y - RAY[2 * i + 1] * p.lidar_range, GROUND)

    shaping = 130 * x / SCALE
    shaping -= 5.0 * fabs(angle)
    reward = <float>(shaping - e.shaping)
    e.shaping = shaping
    if out == NULL:
        return
    for i in range(MOTORS):
        reward -= cost * effort(e.action[i])
    out.reward = reward
    out.terminated = x > (p.terrain_length - p.terrain_grass) * p.terrain_step
    if e.hull_touch.was_touched or x < 0:
        out.terminated = 1
        out.reward = -100


cdef void write(const void* env, const void* options, void* const* fields, int64_t row) noexcept nogil:
    memcpy(<float*>fields[0] + OBS * row, (<const Walker*>env).obs, OBS * sizeof(float))


# ---- frames ----------------------------------------------------------------------------------------------------------

cdef void find_ray(const Walker* e, int ray, double (*ends)[2]) noexcept nogil:
    """Find the end points of a lidar ray."""
    cdef double x = e.hull.GetPosition().x, y = e.hull.GetPosition().y, far = params_in(e).lidar_range
    ends[0][0] = x
    ends[0][1] = y
    scene_look_at(e.base.world, e.hull.GetPosition(), x + RAY[2 * ray] * far, y - RAY[2 * ray + 1] * far, GROUND,
                  ends[1])


cdef bint draw(WorldEnv* env, const WorldOptions* options, uint8_t* canvas) noexcept nogil:
    """Draw a frame. As upstream, each of the first frames shows one lidar ray: the rays sweep forth and back."""
    cdef Walker* e = <Walker*>env
    cdef WalkerScene scene
    cdef double ends[2][2]
    cdef int i
    e.lidar_shown = (e.lidar_shown + 1) % LIDAR_ROUND
    scene.ray = NULL
    if e.lidar_shown < 2 * RAYS:
        find_ray(e, e.lidar_shown if e.lidar_shown < RAYS else 2 * RAYS - 1 - e.lidar_shown, ends)
        scene.ray = ends
    scene.step = params_in(e).terrain_step
    scene.height = params_in(e).terrain_height
    scene.ground = e.terrain.ground
    scene.length = e.terrain.length
    scene.clouds = e.terrain.clouds
    scene.num_clouds = e.terrain.num_clouds
    scene.terrain = e.terrain.bodies
    scene.num_terrain = e.terrain.num_bodies
    for i in range(MOTORS):
        scene.parts[i] = e.legs[i]
    scene.parts[MOTORS] = e.hull
    walker_draw(&scene, canvas)
    return True


# ---- saved states ----------------------------------------------------------------------------------------------------

cdef void forget(WorldEnv* env) noexcept nogil:
    (<Walker*>env).terrain.num_bodies = 0


cdef void transfer(WorldEnv* env, const WorldOptions* options, Archive* archive) noexcept nogil:
    cdef Walker* e = <Walker*>env
    transfer_touches(&e.hull_touch, 1, archive)
    transfer_touches(e.foot_touch, 2, archive)
    archive.numbers(&e.shaping, 1)
    archive.integer(&e.lidar_shown, 0, LIDAR_ROUND - 1)
    archive.bytes(e.action, sizeof(e.action))
    archive.bytes(e.obs, sizeof(e.obs))


# ---- env definition --------------------------------------------------------------------------------------------------

cdef WorldFunctions FUNCTIONS = WorldFunctions(
    env_size=sizeof(Walker), bad_action="the action contains NaN; pass numbers, which are clipped to [-1, 1]",
    bad_reset=NULL, release=NULL, seed=NULL, reset=reset, set_action=set_action, apply_forces=apply_forces,
    observe=observe,
    write=write, draw=draw, canvas_height=WALKER_HEIGHT, canvas_width=WALKER_WIDTH, forget=forget,
    transfer=transfer, transfer_before=NULL, state_size=1 << 17,
)
cdef envpool_env ENV_DEF
worlds_init(&ENV_DEF, "BipedalWalker")


class BipedalWalker(Box2DDefinition):
    """A robot with two legs on rough terrain.

    The observation is float32 (24,): the hull's angle (rad), angular velocity (rad per 0.04 s) and velocity (scaled);
    for each leg the hip's angle (rad) and speed (in units of 4 rad/s), the knee's angle + 1 (rad) and speed (in units
    of 6 rad/s), and whether the foot touches the ground; and 10 lidar ranges (in units of 5.33 m). The action is
    float32 (4,), clipped to [-1, 1]: the torques of the hip and the knee of each leg, whose signs give the directions;
    NaN is an error. The reward is the distance walked minus the effort and the tilt; it is -100 for falling or for
    leaving the terrain at its left end. Both end the episode, and so does reaching the right end.

    Options
    -------
    hardcore : bool
        If True, the terrain has stumps, stairs and pits.
    """

    options = {"reward_threshold": 300.0, "hardcore": False}
    params = PARAMS

    @staticmethod
    def build(config):
        """Return the capsule of BipedalWalker under a configuration."""
        cdef Config c
        c.base.functions = &FUNCTIONS
        fill_params(&c.base.params, PARAMS, config, sizeof(WalkerParams))
        c.hardcore = config.hardcore
        leg = [np.pi, 5, np.pi, 5]
        high = np.array([np.pi, 5, 5, 5, *leg, 5, *leg, 5, *[1] * RAYS], np.float32)
        low = -high
        low[[8, 13]] = -0.0
        fields = [Field("obs", np.float32, (OBS,), low, high)]
        actions = [Field("action", np.float32, (-1, MOTORS), -1, 1)]
        config_bytes = envpool_config_bytes(&c, sizeof(c))
        return define(envpool_template(&ENV_DEF), fields, actions, config_bytes, params=param_fields(PARAMS))
