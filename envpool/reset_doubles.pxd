"""Options of resets that are of type double; include/envpool/reset_doubles.h documents them."""

from libc.stdint cimport int32_t

from envpool.env cimport envpool_env, envpool_params
from envpool.scaffold cimport envpool_state

cdef extern from "envpool/reset_doubles.h" nogil:
    ctypedef struct envpool_reset_state:
        envpool_state head

    void envpool_new_reset_doubles(void* state, const double* defaults, int32_t count)
    void envpool_take_reset_doubles(void* state, int32_t id, double* values)
    void envpool_get_reset_doubles(void* state, const envpool_params* call, int32_t first)
    void envpool_set_reset_doubles(void* state, const envpool_params* call, int32_t first)
    int envpool_set_doubles_and_options(void* state, const envpool_params* call)
    void envpool_with_params_and_options(envpool_env* env)
