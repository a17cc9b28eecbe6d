# distutils: language = c++
"""BipedalWalker: a robot with two legs of two segments that is to walk over rough terrain.

Source of the dynamics: ``gymnasium.envs.box2d.bipedal_walker``, whose arithmetic is done in its precision here as
there; Box2D computes in float32. As upstream, an env keeps its world over episodes, so that an episode depends a little
on those before.
"""

import numpy as np

from cpython.pycapsule cimport PyCapsule_New
from libc.math cimport cos, fabs, fabsf, isnan, sin
from libc.stdint cimport int32_t, int64_t, uint8_t
from libc.string cimport memcpy, memset

from envpool.box2d.scene cimport (
    SCENE_FPS, Touch, TouchListener, b2_dynamicBody, b2_staticBody, b2Body, b2FixtureDef, b2RevoluteJoint, b2Vec2,
    scene_body, scene_box, scene_edge, scene_look, scene_look_at, scene_motor, scene_polygon,
)
from envpool.box2d.worlds cimport Env, Options, Outcome, Task, init_kind
from envpool.env cimport ENVPOOL_CAPSULE_NAME, envpool_env
from envpool.numerics.rng cimport ep_integers, ep_next_double, ep_uniform

from envpool.native import Field, define

cdef enum:
    OBS = 24
    MOTORS = 4                          # hip and knee of either leg
    RAYS = 10
    GRASS_LENGTH = 10                   # spots of grass are shorter
    START_LENGTH = 20                   # flat ground at the start
    MAX_TERRAIN = 600                   # bodies: the edges, and at most 4 polygons for an obstacle of 6 steps or more
    GROUND = 0x0001                     # category bits
    WALKER = 0x0020
    NAN_ACTION = 1                      # error code
    LIDAR_ROUND = 100                   # pictures from one that shows the first ray to the next

cdef extern from "bipedal_walker_frame.h" nogil:
    enum:
        WALKER_HEIGHT
        WALKER_WIDTH
        WALKER_LENGTH                   # corners of the ground, STEP from each other
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

cdef double SCALE = 30.0                # pixels of upstream's picture in a metre
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

cdef double[2 * RAYS] RAY               # where the rays end, relative to the hull
cdef int ray
for ray in range(RAYS):
    RAY[2 * ray] = sin(1.5 * ray / 10.0) * (160 / SCALE)
    RAY[2 * ray + 1] = cos(1.5 * ray / 10.0) * (160 / SCALE)

cdef struct Config:
    Options base
    bint hardcore

cdef struct Walker:
    Env base
    b2Body* terrain[MAX_TERRAIN]
    b2Body* hull
    b2Body* legs[MOTORS]                # upper and lower segment of one leg, then of the other
    b2RevoluteJoint* joints[MOTORS]
    Touch hull_touch
    Touch foot_touch[2]
    double shaping                      # of the last step
    int32_t num_terrain
    double[WALKER_LENGTH] ground        # heights of its corners
    double clouds[WALKER_CLOUDS][WALKER_CLOUD_CORNERS][2]
    int32_t lidar_shown                 # pictures of this episode, modulo LIDAR_ROUND
    float action[MOTORS]                # of this step
    float obs[OBS]

cdef TouchListener LISTENER


# ---- terrain ---------------------------------------------------------------------------------------------------------

cdef b2Body* add_ground(Walker* e) noexcept nogil:
    """A body for a part of the terrain."""
    cdef b2Body* body = scene_body(e.base.world, b2_staticBody, 0, 0, 0)
    e.terrain[e.num_terrain] = body
    e.num_terrain += 1
    return body


cdef void add_block(Walker* e, double left, double right, double first, double second) noexcept nogil:
    """A rectangle; its corners go from the height `first` to the height `second`, as the order decides rounding."""
    cdef b2FixtureDef fixture
    cdef double[8] corners = [left, first, right, first, right, second, left, second]
    fixture.friction = FRICTION
    scene_polygon(add_ground(e), fixture, corners, 4)


cdef void make_terrain(Walker* e, bint hardcore) noexcept nogil:
    cdef double velocity = 0, y = GROUND_HEIGHT, x, below, stair_y = 0
    cdef int64_t counter = START_LENGTH, spot = GRASS, stair_steps = 0, stair_width = 1, stair_height = 0, s
    cdef bint is_first = False          # step of a spot
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
    """Leg 0 or 1; (x, y) is the hull's place."""
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
    cdef double[10] corners
    cdef b2FixtureDef fixture
    cdef int i
    for i in range(10):
        corners[i] = HULL_CORNERS[i] / SCALE
    fixture.density = 5.0
    fixture.friction = 0.1
    fixture.filter.categoryBits = WALKER
    fixture.filter.maskBits = GROUND
    e.hull = scene_body(e.base.world, b2_dynamicBody, x, y, 0)
    scene_polygon(e.hull, fixture, corners, 5)
    e.hull.SetUserData(&e.hull_touch)
    e.hull.ApplyForceToCenter(b2Vec2(<float>ep_uniform(&e.base.rng, -5, 5), 0), True)
    make_leg(e, 0, x, y)
    make_leg(e, 1, x, y)


