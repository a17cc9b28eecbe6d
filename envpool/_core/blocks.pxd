"""The blocks of a pool: their memory, the arrays that show them, and recycling; see blocks.pyx."""

cimport numpy as cnp
from cpython.ref cimport PyObject
from libc.stdint cimport int64_t

from envpool._core.results cimport ResultTemplate
from envpool._core.structs cimport Block

cdef extern from "envpool/_core/pages.h":
    const size_t PAGE "EP_PAGE"
    const size_t LEAST_PAGE "EP_LEAST_PAGE"
    int EP_PRIVATE_PAGES
    int EP_SHARED_PAGES
    int ep_clear_pages(void* at, size_t size, int kind) nogil
    void ep_use_huge_pages(void* at, size_t size) nogil

cdef enum:
    HUGE_PAGE = 2 << 20
    MAPPED = 64 << 10   # least size of memory that is mapped, and so of a block that has a mapping of its own
    HUGE = 4 << 20      # least size of memory in which huge pages are asked for, as NumPy does for its arrays

cdef inline size_t round_up(size_t size, size_t multiple) noexcept nogil:
    return (size + multiple - 1) // multiple * multiple

cdef extern from "Python.h":
    PyObject* PyList_GET_ITEM(object items, Py_ssize_t i)   # borrowed: the reference is not counted
    Py_ssize_t Py_REFCNT(PyObject* o)

cdef inline bint is_held_elsewhere(list items, Py_ssize_t i) noexcept:
    """Whether anything but the list, for which alone this package recycles the item, references it."""
    return Py_REFCNT(PyList_GET_ITEM(items, i)) != 1

cdef class BlockMemory:
    cdef char* base
    cdef size_t size
    cdef bint is_mapped
    cdef int clearing           # kind of the pages, for ep_clear_pages()
    cdef bint is_handed_out     # whether users may hold its arrays; valid if it contains a single block
    cdef bint is_retired        # whether the block is left to its holders, and not recycled

cdef struct Column:             # an array of a block; its place is the same in all blocks of a store
    int64_t offset              # bytes from the start of the block
    int64_t row_bytes
    PyObject* descr
    int flags                   # of an array as it was made
    int ndim
    Py_ssize_t own_references   # to the array, by a batch block that nobody holds
    cnp.npy_intp dims[8]

cdef enum Condition:            # of the arrays of a batch block
    HELD                        # somebody can access one of them
    CHANGED                     # nobody can, but somebody has reshaped one in place, or changed its flags or dtype
    UNUSED

cdef class BatchBlock:
    cdef Block* block           # the block behind the arrays
    cdef BlockMemory memory     # contains it
    cdef list arrays            # one ndarray per column with all rows; in this package, only `prototypes` also has them
    cdef list prototypes        # of results of BlockStore.template, or None
    cdef object after_owner     # keeps Block.after_data alive, or None
    cdef bint is_held(self, const Column* columns)
    cdef Condition look(self, const Column* columns)
    cdef void show(self, Block* block, BlockMemory memory, const Column* columns)

cdef BatchBlock batch_block_of(Block* block, BlockMemory memory, Column* columns, tuple dtypes)

cdef class BlockStore:
    cdef readonly tuple names   # names of the arrays, in order
    cdef readonly tuple shapes  # shape of one row of each
    cdef readonly tuple dtypes
    cdef readonly object of_players         # names of the arrays that have a row for each player, if the envs have any
    cdef readonly object block_bytes        # size of a block
    cdef int64_t capacity
    cdef int num_fields
    cdef int num_final          # SAME_STEP: fields that blocks have for the last step of an episode; else 0
    cdef bint same_step
    cdef tuple core_columns     # the CoreFields of the blocks
    cdef object source          # its new_memory(size) makes the BlockMemory of a block; None: the ordinary memory
    cdef Column* columns        # one per array
    cdef ResultTemplate template            # each batch block has prototypes of its results; or None
    cdef int64_t final_from     # SAME_STEP: where the final arrays begin, bytes from the start of the block
    cdef BatchBlock ready       # the block to hand out next; nobody holds its arrays, and its memory is unused
    cdef BlockMemory replaced   # after show(): what the arrays of `ready` showed before; else None
    cdef Block* replaced_block
    cdef BatchBlock last        # the block handed out last
    cdef BatchBlock last_but_one
    cdef list recent            # blocks handed out before these, the last one at the end: LOOKED_AT and one
    cdef list used              # blocks handed out earlier, in any order: at most MAX_USED and one
    cdef list spare             # blocks that nobody holds
    cdef Py_ssize_t cursor      # position in `used` of the block to look at next
    cdef Py_ssize_t fewest      # smallest number of spare blocks in the current period
    cdef Py_ssize_t age         # batches since this period began
    cdef Py_ssize_t surplus     # spare blocks to free, one per batch
    cdef readonly int64_t allocated         # blocks that were made
    cdef readonly int64_t reused            # blocks that were recycled
    cdef BlockStore resized(self, int64_t capacity)
    cdef int prepare(self) except -1
    cdef BatchBlock show(self, Block* block, BlockMemory memory)
    cdef object exchange(self, BatchBlock handed_out, Block** block)
    cdef void forget_shown(self) noexcept
    cdef int use_prototypes(self, ResultTemplate template) except -1
    cdef BatchBlock new_batch_block(self)
    cdef BatchBlock new_arrays(self, Block* block, BlockMemory memory)
    cdef void drop_all(self) noexcept
    cdef BlockMemory new_memory(self)
    cdef list new_memories(self, int64_t count, Block** blocks)

    cdef int lay_out(self) except -1
    cdef Block* init_block(self, char* at) noexcept
    cdef void begin_block(self, Block* b, void** pointers) noexcept
    cdef void point(self, Block* b, int k, void* data) noexcept
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
