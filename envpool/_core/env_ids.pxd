"""Env ids that a user passes: see env_ids.pyx."""

cimport numpy as cnp
from libc.stdint cimport int32_t, int64_t, uint8_t

from envpool._core.structs cimport Engine

cpdef object as_ids(env_id, str name=*)
cdef int32_t take_idle(Engine* e, object env_id, const int32_t** ids, bint is_reset) except -1
cdef void release(Engine* e, const int32_t* ids, int32_t n) noexcept
cdef void hold(Engine* e, const int32_t* ids, int64_t n, uint8_t how) noexcept
cdef void let_go(Engine* e, const int32_t* ids, int64_t n) noexcept
cdef str holding_call(const Engine* e, int32_t id)
cdef cnp.ndarray in_flight_ids(Engine* e, object env_ids)
cdef cnp.ndarray checked_ids(Engine* e, object env_ids, str name)
cdef int check_idle(Engine* e, const int32_t* ids, int64_t n, bint may_repeat, str name) except -1
cdef int check_disjoint(Engine* e, const int32_t* sources, const int32_t* targets, int64_t n) except -1
