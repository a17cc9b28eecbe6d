"""The environment ABI for Cython; include/envpool/env.h documents every member."""

from libc.stddef cimport size_t
from libc.stdint cimport int32_t, int64_t, uint8_t, uint32_t, uint64_t

cdef extern from "envpool/env.h" nogil:
    const int ENVPOOL_ABI_VERSION
    const char* ENVPOOL_CAPSULE_NAME
    const int ENVPOOL_MAX_DIMS
    const int ENVPOOL_MAX_FIELDS
    enum:
        ENVPOOL_MAX_BATCH
        ENVPOOL_TRUNCATION_KEEPS_DISCOUNT

    ctypedef enum envpool_dtype:
        ENVPOOL_BOOL
        ENVPOOL_INT8
        ENVPOOL_UINT8
        ENVPOOL_INT32
        ENVPOOL_INT64
        ENVPOOL_FLOAT32
        ENVPOOL_FLOAT64

    ctypedef struct envpool_field:
        const char* name
        int32_t dtype
        int32_t ndim
        int64_t shape[6]
        const double* low
        const double* high
        int32_t num_low
        int32_t num_high

    ctypedef struct envpool_batch:
        const int32_t* ids
        int32_t n
        int32_t contiguous
        const uint8_t* reset
        const int32_t* resets
        int32_t num_resets
        const void* const* actions
        float* reward
        uint8_t* terminated
        uint8_t* truncated
        int32_t* errors
        float* discount

    ctypedef struct envpool_frames:
        const int32_t* ids
        int32_t n
        int32_t height
        int32_t width
        int32_t camera
        const void* assets
        uint8_t* pixels
        int32_t* errors

    ctypedef struct envpool_env:
        uint32_t abi_version
        uint32_t struct_size
        const char* name
        int32_t num_fields
        int32_t num_actions
        const envpool_field* fields
        const envpool_field* actions
        const void* config
        void* (*create)(const void* config, int32_t num_envs) noexcept nogil
        void (*destroy)(void* state) noexcept nogil
        void (*seed_many)(void* state, const int32_t* ids, int32_t n, const uint64_t* seeds) noexcept nogil
        int (*step_many)(void* state, const envpool_batch* batch) noexcept nogil
        void (*write_many)(void* state, const int32_t* ids, int32_t n, void* const* fields, int64_t row0) noexcept nogil
        int (*run_many)(void* state, const envpool_batch* batch, void* const* fields, int64_t row0) noexcept nogil
        void (*error_text)(void* state, int32_t id, int32_t code, char* text, size_t size) noexcept nogil
        uint32_t flags
        int32_t lanes
        int (*render_many)(void* state, const envpool_frames* frames) noexcept nogil
        int32_t frame_height
        int32_t frame_width

    void envpool_env_init(envpool_env* env, const char* name)
