"""Failed envs: exceptions, or texts in the results; see failures.pyx."""

from libc.stdint cimport int32_t, int64_t

from envpool._core.calls cimport CreateFailure
from envpool._core.structs cimport Engine

cdef int raise_create_failure(str name, int32_t num_envs, const CreateFailure* failure) except -1
cdef int raise_start_failure(int failed, int32_t started, int32_t num_threads) except -1
cdef void give_cause(object cause) noexcept
cdef void give_interruption(object error) noexcept
cdef int check_signals() except -1
cdef tuple failure_of(const Engine* e, int32_t id, int32_t code)
cdef str failure_text(const Engine* e, int32_t id, int32_t code)

cdef class FailureReports:
    cdef bint restarts
    cdef bint raises_causes
    cdef bint is_any_noted  # whether `texts` has entries
    cdef dict texts         # by env id: the failures of rows in flight that were noted and not handed out

    cdef bint note(self, Engine* e, const char* ids, size_t stride, int64_t n) except -1
    cdef dict texts_of(self, const char* ids, size_t stride, int64_t n)
    cdef void forget(self, const char* ids, size_t stride, int64_t n) noexcept
    cdef void drop_all(self) noexcept
