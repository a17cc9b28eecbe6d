"""Letting the workers write steps into memory of the caller, such as the buffers of another library.

The caller has a block of its own, whose columns lie in that memory. Before a step is published, it replaces the pool's
block; when the batch is handed out or dropped, the pool's block returns: see Pool.redirect(). The workers write the
rows of the caller's block exactly as they write any other.
"""

cimport numpy as cnp
from libc.stdint cimport int32_t
from libc.string cimport memcmp

from envpool._core.blocks cimport BlockMemory, BlockStore, Column, batch_block_of
from envpool._core.guard cimport RECEIVING, WAITING, enter
from envpool._core.pool cimport Pool, SendPart
from envpool._core.results cimport ResultTemplate

cnp.import_array()


cdef class RedirectedSteps(SendPart):
    """Steps of a sync pool that the workers write into arrays of the caller.

    An array that does not have the dtype and the shape of its column, or is not contiguous, aligned and writeable, does
    not fit: it is not written, and the steps have another array in its place.

    Parameters
    ----------
    pool : Pool
        The pool, whose ``step`` must return a tuple of arrays.
    arrays : tuple of numpy.ndarray
        Memory for the first items of this tuple, in their order. The arrays are kept alive.
    """

    def __init__(self, Pool pool, tuple arrays):
        cdef BlockStore store
        cdef BlockMemory memory
        pool.guard.check_open()
        store = pool.batches.store
        memory = BlockMemory(store.block_bytes)
        self.pool = pool
        self.nothing = ResultTemplate((), store.names)
        self.block = batch_block_of(store.init_block(memory.base), memory, store.columns, store.dtypes)
        self.block.block.clears_final = 1       # the final arrays are written over and over
        self.fits = True
        for name, array in zip(pool.step_nest, arrays):
            self.fits &= self.lend(name, array)

    cdef cnp.ndarray column(self, int item):
        """Returns the array in which an item of a step is if `step` returned None; the same one in all steps."""
        return self.block.arrays[<int>self.pool.batches.store.names.index(self.pool.step_nest[item])]

    cdef bint lend(self, str name, object array) except -1:
        """Points a column at an array; returns whether that fits."""
        cdef BlockStore store = self.pool.batches.store
        cdef int k = store.names.index(name)
        cdef const Column* c = &store.columns[k]
        cdef cnp.ndarray a
        if type(array) is not cnp.ndarray or not cnp.PyArray_ISCARRAY(array) or name.startswith("final:"):
            return False
        a = array
        if (a.ndim != c.ndim or a.dtype != store.dtypes[k]
                or memcmp(cnp.PyArray_DIMS(a), c.dims, c.ndim * sizeof(cnp.npy_intp)) != 0):
            return False
        store.point(self.block.block, k, cnp.PyArray_DATA(a))
        self.block.arrays[k] = a
        return True

    cdef int check(self, const int32_t* ids, int32_t n, bint receives) except -1:
        return 0

    cdef void commit(self, const int32_t* ids, int32_t n) noexcept:
        self.is_redirected = self.pool.redirect(self.block)

    cdef object step(self, object action):
        """Steps all envs. Returns None if the step is in the columns of the block and all arrays fit; else the tuple.

        It raises what ``step`` of the pool does. If the actions were sent, the batch stays in the pool, which has the
        block in flight.
        """
        cdef Pool pool = self.pool
        cdef int visit = enter(pool.guard, WAITING, b"step")
        try:
            pool.send_actions(action, None, self, visit, RECEIVING)
            if self.is_redirected and self.fits:
                pool.receive(self.nothing, False, -1)
                return None
            return pool.receive(pool.step_template, False, -1)
        finally:
            pool.end_visit(visit)
