"""The whole batches of a pool: see batches.pyx."""

cimport cython
cimport numpy as cnp
from libc.stdint cimport int32_t, int64_t, uint8_t

from envpool._core.blocks cimport BatchBlock, BlockStore
from envpool._core.failures cimport FailureReports
from envpool._core.guard cimport Guard
from envpool._core.results cimport ResultTemplate
from envpool._core.statistics cimport Statistics
from envpool._core.structs cimport Block, Engine, EPISODE_MASK

cdef int check_fits(BlockStore store, int64_t num_envs) except -1
cdef int refuse_wait(const Engine* e) except -1
cdef int check_fills(const Engine* e, int32_t n) except -1


cdef inline int check_can_fill(const Engine* e) except -1:
    """Raises PoolStateError if the envs in flight can never fill a batch."""
    if e.outstanding == 0 or (not e.is_sync and e.outstanding < e.batch_size):
        refuse_wait(e)
    return 0


cdef class BatchTransforms:
    cdef void apply(self, const Engine* e, Block* b, int64_t first, int64_t end) noexcept
    cdef void note_resets(self, const int32_t* ids, int32_t n) noexcept
    cdef bint changes_observations(self) noexcept


@cython.final
cdef class Batches:
    cdef Engine* engine
    cdef Guard guard
    cdef BlockStore store
    cdef FailureReports failures
    cdef Statistics statistics
    cdef BatchTransforms transforms     # usually None
    cdef object view                # of envs with players; else None
    cdef bint keeps_arrays          # few blocks are in flight
    cdef list in_flight             # for each of engine.blocks its BatchBlock or, without arrays, its BlockMemory
    cdef BatchBlock displaced       # the pool's own block while another is in flight, see redirect(); usually None
    # Of the next block, while its result is being made, or after that has raised.
    cdef int64_t num_completed      # rows that finalize_rows() has completed
    cdef int entries                # entries of episodes that these rows have

    cdef int attach(self, Engine* e, object source) except -1
    cdef Block* block_at(self, int64_t position) noexcept
    cdef int wait(self) except -1
    cdef object deliver(self, ResultTemplate template, int64_t rows)
    cdef void forget_completed(self) noexcept
    cdef void note_resets(self, const int32_t* ids, int32_t n, const uint8_t* has_seed, uint8_t how) noexcept
    cdef void redirect(self, BatchBlock block) noexcept
    cdef bint changes_observations(self) noexcept
    cdef object empty(self, ResultTemplate template)
    cdef int drain(self) except -1
    cdef void empty_blocks(self) noexcept
    cdef void drop_all(self) noexcept
    cdef void drop_memory(self) noexcept

    cdef const char* next_ids(self) noexcept
    cdef bint has_failures(self) noexcept
    cdef list first_rows(self, BatchBlock batch, int64_t n)
    cdef void end_redirection(self) noexcept
    cdef void hand_over(self, BatchBlock batch, int64_t n, int64_t slot) noexcept


cdef inline int finalize_rows(Batches batches, Block* block, int64_t first, int64_t end) noexcept:
    """Records the statistics of rows first to end - 1, and transforms them: once per row, before it is handed out.

    Returns which entries of episodes the rows have.
    """
    cdef int entries = 0
    if block.core[EPISODE_MASK] != NULL:
        entries = batches.statistics.record(block, first, end)
    if batches.transforms is not None:
        batches.transforms.apply(batches.engine, block, first, end)
    return entries
