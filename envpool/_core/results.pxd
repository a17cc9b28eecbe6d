"""Putting the arrays of a block into the form of an API style: see results.pyx."""

from libc.stdint cimport int64_t

cdef class ResultTemplate:
    cdef int index              # leaf: position in the list of arrays; -1 for a container
    cdef object container       # tuple, dict, or a named tuple class; None for a leaf
    cdef tuple keys             # keys of a dict
    cdef tuple children         # the templates of the entries of a container
    cdef int mask               # position of the mask of a RowsOf, whose nest is the only child; else -1
    cdef list used              # positions of the arrays that a RowsOf selects rows of
    cdef int needs              # what a batch must contain, or dicts leave this entry out; see statistics.pxd

    cdef object add_errors      # see Style.add_errors; None if results have no place for the texts of failed envs

    cdef set indices(self)
    cdef object build_rows(self, list arrays)
    cdef object build(self, list arrays, int entries)
    cdef object build_failed(self, list arrays, int entries, dict errors, int64_t n)
