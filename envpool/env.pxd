"""The environment ABI for Cython; include/envpool/env.h documents every member."""

from libc.stddef cimport size_t
from libc.stdint cimport int32_t, int64_t, uint8_t, uint32_t, uint64_t

cdef extern from "envpool/env.h" nogil:
    const uint32_t ENVPOOL_ABI_VERSION
    const char* ENVPOOL_CAPSULE_NAME
    const int ENVPOOL_MAX_DIMS
    const int ENVPOOL_MAX_FIELDS
    enum:
        ENVPOOL_MAX_BATCH
        ENVPOOL_NO_MEMORY
        ENVPOOL_BAD_SNAPSHOT
        ENVPOOL_NEXT_EPISODE
        ENVPOOL_NEW_GAME
        ENVPOOL_TRUNCATION_KEEPS_DISCOUNT
        ENVPOOL_SLOW_SNAPSHOTS
        ENVPOOL_PLAYERS
        ENVPOOL_TURNS
        ENVPOOL_DOUBLE_PARAMS
        ENVPOOL_MAX_PLAYERS

    ctypedef enum envpool_dtype:
        ENVPOOL_BOOL
        ENVPOOL_INT8
        ENVPOOL_UINT8
        ENVPOOL_INT32
        ENVPOOL_INT64
        ENVPOOL_FLOAT32
        ENVPOOL_FLOAT64
        ENVPOOL_INT16
        ENVPOOL_UINT16
        ENVPOOL_UINT32
        ENVPOOL_UINT64

    ctypedef struct envpool_field:
        const char* name
        int32_t dtype
        int32_t ndim
        int64_t shape[6]
        const double* low
        const double* high
        int32_t num_low
        int32_t num_high

    ctypedef struct envpool_setup:
        uint32_t struct_size
        uint32_t abi_version
        const void* config
        char* text
        int32_t text_size
        int32_t num_envs

    ctypedef struct envpool_seeds:
        uint32_t struct_size
        int32_t n
        const int32_t* ids
        const uint64_t* seeds
        int32_t* errors

    ctypedef struct envpool_batch:
        uint32_t struct_size
        int32_t n
        const int32_t* ids
        const uint8_t* reset
        const int32_t* resets
        int32_t num_resets
        int32_t contiguous
        const void* const* actions
        float* reward
        uint8_t* terminated
        uint8_t* truncated
        int32_t* errors
        float* discount
        uint8_t* player_present
        float* player_reward
        uint8_t* player_terminated
        uint8_t* player_truncated

    ctypedef struct envpool_rows:
        uint32_t struct_size
        int32_t n
        const int32_t* ids
        void* const* fields
        int64_t row0
        const int64_t* player_rows

    ctypedef struct envpool_frames:
        uint32_t struct_size
        int32_t n
        const int32_t* ids
        const void* assets
        uint8_t* pixels
        int32_t* errors
        int32_t height
        int32_t width
        int32_t camera
        int32_t kind

    ctypedef struct envpool_snapshots:
        uint32_t struct_size
        int32_t n
        const int32_t* ids
        void* const* bytes
        int64_t* sizes
        int32_t* errors
        const uint8_t* resets
        int32_t only_checks
        int32_t reserved

    ctypedef struct envpool_copies:
        uint32_t struct_size
        int32_t n
        const int32_t* sources "from"
        const int32_t* targets "to"
        int32_t* errors

    ctypedef struct envpool_params:
        uint32_t struct_size
        int32_t n
        const int32_t* ids
        void* const* values
        int32_t* errors

    ctypedef struct envpool_env:
        uint32_t abi_version
        uint32_t struct_size
        const char* name
        uint32_t flags
        uint32_t required_flags
        uint32_t field_size
        int32_t max_num_players
        int32_t num_fields
        int32_t num_actions
        const envpool_field* fields
        const envpool_field* actions
        const void* config
        int (*create)(const envpool_setup* setup, void** state) noexcept nogil
        void (*destroy)(void* state) noexcept nogil
        int (*seed_many)(void* state, const envpool_seeds* seeds) noexcept nogil
        int (*step_many)(void* state, const envpool_batch* batch) noexcept nogil
        void (*write_many)(void* state, const envpool_rows* rows) noexcept nogil
        int (*run_many)(void* state, const envpool_batch* batch, const envpool_rows* rows) noexcept nogil
        void (*error_text)(void* state, int32_t id, int32_t code, char* text, size_t size) noexcept nogil
        int (*render_many)(void* state, const envpool_frames* frames) noexcept nogil
        int32_t frame_height
        int32_t frame_width
        int32_t lanes
        int32_t num_params
        int64_t (*state_size)(void* state) noexcept nogil
        int (*get_state)(void* state, const envpool_snapshots* snapshots) noexcept nogil
        int (*set_state)(void* state, const envpool_snapshots* snapshots) noexcept nogil
        int (*copy_state)(void* state, const envpool_copies* copies) noexcept nogil
        uint32_t state_version
        uint32_t reserved_state
        const envpool_field* params
        int (*get_params)(void* state, const envpool_params* params) noexcept nogil
        int (*set_params)(void* state, const envpool_params* params) noexcept nogil
        int64_t (*snapshot_size)(void* state, int32_t id) noexcept nogil

    void envpool_env_init(envpool_env* env, const char* name)
