"""Connect four, a game for two players who move in turn; docs/native_env.md explains it.

The rules and the arrays are those of connect_four_v3 of PettingZoo (Farama Foundation, MIT), without its code.
"""

import numpy as np

from libc.stdint cimport int8_t, int32_t, uint8_t, uint64_t
from libc.string cimport memset

from envpool.env cimport envpool_batch, envpool_env, envpool_frames, envpool_rows
from envpool.records cimport (
    envpool_new_records_env, envpool_pixels, envpool_record, envpool_records, envpool_records_config, envpool_template,
)
from envpool.scaffold cimport envpool_state

from envpool.native import EnvDefinition, Field, define

cdef enum:
    ROWS = 6
    COLUMNS = 7
    CELLS = 42
    NOBODY = -1

cdef struct Game:               # the record: the state of one game
    int8_t owner[CELLS]         # 0 nobody, else 1 + the player of the disc; from the top row, from the left
    int8_t turn                 # player who moves next, also when the game is over
    int8_t is_over

# ---- rules -----------------------------------------------------------------------------------------------------------


cdef inline bint is_legal(const Game* g, int32_t column) noexcept nogil:
    return g.owner[column] == 0 and not g.is_over       # the top row


cdef int32_t count_discs(const Game* g, int32_t row, int32_t column, int32_t down, int32_t right) noexcept nogil:
    """Returns the number of discs of the owner of a cell that follow it in a direction without a gap."""
    cdef int32_t n = 0, r = row + down, c = column + right
    while 0 <= r < ROWS and 0 <= c < COLUMNS and g.owner[r * COLUMNS + c] == g.owner[row * COLUMNS + column]:
        n, r, c = n + 1, r + down, c + right
    return n


cdef bint has_line(const Game* g, int32_t row, int32_t column) noexcept nogil:
    """Returns whether a disc is part of four in a line."""
    cdef int32_t right
    if count_discs(g, row, column, 1, 0) >= 3:
        return True
    for right in range(-1, 2):          # the two diagonals, and with `down` 0 the row
        if count_discs(g, row, column, right != 0, 1 if right == 0 else right) + count_discs(
                g, row, column, -(right != 0), -1 if right == 0 else -right) >= 3:
            return True
    return False


cdef int32_t play(Game* g, int32_t column) noexcept nogil:
    """Makes a move, and returns the player who has won with it, or NOBODY. A player who makes an illegal move loses."""
    cdef int32_t row = ROWS - 1, mover = g.turn, c
    g.turn = 1 - mover
    if not is_legal(g, column):
        g.is_over = 1
        return 1 - mover
    while g.owner[row * COLUMNS + column]:
        row -= 1
    g.owner[row * COLUMNS + column] = <int8_t>(1 + mover)
    if has_line(g, row, column):
        g.is_over = 1
        return mover
    g.is_over = 1
    for c in range(COLUMNS):            # a draw, unless there is a free cell
        if g.owner[c] == 0:
            g.is_over = 0
    return NOBODY


# ---- batches ---------------------------------------------------------------------------------------------------------


cdef int step_many(void* state, const envpool_batch* b) noexcept nogil:
    cdef Game* g
    cdef int32_t i, winner
    for i in range(b.n):
        g = <Game*>envpool_record(<const envpool_state*>state, b.ids[i])
        if b.reset[i]:
            memset(g, 0, sizeof(Game))
            continue
        winner = play(g, (<const int32_t*>b.actions[0])[b.ids[i]])
        b.terminated[i] = g.is_over
        if winner != NOBODY:
            b.player_reward[2 * b.ids[i] + winner] = 1
            b.player_reward[2 * b.ids[i] + 1 - winner] = -1
    return 0


