"""Games of NetHack: each has its own copy of the library and its own folder."""

from libc.stdint cimport int32_t, uint64_t

from envpool.nethack.structs cimport Config, Game

cdef bint is_loaded() noexcept nogil
# Each of these returns 0, or a Failure.
cdef int prepare(Game* game, const Config* config) noexcept nogil      # as in a new process: no files of earlier games
cdef int start(Game* game, uint64_t core, uint64_t disp) noexcept nogil
cdef int press(Game* game, int32_t key) noexcept nogil
cdef int skip_prompts(Game* game, const Config* config, bint with_exceptions) noexcept nogil
cdef int quit_game(Game* game, const Config* config) noexcept nogil
cdef void release(Game* game) noexcept nogil
