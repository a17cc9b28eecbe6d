"""Turning the error codes of envs into exceptions: see failures.pyx."""

from libc.stdint cimport int32_t, int64_t

from envpool._core.calls cimport CreateFailure
from envpool._core.structs cimport Engine

cdef int raise_create_failure(str name, int32_t num_envs, const CreateFailure* failure) except -1
cdef str failure_text(Engine* e, int32_t id, int32_t code)
cdef int raise_failures(Engine* e, const char* ids, size_t stride, int64_t n) except -1
