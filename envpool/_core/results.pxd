"""Putting the arrays of a block into the form of an API style: see results.pyx."""

cdef class ResultTemplate:
    cdef int index              # leaf: position in the list of arrays; -1 for a container
    cdef object container       # tuple, dict, or a named tuple class; None for a leaf
    cdef tuple keys             # keys of a dict
    cdef tuple children         # the templates of the entries of a container
    cdef int needs              # what a batch must contain, or dicts leave this entry out; see statistics.pxd

    cdef object build(self, list arrays, int entries)
