"""Turning what a user passes into arrays: see inputs.pyx."""

from libc.stdint cimport int64_t

cdef object as_array(str name, object values)
cpdef object as_ids(env_id, str name=*)
cdef int64_t as_count(str name, object value, int64_t most) except -1
cdef int64_t as_nanoseconds(str name, object value) except -2
cdef dict flatten(dict nest)
