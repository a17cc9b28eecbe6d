"""frame.h: observations and frames of CarRacing."""

from libc.stdint cimport int32_t, int64_t, uint8_t, uint32_t

cdef extern from "envpool/box2d/car_racing/frame.h" nogil:
    enum:
        CANVAS_HEIGHT
        CANVAS_WIDTH
        OBS_SIZE

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
        double field
        double reach
        double size
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
        uint8_t glyphs[11][46][23]
        int32_t advance[11]
        int32_t kerning[11][11]

    void cell_tables_init(cell_tables* tables)
    void car_racing_draw_obs(const car_racing_brush* brush, const car_racing_scene* scene, uint8_t* obs)
    void car_racing_draw_frame(const car_racing_brush* brush, const car_racing_scene* scene, uint8_t* frame)
