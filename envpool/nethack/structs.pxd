"""The state of a pool of NetHack environments, and their configuration."""

from libc.stdint cimport int16_t, int32_t, int64_t, uint8_t

from envpool.numerics.rng cimport ep_pcg64
from envpool.replay cimport envpool_history

cdef extern from "envpool/nethack/interface.h" nogil:
    enum:
        NH_GLYPHS
        NH_BLSTATS
        NH_MESSAGE
        NH_PROGRAM_STATE
        NH_INTERNAL
        NH_NUM_ARRAYS

    ctypedef struct nh_exchange:
        int key
        int done
        char in_normal_game
        int how_done
        void* arrays[NH_NUM_ARRAYS]

    ctypedef struct nh_seeds:
        unsigned long seeds[2]
        bint has_seeds

    ctypedef struct nh_settings:
        char folder[4096]
        char options[32768]
        char wizkit[4096]
        int spawn_monsters
        nh_seeds initial
        bint fix_moon_phase
        unsigned long time_seed
        bint has_time_seed

    ctypedef struct nh_copy:
        void* handle
        void* context
        char why[256]

cdef extern from "envpool/nethack/scores.h" nogil:
    enum:
        NH_SCORES_BYTES

cdef enum:
    ROWS = 21
    COLUMNS = 79
    MAX_KEYS = 512              # most actions of a task
    WIZKIT_BYTES = 4096         # of the items that a game begins with, one in a line, with the final zero
    MAX_DUNGEONS = 16           # of the game
    MAX_LEVELS = 64             # more than a dungeon has

    # Indices of blstats.
    AT_X = 0
    AT_Y = 1
    SCORE = 9
    GOLD = 13
    TIME = 20
    DUNGEON = 23
    LEVEL = 24
    # Indices of internal.
    ASKS_CHARACTER = 1
    ASKS_LINE = 2
    WAITS_FOR_SPACE = 3
    ON_STAIRS_DOWN = 4
    HUNGER = 7
    # Indices of program_state.
    GAME_IS_OVER = 0
    IN_MOVE_LOOP = 3

    # Values of how_done.
    ASCENDED = 15

cdef enum Task:                 # in the order of envpool.nethack.table.TASKS
    PLAIN
    BY_SCORE
    STAIRCASE
    STAIRCASE_PET
    ORACLE
    BY_GOLD
    BY_HUNGER
    SCOUT
    CHALLENGE

cdef enum Penalty:              # in the order of envpool.nethack.definition.PENALTY_MODES
    CONSTANT
    EXPONENTIAL
    SQUARE
    LINEAR
    ALWAYS

cdef enum EndStatus:
    ABORTED = -1
    RUNNING = 0
    DEATH = 1
    SUCCESSFUL = 2

cdef enum Failure:              # error codes
    NO_COPY = 1                 # Game.copy.why has the reason
    STOPPED                     # the game called abort, exit or _exit
    NOT_STARTED
    NO_END
    NO_SCORES                   # the list of scores cannot be read or written
    HAS_BONES                   # the folder had bones when the game began
    DIVERGED                    # a restored game did not repeat itself


cdef struct Config:
    int32_t task
    int32_t penalty_mode
    double penalty_step
    double penalty_time
    int64_t max_steps
    int64_t no_progress_timeout
    uint8_t allow_all_yn_questions
    uint8_t allow_all_modes
    uint8_t spawn_monsters
    int32_t num_keys
    int32_t keys[MAX_KEYS]              # the key that each action presses
    int32_t num_observed
    int32_t observed[NH_NUM_ARRAYS]     # number of the array of each observation field
    int32_t sizes[NH_NUM_ARRAYS]        # bytes of each array of the game
    uint8_t is_wanted[NH_NUM_ARRAYS]    # the game fills this array
    char options[32768]


cdef struct Game:               # zeroed at first; its address is known to the game
    nh_copy copy
    nh_exchange exchange
    nh_settings settings
    char folder[512]            # empty: there is none yet
    char* memory                # the arrays (memory_bytes)
    size_t memory_bytes


cdef struct Start:              # what a game was started from, in addition to the config
    ep_pcg64 rng                # before its seeds were drawn
    int64_t num_frozen
    int32_t problem             # why the game cannot be started again: a Failure, or 0
    int32_t scores_bytes
    char scores[NH_SCORES_BYTES]
    char wizkit[WIZKIT_BYTES]


cdef struct Env:
    ep_pcg64 rng
    Game game
    Start start
    char wizkit[WIZKIT_BYTES]   # of the next game; empty otherwise
    envpool_history history     # indices of the actions since
    int64_t num_steps           # in this episode
    int64_t num_frozen          # steps in a row in which no turn has passed; continues in the next episode
    int64_t num_idle            # steps in a row without progress, as the challenge counts them
    int64_t idle_turn           # the turn since which it counts
    uint8_t has_idle_turn
    int32_t explored[MAX_DUNGEONS][MAX_LEVELS]     # glyphs that were seen, per level
    int64_t last_score          # before the step
    int64_t last_gold
    int64_t last_time
    int32_t last_hunger
    int32_t end_status
    uint8_t is_ascended


cdef inline const int16_t* glyphs_of(const Env* env) noexcept nogil:
    return <const int16_t*>env.game.exchange.arrays[NH_GLYPHS]


cdef inline const int64_t* blstats_of(const Env* env) noexcept nogil:
    return <const int64_t*>env.game.exchange.arrays[NH_BLSTATS]


cdef inline const int32_t* internal_of(const Game* game) noexcept nogil:
    return <const int32_t*>game.exchange.arrays[NH_INTERNAL]


cdef inline const int32_t* program_state_of(const Game* game) noexcept nogil:
    return <const int32_t*>game.exchange.arrays[NH_PROGRAM_STATE]
