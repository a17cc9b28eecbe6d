"""Batch blocks: one allocation per batch, one array per column, recycled when nobody holds any of its arrays.

A block is handed out as NumPy arrays over its memory. Anyone who holds an array, or a slice, a memoryview or a DLPack
view of it, raises the reference count of that array, directly or through the base of the view. A block may therefore be
written again when the block alone references its arrays, no array has a weak reference, and every array has its
original layout (nobody has reshaped it in place or cleared its writeable flag). The memory belongs to an object that is
the base of every array, so that it outlives the pool as long as an array does.
"""

import numpy as np

cimport numpy as cnp
from cpython.list cimport PyList_GET_SIZE
from cpython.ref cimport PyObject
from libc.stdint cimport int32_t, int64_t, uint8_t
from libc.stdlib cimport free, malloc
from libc.string cimport memcpy, memset

from envpool._core.structs cimport DISCOUNT, DONE, ELAPSED_STEP, ENV_ID, REWARD, STEP_TYPE, TERMINATED, TRUNCATED

cnp.import_array()

cdef extern from "stdlib.h" nogil:
    void* aligned_alloc(size_t alignment, size_t size)

cdef extern from *:
    """
    #define ep_refcount(o) Py_REFCNT(o)
    #define ep_has_weakref(a) (((PyArrayObject_fields *)(a))->weakreflist != NULL)
    """
    Py_ssize_t ep_refcount(PyObject* o)
    bint ep_has_weakref(PyObject* a)

cdef extern from "Python.h":
    PyObject* PyList_GET_ITEM(object items, Py_ssize_t i)   # borrowed: the reference is not counted

cdef enum:
    KEPT = 16           # blocks kept for reuse while their arrays are held; further ones are left to their holders
    LOOKED_AT = 4       # number of kept blocks that are considered for each batch

CORE_COLUMNS = {
    REWARD: ("reward", np.float32), TERMINATED: ("terminated", np.bool_), TRUNCATED: ("truncated", np.bool_),
    ELAPSED_STEP: ("elapsed_step", np.int32), ENV_ID: ("env_id", np.int32), DONE: ("done", np.bool_),
    DISCOUNT: ("discount", np.float32), STEP_TYPE: ("step_type", np.int32),
}


cdef class BlockMemory:
    """The bytes of a block: the base object of its arrays."""

    def __cinit__(self, size_t size):
        self.base = aligned_alloc(64, size)
        if self.base == NULL:
            raise MemoryError(f"no memory for a batch of {size} bytes")
        memset(self.base, 0, size)

    def __dealloc__(self):
        free(self.base)


cdef class BatchBlock:
    """One block: the pointers through which the engine writes, and the arrays over the memory."""

    def __dealloc__(self):
        free(self.pointers)
        free(self.layouts)

    cdef bint is_held(self):
        """Whether anyone but this block can access one of its arrays."""
        cdef PyObject* a
        cdef Py_ssize_t i
        for i in range(PyList_GET_SIZE(self.arrays)):
            a = PyList_GET_ITEM(self.arrays, i)
            if ep_refcount(a) != 1 or ep_has_weakref(a):
                return True
        return False

    cdef bint is_pristine(self):
        """Whether every array has its original memory, shape, dtype and flags."""
        cdef cnp.ndarray a
        cdef const ArrayLayout* m
        cdef Py_ssize_t i
        cdef int d
        for i in range(PyList_GET_SIZE(self.arrays)):
            a = <cnp.ndarray>self.arrays[i]
            m = &self.layouts[i]
            if (cnp.PyArray_DATA(a) != m.data or cnp.PyArray_FLAGS(a) != m.flags
                    or <PyObject*>cnp.PyArray_DESCR(a) != m.descr or cnp.PyArray_NDIM(a) != m.ndim):
                return False
            for d in range(m.ndim):
                if cnp.PyArray_DIMS(a)[d] != m.dims[d]:
                    return False
        return True

    cdef void add(self, cnp.ndarray array):
        cdef ArrayLayout* m = &self.layouts[len(self.arrays)]
        m.data = cnp.PyArray_DATA(array)
        m.flags = cnp.PyArray_FLAGS(array)
        m.descr = <PyObject*>cnp.PyArray_DESCR(array)
        m.ndim = cnp.PyArray_NDIM(array)
        m.row_bytes = array.nbytes // cnp.PyArray_DIM(array, 0)
        memcpy(m.dims, cnp.PyArray_DIMS(array), m.ndim * sizeof(cnp.npy_intp))
        self.arrays.append(array)

    cdef void copy_row(self, int64_t row, BatchBlock source, int64_t source_row) noexcept:
        """Copies a row from a block with the same columns; neither block may have been handed out."""
        cdef Py_ssize_t i
        cdef ArrayLayout* to
        for i in range(PyList_GET_SIZE(self.arrays)):
            to = &self.layouts[i]
            memcpy(<char*>to.data + row * to.row_bytes, <char*>source.layouts[i].data + source_row * to.row_bytes,
                   to.row_bytes)


