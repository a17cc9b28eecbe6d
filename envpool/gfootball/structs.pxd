"""The configuration of a pool and the state of its games."""

from libc.stdint cimport int32_t, int64_t, uint32_t, uint64_t

from envpool.gfootball.library cimport football_data, football_game, football_info, football_scenario
from envpool.numerics.rng_legacy cimport ep_mt19937
from envpool.scaffold cimport envpool_state

cdef enum:
    MAX_VARIANTS = 16
    MAX_PLAYERS = 22
    STACK = 4                   # observations in a stacked one
    NUM_PARAMS = 2
    SIMPLE = 115                # numbers of the representations simple115 and simple115v2
    LAYERS = 4                  # of the minimap
    CHECKPOINTS = 10

cdef enum Representation:
    EXTRACTED
    SIMPLE115
    SIMPLE115V2
    RAW

cdef struct Config:
    int32_t agents[2]           # controlled players of the left and the right team
    int32_t num_players         # their sum
    int32_t num_variants
    int32_t duration            # number of the last step of an episode, whose first one has the number 0
    int32_t is_limited          # whether the env, not the pool, truncates an episode after `duration`
    int32_t representation
    int32_t has_raw_info
    int32_t stack               # observations in a row: 1 or STACK
    int32_t has_checkpoints     # whether checkpoints are rewarded
    int32_t width               # of the minimap
    int32_t height
    int32_t team_rows[2]        # rows of the raw arrays of the own team and the other one
    int32_t num_actions
    int32_t actions[33]         # actions of the engine
    int32_t num_sticky          # sticky actions in raw observations
    int64_t seed                # of all episodes; -1: each draws its own
    double params[NUM_PARAMS]   # difficulties of the left and the right team
    int32_t frame_height
    int32_t frame_width
    uint64_t reserved
    football_scenario variants[MAX_VARIANTS]    # of the episodes 1, 2, ..., which repeat

cdef struct View:               # what an observation other than raw shows
    float positions[2][11][2]   # of the left and the right team
    float directions[2][11][2]
    float ball[3]
    float ball_direction[3]
    int32_t sizes[2]
    int32_t controlled[2][11]   # player of each agent, -1: none
    int32_t owned_team
    int32_t game_mode

cdef struct Memory:             # what is saved with a game, besides the state of the engine
    ep_mt19937 rng              # Python's generator
    double params[NUM_PARAMS]   # filled in when it is saved
    uint32_t seed               # of the episode
    int32_t episode             # its number
    int32_t is_reversed         # upstream's reverse_team_processing
    int32_t waiting             # steps in a row out of play
    int32_t difference          # of the scores
    int32_t previous_mode
    int32_t previous_owner      # team that has owned the ball last, -1: none
    int32_t score_reward        # of the last step
    int32_t checkpoints[MAX_PLAYERS]    # that each agent has collected
    int32_t newest              # place of the newest view
    View views[STACK]

cdef struct Game:
    Memory memory
    football_game* engine       # NULL before the first reset and after a failure
    football_info info
    char text[512]              # of the last error

cdef struct Envs:
    envpool_state head
    football_data* data
    double* params[NUM_PARAMS]  # (num_envs) each


cdef inline Game* game_of(void* state, int32_t id) noexcept nogil:
    return <Game*>(<Envs*>state).head.records + id


cdef inline const Config* config_of(void* state) noexcept nogil:
    return <const Config*>(<Envs*>state).head.config
