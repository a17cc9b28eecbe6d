"""Drawing pictures of envs: see rendering.pyx."""

cimport numpy as cnp
from libc.stdint cimport int32_t, int64_t

from envpool._core.engine cimport pthread_t
from envpool._core.partial cimport Shelf
from envpool.env cimport envpool_env, envpool_frames

cdef struct Drawing:            # pictures that several threads draw together
    int64_t claimed             # how many of them some thread has begun
    int64_t pad[7]
    int32_t is_stopped          # begin no more
    int32_t has_failed          # a picture has an error
    int32_t chunk               # pictures that a thread draws in one call
    const envpool_env* kind
    void* state
    envpool_frames frames       # all of them
    int64_t frame_bytes

cdef class Renderer(Shelf):
    cdef Drawing drawing
    cdef bint is_drawing            # a call of draw() has marked its envs
    cdef int inside                 # threads of the user's in draw() that are without the GIL
    cdef pthread_t* helpers         # threads that draw with the caller (num_helpers), as many as a pool has at most
    cdef int32_t num_helpers
    cdef int64_t ns_per_frame       # cost of a picture; 0: not known yet
    cdef cnp.ndarray last           # memory of the last two calls' pictures: a user who draws again and again holds
    cdef cnp.ndarray last_but_one   # the one while the other is drawn

    cdef int check_not_drawn(self, const int32_t* ids, int32_t n) except -1
    cdef int check_can_draw(self, const int32_t* ids, int32_t n) except -1
    cdef bint is_computed(self, const int32_t* ids, int32_t n) noexcept
    cdef int await_computed(self, const int32_t* ids, int32_t n) except -1
    cdef void start_helpers(self) noexcept
    cdef void end_helpers(self) noexcept
    cdef bint draw_some(self, int64_t time) noexcept
    cdef int draw_all(self) except -1
    cdef cnp.ndarray take_memory(self, int64_t n, int64_t height, int64_t width)
    cdef object draw_each(self, cnp.ndarray ids, int32_t height, int32_t width, int32_t camera, bytes assets)
    cdef int raise_undrawn(self, cnp.ndarray ids, cnp.ndarray errors) except -1
