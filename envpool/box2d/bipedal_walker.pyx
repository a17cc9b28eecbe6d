# distutils: language = c++
"""BipedalWalker: a robot with two legs of two segments that has to walk over rough terrain.

The dynamics are those of ``gymnasium.envs.box2d.bipedal_walker``. Every operation has upstream's precision; Box2D
computes in float32. As upstream, an env keeps its world across episodes, so that an episode depends slightly on the
episodes before it.
"""

import numpy as np

from cpython.pycapsule cimport PyCapsule_New
from libc.math cimport cos, fabs, fabsf, isnan, sin
from libc.stdint cimport int32_t, int64_t, uint8_t
from libc.string cimport memcpy, memset

from envpool.box2d.parameters cimport fill_params
from envpool.box2d.scene cimport (
    SCENE_FPS, Archive, Touch, TouchListener, b2_dynamicBody, b2_staticBody, b2Body, b2FixtureDef, b2RevoluteJoint,
    b2Vec2, scene_body, scene_box, scene_edge, scene_hull, scene_look, scene_look_at, scene_motor, scene_polygon,
    transfer_touches,
)
from envpool.box2d.worlds cimport WorldEnv, WorldFunctions, WorldOptions, WorldOutcome, worlds_init
from envpool.env cimport ENVPOOL_CAPSULE_NAME, envpool_env
from envpool.numerics.rng cimport ep_integers, ep_next_double, ep_uniform

from envpool.box2d.definition import Box2DDefinition
from envpool.native import Field, define

cdef enum:
    OBS = 24
    MOTORS = 4                          # hip and knee of both legs
    RAYS = 10
    GRASS_LENGTH = 10                   # upper bound of the length of a stretch of grass
    START_LENGTH = 20                   # length of the flat ground at the start
    MAX_TERRAIN = 600                   # bodies: the edges, and at most 4 polygons per obstacle of at least 6 steps
    GROUND = 0x0001                     # category bits
    WALKER = 0x0020
    NAN_ACTION = 1                      # error code
    LIDAR_ROUND = 100                   # period, in frames, of the lidar's display

cdef extern from "envpool/box2d/bipedal_walker_frame.h" nogil:
    enum:
        WALKER_HEIGHT
        WALKER_WIDTH
        WALKER_LENGTH                   # corners of the ground, at a distance of STEP
        WALKER_CLOUDS
        WALKER_CLOUD_CORNERS
    const double WALKER_STEP

    cdef struct WalkerScene:
        const double* ground
        const double (*clouds)[5][2]
        b2Body* const* terrain
        int32_t num_terrain
        const b2Body* parts[5]
        const double (*ray)[2]

    void walker_draw(const WalkerScene* s, uint8_t* pixels)

cdef enum Spot:
    GRASS
    STUMP
    STAIRS
    PIT
    NUM_SPOTS

cdef double SCALE = 30.0                # pixels of upstream's frame per metre
cdef double WIDTH = 600.0
cdef double HEIGHT = 400.0
cdef double STEP = WALKER_STEP
cdef double GROUND_HEIGHT = HEIGHT / SCALE / 4
cdef double FRICTION = 2.5
cdef double TORQUE = 80
cdef double LEG_DOWN = -8 / SCALE
cdef double LEG_WIDTH = 8 / SCALE
cdef double LEG_HEIGHT = 34 / SCALE
cdef double[10] HULL_CORNERS = [-30, 9, 6, 9, 34, 1, 34, -8, -30, -8]
cdef float[MOTORS] SPEED = [4, 6, 4, 6]
cdef float EFFORT_COST = <float>(0.00035 * 80)

cdef double[2 * RAYS] RAY               # end points of the lidar rays, relative to the hull
cdef int ray
for ray in range(RAYS):
    RAY[2 * ray] = sin(1.5 * ray / 10.0) * (160 / SCALE)
    RAY[2 * ray + 1] = cos(1.5 * ray / 10.0) * (160 / SCALE)

cdef struct Config:
    WorldOptions base
    bint hardcore