cdef void clear(Walker* e) noexcept nogil:
    """Takes all bodies out of the world, in upstream's order, which decides how the world goes on."""
    cdef int i
    e.base.world.SetContactListener(NULL)
    for i in range(e.num_terrain):
        e.base.world.DestroyBody(e.terrain[e.num_terrain - 1 - i])
    e.base.world.DestroyBody(e.hull)
    for i in range(MOTORS):
        e.base.world.DestroyBody(e.legs[i])


cdef void start(Env* env, const Options* options) noexcept nogil:
    cdef Walker* e = <Walker*>env
    if e.num_terrain:
        clear(e)
    e.base.world.SetContactListener(&LISTENER)
    memset(&e.hull_touch, 0, sizeof(e.hull_touch))
    memset(e.foot_touch, 0, sizeof(e.foot_touch))
    memset(e.action, 0, sizeof(e.action))
    e.lidar_shown = 0
    make_terrain(e, (<const Config*>options).hardcore)
    make_clouds(e)
    make_walker(e)


cdef inline float effort(float action) noexcept nogil:
    """How much of a motor's torque is used."""
    return min(fabsf(action), <float>1)


cdef int32_t choose(Env* env, const Options* options, const void* actions, int32_t id) noexcept nogil:
    cdef const float* action = <const float*>actions + MOTORS * <size_t>id
    cdef int i
    for i in range(MOTORS):
        if isnan(action[i]):
            return NAN_ACTION
    memcpy((<Walker*>env).action, action, MOTORS * sizeof(float))
    return 0


cdef void push(Env* env, const Options* options) noexcept nogil:
    cdef Walker* e = <Walker*>env
    cdef int i
    for i in range(MOTORS):
        e.joints[i].SetMotorSpeed(SPEED[i] * <float>((e.action[i] > 0) - (e.action[i] < 0)))
        e.joints[i].SetMaxMotorTorque(<float>TORQUE * effort(e.action[i]))


cdef void observe(Env* env, const Options* options, Outcome* out) noexcept nogil:
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


cdef void write(const Env* env, const Options* options, void* const* fields, int64_t row) noexcept nogil:
    memcpy(<float*>fields[0] + OBS * row, (<const Walker*>env).obs, OBS * sizeof(float))


# ---- picture ---------------------------------------------------------------------------------------------------------

cdef void find_ray(const Walker* e, int ray, double (*ends)[2]) noexcept nogil:
    """Where a ray of the lidar starts and ends."""
    cdef double x = e.hull.GetPosition().x, y = e.hull.GetPosition().y
    ends[0][0] = x
    ends[0][1] = y
    scene_look_at(e.base.world, e.hull.GetPosition(), x + RAY[2 * ray], y - RAY[2 * ray + 1], GROUND, ends[1])


cdef bint draw(Env* env, const Options* options, uint8_t* canvas) noexcept nogil:
    """Upstream shows one ray in each of the first pictures of an episode: there and back again."""
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


# ---- kind of env -----------------------------------------------------------------------------------------------------

cdef Task TASK = Task(sizeof(Walker), "the action has a NaN, allowed are numbers; those beyond -1 and 1 are clipped",
                      NULL, NULL, start, choose, push, observe, write, WALKER_HEIGHT, WALKER_WIDTH,
                      draw)
cdef envpool_env ENV_DEF
init_kind(&ENV_DEF, "BipedalWalker")


class BipedalWalker:
    """Robot with two legs on rough terrain.

    Observation float32 (24,): the hull's angle (rad), angular velocity (over 0.04 s), velocity (scaled); for each leg
    the hip's angle (rad) and speed (of 4 rad/s), the knee's angle + 1 and speed (of 6 rad/s), whether the foot touches
    the ground; 10 lidar ranges (of 5.33 m). Action float32 (4,): torque of the hip and the knee of either leg, the sign
    is the direction; clipped to [-1, 1]; NaN is an error. Reward: way forward, less effort and tilt; -100 for falling
    or walking out at the left end. An episode ends there and at the right end of the terrain.

    Options
    -------
    hardcore : bool
        With stumps, stairs and pits.
    """

    options = {"reward_threshold": 300.0, "hardcore": False}

    @staticmethod
    def render_fps(config):
        """Return how many pictures a second show the task at its own speed."""
        return SCENE_FPS

    @staticmethod
    def build(config):
        """Return the capsule of this kind."""
        cdef Config c
        c.base = Options(&TASK, -10)
        c.hardcore = config.hardcore
        leg = [np.pi, 5, np.pi, 5]
        high = np.array([np.pi, 5, 5, 5, *leg, 5, *leg, 5, *[1] * RAYS], np.float32)
        low = -high
        low[[8, 13]] = -0.0
        fields = [Field("obs", np.float32, (OBS,), low, high)]
        actions = [Field("action", np.float32, (-1, MOTORS), -1, 1)]
        template = PyCapsule_New(&ENV_DEF, ENVPOOL_CAPSULE_NAME, NULL)
        return define(template, fields, actions, (<const char*>&c)[:sizeof(Config)])
