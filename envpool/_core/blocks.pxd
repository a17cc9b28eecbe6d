"""Batch blocks and their recycling: see blocks.pyx."""

from libc.stdint cimport int64_t

from envpool._core.batch_block cimport BatchBlock, Column
from envpool._core.block_memory cimport BlockMemory
from envpool._core.structs cimport Block

cdef class BlockStore:
    cdef readonly tuple names   # names of the arrays, in order
    cdef readonly tuple shapes  # shape of one row of each
    cdef readonly tuple dtypes
    cdef readonly object block_bytes        # size of a block
    cdef int64_t capacity
    cdef int num_fields
    cdef int num_final          # SAME_STEP: fields that blocks have for the last step of an episode; else 0
    cdef bint same_step
    cdef tuple core_columns     # the CoreFields of the blocks
    cdef object source          # its new_memory(size) makes the BlockMemory of a block; None: the ordinary memory
    cdef Column* columns        # one per array
    cdef int64_t final_from     # SAME_STEP: where the final arrays begin, bytes from the start of the block
    cdef BatchBlock ready       # the block to hand out next; nobody holds its arrays, and its memory is unused
    cdef BatchBlock last        # the block handed out last
    cdef BatchBlock last_but_one
    cdef list recent            # blocks handed out before these, the last one at the end: LOOKED_AT and one
    cdef list used              # blocks handed out earlier, in any order: at most KEPT and one
    cdef list spare             # blocks that nobody holds
    cdef Py_ssize_t cursor      # position in `used` of the block to look at next
    cdef Py_ssize_t fewest      # smallest number of spare blocks in the current period
    cdef Py_ssize_t age         # batches since this period began
    cdef Py_ssize_t surplus     # spare blocks to free, one per batch
    cdef readonly int64_t allocated         # blocks that were made
    cdef readonly int64_t reused            # blocks that were recycled
    cdef BlockStore resized(self, int64_t capacity)
    cdef int prepare(self) except -1
    cdef BatchBlock take_ready(self, BatchBlock handed_out)
    cdef BatchBlock new_batch_block(self)
    cdef void drop_all(self) noexcept
    cdef BlockMemory new_memory(self)
    cdef list new_memories(self, int64_t count, Block** blocks)

    cdef int lay_out(self) except -1
    cdef Block* place(self, char* at) noexcept
    cdef bint has_others(self) noexcept
    cdef BatchBlock choose(self, BatchBlock found)
    cdef BatchBlock find_recent(self)
    cdef void retire_recent(self)
    cdef BatchBlock find_spare(self)
    cdef void sweep(self)
    cdef void shrink(self)
    cdef void clean(self, Block* block, BlockMemory memory) noexcept

cdef void copy_row(BlockStore store, Block* to, int64_t row, BlockStore source_store, const Block* source,
                   int64_t source_row) noexcept
