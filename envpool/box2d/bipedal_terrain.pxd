"""The terrain of BipedalWalker: the ground with its obstacles, and clouds, from random numbers in upstream's order."""

from libc.math cimport cos, sin
from libc.stdint cimport int32_t, int64_t

from envpool.box2d.parameters cimport WalkerParams
from envpool.box2d.scene cimport (
    b2_staticBody, b2Body, b2FixtureDef, b2World, scene_body, scene_edge, scene_polygon,
)
from envpool.numerics.rng cimport ep_integers, ep_next_double, ep_pcg64, ep_uniform

cdef extern from "envpool/box2d/bipedal_walker_frame.h" nogil:
    enum:
        WALKER_HEIGHT
        WALKER_WIDTH
        WALKER_LENGTH                   # most corners of the ground
        WALKER_CLOUDS                   # most clouds
        WALKER_CLOUD_CORNERS

    cdef struct WalkerScene:
        double step
        double height
        const double* ground
        int32_t length
        const double (*clouds)[5][2]
        int32_t num_clouds
        b2Body* const* terrain
        int32_t num_terrain
        const b2Body* parts[5]
        const double (*ray)[2]

    void walker_draw(const WalkerScene* s, unsigned char* pixels)

cdef enum:
    GROUND = 0x0001                     # category bit
    # Edges, and the polygons of obstacles: an obstacle of n polygons has at least n steps, and the last one may go
    # beyond the end of the terrain.
    MAX_TERRAIN = 2 * WALKER_LENGTH + 20

cdef enum Spot:
    GRASS
    STUMP
    STAIRS
    PIT
    NUM_SPOTS

cdef struct Terrain:
    b2Body* bodies[MAX_TERRAIN]         # the polygons of obstacles, followed by the edges of the ground
    int32_t num_bodies
    int32_t length                      # corners of the ground
    int32_t num_clouds
    double[WALKER_LENGTH] ground        # heights of the corners (length)
    double clouds[WALKER_CLOUDS][WALKER_CLOUD_CORNERS][2]


cdef inline b2Body* add_ground(Terrain* t, b2World* world) noexcept nogil:
    """Create a body for a part of the terrain."""
    cdef b2Body* body = scene_body(world, b2_staticBody, 0, 0, 0)
    t.bodies[t.num_bodies] = body
    t.num_bodies += 1
    return body


cdef inline void add_block(Terrain* t, b2World* world, const WalkerParams* p, double left, double right, double first,
                           double second) noexcept nogil:
    """Create a rectangle. Its corners run from height `first` to height `second`: their order affects rounding."""
    cdef b2FixtureDef fixture
    cdef double[8] corners = [left, first, right, first, right, second, left, second]
    fixture.friction = <float>p.friction
    scene_polygon(add_ground(t, world), fixture, corners, 4)


cdef inline int64_t draw_size(ep_pcg64* rng, double least, double most) noexcept nogil:
    """Draw an integer; `least`, if `most` is less."""
    return ep_integers(rng, <int64_t>least, <int64_t>max(least, most) + 1)


cdef inline void make_terrain(Terrain* t, b2World* world, const WalkerParams* p, ep_pcg64* rng,
                              bint hardcore) noexcept nogil:
    cdef double step = p.terrain_step, mean = p.terrain_height, depth = p.pit_depth * p.terrain_step
    cdef double velocity = 0, y = mean, x, below, stair_y = 0
    cdef int64_t counter = <int64_t>p.terrain_startpad, spot = GRASS, s
    cdef int64_t stair_steps = 0, stair_width = 1, stair_height = 0
    cdef bint is_first = False          # whether this is the first step of a spot
    cdef b2FixtureDef edge
    cdef int64_t grass = <int64_t>p.terrain_grass
    cdef int i
    t.num_bodies = 0
    t.length = <int32_t>p.terrain_length
    for i in range(t.length):
        x = i * step
        if spot == GRASS and not is_first:
            below = mean - y
            velocity = 0.8 * velocity + 0.01 * ((below > 0) - (below < 0))
            if i > p.terrain_startpad:
                velocity += ep_uniform(rng, -p.terrain_roughness, p.terrain_roughness) / 30.0
            y += velocity
        elif spot == PIT and is_first:
            counter = draw_size(rng, p.pit_min, p.pit_max)
            add_block(t, world, p, x, x + step, y, y - depth)
            add_block(t, world, p, x + step * counter, x + step + step * counter, y, y - depth)
            counter += 2
            stair_y = y
        elif spot == PIT:
            y = stair_y
            if counter > 1:
                y -= depth
        elif spot == STUMP and is_first:
            counter = draw_size(rng, p.stump_min, p.stump_max)
            add_block(t, world, p, x, x + counter * step, y, y + counter * step)
        elif spot == STAIRS and is_first:
            stair_height = 1 if ep_next_double(rng) > 0.5 else -1
            stair_width = draw_size(rng, p.stair_width_min, p.stair_width_max)
            stair_steps = draw_size(rng, p.stair_steps_min, p.stair_steps_max)
            stair_y = y
            for s in range(stair_steps):
                add_block(t, world, p, x + (s * stair_width) * step, x + ((1 + s) * stair_width) * step,
                          y + (s * stair_height) * step, y + (-1 + s * stair_height) * step)
            counter = stair_steps * stair_width
        elif spot == STAIRS:
            s = stair_steps * stair_width - counter - stair_height
            y = stair_y + (<double>s / <double>stair_width * stair_height) * step
        is_first = False
        t.ground[i] = y
        counter -= 1
        if counter == 0:
            counter = ep_integers(rng, grass // 2, grass)
            spot = ep_integers(rng, 1, NUM_SPOTS) if spot == GRASS and hardcore else GRASS
            is_first = True
    edge.friction = <float>p.friction
    edge.filter.categoryBits = GROUND
    for i in range(t.length - 1):
        scene_edge(add_ground(t, world), edge, i * step, t.ground[i], (i + 1) * step, t.ground[i + 1])


cdef inline void make_clouds(Terrain* t, const WalkerParams* p, ep_pcg64* rng) noexcept nogil:
    cdef double x, step = p.terrain_step
    cdef int i, k
    t.num_clouds = t.length // 20
    for i in range(t.num_clouds):
        x = ep_uniform(rng, 0, t.length) * step
        for k in range(WALKER_CLOUD_CORNERS):
            t.clouds[i][k][0] = x + 15 * step * sin(3.14 * 2 * k / 5) + ep_uniform(rng, 0, 5 * step)
            t.clouds[i][k][1] = WALKER_HEIGHT / 30.0 * 3 / 4 + 5 * step * cos(3.14 * 2 * k / 5) + ep_uniform(
                rng, 0, 5 * step)