cdef struct Walker:
    WorldEnv base
    b2Body* terrain[MAX_TERRAIN]
    b2Body* hull
    b2Body* legs[MOTORS]                # upper and lower segment of the first leg and of the second leg
    b2RevoluteJoint* joints[MOTORS]
    Touch hull_touch
    Touch foot_touch[2]
    double shaping                      # of the last step
    int32_t num_terrain
    double[WALKER_LENGTH] ground        # heights of the corners of the ground
    double clouds[WALKER_CLOUDS][WALKER_CLOUD_CORNERS][2]
    int32_t lidar_shown                 # frames drawn in this episode, modulo LIDAR_ROUND
    float action[MOTORS]                # of this step
    float obs[OBS]

cdef TouchListener LISTENER


# ---- terrain ---------------------------------------------------------------------------------------------------------

cdef b2Body* add_ground(Walker* e) noexcept nogil:
    """Create a body for a part of the terrain."""
    cdef b2Body* body = scene_body(e.base.world, b2_staticBody, 0, 0, 0)
    e.terrain[e.num_terrain] = body
    e.num_terrain += 1
    return body


cdef void add_block(Walker* e, double left, double right, double first, double second) noexcept nogil:
    """Create a rectangle. Its corners run from height `first` to height `second`: their order affects rounding."""
    cdef b2FixtureDef fixture
    cdef double[8] corners = [left, first, right, first, right, second, left, second]
    fixture.friction = FRICTION
    scene_polygon(add_ground(e), fixture, corners, 4)


