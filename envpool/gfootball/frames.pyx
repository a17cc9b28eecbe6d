# optimize: -Og
"""Frames: the pitch from above, with the players, the ball and the score.

Upstream draws a scene in perspective, with OpenGL. These frames are our own: they show what a game does, and are not
observations. The left team plays from left to right, in red; players that agents control have a white ring.
"""

from libc.math cimport floor
from libc.stdint cimport int32_t, uint8_t, uint32_t

from envpool.gfootball.library cimport football_info, football_player
from envpool.raster.canvas cimport canvas, canvas_clear, canvas_colour, canvas_span
from envpool.raster.gfx cimport gfx_draw_circle

# Half the length and width of the pitch in metres, and of the part of the plane that a frame shows.
cdef double HALF_LENGTH = 54.4
cdef double HALF_WIDTH = 35.1
cdef double SHOWN_LENGTH = 62.0
cdef double SHOWN_WIDTH = 42.0
cdef double GOAL = 3.7          # half the width of a goal

# Seven-segment digits: bit k is segment k of top, upper left, upper right, middle, lower left, lower right, bottom.
cdef uint8_t[10] SEGMENTS = [0x77, 0x24, 0x5D, 0x6D, 0x2E, 0x6B, 0x7B, 0x25, 0x7F, 0x6F]

cdef struct Scale:
    double middle_x             # pixel of the centre of the pitch
    double middle_y
    double metre                # in pixels


cdef inline Scale scale_of(const canvas* frame) noexcept nogil:
    cdef Scale s
    s.middle_x, s.middle_y = frame.width / 2.0, frame.height / 2.0
    s.metre = min(frame.width / (2 * SHOWN_LENGTH), frame.height / (2 * SHOWN_WIDTH))
    return s


cdef void fill(const canvas* frame, double left, double top, double right, double bottom,
               uint32_t colour) noexcept nogil:
    """Fill a rectangle between coordinates in pixels, which covers a pixel at least."""
    cdef int32_t y, first = <int32_t>floor(left), last = max(first, <int32_t>floor(right) - 1)
    cdef int32_t low = <int32_t>floor(top), high = max(low, <int32_t>floor(bottom) - 1)
    for y in range(max(0, low), min(frame.height - 1, high) + 1):
        canvas_span(frame, y, first, last, colour)


cdef void draw_box(const canvas* frame, const Scale* s, double left, double top, double right, double bottom,
                   uint32_t colour) noexcept nogil:
    """Draw the border of a rectangle between coordinates in metres from the centre."""
    cdef double x0 = s.middle_x + left * s.metre, x1 = s.middle_x + right * s.metre
    cdef double y0 = s.middle_y + top * s.metre, y1 = s.middle_y + bottom * s.metre
    cdef double line = max(1.0, 0.2 * s.metre)
    fill(frame, x0, y0, x1, y0 + line, colour)
    fill(frame, x0, y1 - line, x1, y1, colour)
    fill(frame, x0, y0, x0 + line, y1, colour)
    fill(frame, x1 - line, y0, x1, y1, colour)


cdef void draw_dot(const canvas* frame, const Scale* s, double x, double y, double radius,
                   uint32_t colour) noexcept nogil:
    """Draw a disc at a place in metres; a place that is far outside of the frame, or not finite, has none."""
    cdef double column = s.middle_x + x * s.metre, row = s.middle_y + y * s.metre
    if -1000 < column < frame.width + 1000 and -1000 < row < frame.height + 1000:
        gfx_draw_circle(frame, column, row, max(1.0, radius * s.metre), colour)


