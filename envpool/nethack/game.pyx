# optimize: -Og
"""Games of NetHack: loading copies of the library, starting games, pressing keys, and getting past prompts."""

from libc.errno cimport ENOMEM
from libc.stddef cimport size_t
from libc.stdint cimport int32_t, int64_t, uint64_t
from libc.stdio cimport snprintf
from libc.stdlib cimport calloc, free
from libc.string cimport memset, strcpy, strerror, strlen

from envpool.nethack.structs cimport (
    ASKS_CHARACTER, ASKS_LINE, Config, Game, IN_MOVE_LOOP, NH_MESSAGE, NH_NUM_ARRAYS, NO_COPY, NO_END, NOT_STARTED,
    STOPPED, WAITS_FOR_SPACE, internal_of, nh_copy, nh_exchange, nh_settings, program_state_of,
)

from envpool.nethack.folders import FolderError

cdef extern from "envpool/nethack/copy.h" nogil:
    enum: NH_WHY_BYTES
    int nh_load(nh_copy* c, int library, size_t size)
    void nh_unload(nh_copy* c)
    int nh_play(nh_copy* c, nh_exchange* x, nh_settings* settings)
    void nh_finish(nh_copy* c)

cdef extern from "envpool/folder.h" nogil:
    void envpool_remove_folder(const char* path)

cdef extern from "envpool/nethack/folder.h" nogil:
    enum: NH_PATH_BYTES
    int nh_make_folder(const char* path, const char* game_data)
    void nh_set_process_folder(const char* path)
    char nh_process_folder[480]

cdef extern from "envpool/atomic.h" nogil:
    int64_t ep_add_sc64(int64_t* p, int64_t value)

cdef extern from "<string.h>" nogil:
    void* memmem(const void* haystack, size_t haystack_bytes, const void* needle, size_t needle_bytes)

cdef enum:
    SPACE = 32
    ESCAPE = 27
    QUIT = 0x80 | 113               # Meta-Q
    YES = 121                       # y
    MAX_INTRODUCTIONS = 1000        # keys pressed until a game has begun
    MAX_PROMPTS = 1_000_000         # in one step; more than any game has shown
    MESSAGE_BYTES = 256
    ALIGNMENT = 64

# The library that was loaded last, for all pools; set with the GIL before the first pool exists.
cdef int LIBRARY = -1
cdef size_t LIBRARY_BYTES = 0
cdef char GAME_DATA[NH_PATH_BYTES]
cdef int64_t NUM_FOLDERS = 0


def set_library(int file, size_t size, bytes game_data):
    """Set the open file of the library, its size, and the path of the game data ``nhdat``."""
    global LIBRARY, LIBRARY_BYTES
    if len(game_data) >= NH_PATH_BYTES:
        raise ImportError(f"the path of NetHack's data is too long: {game_data!r}")
    strcpy(GAME_DATA, game_data)
    LIBRARY, LIBRARY_BYTES = file, size


def set_process_folder(bytes path):
    """Set the folder in which this process makes the folders of its environments; it is removed at exit."""
    if len(path) >= <Py_ssize_t>sizeof(nh_process_folder):
        longest = sizeof(nh_process_folder) - 1
        raise FolderError(
            f"the path of the temporary folder must have at most {longest} bytes, got {path!r}: set the environment "
            "variable TMPDIR to another folder"
        )
    nh_set_process_folder(path)


cdef bint is_loaded() noexcept nogil:
    return LIBRARY >= 0 and nh_process_folder[0] != 0


# ---- memory, library and folder of a game ----------------------------------------------------------------------------


cdef int make_arrays(Game* game, const Config* config) noexcept nogil:
    cdef size_t size = 0
    cdef int32_t k
    for k in range(NH_NUM_ARRAYS):
        if config.is_wanted[k]:
            size += (config.sizes[k] + ALIGNMENT - 1) & ~<size_t>(ALIGNMENT - 1)
    game.memory = <char*>calloc(1, size)
    if game.memory == NULL:
        snprintf(game.copy.why, NH_WHY_BYTES, "making its arrays failed: %s", strerror(ENOMEM))
        return NO_COPY
    game.memory_bytes = size
    size = 0
    for k in range(NH_NUM_ARRAYS):
        if config.is_wanted[k]:
            game.exchange.arrays[k] = game.memory + size
            size += (config.sizes[k] + ALIGNMENT - 1) & ~<size_t>(ALIGNMENT - 1)
    return 0


