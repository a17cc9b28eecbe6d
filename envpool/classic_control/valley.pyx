"""Drawing for both mountain cars: the hill, the car and the flag.

The hill does not change, so it is drawn once per pool. NumPy computes its line and the position of the flag, as it does
upstream.
"""

import numpy as np

from libc.stdint cimport int32_t, uint8_t

from envpool.raster.aaline cimport aaline_draw_through
from envpool.raster.canvas cimport (
    canvas, canvas_clear, canvas_colour, canvas_flipped, canvas_of_frame_flipped, canvas_set,
)
from envpool.raster.gfx cimport gfx_draw_circle, gfx_draw_polygon, turn, turn_of, turn_point
from envpool.raster.image cimport sheet_copy, sheet_numbers
from envpool.env cimport envpool_frames

from envpool.raster.sheet import pack

LOWEST, HIGHEST = -1.2, 0.6     # positions at the borders of the frame
POINTS = 100                    # of the line

cdef enum:
    CLEARANCE = 10              # pixels between the line and the car
    FLAG = 50                   # height of the pole


cdef inline void place(const turn* by, double x, double y, double dx, double dy, bint is_single,
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
    place(&by, x, y, -20, 0, is_single, corners[0])
    place(&by, x, y, -20, 20, is_single, corners[1])
    place(&by, x, y, 20, 20, is_single, corners[2])
    place(&by, x, y, 20, 0, is_single, corners[3])
    gfx_draw_polygon(c, corners, 4, canvas_colour(0, 0, 0))
    for side in range(2):
        place(&by, x, y, -10 if side else 10, 0, is_single, wheel)
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


cdef void draw_valley(const envpool_frames* f, int32_t i, double x, double y, double angle,
                      bint is_single) noexcept nogil:
    cdef canvas c = canvas_of_frame_flipped(f, i)
    cdef const int32_t* flag = sheet_numbers(f.assets)
    sheet_copy(&c, f.assets, 0)
    draw_car(&c, x, y, angle, is_single)
    draw_flag(&c, flag[0], flag[1])


def height_of(position):
    """Return the height of the hill at a position."""
    return np.sin(3 * position) * 0.45 + 0.55


def hill(points, height, width):
    """Return an image of a line through points (n, 2): uint8 (height, width, 3)."""
    cdef uint8_t[:, :, ::1] pixels = np.empty((height, width, 3), np.uint8)
    cdef double[:, ::1] p = points
    cdef canvas c = canvas_flipped(&pixels[0, 0, 0], height, width)
    canvas_clear(&c, canvas_colour(255, 255, 255))
    aaline_draw_through(&c, <const double (*)[2]>&p[0, 0], <int32_t>p.shape[0], False, 0)
    return np.asarray(pixels)


def assets(goal, height, width):
    """Return the assets of draw_valley: the image of the hill, and the foot of the flag.

    Parameters
    ----------
    goal : float
        Position of the flag.
    height, width : int
        Size of the frame in pixels.

    Returns
    -------
    bytes
        A sheet of one image and two numbers, see ``envpool.raster.sheet.pack``.
    """
    scale = width / (HIGHEST - LOWEST)
    x = np.linspace(LOWEST, HIGHEST, POINTS)
    points = np.stack([(x - LOWEST) * scale, height_of(x) * scale], axis=1)
    flag = int((goal - LOWEST) * scale), int(height_of(goal) * scale)
    return pack([hill(points, height, width)], flag)
