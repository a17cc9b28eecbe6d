"""Environment definitions from functions that work on one environment; include/envpool/records.h documents them."""

from libc.stddef cimport size_t
from libc.stdint cimport int32_t, int64_t, uint8_t, uint64_t

from envpool.env cimport envpool_batch, envpool_env, envpool_frames, envpool_rows, envpool_setup
from envpool.scaffold cimport envpool_state, envpool_template

cdef extern from "envpool/records.h" nogil:
    ctypedef struct envpool_outcome:
        double reward
        int32_t terminated
        int32_t truncated

    ctypedef int (*envpool_reset_one)(void* record, const void* config) noexcept nogil
    ctypedef int (*envpool_step_one)(void* record, const void* config, const void* const* actions, int32_t id,
                                     envpool_outcome* out) noexcept nogil
    ctypedef void (*envpool_write_one)(const void* record, const void* config, void* const* fields,
                                       int64_t row) noexcept nogil
    ctypedef int (*envpool_draw_one)(const void* record, const void* config, const envpool_frames* frames,
                                     int32_t i) noexcept nogil

    ctypedef struct envpool_records:
        size_t size
        size_t (*size_for)(const void* config) noexcept nogil
        envpool_reset_one reset
        envpool_step_one step
        envpool_write_one write
        envpool_draw_one draw
        int (*is_valid)(const void* record, const void* config, int32_t resets) noexcept nogil
        void (*seed)(void* record, uint64_t seed) noexcept nogil
        int (*has_generator)(const void* record) noexcept nogil

    ctypedef struct envpool_records_head:
        const envpool_records* table
        uint64_t reserved

    void* envpool_record(const envpool_state* s, int32_t id)
    uint8_t* envpool_pixels(const envpool_frames* f, int32_t i)
    int envpool_advance(void* record, const void* config, const envpool_batch* b, int32_t i, envpool_reset_one reset,
                        envpool_step_one step)
    int envpool_step_each(void* state, const envpool_batch* b, envpool_reset_one reset, envpool_step_one step)
    void envpool_write_each(void* state, const envpool_rows* rows, envpool_write_one write)
    int envpool_run_each(void* state, const envpool_batch* b, const envpool_rows* rows, envpool_reset_one reset,
                         envpool_step_one step, envpool_write_one write)
    int envpool_create_records(const envpool_setup* setup, void** state)
    envpool_env envpool_new_records_env(const char* name, const envpool_records* table)


# A copy of a module's Config struct behind the table of its functions, as the `config` of `envpool.native.define`.
cdef inline bytes envpool_records_config(const envpool_records* table, const void* config, size_t size):
    cdef envpool_records_head head
    head.table, head.reserved = table, 0
    return (<const char*>&head)[:sizeof(head)] + (<const char*>config)[:size]
