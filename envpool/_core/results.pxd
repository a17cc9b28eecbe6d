"""Putting the arrays of a block into the form of an API style: see results.pyx."""

from cpython.ref cimport PyObject
from libc.stdint cimport int64_t

cdef enum Kind:
    LEAF, TUPLE, NAMED_TUPLE, DICT, ROWS_OF, MADE_OF

cdef struct Node:               # a node of a nest, followed by those of its children
    Kind kind
    int index                   # leaf, MadeOf: position in the list of arrays; RowsOf: that of the mask
    int needs                   # what a batch must contain, or dicts leave this entry out; see statistics.pxd
    int children
    int size                    # number of nodes, including this one and all below it
    int prototype               # dict: position among the prototypes, or -1; see ResultTemplate.prototypes()
    PyObject* key               # in a dict; borrowed from ResultTemplate.objects
    PyObject* container         # named tuple: its class; RowsOf: its RowsTemplate; MadeOf: what makes it; likewise

cdef class ResultTemplate

cdef class RowsTemplate:
    cdef ResultTemplate template
    cdef list used              # positions of the arrays that occur in the template
    cdef int names              # number of arrays of a batch

    cdef object build(self, PyObject** arrays, int mask)

cdef class ResultTemplate:
    cdef object nest            # as it was passed
    cdef Node* nodes            # the first one is the root
    cdef list objects           # what the nodes refer to
    cdef int num_prototypes
    cdef object add_errors      # see Style.add_errors; None if results have no place for the texts of failed envs
    cdef object finish          # see Style.finish; None if everything that a result contains is in the block

    cdef int compile(self, int at, nest, list names) except -1
    cdef set indices(self)
    cdef list prototypes(self, list arrays)
    cdef object build(self, list arrays, int entries, list prototypes=?)
    cdef object build_failed(self, list arrays, int entries, dict errors, int64_t n)
