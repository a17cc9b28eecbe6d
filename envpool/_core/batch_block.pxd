"""The arrays that show a block: see batch_block.pyx."""

cimport numpy as cnp
from cpython.ref cimport PyObject
from libc.stdint cimport int64_t

from envpool._core.block_memory cimport BlockMemory
from envpool._core.structs cimport Block

cdef struct Column:             # an array of a block; its place is the same in all blocks of a store
    int64_t offset              # bytes from the start of the block
    int64_t row_bytes
    PyObject* descr
    int flags                   # of an array as it was made
    int ndim
    cnp.npy_intp dims[8]

cdef enum Condition:            # of the arrays of a batch block
    HELD                        # somebody can access one of them
    CHANGED                     # nobody can, but somebody has reshaped one in place, or changed its flags or dtype
    UNUSED

cdef class BatchBlock:
    cdef Block* block           # the block behind the arrays
    cdef BlockMemory memory     # contains it
    cdef list arrays            # one ndarray per column with all rows; nothing else in this package refers to them
    cdef bint is_held(self)
    cdef Condition look(self, const Column* columns)
    cdef void show(self, Block* block, BlockMemory memory, const Column* columns)

cdef BatchBlock batch_block_of(Block* block, BlockMemory memory, Column* columns, tuple dtypes)
