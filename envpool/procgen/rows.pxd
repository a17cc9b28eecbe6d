"""Environments as rows of one handle, in which upstream gives each row its own levels."""

from libc.stdint cimport int32_t, uint8_t

from envpool.procgen.libenv cimport Buffers, Settings

cdef extern from "<pthread.h>" nogil:
    ctypedef struct pthread_mutex_t:
        pass

cdef struct Rows:
    pthread_mutex_t lock        # held while the other members are used
    const Settings* settings
    void* handle                # of all rows; NULL if there is none
    int32_t rand_seed           # of the handle
    int32_t num_envs
    int32_t num_left            # rows that have not been copied yet
    Buffers buffers             # nobody reads what stands in them, so most rows share them
    int32_t* numbers            # (NUM_INFOS)
    uint8_t* obs
    char* state                 # (MAX_STATE_BYTES)


cdef Rows* new_rows(const Settings* settings, int32_t num_envs) noexcept nogil      # NULL if out of memory
cdef void free_rows(Rows* rows) noexcept nogil
cdef void load_row(Rows* rows, int32_t id, int32_t rand_seed, void* handle) noexcept nogil
