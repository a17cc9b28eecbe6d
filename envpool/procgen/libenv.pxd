"""The C interface of Procgen's library, which is gym3's ``libenv``, version 1, with functions for states.

A handle simulates `num` environments. This package makes one handle per environment, without threads: `act` then
simulates the step on the thread of the caller and leaves its results in the buffers. Handles are independent of each
other: all that they share is images, which the first one loads under a lock and nobody changes after that.
"""

from libc.stdint cimport int32_t, uint8_t

cdef enum:
    FRAME_SIDE = 512                                        # pixels of a frame that is rendered
    FRAME_BYTES = FRAME_SIDE * FRAME_SIDE * 3
    OBS_SIDE = 64
    OBS_BYTES = OBS_SIDE * OBS_SIDE * 3
    NUM_ACTIONS = 15
    FORCE_RESET = -1            # action that steps with the default action and starts a level after that
    MAX_STATE_BYTES = 1 << 20   # as upstream allows; the largest state measured has 49 KB
    NAME_BYTES = 128
    NUM_INFOS = 4               # prev_level_seed, prev_level_complete, level_seed; the frame, with `renders`


cdef struct Option:
    char name[NAME_BYTES]
    int32_t dtype               # UINT8 for strings and flags, INT32
    int32_t count               # elements of `data`
    void* data


cdef struct Options:
    Option* items
    int32_t count


cdef struct Buffers:            # the arrays of `ob`, `info` and `ac` stand at [kind * num + env], and never move
    void** ob                   # uint8 (64, 64, 3)
    float* reward
    uint8_t* first              # 1: the other buffers show the first frame of an episode, and the last reward
    void** info                 # NUM_INFOS kinds: int32, uint8, int32, uint8 (512, 512, 3)
    void** ac                   # int32


cdef struct Library:
    void* (*make)(int num, Options options) noexcept nogil
    void (*set_buffers)(void* handle, Buffers* buffers) noexcept nogil      # resets the envs, and fills the buffers
    void (*act)(void* handle) noexcept nogil
    void (*observe)(void* handle) noexcept nogil                            # draws the frame
    void (*close)(void* handle) noexcept nogil
    int (*get_state)(void* handle, int env, char* bytes, int size) noexcept nogil
    void (*set_state)(void* handle, int env, char* bytes, int size) noexcept nogil      # ends the process on bad bytes


cdef struct Settings:           # options of a handle, all of which have been checked
    char env_name[16]
    int32_t distribution_mode
    int32_t num_levels
    int32_t start_level
    uint8_t use_sequential_levels
    uint8_t center_agent
    uint8_t use_backgrounds
    uint8_t use_monochrome_assets
    uint8_t restrict_themes
    uint8_t use_generated_assets
    uint8_t paint_vel_info
    uint8_t use_easy_jump
    uint8_t renders


cdef const Library* loaded() noexcept nogil         # NULL before `load`
cdef void* make_handle(const Settings* settings, int32_t num, int32_t rand_seed) noexcept nogil
