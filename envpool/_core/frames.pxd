"""Drawing frames of envs on threads: see frames.pyx."""

cimport numpy as cnp
from libc.stdint cimport int32_t, int64_t

from envpool._core.guard cimport Guard
from envpool._core.partial cimport PartialBatches
from envpool._core.structs cimport Engine, pthread_t
from envpool.env cimport envpool_env, envpool_frames

cdef struct FrameJob:           # frames that several threads draw together
    int64_t claimed             # number of frames that some thread has begun
    int64_t pad[7]
    int32_t is_stopped          # nonzero: no further frame may be begun
    int32_t has_failed          # nonzero: some frame has an error
    int32_t chunk               # number of frames that a thread draws in one call
    int32_t num_running         # helpers that may still touch the job
    Engine* engine
    envpool_frames frames       # all frames of the job
    int64_t frame_bytes

cdef class FrameRenderer:
    cdef Engine* engine
    cdef Guard guard
    cdef PartialBatches partial
    cdef FrameJob job
    cdef pthread_t* helpers         # threads that draw beside the caller (num_helpers); room for num_threads
    cdef int32_t num_helpers
    cdef tuple in_use               # what the helpers of a call may touch
    cdef bint has_lost              # whether helpers were left behind
    cdef int64_t ns_per_frame       # cost of a frame; 0: unknown
    cdef list earlier               # memory of the frames of the last two calls, which take turns

    cdef object render(self, object env_id, int32_t height, int32_t width, int32_t camera, bytes assets)
    cdef void drop_memory(self) noexcept

    cdef int await_computed(self, const int32_t* ids, int32_t n) except -1
    cdef bint is_computed(self, const int32_t* ids, int32_t n) noexcept
    cdef int check_drawable(self, const int32_t* ids, int32_t n) except -1
    cdef object draw_each(self, cnp.ndarray ids, int32_t height, int32_t width, int32_t camera, bytes assets)
    cdef int draw_all(self) except -1
    cdef bint draw_some(self, int64_t time) noexcept
    cdef void start_helpers(self) noexcept
    cdef int end_helpers(self, bint is_interrupted) except -1
    cdef void leave_helpers(self) noexcept
    cdef cnp.ndarray take_memory(self, int64_t n, int64_t height, int64_t width)
    cdef int raise_failed(self, cnp.ndarray ids, cnp.ndarray errors) except -1
