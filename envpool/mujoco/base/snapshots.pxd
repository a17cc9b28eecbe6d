"""Saved states of simulations: the four functions of the environment ABI, for all MuJoCo tasks."""

from libc.stdint cimport int64_t

from envpool.env cimport envpool_copies, envpool_snapshots

cdef int64_t state_size(void* state) noexcept nogil
cdef int get_state(void* state, const envpool_snapshots* snapshots) noexcept nogil
cdef int set_state(void* state, const envpool_snapshots* snapshots) noexcept nogil
cdef int copy_state(void* state, const envpool_copies* copies) noexcept nogil

# The error codes of an env whose model has a state outside of what a snapshot contains, and of a snapshot that was made
# before the files of the model changed.
cdef enum:
    UNSAVABLE = 2
    OTHER_MODEL = 3

# Returns the text of an error code; NULL if it has none.
cdef const char* text_of(int code) noexcept nogil
