"""Shared code of both mountain cars: drawing the hill, the car and the flag, and a part of their definitions.

The hill of the pool's options is drawn once per pool. The frame of a car whose parameters give it another hill takes
longer, since its hill is drawn again. NumPy computes the line upstream, and the arithmetic here is the same.
"""

import numpy as np

from libc.math cimport isfinite, sin
from libc.stdint cimport int32_t, uint8_t

from envpool.raster.aaline cimport aaline_draw_through
from envpool.raster.canvas cimport (
    canvas, canvas_clear, canvas_colour, canvas_flipped, canvas_of_frame_flipped, canvas_set,
)
from envpool.raster.gfx cimport gfx_draw_circle, gfx_draw_polygon, turn, turn_of, turn_point
from envpool.raster.image cimport sheet_copy, sheet_numbers
from envpool.env cimport envpool_frames

from envpool.classic_control.definition import WithBounds, reset_bounds
from envpool.config.params import validate_params
from envpool.errors import ConfigError
from envpool.native import Field
from envpool.raster.sheet import pack

cdef enum:
    POINTS = 100                # of the line
    CLEARANCE = 10              # pixels between the line and the car
    FLAG = 50                   # height of the pole


cdef inline void put_point(const turn* by, double x, double y, double dx, double dy, bint is_single,
                           double* out) noexcept nogil:
    """Write the position of a point of the car, in pixels of the frame, to `out`."""
    cdef double[2] turned
    turn_point(by, dx, dy, turned)
    turned[1] = turned[1] + CLEARANCE
    if is_single:
        out[0] = <float>turned[0] + <float>x
        out[1] = <float>turned[1] + <float>y
    else:
        out[0] = turned[0] + x
        out[1] = turned[1] + y


cdef void draw_car(const canvas* c, double x, double y, double angle, bint is_single) noexcept nogil:
    cdef turn by = turn_of(angle)
    cdef double[4][2] corners
    cdef double[2] wheel
    cdef int32_t side
    put_point(&by, x, y, -20, 0, is_single, corners[0])
    put_point(&by, x, y, -20, 20, is_single, corners[1])
    put_point(&by, x, y, 20, 20, is_single, corners[2])
    put_point(&by, x, y, 20, 0, is_single, corners[3])
    gfx_draw_polygon(c, corners, 4, canvas_colour(0, 0, 0))
    for side in range(2):
        put_point(&by, x, y, -10 if side else 10, 0, is_single, wheel)
        gfx_draw_circle(c, wheel[0], wheel[1], 8, canvas_colour(128, 128, 128))


cdef void draw_flag(const canvas* c, int32_t x, int32_t y) noexcept nogil:
    cdef double[3][2] cloth
    cdef int32_t k
    cdef int32_t top = y + FLAG
    for k in range(y, top + 1):
        canvas_set(c, x, k, canvas_colour(0, 0, 0))
    cloth[0][0] = cloth[1][0] = x
    cloth[2][0] = x + 25
    cloth[0][1] = top
    cloth[1][1] = top - 10
    cloth[2][1] = top - 5
    gfx_draw_polygon(c, cloth, 3, canvas_colour(204, 204, 0))


cdef double height_of(double position) noexcept nogil:
    """Return the height of the hill at a position, in m."""
    return sin(3 * position) * 0.45 + 0.55


cdef int32_t pixel_of(double value) noexcept nogil:
    """Return a coordinate as upstream's int() does, or a place outside of every frame."""
    return <int32_t>value if -1e6 < value < 1e6 else -1000000


cdef valley valley_of(const envpool_frames* f, double* const* params, int32_t id, const double* usual) noexcept nogil:
    cdef double lowest = params[LOWEST][id], highest = params[HIGHEST][id], goal = params[GOAL][id]
    cdef valley v
    v.lowest = lowest
    v.highest = highest
    v.scale = f.width / (highest - lowest)
    v.has_usual_hill = lowest == usual[LOWEST] and highest == usual[HIGHEST]
    v.flag[0] = sheet_numbers(f.assets)[0]
    v.flag[1] = sheet_numbers(f.assets)[1]
    if not v.has_usual_hill or goal != usual[GOAL]:
        v.flag[0] = pixel_of((goal - lowest) * v.scale)
        v.flag[1] = pixel_of(height_of(goal) * v.scale)
    return v


cdef void draw_hill(const canvas* c, double lowest, double highest, double scale) noexcept nogil:
    """Draw the line of the hill through 100 points, whose positions are those of numpy.linspace."""
    cdef double step = (highest - lowest) / (POINTS - 1), x
    cdef double[POINTS][2] p
    cdef int32_t k
    canvas_clear(c, canvas_colour(255, 255, 255))
    for k in range(POINTS):
        x = k * step + lowest if k < POINTS - 1 else highest
        p[k][0] = (x - lowest) * scale
        p[k][1] = height_of(x) * scale
        if not (isfinite(<float>p[k][0]) and isfinite(<float>p[k][1])):
            return
    aaline_draw_through(c, p, POINTS, False, 0)


cdef void draw_valley(const envpool_frames* f, int32_t i, const valley* v, double x, double y, double angle,
                      bint is_single) noexcept nogil:
    cdef canvas c = canvas_of_frame_flipped(f, i)
    if v.has_usual_hill:
        sheet_copy(&c, f.assets, 0)
    else:
        draw_hill(&c, v.lowest, v.highest, v.scale)
    draw_car(&c, x, y, angle, is_single)
    draw_flag(&c, v.flag[0], v.flag[1])


class Valley(WithBounds):
    """A car in a valley."""

    reset_options = reset_bounds(-0.6, -0.4, "the first position", "m")
    #: Pairs of parameters, of which the first must be at most the second.
    ordered = (("min_position", "max_position"),)

    @classmethod
    def resolve_params(cls, config):
        """Return the parameters, or raise ConfigError if a lower bound exceeds its upper bound in an environment."""
        checked = validate_params(config, cls.params)[0]
        for names in cls.ordered:
            values = [getattr(checked, name) for name in names]
            bounds = [cls.params[name].default if value is None else value for name, value in zip(names, values)]
            for i, (least, most) in enumerate(np.broadcast(*bounds)):
                if least > most:
                    low, high = [f"{name}[{i}]" if np.ndim(value) else name for name, value in zip(names, values)]
                    raise ConfigError(f"{low} must be at most {high}={most}, got {least}")
        return cls.params

    @staticmethod
    def position_and_velocity(config):
        """Return the field of the observation."""
        low = np.array([config.min_position, -config.max_speed], np.float32)
        high = np.array([config.max_position, config.max_speed], np.float32)
        return Field("obs", np.float32, (2,), low, high)

    @staticmethod
    def render_assets(config, int32_t height, int32_t width):
        """Return the sheet of the pool's hill: its image, and the foot of the flag in pixels."""
        cdef uint8_t[:, :, ::1] pixels = np.empty((height, width, 3), np.uint8)
        cdef canvas c = canvas_flipped(&pixels[0, 0, 0], height, width)
        cdef double lowest = config.min_position, highest = config.max_position, goal = config.goal_position
        cdef double scale = width / (highest - lowest)
        draw_hill(&c, lowest, highest, scale)
        flag = pixel_of((goal - lowest) * scale), pixel_of(height_of(goal) * scale)
        return pack([np.asarray(pixels)], flag)
