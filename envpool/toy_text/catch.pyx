"""Catch: moving a paddle under a falling ball (Mnih et al., Recurrent Models of Visual Attention, 2014).

The rules are those of bsuite's Catch and of EnvPool's: the ball starts in the first row, in a column drawn with
``Generator.integers(width)``; the paddle starts in the middle of the last row, rounded down to column ``width // 2``.
"""

import numpy as np

from cpython.pycapsule cimport PyCapsule_New
from libc.stdint cimport int32_t, int64_t, uint64_t
from libc.stdlib cimport calloc, free
from libc.string cimport memset

from envpool.raster.canvas cimport canvas, canvas_clear, canvas_colour, canvas_of_frame, canvas_span
from envpool.env cimport ENVPOOL_CAPSULE_NAME, envpool_batch, envpool_env, envpool_env_init, envpool_frames
from envpool.numerics.rng cimport ep_integers, ep_pcg64, ep_pcg64_seed

from envpool.native import Field, define
from envpool.spec import check_range

MAX_SIDE = 4096         # 64 MiB for one observation
MAX_CELL, MAX_PICTURE = 32, 512     # pixels: sides of a cell and of the picture, where a cell has more than one

cdef struct Config:
    int32_t height
    int32_t width

cdef struct Game:
    ep_pcg64 rng
    int32_t row             # of the ball
    int32_t column          # of the ball
    int32_t paddle          # column

cdef struct Games:
    const Config* config
    Game* games             # (n)


cdef void destroy(void* state) noexcept nogil:
    cdef Games* s = <Games*>state
    free(s.games)
    free(s)


cdef void* create(const void* config, int32_t n) noexcept nogil:
    cdef Games* s = <Games*>calloc(1, sizeof(Games))
    if s == NULL:
        return NULL
    s.config = <const Config*>config
    s.games = <Game*>calloc(n, sizeof(Game))
    if s.games == NULL:
        destroy(s)
        return NULL
    return s


cdef void seed_many(void* state, const int32_t* ids, int32_t n, const uint64_t* seeds) noexcept nogil:
    cdef Games* s = <Games*>state
    cdef int32_t i
    for i in range(n):
        ep_pcg64_seed(&s.games[ids[i]].rng, seeds[i])


cdef int step_many(void* state, const envpool_batch* b) noexcept nogil:
    cdef Games* s = <Games*>state
    cdef const int32_t* actions = <const int32_t*>b.actions[0]
    cdef int32_t width = s.config.width, last_row = s.config.height - 1
    cdef Game* g
    cdef bint has_landed
    cdef int32_t i
    for i in range(b.n):
        g = &s.games[b.ids[i]]
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


cdef void write_many(void* state, const int32_t* ids, int32_t n, void* const* fields, int64_t row0) noexcept nogil:
    cdef Games* s = <Games*>state
    cdef int64_t width = s.config.width
    cdef int64_t size = s.config.height * width
    cdef float* obs = <float*>fields[0] + size * row0
    cdef const Game* g
    cdef int32_t i
    memset(obs, 0, n * size * sizeof(float))
    for i in range(n):
        g = &s.games[ids[i]]
        obs[g.row * width + g.column] = 1
        obs[size - width + g.paddle] = 1
        obs += size


cdef inline int32_t border(int32_t cell, int32_t cells, int32_t pixels) noexcept nogil:
    """The first pixel of a cell in a row or column of cells."""
    return <int32_t>(<int64_t>cell * pixels // cells)


cdef void draw_cell(const canvas* c, const Config* board, int32_t row, int32_t column) noexcept nogil:
    """Draws a cell, which may be smaller than a pixel."""
    cdef int32_t top = border(row, board.height, c.height), left = border(column, board.width, c.width)
    cdef int32_t bottom = max(top, border(row + 1, board.height, c.height) - 1)
    cdef int32_t right = max(left, border(column + 1, board.width, c.width) - 1)
    cdef int32_t y
    for y in range(top, bottom + 1):
        canvas_span(c, y, left, right, canvas_colour(255, 255, 255))


cdef int render_many(void* state, const envpool_frames* f) noexcept nogil:
    cdef Games* s = <Games*>state
    cdef const Game* g
    cdef canvas c
    cdef int32_t i
    for i in range(f.n):
        g = &s.games[f.ids[i]]
        c = canvas_of_frame(f, i)
        canvas_clear(&c, canvas_colour(0, 0, 0))
        draw_cell(&c, s.config, g.row, g.column)
        draw_cell(&c, s.config, s.config.height - 1, g.paddle)
    return 0


cdef envpool_env ENV_DEF
envpool_env_init(&ENV_DEF, "Catch")
ENV_DEF.create = create
ENV_DEF.destroy = destroy
ENV_DEF.seed_many = seed_many
ENV_DEF.step_many = step_many
ENV_DEF.write_many = write_many
ENV_DEF.render_many = render_many


class Catch:
    """A ball that falls by one row a step, and a paddle that must be under it in the end.

    Observation float32 (height, width): 1 where the ball and the paddle are, else 0. Action int32: 0 moves the paddle
    to the left, 1 leaves it, 2 moves it to the right. An episode ends when the ball is in the last row, with reward 1
    if the paddle is there too and -1 if not; all other rewards are 0.

    Options
    -------
    height, width : int
        Size of the board: 2 to 4096 rows (with one the ball has nowhere to fall), 1 to 4096 columns.
    """

    options = {"height": 10, "width": 5}

    @staticmethod
    def build(config):
        """Return the capsule of this kind."""
        cdef Config c
        check_range("height", config.height, 2, MAX_SIDE)
        check_range("width", config.width, 1, MAX_SIDE)
        c.height = config.height
        c.width = config.width
        fields = [Field("obs", np.float32, (config.height, config.width), 0, 1)]
        actions = [Field("action", np.int32, (-1,), 0, 2)]
        template = PyCapsule_New(&ENV_DEF, ENVPOOL_CAPSULE_NAME, NULL)
        cell = max(1, min(MAX_CELL, MAX_PICTURE // max(config.height, config.width)))
        frame = config.height * cell, config.width * cell
        return define(template, fields, actions, (<const char*>&c)[:sizeof(Config)], frame_size=frame)
