"""Snapshots that repeat an episode; include/envpool/replay.h documents them."""

from libc.stddef cimport size_t
from libc.stdint cimport int32_t, int64_t, uint8_t, uint32_t, uint64_t

from envpool.env cimport envpool_batch, envpool_copies, envpool_snapshots

cdef extern from "envpool/replay.h" nogil:
    ctypedef struct envpool_history:
        uint8_t* rows
        int64_t num_rows
        int32_t is_lost

    ctypedef struct envpool_replay:
        void* state
        int (*step_many)(void* state, const envpool_batch* batch) noexcept nogil
        int (*read_row)(const void* state, const uint8_t* row, void* action) noexcept nogil
        size_t row_bytes
        size_t action_bytes
        int32_t num_envs
        int32_t n
        const int32_t* ids
        const uint8_t* rows[512]
        int64_t num_rows[512]
        int32_t errors[512]
        uint8_t has_ended[512]

    void envpool_history_clear(envpool_history* h)
    void envpool_history_free(envpool_history* h)
    void envpool_history_add(envpool_history* h, const void* row, size_t row_bytes)
    size_t envpool_number_bytes(int64_t count)
    void envpool_history_add_number(envpool_history* h, uint32_t number, size_t row_bytes)
    uint32_t envpool_number_of(const uint8_t* row, size_t row_bytes)
    void envpool_replay_all(envpool_replay* r)
    int envpool_save_all(
        void* state, const envpool_snapshots* snapshots,
        int64_t (*snapshot_size)(void* state, int32_t id) noexcept nogil,
        int (*save)(void* state, int32_t id, char* at) noexcept nogil,
    )
    int envpool_restore_by_replay(
        envpool_replay* r, const envpool_snapshots* snapshots,
        int (*find_rows)(const void* state, const char* at, int64_t size, int64_t* rows_at) noexcept nogil,
        int (*start)(void* state, int32_t id, const char* at) noexcept nogil,
        int (*compare)(void* state, int32_t id, const char* at) noexcept nogil,
    )
    int envpool_copy_through_snapshots(
        void* state, const envpool_copies* copies,
        int64_t (*snapshot_size)(void* state, int32_t id) noexcept nogil,
        int (*get_state)(void* state, const envpool_snapshots* snapshots) noexcept nogil,
        int (*set_state)(void* state, const envpool_snapshots* snapshots) noexcept nogil,
    )
    uint64_t envpool_digest(uint64_t before, const void* data, size_t size)
