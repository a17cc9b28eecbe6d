"""engine/engine.h and envs.h: engines, and the configuration and the state of the ViZDoom envs of a pool."""

from libc.stdint cimport int32_t, uint8_t, uint32_t, uint64_t
from libcpp cimport bool as cpp_bool

from envpool.env cimport envpool_setup
from envpool.numerics.rng_legacy cimport ep_mt19937
from envpool.raster.resize cimport Resizer
from envpool.replay cimport envpool_history

cdef extern from "engine/engine.h" namespace "envpool::vizdoom" nogil:
    enum:
        TIC "envpool::vizdoom::kTic"
        UPDATE "envpool::vizdoom::kUpdate"
        TIC_AND_UPDATE "envpool::vizdoom::kTicAndUpdate"
        SCREEN "envpool::vizdoom::kScreenRegion"
        DEPTH "envpool::vizdoom::kDepthRegion"
        LABELS "envpool::vizdoom::kLabelsRegion"
        AUTOMAP "envpool::vizdoom::kAutomapRegion"
        DEATH_COUNT "envpool::vizdoom::kDeathCount"
        HIT_COUNT "envpool::vizdoom::kHitCount"
        DAMAGE_COUNT "envpool::vizdoom::kDamageCount"
        HEALTH "envpool::vizdoom::kHealth"
        SELECTED_WEAPON "envpool::vizdoom::kSelectedWeapon"
        SELECTED_WEAPON_AMMO "envpool::vizdoom::kSelectedWeaponAmmo"
        SLOTS "envpool::vizdoom::kSlots"
        MAX_ARGUMENTS "envpool::vizdoom::kMaxArguments"
        MAX_PLAYERS "envpool::vizdoom::kPlayers"

    cdef struct GameState:
        uint32_t map_tic
        int32_t map_reward
        bint is_dead
        bint is_map_over
        bint is_multiplayer
        bint is_netgame

    cdef struct Input:
        double button[43]

    cdef struct Process:
        int pid

    cdef struct Engine:
        char* memory
        Process process
        uint32_t last_tic
        char text[512]

    cdef struct Launch:
        double patience

    const GameState* state_of(const Engine* e)
    const uint8_t* region_of(const Engine* e, int32_t region)
    Input* input_of(Engine* e)
    double read_variable(const GameState* s, int32_t number)
    bint is_running(Process* p)
    bint is_alive(const Engine* e)
    bint is_time_up(const Engine* e)
    bint is_game_over(const Engine* e)
    bint begin_start(Engine* e, const Launch* l, uint32_t seed)
    bint finish_start(Engine* e, const Launch* l, const cpp_bool* available)
    bint restart_map(Engine* e, const Launch* l, uint32_t seed, const char* recording)
    void finish_recording(Engine* e, const Launch* l)
    bint send(Engine* e, uint8_t code)
    bint await_answer "envpool::vizdoom::await"(Engine* e, double patience)

cdef extern from "engine/seats.h" namespace "envpool::vizdoom" nogil:
    bint request_tics "envpool::vizdoom::request_tic"(Engine** e, int32_t n, uint8_t code, double patience)
    bint await_seats(Engine** e, int32_t n, double patience)
    bint update_seats(Engine** e, int32_t n, double patience)
    bint begin_seats(Engine** e, int32_t n, const Launch* l, uint32_t seed)
    bint finish_seats(Engine** e, int32_t n, const Launch* l, uint32_t seed, const cpp_bool* available)
    bint restart_seats(Engine** e, int32_t n, const Launch* l, uint32_t seed)

cdef extern from "envs.h" namespace "envpool::vizdoom" nogil:
    enum:
        MAX_VARIABLES "envpool::vizdoom::kMaxVariables"
        MAX_INFOS "envpool::vizdoom::kMaxInfos"
        NO_ENGINE "envpool::vizdoom::kNoEngine"
        NO_MEMORY "envpool::vizdoom::kNoMemory"
        HAS_PLAYERS "envpool::vizdoom::kHasPlayers"
        TOO_LONG "envpool::vizdoom::kTooLong"
        OTHER_SCENARIO "envpool::vizdoom::kOtherScenario"
        DIVERGED "envpool::vizdoom::kDiverged"
        RESEEDED "envpool::vizdoom::kReseeded"

    cdef struct Group:
        int32_t region
        int32_t num_planes
        int32_t is_labels

    cdef struct Config:
        int32_t stack_num
        int32_t frame_skip
        int32_t height
        int32_t width
        int32_t area
        int32_t max_episode_steps
        int32_t episodic_life
        int32_t screen_width
        int32_t screen_height
        int32_t blue_first
        int32_t start_tic
        int32_t num_players
        int32_t num_arguments
        int32_t num_actions
        int32_t num_buttons
        int32_t buttons[43]
        int32_t num_variables
        int32_t variables[160]
        int32_t num_infos
        int32_t infos[56]
        int32_t num_groups
        Group groups[4]
        int32_t weapon_duration
        int32_t scenario_reward
        uint64_t scenario
        double patience
        double gain[160]
        double loss[160]
        double weapon_reward[10]
        double living_reward
        double death_penalty
        double map_exit_reward

    cdef struct Env:
        Engine engine
        ep_mt19937 rng
        uint32_t seed
        bint is_fresh
        bint is_over
        bint is_time_up
        int32_t steps
        int32_t episodes
        int32_t weapon
        int32_t weapon_steps
        int32_t newest
        int32_t num_frames
        uint32_t last_tic
        int32_t map_reward
        float reward
        double health
        double base[3]
        double value[160]
        uint8_t* frames
        int32_t is_restored
        int32_t is_reseeded
        ep_mt19937 start
        envpool_history history

    cdef struct Envs:
        Config config
        int32_t num_envs
        int32_t num_planes
        size_t plane
        size_t pixels
        Launch launch
        const double* actions
        const char* recordings
        const cpp_bool* is_available
        Resizer* resizer
        Env* env

    int32_t seats_of(Env* env, const Config* c, Engine** engines)
    int create(const envpool_setup* setup, void** state)
    void destroy(void* state)
