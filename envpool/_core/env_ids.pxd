"""Env ids that a user passes: see env_ids.pyx."""

cimport numpy as cnp
from libc.stdint cimport int32_t, int64_t

from envpool._core.engine cimport Engine

cpdef object as_ids(env_id, str name=*)
cdef int32_t take_idle(Engine* e, object env_id, const int32_t** ids, bint is_reset) except -1
cdef void release(Engine* e, const int32_t* ids, int32_t n) noexcept
cdef cnp.ndarray in_flight_ids(Engine* e, object env_ids)
