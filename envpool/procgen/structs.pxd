"""The state of a pool of Procgen environments."""

from libc.stdint cimport int32_t, uint8_t

from envpool.procgen.libenv cimport Buffers, NUM_INFOS, OBS_BYTES, Settings
from envpool.procgen.rows cimport Rows
from envpool.scaffold cimport envpool_state

cdef struct Config:
    Settings settings
    uint8_t channel_first
    uint8_t seed_rows           # seeds choose rows of a handle of all envs, as in EnvPool


cdef struct Env:                # zeroed; its address is known to the library
    void* handle                # NULL until the env is seeded
    Buffers buffers             # points to the members below
    void* ob
    void* info[NUM_INFOS]
    void* ac
    float reward
    int32_t action
    int32_t prev_level_seed
    int32_t level_seed
    uint8_t prev_level_complete
    uint8_t first               # the library is at the first frame of an episode
    const char* refused         # name of a field of the library in a refused state; NULL if there was none
    uint8_t has_ended           # the last step ended an episode: its row shows `previous`
    uint8_t obs[OBS_BYTES]
    uint8_t previous[OBS_BYTES]     # the observation before the last step


cdef struct Envs:
    envpool_state head          # its records are Env
    Rows* rows                  # NULL unless config.seed_rows
    uint8_t* frames             # (num_envs, 512, 512, 3); NULL unless settings.renders
