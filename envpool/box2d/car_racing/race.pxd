"""race.h, track.h, shapes.h and frame.h: what contacts tell CarRacing, its tracks, its picture."""

from libc.stdint cimport int32_t, int64_t, uint8_t, uint32_t
from libcpp cimport bool

from envpool.box2d.scene cimport b2ContactListener
from envpool.numerics.rng cimport ep_pcg64

cdef extern from "race.h" nogil:
    cdef struct Race:
        double reward
        double lap_percent
        int32_t num_tiles
        int32_t num_visited
        bool is_lap_complete
        uint32_t road_colour

    cdef struct RacePart:
        Race* race
        int32_t tile
        int32_t on_tiles
        bool is_visited
        uint32_t* colour

    cdef cppclass RaceListener(b2ContactListener):
        pass

cdef extern from "track.h" nogil:
    enum:
        TRACK_MAX

    cdef struct track_point:
        double alpha
        double beta
        double x
        double y

    cdef struct track:
        int32_t length
        uint8_t border[2500]

    const track_point* track_at(const track* t, int32_t i)
    double track_sign(double x)
    void track_make(track* t, ep_pcg64* rng)

cdef extern from "shapes.h" nogil:
    enum:
        CAR_RACING_HULL_PARTS
    const double CAR_RACING_SCALE
    const double CAR_RACING_FIELD
    const double CAR_RACING_UNIT
    const double CAR_RACING_WHEEL_RADIUS

    ctypedef struct car_racing_part:
        int32_t count
        double vertices[8][2]

    const car_racing_part CAR_RACING_WHEEL
    const car_racing_part* CAR_RACING_HULL

cdef extern from "frame.h" nogil:
    enum:
        CANVAS_HEIGHT
        CANVAS_WIDTH
        CAR_RACING_MARKS
        CAR_RACING_MARK_POINTS

    ctypedef struct cell_tables:
        pass

    ctypedef struct car_racing_tile:
        double vertices[4][2]
        uint32_t colour

    ctypedef struct car_racing_mark:
        uint32_t colour
        int32_t length
        float points[30][2]

    ctypedef struct car_racing_body:
        float x
        float y
        float sine
        float cosine

    ctypedef struct car_racing_scene:
        const car_racing_tile* road
        int32_t road_length
        const car_racing_mark* marks
        int64_t num_marks
        uint32_t field_colour
        uint32_t grass_colour
        double time
        double hull_angle
        double hull_speed[2]
        double hull_spin
        double steering_angle
        double wheel_speed[4]
        double wheel_phase[4]
        double reward
        car_racing_body hull
        car_racing_body wheels[4]

    ctypedef struct car_racing_brush:
        cell_tables tables
        uint8_t glyphs[11][42][23]
        int32_t advance[11]
        int32_t kerning[11][11]

    void cell_tables_init(cell_tables* tables)
    void car_racing_draw(const car_racing_brush* brush, const car_racing_scene* scene, uint8_t* picture)
    void car_racing_draw_canvas(const car_racing_brush* brush, const car_racing_scene* scene, uint8_t* canvas)
