"""Catch: move a paddle under a falling ball (Mnih et al., Recurrent Models of Visual Attention, 2014).

The rules are those of Catch in bsuite and in EnvPool: the ball starts in the first row, in a column drawn with
``Generator.integers(width)``; the paddle starts in the middle of the last row, rounded down to column ``width // 2``.
"""

import numpy as np

from libc.stdint cimport int32_t, int64_t, uint32_t
from libc.string cimport memset

from envpool.env cimport envpool_batch, envpool_env, envpool_frames, envpool_rows
from envpool.numerics.rng cimport ep_integers, ep_pcg64
from envpool.raster.canvas cimport canvas, canvas_clear, canvas_colour, canvas_of_frame
from envpool.raster.cells cimport draw_cell
from envpool.records cimport envpool_new_records_env, envpool_records, envpool_records_config, envpool_template
from envpool.scaffold cimport envpool_state

from envpool.native import EnvDefinition, Field, define
from envpool.config.checks import check_range

MAX_SIDE = 4096                     # of the board; one observation then has 64 MiB
MAX_CELL, MAX_FRAME = 32, 512       # pixels: largest side of a cell, and of the frame unless a cell is one pixel

cdef struct Config:
    int32_t height
    int32_t width

cdef struct Game:           # one environment
    ep_pcg64 rng
    int32_t row             # of the ball
    int32_t column          # of the ball
    int32_t paddle          # column


cdef int step_many(void* state, const envpool_batch* b) noexcept nogil:
    cdef envpool_state* s = <envpool_state*>state
    cdef const Config* board = <const Config*>s.config
    cdef const int32_t* actions = <const int32_t*>b.actions[0]
    cdef Game* games = <Game*>s.records
    cdef int32_t width = board.width, last_row = board.height - 1
    cdef Game* g
    cdef bint has_landed
    cdef int32_t i
    for i in range(b.n):
        g = &games[b.ids[i]]
        if b.reset[i]:
            g.row = 0
            g.column = <int32_t>ep_integers(&g.rng, 0, width)
            g.paddle = width // 2
            continue
        g.paddle = max(0, min(g.paddle + actions[b.ids[i]] - 1, width - 1))
        g.row += 1
        has_landed = g.row == last_row
        b.reward[i] = has_landed * (1 if g.column == g.paddle else -1)
        b.terminated[i] = has_landed
    return 0


cdef void write_many(void* state, const envpool_rows* rows) noexcept nogil:
    cdef envpool_state* s = <envpool_state*>state
    cdef const Config* board = <const Config*>s.config
    cdef int64_t width = board.width
    cdef int64_t size = board.height * width
    cdef float* obs = <float*>rows.fields[0] + size * rows.row0
    cdef const Game* g
    cdef int32_t i
    memset(obs, 0, rows.n * size * sizeof(float))
    for i in range(rows.n):
        g = <const Game*>s.records + rows.ids[i]
        obs[g.row * width + g.column] = 1
        obs[size - width + g.paddle] = 1
        obs += size


cdef int draw(const void* record, const void* config, const envpool_frames* f, int32_t i) noexcept nogil:
    cdef const Game* g = <const Game*>record
    cdef const Config* board = <const Config*>config
    cdef uint32_t white = canvas_colour(255, 255, 255)
    cdef canvas c = canvas_of_frame(f, i)
    canvas_clear(&c, canvas_colour(0, 0, 0))
    draw_cell(&c, board.height, board.width, g.row, g.column, white)
    draw_cell(&c, board.height, board.width, board.height - 1, g.paddle, white)
    return 0


cdef int is_valid(const void* record, const void* config, int32_t resets) noexcept nogil:
    """The ball is in the last row only when the episode has ended."""
    cdef const Game* g = <const Game*>record
    cdef const Config* board = <const Config*>config
    cdef int32_t last_row = board.height - (1 if resets else 2)
    return 0 <= g.row <= last_row and 0 <= g.column < board.width and 0 <= g.paddle < board.width


cdef envpool_records GAMES
GAMES.size, GAMES.draw, GAMES.is_valid = sizeof(Game), draw, is_valid
cdef envpool_env ENV_DEF = envpool_new_records_env("Catch", &GAMES)
ENV_DEF.step_many, ENV_DEF.write_many = step_many, write_many       # loops of its own, since a step is so cheap


class Catch(EnvDefinition):
    """A ball that falls by one row per step, and a paddle that must be under it at the end.

    Observation float32 (height, width): 1 where the ball and the paddle are, 0 elsewhere. Action int32: 0 moves the
    paddle to the left, 1 leaves it, 2 moves it to the right. An episode ends when the ball is in the last row, with
    reward 1 if the paddle is in the ball's column and -1 if not; all other rewards are 0.

    Options
    -------
    height, width : int
        Size of the board: 2 to 4096 rows (10 by default) and 1 to 4096 columns (5 by default).
    """

    options = {"height": 10, "width": 5}

    @staticmethod
    def build(config):
        cdef Config c
        check_range("height", config.height, 2, MAX_SIDE)
        check_range("width", config.width, 1, MAX_SIDE)
        c.height = config.height
        c.width = config.width
        fields = [Field("obs", np.float32, (config.height, config.width), 0, 1)]
        actions = [Field("action", np.int32, (-1,), 0, 2)]
        cell = max(1, min(MAX_CELL, MAX_FRAME // max(config.height, config.width)))
        frame = config.height * cell, config.width * cell
        config_bytes = envpool_records_config(&GAMES, &c, sizeof(c))
        return define(envpool_template(&ENV_DEF), fields, actions, config_bytes, frame_size=frame)
