"""Turning the error codes of envs into exceptions: see failures.pyx."""

from libc.stdint cimport int32_t, int64_t

from envpool._core.engine cimport Engine

cdef str failure_text(Engine* e, int32_t id, int32_t code)
cdef int raise_failures(Engine* e, const char* ids, size_t stride, int64_t n) except -1
