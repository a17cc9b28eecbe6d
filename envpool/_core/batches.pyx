"""The whole batches of a pool: the blocks in flight, waiting for the next one, and handing it out.

Invariants:
- A call that raises, for a signal, a failed env or a pool that was closed, leaves the batch in the pool: the next call
  returns it.
- The rows of a batch are in flight until its result is complete, since the code that makes the result may raise.
- Statistics and transforms, which a row must get only once, are remembered by `num_completed`.
"""

import numpy as np

cimport cython
cimport numpy as cnp
from libc.stdint cimport int32_t, int64_t, uint8_t
from libc.string cimport memset

from envpool._core.atomic cimport ep_load_rlx32
from envpool._core.blocks cimport BatchBlock, BlockMemory, BlockStore
from envpool._core.failures cimport FailureReports, check_signals
from envpool._core.guard cimport Guard
from envpool._core.policy cimport interval, note_return
from envpool._core.results cimport ResultTemplate
from envpool._core.scheduler cimport READY, begin_rows, is_ready, run_if_quick, wait_drained, wait_ready
from envpool._core.statistics cimport Statistics
from envpool._core.structs cimport Block, Engine, ENV_ID
from envpool._core.watch cimport check_progress

from envpool.errors import PoolStateError
from envpool._support.machine import check_memory

cnp.import_array()

# A lower bound for the memory of an env besides its rows, bytes.
cdef int64_t PER_ENV = 256


cdef enum:
    FEW = 16            # blocks in flight up to which each keeps its arrays


