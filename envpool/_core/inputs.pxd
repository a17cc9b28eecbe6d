"""Arguments that users pass: see inputs.pyx."""

cimport numpy as cnp
from libc.stdint cimport int32_t, int64_t, uint8_t

from envpool._core.structs cimport Engine

cdef object as_array(str name, object values)
cdef int64_t as_count(str name, object value, int64_t limit) except -1
cdef int64_t as_nanoseconds(str name, object value) except -2
cdef tuple as_seeds(object seeds, int64_t n)
cdef dict flatten(dict nest)
cpdef object as_ids(env_id, str name=*)

cdef int32_t take_idle(Engine* e, object env_id, const int32_t** ids, bint is_reset) except -1
cdef void release(Engine* e, const int32_t* ids, int32_t n) noexcept
cdef void hold(Engine* e, const int32_t* ids, int64_t n, uint8_t how) noexcept
cdef void unhold(Engine* e, const int32_t* ids, int64_t n) noexcept
cdef str holding_call(const Engine* e, int32_t id)
cdef cnp.ndarray in_flight_ids(Engine* e, object env_id)
cdef cnp.ndarray checked_ids(const Engine* e, object env_id, str name=*)
cdef int check_idle(Engine* e, const int32_t* ids, int64_t n, bint may_repeat, str name=*) except -1
cdef int check_disjoint(Engine* e, const int32_t* sources, const int32_t* targets, int64_t n) except -1

cdef class ResetOptions:
    cdef int put(self, Engine* e, const int32_t* ids, int32_t n) except -1
