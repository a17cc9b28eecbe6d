"""Converting arguments of the user's: see inputs.pyx."""

from libc.stdint cimport int64_t

cdef object as_array(str name, object values)
cdef int64_t as_count(str name, object value, int64_t most) except -1
cdef int64_t as_nanoseconds(str name, object value) except -2
cdef tuple as_seeds(object seeds, int64_t n)
cdef dict flatten(dict nest)