cdef int make_folder(Game* game) noexcept nogil:
    cdef int status
    if game.folder[0]:
        envpool_remove_folder(game.folder)
    else:
        snprintf(game.folder, NH_PATH_BYTES, "%s/%lld", nh_process_folder, <long long>ep_add_sc64(&NUM_FOLDERS, 1))
    status = nh_make_folder(game.folder, GAME_DATA)
    if status:
        snprintf(game.copy.why, NH_WHY_BYTES, "making its folder failed: %s", strerror(status))
        return NO_COPY
    return 0


cdef int prepare(Game* game, const Config* config) noexcept nogil:
    cdef int32_t k
    if game.copy.handle == NULL:
        if nh_load(&game.copy, LIBRARY, LIBRARY_BYTES):
            return NO_COPY
    else:
        nh_finish(&game.copy)
    if game.memory == NULL:
        if make_arrays(game, config):
            return NO_COPY
    else:
        for k in range(NH_NUM_ARRAYS):
            if config.is_wanted[k]:
                memset(game.exchange.arrays[k], 0, config.sizes[k])
    if make_folder(game):
        return NO_COPY
    memset(&game.settings, 0, sizeof(game.settings))
    strcpy(game.settings.folder, game.folder)
    strcpy(game.settings.options, config.options)
    game.settings.spawn_monsters = config.spawn_monsters
    return 0


cdef void release(Game* game) noexcept nogil:
    if game.copy.handle != NULL:
        nh_unload(&game.copy)
    if game.folder[0]:
        envpool_remove_folder(game.folder)
    free(game.memory)
    game.memory = NULL


# ---- playing ---------------------------------------------------------------------------------------------------------


cdef int start(Game* game, uint64_t core, uint64_t disp) noexcept nogil:
    """Start a game, and get past its introduction."""
    cdef int failure
    cdef int32_t _k
    nh_finish(&game.copy)
    game.settings.initial.seeds[0] = core
    game.settings.initial.seeds[1] = disp
    game.settings.initial.has_seeds = True
    game.settings.fix_moon_phase = True
    game.settings.time_seed = core + 1          # as upstream's set_initial_seeds
    game.settings.has_time_seed = True
    if nh_play(&game.copy, &game.exchange, &game.settings):
        return STOPPED
    for _k in range(MAX_INTRODUCTIONS):
        if program_state_of(game)[IN_MOVE_LOOP]:
            return 0
        if game.exchange.done:
            return NOT_STARTED
        failure = press(game, SPACE)
        if failure:
            return failure
    return NOT_STARTED


cdef int press(Game* game, int32_t key) noexcept nogil:
    game.exchange.key = key
    return STOPPED if nh_play(&game.copy, &game.exchange, NULL) else 0


cdef bint is_allowed_question(const Game* game) noexcept nogil:
    """Return whether the agent may answer the question: what to eat, whom to attack, which direction, or to pray."""
    cdef const void* message = game.exchange.arrays[NH_MESSAGE]
    cdef const char** words = [b"eat", b"attack", b"direction?", b"pray"]
    cdef int32_t k
    for k in range(4):
        if memmem(message, MESSAGE_BYTES, words[k], strlen(words[k])) != NULL:
            return True
    return False


cdef int skip_prompts(Game* game, const Config* config, bint with_exceptions) noexcept nogil:
    """Answer prompts: pages are turned, and lines of text and questions are declined, except for those that the agent
    may answer."""
    cdef int failure
    cdef int32_t _k
    for _k in range(MAX_PROMPTS):
        if game.exchange.done:
            return 0
        if internal_of(game)[WAITS_FOR_SPACE]:
            failure = press(game, SPACE)
        elif internal_of(game)[ASKS_LINE]:
            failure = press(game, ESCAPE)
        elif not internal_of(game)[ASKS_CHARACTER]:
            return 0
        elif with_exceptions and (config.allow_all_yn_questions or is_allowed_question(game)):
            return 0
        else:
            return press(game, ESCAPE)      # what follows a question is left to the agent, as upstream
        if failure:
            return failure
    return NO_END


cdef int quit_game(Game* game, const Config* config) noexcept nogil:
    """Quit a game that is not over, as a player does."""
    cdef int failure = skip_prompts(game, config, False)
    if failure or game.exchange.done:
        return failure
    failure = press(game, QUIT)
    if failure or game.exchange.done:
        return failure
    failure = press(game, YES)
    return failure if failure else skip_prompts(game, config, False)