cdef void draw_digit(const canvas* frame, int32_t digit, double x, double y, double size,
                     uint32_t colour) noexcept nogil:
    """Draw a digit of height `size` and half its width, at its upper left corner."""
    cdef double line = size / 7, half = size / 2
    cdef int32_t on = SEGMENTS[digit]
    if on & 1:
        fill(frame, x, y, x + half, y + line, colour)
    if on & 2:
        fill(frame, x, y, x + line, y + half, colour)
    if on & 4:
        fill(frame, x + half - line, y, x + half, y + half, colour)
    if on & 8:
        fill(frame, x, y + half - line / 2, x + half, y + half + line / 2, colour)
    if on & 16:
        fill(frame, x, y + half, x + line, y + size, colour)
    if on & 32:
        fill(frame, x + half - line, y + half, x + half, y + size, colour)
    if on & 64:
        fill(frame, x, y + size - line, x + half, y + size, colour)


cdef void draw_number(const canvas* frame, int32_t number, double x, double y, double size,
                      uint32_t colour) noexcept nogil:
    """Draw the last two digits of a number, without a leading zero, at its upper left corner."""
    number = max(0, number) % 100
    if number >= 10:
        draw_digit(frame, number // 10, x, y, size, colour)
        x += 0.7 * size
    draw_digit(frame, number % 10, x, y, size, colour)


cdef void draw_lines(const canvas* frame, const Scale* s, uint32_t white, uint32_t grass) noexcept nogil:
    cdef int32_t side
    cdef double end, line = max(1.0, 0.2 * s.metre) / s.metre
    draw_dot(frame, s, 0, 0, 9.15, white)
    draw_dot(frame, s, 0, 0, 9.15 - line, grass)
    draw_dot(frame, s, 0, 0, 0.5, white)
    draw_box(frame, s, -HALF_LENGTH, -HALF_WIDTH, HALF_LENGTH, HALF_WIDTH, white)
    draw_box(frame, s, -line / 2, -HALF_WIDTH, line / 2, HALF_WIDTH, white)
    for side in range(-1, 2, 2):
        end = side * HALF_LENGTH
        draw_box(frame, s, min(end, end - side * 16.5), -20.16, max(end, end - side * 16.5), 20.16, white)
        draw_box(frame, s, min(end, end - side * 5.5), -9.16, max(end, end - side * 5.5), 9.16, white)
        draw_box(frame, s, min(end, end + side * 2.5), -GOAL, max(end, end + side * 2.5), GOAL, white)
        draw_dot(frame, s, end - side * 11, 0, 0.4, white)


cdef void draw_pitch(const football_info* info, const canvas* frame) noexcept nogil:
    cdef Scale s = scale_of(frame)
    cdef uint32_t white = canvas_colour(240, 240, 240), black = canvas_colour(20, 20, 20)
    cdef uint32_t grass = canvas_colour(58, 125, 52)
    cdef uint32_t[2] colours = [canvas_colour(214, 48, 49), canvas_colour(41, 98, 214)]
    cdef uint32_t[2] keepers = [canvas_colour(250, 160, 60), canvas_colour(90, 200, 240)]
    cdef const football_player* p
    cdef double x, y
    cdef int32_t team, i, k
    canvas_clear(frame, grass)
    draw_lines(frame, &s, white, grass)
    for team in range(2):
        for i in range(info.sizes[team]):
            p = &info.teams[team][i]
            if not p.active:
                continue
            x, y = p.position[0] * HALF_LENGTH, p.position[1] * HALF_WIDTH / 0.42
            for k in range(11):
                if info.controlled[team][k] == i:
                    draw_dot(frame, &s, x, y, 1.6, white)
                    break
            draw_dot(frame, &s, x, y, 1.2, colours[team] if p.role else keepers[team])
    x, y = info.ball[0] * HALF_LENGTH, info.ball[1] * HALF_WIDTH / 0.42
    draw_dot(frame, &s, x, y, 0.85, black)
    draw_dot(frame, &s, x, y, 0.65, canvas_colour(255, 255, 255))
    draw_number(frame, info.goals[0], s.middle_x - 7 * s.metre, s.middle_y - 40.5 * s.metre, 4.5 * s.metre, colours[0])
    draw_number(frame, info.goals[1], s.middle_x + 4 * s.metre, s.middle_y - 40.5 * s.metre, 4.5 * s.metre, colours[1])
