"""engine/football.h, and its functions in the one extension that contains the engine."""

from libc.stddef cimport size_t
from libc.stdint cimport int32_t, uint8_t, uint32_t

cdef extern from "engine/football.h" nogil:
    enum:
        FOOTBALL_OK
        FOOTBALL_NORMAL
        FOOTBALL_LEFT
        FOOTBALL_RIGHT
        FOOTBALL_IDLE
        FOOTBALL_SHORT_PASS
        FOOTBALL_PENALTY

    ctypedef struct football_entry:
        float x
        float y
        int32_t role
        uint8_t lazy
        uint8_t controllable

    ctypedef struct football_scenario:
        football_entry teams[2][11]
        int32_t sizes[2]
        int32_t agents[2]
        float ball_x
        float ball_y
        float difficulty[2]
        uint32_t seed
        int32_t game_duration
        int32_t second_half
        int32_t physics_steps_per_frame
        uint8_t use_magnet
        uint8_t offsides
        uint8_t reverse_team_processing
        uint8_t deterministic
        uint8_t end_episode_on_score
        uint8_t end_episode_on_possession_change
        uint8_t end_episode_on_out_of_play
        uint8_t control_all_players

    ctypedef struct football_player:
        float position[2]
        float direction[2]
        float tired_factor
        int32_t role
        uint8_t active
        uint8_t yellow_card
        uint8_t designated

    ctypedef struct football_info:
        float ball[3]
        float ball_direction[3]
        float ball_rotation[3]
        int32_t ball_owned_team
        int32_t ball_owned_player
        int32_t goals[2]
        int32_t game_mode
        int32_t step
        uint8_t is_in_play
        uint8_t sticky[2][11][13]
        int32_t controlled[2][11]
        int32_t sizes[2]
        football_player teams[2][11]

    ctypedef struct football_data:
        pass
    ctypedef struct football_game:
        pass

cdef football_data* open_data() noexcept nogil
cdef void close_data(football_data* data) noexcept nogil
cdef void default_scenario(football_scenario* scenario) noexcept nogil
cdef int check_scenario(const football_scenario* scenario) noexcept nogil
cdef football_game* new_game(football_data* data) noexcept nogil
cdef void free_game(football_game* game) noexcept nogil
cdef int reset_game(football_game* game, const football_scenario* scenario) noexcept nogil
cdef int act(football_game* game, int team, int index, int action) noexcept nogil
cdef int advance(football_game* game) noexcept nogil
cdef int read_info(football_game* game, football_info* info) noexcept nogil
cdef int save_game(football_game* game, const void* extra, size_t extra_size, void* buffer, size_t* size) noexcept nogil
cdef int load_game(football_game* game, const void* buffer, size_t size, void* extra, size_t extra_size) noexcept nogil
cdef int get_scenario(football_game* game, football_scenario* scenario) noexcept nogil
cdef const char* last_error() noexcept nogil
