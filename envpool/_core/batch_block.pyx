"""The arrays that show a block, and whether anyone else can still access them.

Anyone who holds an array, or a slice, a memoryview or a DLPack view of it, raises the reference count of that array,
directly or through the base of the view. The memory behind a batch block may therefore be written again when the batch
block alone references its arrays, no array has a weak reference, and every array has its original layout (nobody has
reshaped it in place or cleared its writeable flag). The memory belongs to an object that is the base of every array, so
that it outlives the pool as long as an array does.
"""

cimport numpy as cnp
from cpython.list cimport PyList_GET_SIZE
from cpython.ref cimport PyObject
from libc.stdint cimport uintptr_t

from envpool._core.block_memory cimport BlockMemory
from envpool._core.structs cimport Block

cnp.import_array()

cdef extern from *:
    """
    #define ep_refcount(o) Py_REFCNT(o)
    #define ep_has_weakref(a) (((PyArrayObject_fields *)(a))->weakreflist != NULL)
    /* Zero if an array has the memory, flags, dtype and shape with which it was made. */
    static inline uintptr_t ep_changes(PyObject *array, const char *data, int flags, PyObject *descr, int ndim,
                                       const npy_intp *dims) {
      const PyArrayObject_fields *a = (const PyArrayObject_fields *)array;
      uintptr_t changes = ((uintptr_t)a->data ^ (uintptr_t)data) | ((uintptr_t)a->descr ^ (uintptr_t)descr) |
                          (unsigned)(a->flags ^ flags) | (unsigned)(a->nd ^ ndim);
      if (changes) return changes; /* there may be fewer dimensions now */
      for (int d = 0; d < ndim; d++) changes |= (uintptr_t)(a->dimensions[d] ^ dims[d]);
      return changes;
    }
    /* Points an array that nobody holds at other memory of the same layout, which `base` keeps alive. */
    static inline void ep_point_at(PyObject *array, void *data, PyObject *base) {
      PyArrayObject_fields *a = (PyArrayObject_fields *)array;
      PyObject *before = a->base;
      a->data = (char *)data;
      if (before == base) return;
      Py_INCREF(base);
      a->base = base;
      Py_XDECREF(before);
    }
    """
    Py_ssize_t ep_refcount(PyObject* o)
    bint ep_has_weakref(PyObject* a)
    uintptr_t ep_changes(PyObject* array, const char* data, int flags, PyObject* descr, int ndim,
                         const cnp.npy_intp* dims)
    void ep_point_at(PyObject* array, void* data, PyObject* base)

cdef extern from "Python.h":
    PyObject* PyList_GET_ITEM(object items, Py_ssize_t i)   # borrowed: the reference is not counted


cdef class BatchBlock:
    """The arrays that show a block."""

    cdef bint is_held(self):
        """Whether anyone but this object can access one of its arrays."""
        cdef PyObject* a
        cdef Py_ssize_t i
        for i in range(PyList_GET_SIZE(self.arrays)):
            a = PyList_GET_ITEM(self.arrays, i)
            if ep_refcount(a) != 1 or ep_has_weakref(a):
                return True
        return False

    cdef Condition look(self, const Column* columns):
        """Returns in which condition the arrays are: is_held() and the comparison with what was made, in one pass."""
        cdef const Column* c
        cdef PyObject* a
        cdef Py_ssize_t i
        cdef bint is_held = False
        cdef uintptr_t changes = 0
        for i in range(PyList_GET_SIZE(self.arrays)):
            c = &columns[i]
            a = PyList_GET_ITEM(self.arrays, i)
            is_held |= (ep_refcount(a) != 1) | ep_has_weakref(a)
            changes |= ep_changes(a, <char*>self.block + c.offset, c.flags, c.descr, c.ndim, c.dims)
        return HELD if is_held else CHANGED if changes else UNUSED

    cdef void show(self, Block* block, BlockMemory memory, const Column* columns):
        """Points the arrays, which nobody may hold, at another block of the same store."""
        cdef Py_ssize_t i
        for i in range(PyList_GET_SIZE(self.arrays)):
            ep_point_at(PyList_GET_ITEM(self.arrays, i), <char*>block + columns[i].offset, <PyObject*>memory)
        self.block = block
        self.memory = memory


cdef BatchBlock batch_block_of(Block* block, BlockMemory memory, Column* columns, tuple dtypes):
    """Makes the arrays that show a block, and completes the columns by what only an array tells."""
    cdef BatchBlock b = BatchBlock.__new__(BatchBlock)
    cdef Column* c
    cdef cnp.ndarray array
    cdef Py_ssize_t i
    b.block, b.memory, b.arrays = block, memory, []
    for i, dtype in enumerate(dtypes):
        c = &columns[i]
        array = cnp.PyArray_SimpleNewFromData(c.ndim, c.dims, dtype.num, <char*>block + c.offset)
        cnp.set_array_base(array, memory)
        c.flags = cnp.PyArray_FLAGS(array)
        c.descr = <PyObject*>cnp.PyArray_DESCR(array)
        b.arrays.append(array)
    return b
