"""Letting the workers write a step into memory of the caller: a rollout, or the buffers of another library.

The caller has a block of its own, a *placed* block, whose columns lie in that memory. Before a step is published, the
placed block takes the place of the pool's block, and when the batch is handed out or dropped, the pool's block returns;
see Batches.place(). The workers write the rows of a placed block exactly as those of any other.
"""

cimport numpy as cnp
from libc.stdint cimport int32_t
from libc.string cimport memcmp

from envpool._core.batch_block cimport BatchBlock, Column, batch_block_of
from envpool._core.block_memory cimport BlockMemory
from envpool._core.blocks cimport BlockStore
from envpool._core.env_ids cimport release
from envpool._core.guard cimport begin, enter, RECEIVING, WAITING
from envpool._core.partial cimport ENDING, WHOLE
from envpool._core.pool cimport Pool
from envpool._core.results cimport ResultTemplate
from envpool._core.structs cimport Block

cnp.import_array()


cdef bint place(Pool pool, BatchBlock block) noexcept:
    """Lets the envs of a sync pool that are sent next write to a block, whose rows become invalid; returns whether.

    It does nothing if the rows of the next batch go elsewhere: other envs are in flight, or partial batches are on.
    """
    if pool.engine.outstanding:
        return False
    if pool.partial.mode == ENDING:
        pool.partial.end()
    if pool.partial.mode != WHOLE:
        return False
    block.block.written = 0
    pool.batches.place(block)
    return True


cdef class PlacedSteps:
    """Steps of a sync pool that the workers write into arrays of the caller.

    An array that does not have the dtype and the shape of its column, or is not contiguous, aligned and writeable, does
    not fit: it is not written, and the steps have another array in its place.

    Parameters
    ----------
    pool : Pool
        The pool, whose ``step`` must return a tuple of arrays.
    arrays : tuple of numpy.ndarray
        Where the first items of this tuple are written, in their order. They are kept alive.
    """

    def __init__(self, Pool pool, tuple arrays):
        cdef BlockStore store
        cdef BlockMemory memory
        pool.guard.check_open()
        store = pool.batches.store
        memory = BlockMemory(store.block_bytes)
        self.pool = pool
        self.nothing = ResultTemplate((), store.names)
        self.block = batch_block_of(store.place(memory.base), memory, store.columns, store.dtypes)
        self.block.block.clears_final = 1       # the final arrays are written over and over
        self.fits = True
        for name, array in zip(pool.step_nest, arrays):
            self.fits &= self.lend(name, array)

    cdef cnp.ndarray column(self, int item):
        """Returns the array in which an item of a step is if `step` returned None; the same one in all steps."""
        return self.block.arrays[<int>self.pool.batches.store.names.index(self.pool.step_nest[item])]

    cdef bint lend(self, str name, object array) except -1:
        """Lets a column lie in an array; returns whether that fits."""
        cdef BlockStore store = self.pool.batches.store
        cdef Block* b = self.block.block
        cdef int k = store.names.index(name)
        cdef int first_core = <int>(len(store.names) - len(store.core_columns))
        cdef const Column* c = &store.columns[k]
        cdef cnp.ndarray a
        if type(array) is not cnp.ndarray or not cnp.PyArray_ISCARRAY(array):
            return False
        a = array
        if (a.ndim != c.ndim or a.dtype != store.dtypes[k]
                or memcmp(cnp.PyArray_DIMS(a), c.dims, c.ndim * sizeof(cnp.npy_intp)) != 0):
            return False
        if k < store.num_fields:
            b.fields[k] = cnp.PyArray_DATA(a)
        elif k >= first_core:
            b.core[<int>store.core_columns[k - first_core]] = cnp.PyArray_DATA(a)
        else:
            return False
        self.block.arrays[k] = a
        return True

    cdef object step(self, object action):
        """Steps all envs. Returns None if the step is in the columns of the block and all arrays fit; else the tuple.

        It raises what ``step`` of the pool does. If the actions were sent, the batch waits in its place, which is that
        of the block.
        """
        cdef Pool pool = self.pool
        cdef const int32_t* ids = NULL
        cdef int32_t n
        cdef bint is_placed
        cdef int visit = enter(pool.guard, WAITING, b"step")
        try:
            n = pool.actions.load(pool.engine, action, None, &ids)
            # No Python code runs from here to the launch, unless an exception is raised.
            try:
                pool.guard.check_open()
                begin(pool.guard, visit, RECEIVING)
            except BaseException:
                release(pool.engine, ids, n)
                raise
            pool.statistics.steps += n
            is_placed = place(pool, self.block)
            pool.launch(ids, n, RECEIVING)
            if is_placed and self.fits:
                pool.receive(self.nothing, False)
                return None
            return pool.receive(pool.step_template, False)
        finally:
            pool.end_visit(visit)
