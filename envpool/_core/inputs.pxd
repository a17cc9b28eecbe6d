"""Turning what a user passes into arrays: see inputs.pyx."""

cdef object as_array(str name, object values)
cpdef object as_ids(env_id)
cdef dict flatten(dict nest)