cdef class BlockStore:
    """Makes, exchanges and recycles the blocks of one pool.

    Parameters
    ----------
    fields : sequence of Field
        The fields of the env.
    capacity : int
        Number of rows of a block.
    optional : sequence of str
        The columns among "done", "discount" and "step_type" that the API style uses.
    same_step : bool
        If True, blocks also have columns for the last step of an episode.
    """

    def __init__(self, fields, capacity, optional, same_step):
        columns = [(f.name, f.dtype, tuple(s for s in f.shape if s != -1)) for f in fields]
        self.num_fields = len(columns)
        self.same_step = same_step
        self.capacity = capacity
        if same_step:
            columns += [("final:" + name, dtype, shape) for name, dtype, shape in columns]
            columns += [("final:elapsed_step", np.int32, ()), ("final:mask", np.bool_, ())]
        self.core_columns = tuple(
            k for k in sorted(CORE_COLUMNS) if k not in (DONE, DISCOUNT, STEP_TYPE) or CORE_COLUMNS[k][0] in optional
        )
        columns += [(*CORE_COLUMNS[k], ()) for k in self.core_columns]
        self.names = tuple(name for name, _, _ in columns)
        self.dtypes = tuple(np.dtype(dtype) for _, dtype, _ in columns)
        self.shapes = tuple(shape for _, _, shape in columns)
        self.used = []

    cdef BlockStore resized(self, int64_t capacity):
        """Returns another store, for blocks with these columns and `capacity` rows."""
        cdef BlockStore other = BlockStore.__new__(BlockStore)
        other.names, other.shapes, other.dtypes = self.names, self.shapes, self.dtypes
        other.core_columns = self.core_columns
        other.num_fields, other.same_step, other.capacity = self.num_fields, self.same_step, capacity
        other.used = []
        return other

    cdef int64_t block_bytes(self):
        """Returns the size of a block in bytes."""
        return sum(
            (self.capacity * int(np.prod(shape, dtype=np.int64)) * dtype.itemsize + 63) // 64 * 64
            for dtype, shape in zip(self.dtypes, self.shapes)
        )

    cdef BatchBlock new_block(self):
        """Makes a block; raises MemoryError if it does not fit."""
        cdef BatchBlock b = BatchBlock.__new__(BatchBlock)
        cdef cnp.npy_intp dims[8]
        cdef char* at
        cdef int i, d, n = self.num_fields
        b.memory = BlockMemory(self.block_bytes())
        b.arrays = []
        b.pointers = <void**>malloc(2 * n * sizeof(void*))
        b.layouts = <ArrayLayout*>malloc(len(self.names) * sizeof(ArrayLayout))
        if b.pointers == NULL or b.layouts == NULL:
            raise MemoryError
        at = <char*>b.memory.base
        for i, (dtype, shape) in enumerate(zip(self.dtypes, self.shapes)):
            dims[0] = self.capacity
            for d in range(len(shape)):
                dims[1 + d] = shape[d]
            array = cnp.PyArray_SimpleNewFromData(1 + len(shape), dims, dtype.num, at)
            cnp.set_array_base(array, b.memory)
            b.add(array)
            if i < n or (i < 2 * n and self.same_step):
                b.pointers[i] = at
            at += (array.nbytes + 63) // 64 * 64
        b.c.fields = b.pointers
        if self.same_step:
            b.c.final = b.pointers + n
            b.c.final_elapsed = <int32_t*>cnp.PyArray_DATA(b.arrays[2 * n])
            b.c.final_mask = <uint8_t*>cnp.PyArray_DATA(b.arrays[2 * n + 1])
        first = len(self.names) - len(self.core_columns)
        for i, k in enumerate(self.core_columns):
            b.c.core[<int>k] = cnp.PyArray_DATA(b.arrays[first + i])
        self.allocated += 1
        return b

    cdef BatchBlock exchange(self, BatchBlock given):
        """Exchanges a block that is being handed out for one that nobody holds, recycled or new.

        If there is no memory for a new block, MemoryError is raised and nothing changes.
        """
        cdef BatchBlock b
        cdef Py_ssize_t at = 0, n = PyList_GET_SIZE(self.used)
        cdef int _i
        for _i in range(min(n, LOOKED_AT)):
            at = self.cursor
            self.cursor = at + 1 if at + 1 < n else 0
            b = <BatchBlock>self.used[at]
            if not b.is_held():
                if b.is_pristine():
                    b.c.written = 0
                else:
                    b = self.new_block()
                self.used[at] = given
                return b
        b = self.new_block()
        if n < KEPT:
            self.used.append(given)
        else:
            self.used[at] = given               # the held block that was considered last is left to its holders
        return b

    cdef void undo(self, BatchBlock given, BatchBlock got):
        """Undoes exchange(given), which returned `got`, because `given` is not handed out after all."""
        cdef Py_ssize_t at
        for at in range(PyList_GET_SIZE(self.used)):
            if <BatchBlock>self.used[at] is given:
                self.used[at] = got
                return