cdef int check_fits(BlockStore store, int64_t num_envs) except -1:
    """Raises MemoryError for a pool that could never fit.

    Batches that the user holds need memory in addition; if there is none, the call that receives raises.
    """
    check_memory(
        store.block_bytes * (num_envs // store.capacity + 2) + PER_ENV * num_envs,
        f"num_envs={num_envs} with batch_size={store.capacity}", "ask for fewer envs"
    )
    return 0


cdef int refuse_wait(const Engine* e) except -1:
    """See check_can_fill()."""
    if e.outstanding == 0:
        raise PoolStateError(
            "recv() has nothing to wait for, because nothing is in flight: call send(), async_reset() or step() first"
        )
    raise PoolStateError(
        f"recv() would wait forever, because {e.outstanding} envs are in flight and a batch needs {e.batch_size}: send "
        f"to {e.batch_size - e.outstanding} more envs first"
    )


cdef int check_fills(const Engine* e, int32_t n) except -1:
    """Raises PoolStateError if a step of n envs of an async pool cannot return a batch."""
    if not e.is_sync and n and n + e.outstanding < e.batch_size:
        raise PoolStateError(
            f"step() with {n} envs and {e.outstanding} in flight cannot return a batch of {e.batch_size}: step more "
            "envs at once, or use send() and recv(); nothing was sent"
        )
    return 0


cdef inline bint is_deliverable(Batches b, int64_t rows) noexcept:
    """Whether the next block is ready, has no failures that were not noted, and has `rows` rows, unless negative."""
    cdef Engine* e = b.engine
    return (is_ready(e) and (rows < 0 or rows == e.outstanding)
            and not (ep_load_rlx32(&e.failures) > 0 and b.has_failures()))


cdef class BatchTransforms:
    """Transforms of the rows of batches before they are handed out, see ``envpool/transforms/scaling.pyx``."""

    cdef void apply(self, const Engine* e, Block* b, int64_t first, int64_t end) noexcept:
        """Transforms rows first to end - 1 of a block. It is called once per row, in the order of the rows."""

    cdef void note_resets(self, const int32_t* ids, int32_t n) noexcept:
        """Notes envs that the user resets."""

    cdef bint changes_observations(self) noexcept:
        """Whether a batch is handed out with other observations than the workers have written."""
        return False


@cython.final
cdef class Batches:
    """The blocks that are being filled.

    Parameters
    ----------
    guard : Guard
        The guard of the pool.
    store : BlockStore
        Makes and recycles the blocks.
    failures : FailureReports
        Turns failures of envs into exceptions or texts.
    statistics : Statistics
        The statistics of the pool.
    transforms : BatchTransforms or None
        Transforms of batches; they are applied before a batch is handed out.
    view : object or None
        How users see the arrays of envs with players, see ``Style.view``.
    """

    def __init__(self, Guard guard, BlockStore store, FailureReports failures, Statistics statistics,
                 BatchTransforms transforms=None, view=None):
        self.guard = guard
        self.store = store
        self.failures = failures
        self.statistics = statistics
        self.transforms = transforms
        self.view = view
        self.in_flight = []

    cdef int attach(self, Engine* e, object source) except -1:
        """Makes the blocks of an engine; `source` is that of the store."""
        cdef BatchBlock block
        self.engine = e
        self.store.source = source
        self.keeps_arrays = e.num_blocks <= FEW
        if self.keeps_arrays:
            for k in range(e.num_blocks):
                block = self.store.new_batch_block()
                self.in_flight.append(block)
                e.blocks[<int>k] = block.block
        else:
            self.in_flight = self.store.new_memories(e.num_blocks, e.blocks)
        e.has_final = e.blocks[0].final != NULL
        return 0

    cdef Block* block_at(self, int64_t position) noexcept:
        """Returns the block in flight with the number `position`, counted from the first one."""
        return self.engine.blocks[position % self.engine.num_blocks]

    cdef int wait(self) except -1:
        """Waits until the next batch is ready. Raises for a signal, failed envs, or a pool that was closed."""
        cdef Engine* e = self.engine
        cdef int result
        note_return(e)
        while True:
            result = READY
            if not run_if_quick(e):
                with nogil:
                    result = wait_ready(e, interval(e))
            check_can_fill(e)
            if result == READY and is_ready(e):     # again: another thread may have sent more
                break                               # a batch that is ready is returned even if the pool was just closed
            check_signals()
            self.guard.check_open()
            if not is_ready(e):
                check_progress(e, NULL, 0, e.outstanding if e.is_sync else e.batch_size)
        if ep_load_rlx32(&e.failures) > 0:
            check_signals()             # this, or that the pool was closed, may be why envs have failed
            self.guard.check_open()
            self.failures.note(e, self.next_ids(), sizeof(int32_t), e.outstanding if e.is_sync else e.batch_size)
        return 0

    cdef const char* next_ids(self) noexcept:
        """Returns the ids of the envs in the next block, which must be ready."""
        return <const char*>self.block_at(self.engine.next_block).core[ENV_ID]

    cdef bint has_failures(self) noexcept:
        """Whether the next block, which must be ready, has rows of failed envs that were not noted."""
        cdef Engine* e = self.engine
        cdef const int32_t* ids = <const int32_t*>self.next_ids()
        cdef int64_t i
        for i in range(e.outstanding if e.is_sync else e.batch_size):
            if e.errors[ids[i]]:
                return True
        return False

    cdef object deliver(self, ResultTemplate template, int64_t rows):
        """Hands out the ready batch and puts an unused block in its place.

        None: the batch cannot be delivered, see is_deliverable(). Making the result may run any code, which may raise:
        until the result is complete, the batch stays in the pool, and the next call makes its result again.
        """
        cdef Engine* e = self.engine
        cdef int64_t n, slot
        cdef BatchBlock batch
        self.store.prepare()
        if not is_deliverable(self, rows):      # preparing may run any code, and another thread may have sent more
            return None
        n = e.outstanding if e.is_sync else e.batch_size
        slot = e.next_block % e.num_blocks
        if self.keeps_arrays:
            batch = <BatchBlock>self.in_flight[slot]
        else:
            batch = self.store.show(e.blocks[slot], <BlockMemory>self.in_flight[slot])
        if self.num_completed < n:
            self.entries |= finalize_rows(self, batch.block, self.num_completed, n)
            self.num_completed = n
        if self.failures.is_any_noted:
            errors = self.failures.texts_of(<const char*>batch.block.core[ENV_ID], sizeof(int32_t), n)
            result = template.build_failed(self.first_rows(batch, n), self.entries, errors, n)
        elif n == e.batch_size and self.view is None:
            result = template.build(batch.arrays, self.entries,
                                    batch.prototypes if template is self.store.template else None)
        else:
            result = template.build(self.first_rows(batch, n), self.entries)
        check_signals()             # here: an exception that Python raises as the call returns would lose the batch
        if not is_deliverable(self, n if e.is_sync else -1):
            return None
        self.hand_over(batch, n, slot)
        return result

    cdef list first_rows(self, BatchBlock batch, int64_t n):
        """Returns the arrays of n envs, from the first row on, as users see them."""
        cdef bint is_whole = n == cnp.PyArray_DIMS(<cnp.ndarray>batch.arrays[0])[0]
        if self.view is None:
            return [a[:n] for a in batch.arrays]
        return self.view.arrays(batch.arrays if is_whole else [a[:n] for a in batch.arrays])

    cdef void hand_over(self, BatchBlock batch, int64_t n, int64_t slot) noexcept:
        """Makes the envs of a batch, whose result is complete, idle. No other code runs."""
        cdef Engine* e = self.engine
        cdef int64_t i
        cdef const int32_t* ids = <const int32_t*>batch.block.core[ENV_ID]
        if self.displaced is None:
            self.in_flight[slot] = self.store.exchange(batch, &e.blocks[slot])
        else:
            self.end_redirection()
        if n == e.num_envs:
            memset(e.busy, 0, n)
        else:
            for i in range(n):
                e.busy[ids[i]] = 0
        if self.failures.is_any_noted:
            self.failures.forget(<const char*>ids, sizeof(int32_t), n)
        self.num_completed = self.entries = 0
        e.outstanding -= n
        if e.is_sync:
            begin_rows(e)
        else:
            e.next_block += 1

    cdef void forget_completed(self) noexcept:
        """Forgets what is known of the next block: its rows are dropped, or handed out otherwise."""
        self.num_completed = self.entries = 0
        self.store.forget_shown()

    cdef void note_resets(self, const int32_t* ids, int32_t n, const uint8_t* has_seed, uint8_t how) noexcept:
        """Notes envs that the user is about to reset; has_seed[i]: with a new seed; how: see Engine.reset."""
        self.statistics.note_resets(self.engine, ids, n, has_seed, how)
        if self.transforms is not None:
            self.transforms.note_resets(ids, n)

    cdef void redirect(self, BatchBlock block) noexcept:
        """Lets the envs that are sent next write to a block of the caller, whose rows become invalid.

        The pool must be sync, with nothing in flight and partial batches off. When the batch is handed out or dropped,
        the pool's own block returns; the store never sees `block`, whose columns may lie anywhere.
        """
        if self.displaced is None:
            self.displaced = <BatchBlock>self.in_flight[0]
        block.block.written = 0
        self.in_flight[0] = block
        self.engine.blocks[0] = block.block

    cdef bint changes_observations(self) noexcept:
        """See BatchTransforms."""
        return self.transforms is not None and self.transforms.changes_observations()

    cdef void end_redirection(self) noexcept:
        """Puts the pool's own block back."""
        self.in_flight[0] = self.displaced
        self.engine.blocks[0] = self.displaced.block
        self.displaced = None

    cdef object empty(self, ResultTemplate template):
        """Returns a batch without rows."""
        arrays = [np.empty((0, *s), d) for s, d in zip(self.store.shapes, self.store.dtypes)]
        return template.build(arrays if self.view is None else self.view.arrays(arrays), 0)

    cdef int drain(self) except -1:
        """Waits until every row in flight is written. The rows stay in flight."""
        cdef Engine* e = self.engine
        cdef int64_t awaited
        cdef bint done = False
        while e.outstanding and not done:
            awaited = e.outstanding         # read each time: another thread may be sending
            with nogil:
                done = wait_drained(e, awaited, interval(e))
            check_signals()
            self.guard.check_open()
            if not done:
                check_progress(e, NULL, 0, e.outstanding)
            done = done and e.outstanding == awaited
        return 0

    cdef void empty_blocks(self) noexcept:
        """Makes the blocks ready for the next send without handing out their rows. No worker may be writing."""
        cdef Engine* e = self.engine
        cdef int64_t k, end = 1 if e.is_sync else (e.alloc + e.batch_size - 1) // e.batch_size
        for k in range(e.next_block, end):
            self.block_at(k).written = 0
            self.block_at(k).clears_final = 1
        if e.is_sync:
            begin_rows(e)
        else:       # a position is never used twice, since spans are identified by theirs
            e.next_block = end
            e.alloc = end * e.batch_size

    cdef void drop_all(self) noexcept:
        """Makes all envs idle and drops their rows. No env may be being stepped."""
        cdef Engine* e = self.engine
        e.outstanding = 0
        memset(e.busy, 0, e.num_envs)
        memset(e.errors, 0, e.num_envs * sizeof(int32_t))
        e.failures = 0
        self.failures.drop_all()
        self.forget_completed()
        self.empty_blocks()
        if self.displaced is not None:
            self.end_redirection()

    cdef void drop_memory(self) noexcept:
        """Frees the blocks that nobody holds. The engine must be gone."""
        self.in_flight = []
        self.displaced = None
        self.store.drop_all()
