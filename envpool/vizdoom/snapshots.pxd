"""Snapshots of games: see snapshots.pyx."""

from libc.stdint cimport int32_t, int64_t

from envpool.env cimport envpool_copies, envpool_snapshots

cdef int64_t state_size(void* state) noexcept nogil
cdef int64_t snapshot_size(void* state, int32_t id) noexcept nogil
cdef int get_state(void* state, const envpool_snapshots* snapshots) noexcept nogil
cdef int set_state(void* state, const envpool_snapshots* snapshots) noexcept nogil
cdef int copy_state(void* state, const envpool_copies* copies) noexcept nogil