cdef void write_many(void* state, const envpool_rows* rows) noexcept nogil:
    cdef const Game* g
    cdef int8_t* board
    cdef int32_t i, k, player
    for i in range(rows.n):
        g = <const Game*>envpool_record(<const envpool_state*>state, rows.ids[i])
        for player in range(2):
            board = <int8_t*>rows.fields[0] + 2 * CELLS * (rows.player_rows[i] + player)
            for k in range(CELLS):
                board[2 * k] = g.owner[k] == 1 + player
                board[2 * k + 1] = g.owner[k] == 2 - player
        (<int32_t*>rows.fields[1])[rows.row0 + i] = NOBODY if g.is_over else g.turn
        for k in range(COLUMNS):
            (<uint8_t*>rows.fields[2])[COLUMNS * (rows.row0 + i) + k] = is_legal(g, k)


# ---- frames, states, the definition ----------------------------------------------------------------------------------

cdef uint8_t[3][3] COLOURS = [[255, 255, 255], [204, 51, 51], [240, 200, 40]]      # of a cell, by its owner
cdef uint8_t[3] BOARD = [40, 80, 170]


cdef int draw(const void* record, const void* config, const envpool_frames* f, int32_t i) noexcept nogil:
    cdef const uint8_t* colour
    cdef uint8_t* pixel = envpool_pixels(f, i)
    cdef float down, right
    cdef int32_t y, x, row, column
    for y in range(f.height):
        row = y * ROWS // f.height
        down = <float>(y + 0.5) * ROWS / f.height - row - <float>0.5
        for x in range(f.width):
            column = x * COLUMNS // f.width
            right = <float>(x + 0.5) * COLUMNS / f.width - column - <float>0.5
            colour = BOARD
            if down * down + right * right < <float>0.16:
                colour = COLOURS[(<const Game*>record).owner[row * COLUMNS + column]]
            pixel[0], pixel[1], pixel[2] = colour[0], colour[1], colour[2]
            pixel += 3
    return 0


cdef int is_valid(const void* record, const void* config, int32_t resets) noexcept nogil:
    cdef const Game* g = <const Game*>record
    cdef int32_t k
    for k in range(CELLS):
        if not 0 <= g.owner[k] <= 2:
            return 0
    return 0 <= g.turn <= 1 and 0 <= g.is_over <= 1


cdef void seed(void* record, uint64_t value) noexcept nogil:
    """Does nothing: the game has no random numbers."""


cdef int has_generator(const void* record) noexcept nogil:
    return 1


cdef envpool_records GAMES
GAMES.size = sizeof(Game)
GAMES.seed, GAMES.has_generator, GAMES.draw, GAMES.is_valid = seed, has_generator, draw, is_valid
cdef envpool_env ENV_DEF = envpool_new_records_env("ConnectFour", &GAMES)
ENV_DEF.step_many, ENV_DEF.write_many = step_many, write_many
ENV_DEF.frame_height, ENV_DEF.frame_width = 192, 224


class ConnectFour(EnvDefinition):
    """Two players drop discs into the columns of a board of 6 x 7 cells; four in a line win.

    Observation int8 (6, 7, 2) of each player, the top row first: 1 where the player has a disc, and where the other one
    has. Action int32: the column, 0 to 6. Reward 1 for the winner and -1 for the loser; 0 for a draw, when the board is
    full. With ``illegal_actions="lose"``, a player who chooses a full column loses.
    ``info["current_player"]`` int32: who moves next, -1 at the end. ``info["legal_action_mask"]`` bool (7,): the
    columns that are not full.
    """

    @staticmethod
    def render_fps(config):
        """Two moves a second, since a move takes no time of its own."""
        return 2

    @staticmethod
    def build(config):
        fields = [
            Field("obs", np.int8, (-1, ROWS, COLUMNS, 2), 0, 1),
            Field("info:current_player", np.int32, (), -1, 1),
            Field("info:legal_action_mask", np.bool_, (COLUMNS,)),
        ]
        actions = [Field("action", np.int32, (), 0, COLUMNS - 1)]
        return define(
            envpool_template(&ENV_DEF), fields, actions, envpool_records_config(&GAMES, b"", 0), max_num_players=2,
            turns=True,
        )
