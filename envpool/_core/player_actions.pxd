"""Moving the actions of players into the slots of the engine: see player_actions.pyx."""

cimport numpy as cnp
from libc.stdint cimport int32_t, int64_t

from envpool._core.actions cimport ActionField, ActionTable
from envpool._core.structs cimport Engine

cdef class PlayerField(ActionField):
    cdef cnp.ndarray convert_players(self, object action, int64_t envs, int32_t players, bint in_turn, bint has_rows,
                                     bint may_cast)
    cdef object wrong_shape(self, action, int64_t envs, int32_t players, bint in_turn, rows)
    cdef cnp.ndarray to_numbers(self, object action)
    cdef bint is_grid(self, cnp.ndarray a) noexcept
    cdef int64_t store_players(self, Engine* e, int index, cnp.ndarray a, const int32_t* ids, int32_t n,
                               const int64_t* sources) noexcept
    cdef bint store_row(self, const char* row, bint is_wide, char* slot, int32_t player) noexcept
    cdef object refusal_of_player(self, const Engine* e, cnp.ndarray a, object passed, int64_t at, const int32_t* ids,
                                  const int64_t* sources)

cdef class PlayerTable(ActionTable):
    cdef tuple groups           # of PlayerGroup
    cdef bint has_turns         # whether the players move in turn
    cdef object memory          # behind `sources`
    cdef int64_t* sources       # by env of a send and player: the row of the player's action, -1 for none

    cdef dict merge_groups(self, dict action, int64_t envs)
    cdef int64_t find_rows(self, const Engine* e, const int32_t* ids, int32_t n) noexcept
    cdef int place_rows(self, const Engine* e, const int32_t* ids, int32_t n, const int64_t* owners,
                        const int64_t* players, int64_t rows) except -1
    cdef int check_rows(self, list arrays, int64_t rows, int32_t n) except -1
    cdef cnp.ndarray moves_of(self, const Engine* e, PlayerField field, cnp.ndarray a, const int32_t* ids, int32_t n,
                              int64_t rows, bint has_rows)
    cdef int check_moves(self, const Engine* e, const int32_t* ids, int32_t n) except -1