cdef void make_terrain(Walker* e, bint hardcore) noexcept nogil:
    cdef double velocity = 0, y = GROUND_HEIGHT, x, below, stair_y = 0
    cdef int64_t counter = START_LENGTH, spot = GRASS, stair_steps = 0, stair_width = 1, stair_height = 0, s
    cdef bint is_first = False          # whether this is the first step of a spot
    cdef b2FixtureDef edge
    cdef int i
    e.num_terrain = 0
    for i in range(WALKER_LENGTH):
        x = i * STEP
        if spot == GRASS and not is_first:
            below = GROUND_HEIGHT - y
            velocity = 0.8 * velocity + 0.01 * ((below > 0) - (below < 0))
            if i > START_LENGTH:
                velocity += ep_uniform(&e.base.rng, -1, 1) / SCALE
            y += velocity
        elif spot == PIT and is_first:
            counter = ep_integers(&e.base.rng, 3, 5)
            add_block(e, x, x + STEP, y, y - 4 * STEP)
            add_block(e, x + STEP * counter, x + STEP + STEP * counter, y, y - 4 * STEP)
            counter += 2
            stair_y = y
        elif spot == PIT:
            y = stair_y
            if counter > 1:
                y -= 4 * STEP
        elif spot == STUMP and is_first:
            counter = ep_integers(&e.base.rng, 1, 3)
            add_block(e, x, x + counter * STEP, y, y + counter * STEP)
        elif spot == STAIRS and is_first:
            stair_height = 1 if ep_next_double(&e.base.rng) > 0.5 else -1
            stair_width = ep_integers(&e.base.rng, 4, 5)
            stair_steps = ep_integers(&e.base.rng, 3, 5)
            stair_y = y
            for s in range(stair_steps):
                add_block(e, x + (s * stair_width) * STEP, x + ((1 + s) * stair_width) * STEP,
                          y + (s * stair_height) * STEP, y + (-1 + s * stair_height) * STEP)
            counter = stair_steps * stair_width
        elif spot == STAIRS:
            s = stair_steps * stair_width - counter - stair_height
            y = stair_y + (<double>s / <double>stair_width * stair_height) * STEP
        is_first = False
        e.ground[i] = y
        counter -= 1
        if counter == 0:
            counter = ep_integers(&e.base.rng, GRASS_LENGTH // 2, GRASS_LENGTH)
            spot = ep_integers(&e.base.rng, 1, NUM_SPOTS) if spot == GRASS and hardcore else GRASS
            is_first = True
    edge.friction = FRICTION
    edge.filter.categoryBits = GROUND
    for i in range(WALKER_LENGTH - 1):
        scene_edge(add_ground(e), edge, i * STEP, e.ground[i], (i + 1) * STEP, e.ground[i + 1])


cdef void make_clouds(Walker* e) noexcept nogil:
    cdef double x
    cdef int i, k
    for i in range(WALKER_CLOUDS):
        x = ep_uniform(&e.base.rng, 0, WALKER_LENGTH) * STEP
        for k in range(WALKER_CLOUD_CORNERS):
            e.clouds[i][k][0] = x + 15 * STEP * sin(3.14 * 2 * k / 5) + ep_uniform(&e.base.rng, 0, 5 * STEP)
            e.clouds[i][k][1] = HEIGHT / SCALE * 3 / 4 + 5 * STEP * cos(3.14 * 2 * k / 5) + ep_uniform(
                &e.base.rng, 0, 5 * STEP)


# ---- walker ----------------------------------------------------------------------------------------------------------

cdef void make_leg(Walker* e, int i, double x, double y) noexcept nogil:
    """Create leg 0 or 1 of a robot whose hull is at (x, y)."""
    cdef int side = 2 * i - 1
    cdef b2Body* upper
    cdef b2Body* lower
    cdef b2FixtureDef fixture
    fixture.density = 1.0
    fixture.filter.categoryBits = WALKER
    fixture.filter.maskBits = GROUND
    upper = scene_body(e.base.world, b2_dynamicBody, x, y - LEG_HEIGHT / 2 - LEG_DOWN, side * 0.05)
    scene_box(upper, fixture, LEG_WIDTH / 2, LEG_HEIGHT / 2)
    e.joints[2 * i] = scene_motor(e.base.world, e.hull, upper, 0, LEG_DOWN, 0, LEG_HEIGHT / 2, TORQUE, side, -0.8, 1.1)
    lower = scene_body(e.base.world, b2_dynamicBody, x, y - LEG_HEIGHT * 3 / 2 - LEG_DOWN, side * 0.05)
    scene_box(lower, fixture, 0.8 * LEG_WIDTH / 2, LEG_HEIGHT / 2)
    e.joints[2 * i + 1] = scene_motor(e.base.world, upper, lower, 0, -LEG_HEIGHT / 2, 0, LEG_HEIGHT / 2, TORQUE, 1,
                                      -1.6, -0.1)
    lower.SetUserData(&e.foot_touch[i])
    e.legs[2 * i] = upper
    e.legs[2 * i + 1] = lower


cdef void make_walker(Walker* e) noexcept nogil:
    cdef double x = STEP * START_LENGTH / 2, y = GROUND_HEIGHT + 2 * LEG_HEIGHT
    e.hull = scene_hull(e.base.world, x, y, HULL_CORNERS, 5, SCALE, 5.0, 0.1, WALKER, GROUND, &e.hull_touch)
    e.hull.ApplyForceToCenter(b2Vec2(<float>ep_uniform(&e.base.rng, -5, 5), 0), True)
    make_leg(e, 0, x, y)
    make_leg(e, 1, x, y)


cdef void clear(Walker* e) noexcept nogil:
    """Remove all bodies from the world, in upstream's order: the order affects later episodes."""
    cdef int i
    e.base.world.SetContactListener(NULL)
    for i in range(e.num_terrain):
        e.base.world.DestroyBody(e.terrain[e.num_terrain - 1 - i])
    e.base.world.DestroyBody(e.hull)
    for i in range(MOTORS):
        e.base.world.DestroyBody(e.legs[i])


cdef int reset(WorldEnv* env, const WorldOptions* options) noexcept nogil:
    cdef Walker* e = <Walker*>env
    if e.num_terrain:
        clear(e)
    e.base.world.SetGravity(b2Vec2(0, -10))
    e.base.world.SetContactListener(&LISTENER)
    memset(&e.hull_touch, 0, sizeof(e.hull_touch))
    memset(e.foot_touch, 0, sizeof(e.foot_touch))
    memset(e.action, 0, sizeof(e.action))
    e.lidar_shown = 0
    make_terrain(e, (<const Config*>options).hardcore)
    make_clouds(e)
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
    cdef int i
    for i in range(MOTORS):
        e.joints[i].SetMotorSpeed(SPEED[i] * <float>((e.action[i] > 0) - (e.action[i] < 0)))
        e.joints[i].SetMaxMotorTorque(<float>TORQUE * effort(e.action[i]))


cdef void observe(WorldEnv* env, const WorldOptions* options, WorldOutcome* out) noexcept nogil:
    cdef Walker* e = <Walker*>env
    cdef double x = e.hull.GetPosition().x, y = e.hull.GetPosition().y, angle = e.hull.GetAngle(), shaping
    cdef float* o = e.obs
    cdef float reward
    cdef int i, leg
    o[0] = <float>angle
    o[1] = <float>(2.0 * e.hull.GetAngularVelocity() / SCENE_FPS)
    o[2] = <float>(0.3 * e.hull.GetLinearVelocity().x * (WIDTH / SCALE) / SCENE_FPS)
    o[3] = <float>(0.3 * e.hull.GetLinearVelocity().y * (HEIGHT / SCALE) / SCENE_FPS)
    for leg in range(2):
        i = 4 + 5 * leg
        o[i] = e.joints[2 * leg].GetJointAngle()
        o[i + 1] = <float>(<double>e.joints[2 * leg].GetJointSpeed() / SPEED[0])
        o[i + 2] = <float>(<double>e.joints[2 * leg + 1].GetJointAngle() + 1.0)
        o[i + 3] = <float>(<double>e.joints[2 * leg + 1].GetJointSpeed() / SPEED[1])
        o[i + 4] = 1.0 if e.foot_touch[leg].is_touching else 0.0
    for i in range(RAYS):
        o[14 + i] = scene_look(e.base.world, e.hull.GetPosition(), x + RAY[2 * i], y - RAY[2 * i + 1], GROUND)

    shaping = 130 * x / SCALE
    shaping -= 5.0 * fabs(angle)
    reward = <float>(shaping - e.shaping)
    e.shaping = shaping
    if out == NULL:
        return
    for i in range(MOTORS):
        reward -= EFFORT_COST * effort(e.action[i])
    out.reward = reward
    out.terminated = x > (WALKER_LENGTH - GRASS_LENGTH) * STEP
    if e.hull_touch.was_touched or x < 0:
        out.terminated = 1
        out.reward = -100


cdef void write(const WorldEnv* env, const WorldOptions* options, void* const* fields, int64_t row) noexcept nogil:
    memcpy(<float*>fields[0] + OBS * row, (<const Walker*>env).obs, OBS * sizeof(float))


# ---- frames ----------------------------------------------------------------------------------------------------------

cdef void find_ray(const Walker* e, int ray, double (*ends)[2]) noexcept nogil:
    """Find the end points of a lidar ray."""
    cdef double x = e.hull.GetPosition().x, y = e.hull.GetPosition().y
    ends[0][0] = x
    ends[0][1] = y
    scene_look_at(e.base.world, e.hull.GetPosition(), x + RAY[2 * ray], y - RAY[2 * ray + 1], GROUND, ends[1])


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
    scene.ground = e.ground
    scene.clouds = e.clouds
    scene.terrain = e.terrain
    scene.num_terrain = e.num_terrain
    for i in range(MOTORS):
        scene.parts[i] = e.legs[i]
    scene.parts[MOTORS] = e.hull
    walker_draw(&scene, canvas)
    return True


# ---- saved states ----------------------------------------------------------------------------------------------------

cdef void forget(WorldEnv* env) noexcept nogil:
    (<Walker*>env).num_terrain = 0


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
    bad_reset=NULL, release=NULL, seed=NULL, reset=reset, set_action=set_action, apply_forces=apply_forces, observe=observe,
    write=write, draw=draw, canvas_height=WALKER_HEIGHT, canvas_width=WALKER_WIDTH, forget=forget,
    transfer=transfer, state_size=1 << 17,
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

    @staticmethod
    def build(config):
        """Return the capsule of BipedalWalker under a configuration."""
        cdef Config c
        c.base.functions = &FUNCTIONS
        fill_params(&c.base.params, {}, config, 0)
        c.hardcore = config.hardcore
        leg = [np.pi, 5, np.pi, 5]
        high = np.array([np.pi, 5, 5, 5, *leg, 5, *leg, 5, *[1] * RAYS], np.float32)
        low = -high
        low[[8, 13]] = -0.0
        fields = [Field("obs", np.float32, (OBS,), low, high)]
        actions = [Field("action", np.float32, (-1, MOTORS), -1, 1)]
        template = PyCapsule_New(&ENV_DEF, ENVPOOL_CAPSULE_NAME, NULL)
        return define(template, fields, actions, (<const char*>&c)[:sizeof(Config)])
