# optimize: -Og
"""The extension that contains the engine: other modules reach its functions through this one."""

from libc.stddef cimport size_t


cdef extern from "engine/football.h" nogil:
    football_data* football_open_data()
    void football_close_data(football_data* data)
    void football_default_scenario(football_scenario* scenario)
    int football_check_scenario(const football_scenario* scenario)
    football_game* football_new(football_data* data)
    void football_free(football_game* game)
    int football_reset(football_game* game, const football_scenario* scenario)
    int football_act(football_game* game, int team, int index, int action)
    int football_step(football_game* game)
    int football_read(football_game* game, football_info* info)
    int football_save(football_game* game, const void* extra, size_t extra_size, void* buffer, size_t* size)
    int football_load(football_game* game, const void* buffer, size_t size, void* extra, size_t extra_size)
    int football_get_scenario(football_game* game, football_scenario* scenario)
    const char* football_error()


cdef football_data* open_data() noexcept nogil:
    return football_open_data()


cdef void close_data(football_data* data) noexcept nogil:
    football_close_data(data)


cdef void default_scenario(football_scenario* scenario) noexcept nogil:
    football_default_scenario(scenario)


cdef int check_scenario(const football_scenario* scenario) noexcept nogil:
    return football_check_scenario(scenario)


cdef football_game* new_game(football_data* data) noexcept nogil:
    return football_new(data)


cdef void free_game(football_game* game) noexcept nogil:
    football_free(game)


cdef int reset_game(football_game* game, const football_scenario* scenario) noexcept nogil:
    return football_reset(game, scenario)


cdef int act(football_game* game, int team, int index, int action) noexcept nogil:
    return football_act(game, team, index, action)


cdef int advance(football_game* game) noexcept nogil:
    return football_step(game)


cdef int read_info(football_game* game, football_info* info) noexcept nogil:
    return football_read(game, info)


cdef int save_game(football_game* game, const void* extra, size_t extra_size,
                   void* buffer, size_t* size) noexcept nogil:
    return football_save(game, extra, extra_size, buffer, size)


cdef int load_game(football_game* game, const void* buffer, size_t size,
                   void* extra, size_t extra_size) noexcept nogil:
    return football_load(game, buffer, size, extra, extra_size)


cdef int get_scenario(football_game* game, football_scenario* scenario) noexcept nogil:
    return football_get_scenario(game, scenario)


cdef const char* last_error() noexcept nogil:
    return football_error()
