"""Breakout: three rows of bricks, a ball on the diagonals, and a paddle in the last row.

`envpool.minatar.game` says where the rules come from.
"""

from libc.stdint cimport int32_t, uint8_t, uint32_t

from envpool.env cimport envpool_env
from envpool.minatar.game cimport (
    LAST, LEFT, RIGHT, SIDE, STAY, Agent, Rules, columns_of, define_game, is_inside, new_game, put,
)
from envpool.numerics.rng_legacy cimport ep_legacy_randint

from envpool.minatar.game import Game

cdef enum:
    PADDLE, BALL, TRAIL, BRICK, CHANNELS        # channels
    FIRST_ROW = 1                               # of the bricks
    NUM_BRICKS = 3 * SIDE
    ALL_BRICKS = (1 << NUM_BRICKS) - 1

cdef struct Wall:
    Agent agent
    uint32_t bricks             # one bit for each brick, row by row
    int32_t ball_x, ball_y
    int32_t last_x, last_y      # where the ball was a step before
    int32_t dx, dy              # direction of the ball: -1 or 1
    int32_t paddle              # column
    int32_t is_inside_brick     # a ball that has hit a brick breaks no other until it has been in a free cell


cdef void reset(void* game) noexcept nogil:
    cdef Wall* w = <Wall*>game
    cdef bint is_right = ep_legacy_randint(&w.agent.rng, 0, 2) != 0
    w.bricks = ALL_BRICKS
    w.ball_x = w.last_x = LAST if is_right else 0
    w.ball_y = w.last_y = 3
    w.dx = -1 if is_right else 1
    w.dy = 1
    w.paddle = 4
    w.is_inside_brick = 0


cdef inline uint32_t brick_at(int32_t x, int32_t y) noexcept nogil:
    """Return the bit of a cell, 0 for a cell outside the rows of bricks."""
    cdef int32_t place = (y - FIRST_ROW) * SIDE + x
    return <uint32_t>1 << place if 0 <= place < NUM_BRICKS else 0


cdef int32_t step(void* game, int32_t action, bint is_ramping) noexcept nogil:
    cdef Wall* w = <Wall*>game
    cdef int32_t x, y, reward = 0
    cdef uint32_t brick
    w.paddle = max(0, min(w.paddle + columns_of(action), LAST))
    w.last_x = w.ball_x
    w.last_y = w.ball_y
    x = w.ball_x + w.dx
    y = w.ball_y + w.dy
    if not is_inside(x):
        x = w.ball_x            # the ball touches a wall: it was in the border column, and stays there
        w.dx = -w.dx
    brick = w.bricks & brick_at(x, y)
    if y < 0:
        y = 0
        w.dy = -w.dy
    elif brick != 0 and not w.is_inside_brick:
        reward = 1
        w.bricks ^= brick
        y = w.last_y
        w.dy = -w.dy
    elif y == LAST:
        if w.bricks == 0:
            w.bricks = ALL_BRICKS
        if w.last_x == w.paddle:
            y = w.last_y
            w.dy = -w.dy
        elif x == w.paddle:
            y = w.last_y
            w.dx = -w.dx
            w.dy = -w.dy
        else:
            w.agent.is_over = 1
    w.is_inside_brick = brick != 0
    w.ball_x = x
    w.ball_y = y
    return reward


cdef void write(const void* game, uint8_t* obs) noexcept nogil:
    cdef const Wall* w = <const Wall*>game
    cdef uint8_t* cell = obs + CHANNELS * FIRST_ROW * SIDE + BRICK
    cdef int32_t i
    for i in range(NUM_BRICKS):
        cell[CHANNELS * i] = (w.bricks >> i) & 1
    put(obs, CHANNELS, LAST, w.paddle, PADDLE)
    put(obs, CHANNELS, w.ball_y, w.ball_x, BALL)
    put(obs, CHANNELS, w.last_y, w.last_x, TRAIL)


cdef bint is_valid(const void* game, bint is_over) noexcept nogil:
    cdef const Wall* w = <const Wall*>game
    return (
        w.bricks <= ALL_BRICKS
        and is_inside(w.ball_x)
        and 0 <= w.ball_y <= (LAST if is_over else LAST - 1)
        and is_inside(w.last_x)
        and is_inside(w.last_y)
        and w.dx * w.dx == 1
        and w.dy * w.dy == 1
        and is_inside(w.paddle)
        and 0 <= w.is_inside_brick <= 1
    )


cdef Rules RULES = Rules(sizeof(Wall), CHANNELS, reset, step, write, is_valid)
cdef envpool_env ENV_DEF = new_game("MinAtarBreakout")


class MinAtarBreakout(Game):
    """A ball that breaks bricks, and a paddle that must be under it when it comes down.

    Channels: 0 the paddle, 1 the ball, 2 where the ball was a step before, 3 bricks. Reward 1 for each brick. When the
    ball comes down and no brick is left, there are three new rows. An episode ends when the ball is in the last row.

    The minimal action set is nothing, left, right. The options are those of ``envpool.minatar.game.Game``.
    """

    channels = ("paddle", "ball", "trail", "brick")

    @staticmethod
    def build(config):
        return define_game(&ENV_DEF, &RULES, config, (STAY, LEFT, RIGHT))
