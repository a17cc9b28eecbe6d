"""The parts of an environment definition that every environment shares; include/envpool/scaffold.h documents them."""

from cpython.pycapsule cimport PyCapsule_New
from libc.stddef cimport size_t
from libc.stdint cimport int32_t

from envpool.env cimport (
    ENVPOOL_CAPSULE_NAME, envpool_batch, envpool_env, envpool_params, envpool_rows, envpool_seeds, envpool_setup,
    envpool_snapshots,
)

cdef extern from "envpool/scaffold.h" nogil:
    enum:
        ENVPOOL_MAX_ARRAYS

    ctypedef struct envpool_state:
        const void* config
        void* records
        size_t record_size
        int32_t num_envs
        int32_t has_failed
        int (*is_valid)(const envpool_state* state, int32_t id, int32_t resets) noexcept nogil

    void* envpool_new_state(const envpool_setup* setup, size_t state_size, size_t record_size)
    void* envpool_new_array(void* state, size_t itemsize)
    int envpool_finish_state(void* s, void** state)
    void envpool_free_state(void* state)
    int envpool_seed_records(void* state, const envpool_seeds* seeds)
    void envpool_no_memory_text(void* state, int32_t id, int32_t code, char* text, size_t size)
    void envpool_with_snapshots(envpool_env* env)
    int envpool_restore_records(void* state, const envpool_snapshots* snapshots,
                                int (*has_generator)(const void* record) noexcept nogil)
    void envpool_new_params(void* state, double** params, const double* initial, int32_t count)
    void envpool_with_params(envpool_env* env)
    int envpool_set_doubles(void* state, const envpool_params* call)
    const double* envpool_common_params(const envpool_state* s)
    int32_t envpool_params_vary(const envpool_state* s)
    void envpool_note_params_vary(envpool_state* s)
    void envpool_new_reset_doubles(void* state, const double* defaults, int32_t count)
    void envpool_take_reset_doubles(void* state, int32_t id, double* values)
    void envpool_get_reset_doubles(void* state, const envpool_params* call, int32_t first)
    void envpool_set_reset_doubles(void* state, const envpool_params* call, int32_t first)
    int envpool_set_records(void* state, const envpool_snapshots* snapshots)

    envpool_env envpool_new_env(
        const char* name,
        int (*create)(const envpool_setup* setup, void** state) noexcept nogil,
        int (*step_many)(void* state, const envpool_batch* batch) noexcept nogil,
        void (*write_many)(void* state, const envpool_rows* rows) noexcept nogil,
    )


# The capsule of a module's ENV_DEF, as the `template` of `envpool.native.define`. The struct must live forever.
cdef inline object envpool_template(const envpool_env* env_def):
    return PyCapsule_New(<void*>env_def, ENVPOOL_CAPSULE_NAME, NULL)


# A copy of a module's Config struct, as the `config` of `envpool.native.define`.
cdef inline bytes envpool_config_bytes(const void* config, size_t size):
    return (<const char*>config)[:size]
