"""Putting the arrays of a block into the form of an API style: see results.pyx."""

cdef class ResultTemplate:
    cdef int index              # leaf: position in the list of arrays; -1: a container
    cdef object kind            # container: tuple, dict, or a named tuple class
    cdef tuple keys             # dict: its keys
    cdef tuple children         # container: its Forms

    cdef object build(self, list arrays)
