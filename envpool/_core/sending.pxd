"""What goes into a pool: see sending.pyx."""

from libc.stdint cimport int32_t, int64_t

from envpool._core.frames cimport Renderer

cdef class Sender(Renderer):
    cdef int take_ids(self, object env_id, const int32_t** ids, bint explicit_reset) except -1
    cdef int refuse_id(self, object env_id, int64_t at) except -1
    cdef int check_running(self, int64_t id) except -1
    cdef void release(self, const int32_t* ids, int32_t n) noexcept
    cdef int check_players(self, object action, object env_id) except -1
    cdef int put(self, object action, object env_id, bint returns_at_once) except -1
    cdef int check_batch_follows(self, env_id) except -1
    cdef int begin_send(self) except -1
    cdef void launch(self, const int32_t* ids, int32_t n, bint returns_at_once) noexcept
    cdef int drain(self) except -1
    cdef void forget_in_flight(self) noexcept
