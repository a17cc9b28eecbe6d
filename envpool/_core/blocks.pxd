"""Batch blocks and their recycling: see blocks.pyx."""

cimport numpy as cnp
from cpython.ref cimport PyObject
from libc.stdint cimport int64_t

from envpool._core.engine cimport Block

cdef struct ArrayLayout:        # an array of a block as it was made
    void* data
    PyObject* descr
    int flags
    int64_t row_bytes
    int ndim
    cnp.npy_intp dims[8]

cdef class BlockMemory:
    cdef void* base

cdef class BatchBlock:
    cdef Block c                # what the engine writes through
    cdef BlockMemory memory
    cdef list arrays            # one ndarray per column with all rows; the block keeps no other references to them
    cdef void** pointers        # the tables behind c.fields and c.final
    cdef ArrayLayout* layouts   # layout of each array
    cdef bint is_held(self)
    cdef bint is_pristine(self)
    cdef void add(self, cnp.ndarray array)
    cdef void copy_row(self, int64_t row, BatchBlock source, int64_t source_row) noexcept

cdef class BlockStore:
    cdef readonly tuple names   # names of the arrays, in order
    cdef readonly tuple shapes  # shape of one row of each
    cdef readonly tuple dtypes
    cdef int64_t capacity
    cdef int num_fields
    cdef bint same_step
    cdef tuple core_columns     # the CoreFields of the blocks
    cdef list used              # blocks handed out
    cdef Py_ssize_t cursor      # position in `used` of the block to look at next
    cdef readonly int64_t allocated
    cdef BlockStore resized(self, int64_t capacity)
    cdef int64_t block_bytes(self)
    cdef BatchBlock new_block(self)
    cdef BatchBlock exchange(self, BatchBlock given)
    cdef void undo(self, BatchBlock given, BatchBlock got)
