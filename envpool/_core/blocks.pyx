"""Batch blocks: one piece of memory per batch, one array per column, recycled when nobody holds any of its arrays.

A block begins with the struct through which the engine writes; its columns follow. If many blocks are in flight, they
are nothing but memory: when one is handed out, the arrays of a batch block that nobody holds are pointed at it, and the
memory that they showed before goes in flight. If few are in flight, each keeps its arrays.

Large blocks have mappings of their own, so that freeing one returns its memory to the system at once. Their pages are
zero and are first touched by the thread that writes a row. The memory belongs to an object that is the base of every
array, so that it outlives the pool as long as an array does.

A holder of an array, or of a slice, a memoryview or a DLPack view of it, raises the reference count of that array,
directly or through the base of the view. The memory behind a batch block may therefore be written again when the batch
block and its prototypes alone reference its arrays, no array has a weak reference, and every array has its original
layout (nobody has reshaped it in place or cleared its writeable flag).

Memory is freed when it was not needed for a while: of the batch blocks that nobody holds, the smallest number that
remained unused at any time during a period of twice as many batches as there are batch blocks is freed, one per batch.
"""

import numpy as np

cimport numpy as cnp
from cpython.list cimport PyList_GET_SIZE
from cpython.ref cimport PyObject
from libc.stdint cimport int32_t, int64_t, uint8_t, uint64_t, uintptr_t
from libc.stdlib cimport calloc, free
from libc.string cimport memcpy, memset
from posix.mman cimport (
    MAP_ANONYMOUS, MAP_FAILED, MAP_PRIVATE, mmap, munmap, PROT_READ, PROT_WRITE,
)

from envpool._core.structs cimport (
    Block, CUT, DISCOUNT, DONE, ELAPSED_STEP, ENV_ID, EPISODE_LENGTH, EPISODE_MASK, EPISODE_RETURN, EPISODE_TIME,
    EPISODE_PLAYER_RETURN, GAME_LENGTH, GAME_MASK, GAME_RETURN, GAME_TIME, PLAYER_MASK, PLAYER_REWARD,
    PLAYER_TERMINATED, PLAYER_TRUNCATED, REWARD, STEP_TYPE, TERMINATED, TRUNCATED,
)

cnp.import_array()


# ---- memory ----------------------------------------------------------------------------------------------------------

cdef extern from "stdlib.h" nogil:
    void* aligned_alloc(size_t alignment, size_t size)


cdef char* map_memory(size_t size, size_t alignment) noexcept nogil:
    """Returns zero pages at a multiple of `alignment`, NULL if there are none."""
    cdef size_t extra = alignment - LEAST_PAGE, before      # mmap() returns a multiple of the kernel's page size
    cdef char* base = <char*>mmap(NULL, size + extra, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
    if base == <char*>MAP_FAILED:
        return NULL
    before = round_up(<size_t>base, alignment) - <size_t>base
    if before:
        munmap(base, before)
    if extra - before:
        munmap(base + before + size, extra - before)
    return base + before


cdef class BlockMemory:
    """Zeroed memory of one or more blocks: the base object of their arrays.

    Parameters
    ----------
    size : int
        Number of bytes; 0 if a subclass provides the memory, and frees it.
    """

    def __cinit__(self, size_t size):
        self.clearing = EP_PRIVATE_PAGES
        if size == 0:
            return
        self.is_mapped = size >= MAPPED
        if self.is_mapped:
            self.size = round_up(size, PAGE)
            self.base = map_memory(self.size, HUGE_PAGE if size >= HUGE else PAGE)
            if self.base != NULL and size >= HUGE:
                ep_use_huge_pages(self.base, self.size)
        else:
            self.size = round_up(size, 64)      # C11 leaves any other size undefined
            self.base = <char*>aligned_alloc(64, self.size)
            if self.base != NULL:
                memset(self.base, 0, self.size)
        if self.base == NULL:
            raise MemoryError(f"no memory for a batch of {size} bytes")

    def __dealloc__(self):
        if not self.is_mapped:
            free(self.base)
        elif self.base != NULL:
            munmap(self.base, self.size)


# ---- arrays ----------------------------------------------------------------------------------------------------------

cdef extern from "Python.h":
    PyObject** PySequence_Fast_ITEMS(object items)

cdef extern from *:
    """
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
    bint ep_has_weakref(PyObject* a)
    uintptr_t ep_changes(PyObject* array, const char* data, int flags, PyObject* descr, int ndim,
                         const cnp.npy_intp* dims)
    void ep_point_at(PyObject* array, void* data, PyObject* base)


cdef inline bint is_held_now(PyObject* array, const Column* column) noexcept:
    """Whether anyone but its batch block can access an array."""
    return (Py_REFCNT(array) != column.own_references) | ep_has_weakref(array)


cdef class BatchBlock:
    """The arrays that show a block."""

    cdef bint is_held(self, const Column* columns):
        """Whether anyone but this object can access one of its arrays."""
        cdef PyObject** arrays = PySequence_Fast_ITEMS(self.arrays)
        cdef Py_ssize_t i
        for i in range(PyList_GET_SIZE(self.arrays)):
            if is_held_now(arrays[i], &columns[i]):
                return True
        return False

    cdef Condition look(self, const Column* columns):
        """Returns in which condition the arrays are: is_held() and the comparison with what was made, in one pass."""
        cdef const Column* c
        cdef PyObject** arrays = PySequence_Fast_ITEMS(self.arrays)
        cdef const char* block = <char*>self.block
        cdef Py_ssize_t i
        cdef bint is_held = False
        cdef uintptr_t changes = 0
        for i in range(PyList_GET_SIZE(self.arrays)):
            c = &columns[i]
            is_held |= is_held_now(arrays[i], c)
            changes |= ep_changes(arrays[i], block + c.offset, c.flags, c.descr, c.ndim, c.dims)
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


# ---- recycling -------------------------------------------------------------------------------------------------------

cdef enum:
    LOOKED_AT = 4       # number of blocks handed out last, and of earlier ones, that are considered for each batch
    MAX_USED = 256      # blocks kept for reuse while their arrays are held; further ones are left to their holders
    PERIOD = 64         # least number of batches after which memory that was not needed is freed
    SLAB = 1 << 20      # memory shared by small blocks that are made together
    GIVEN_BACK = 256 << 10  # least size of final arrays whose pages are given back: smaller ones are in the cache

CORE_COLUMNS = {
    REWARD: ("reward", np.float32), TERMINATED: ("terminated", np.bool_), TRUNCATED: ("truncated", np.bool_),
    ELAPSED_STEP: ("elapsed_step", np.int32), ENV_ID: ("env_id", np.int32),
    DONE: ("done", np.bool_), CUT: ("cut", np.bool_),
    DISCOUNT: ("discount", np.float32), STEP_TYPE: ("step_type", np.int32),
    EPISODE_RETURN: ("episode:r", np.float64), EPISODE_LENGTH: ("episode:l", np.int64),
    EPISODE_TIME: ("episode:t", np.float64), EPISODE_MASK: ("episode:mask", np.bool_),
    GAME_RETURN: ("game:r", np.float64), GAME_LENGTH: ("game:l", np.int64),
    GAME_TIME: ("game:t", np.float64), GAME_MASK: ("game:mask", np.bool_),
    PLAYER_MASK: ("player:mask", np.bool_), PLAYER_REWARD: ("player:reward", np.float32),
    PLAYER_TERMINATED: ("player:terminated", np.bool_), PLAYER_TRUNCATED: ("player:truncated", np.bool_),
    EPISODE_PLAYER_RETURN: ("episode:player_r", np.float64),
}
# The columns of every block; the others are optional.
REQUIRED_COLUMNS = (REWARD, TERMINATED, TRUNCATED, ELAPSED_STEP, ENV_ID)
# The columns with a row for each player; envs with players have all of them but the last.
PLAYER_COLUMNS = (PLAYER_MASK, PLAYER_REWARD, PLAYER_TERMINATED, PLAYER_TRUNCATED, EPISODE_PLAYER_RETURN)


cdef class BlockStore:
    """Makes, hands out and recycles the blocks of one pool.

    Parameters
    ----------
    fields : sequence of Field
        The fields of the env.
    capacity : int
        Number of rows of a block.
    optional : sequence of str
        The columns that the API style uses, besides those of every block.
    same_step : bool
        If True, blocks also have columns for the last step of an episode: whether and after how many steps it ended,
        and the fields of the env.
    final_fields : bool
        If False, they do not have these fields.
    num_players : int
        Places for players in each env; 0 if the envs have none.
    """

    def __init__(self, fields, capacity, optional, same_step, final_fields=True, num_players=0):
        players = (num_players,) if num_players else ()
        columns = [(f.name, f.dtype, (*players, *f.shape[1:]) if -1 in f.shape else f.shape) for f in fields]
        self.num_fields = len(columns)
        self.num_final = self.num_fields if same_step and final_fields else 0
        self.same_step = same_step
        self.capacity = capacity
        if same_step:
            columns += [("final:" + name, dtype, shape) for name, dtype, shape in columns[:self.num_final]]
            columns += [("final:elapsed_step", np.int32, ()), ("final:mask", np.bool_, ())]
        self.core_columns = tuple(
            k for k in sorted(CORE_COLUMNS)
            if k in REQUIRED_COLUMNS or CORE_COLUMNS[k][0] in optional
            or (num_players and k in PLAYER_COLUMNS and k != EPISODE_PLAYER_RETURN)
        )
        columns += [(*CORE_COLUMNS[k], players if k in PLAYER_COLUMNS else ()) for k in self.core_columns]
        names = [f.name for f in fields if -1 in f.shape]
        self.of_players = frozenset(
            [*names, *("final:" + name for name in names), *(CORE_COLUMNS[k][0] for k in PLAYER_COLUMNS)]
        )
        self.names = tuple(name for name, _, _ in columns)
        self.dtypes = tuple(np.dtype(dtype) for _, dtype, _ in columns)
        self.shapes = tuple(shape for _, _, shape in columns)
        self.lay_out()

    def __dealloc__(self):
        free(self.columns)

    cdef BlockStore resized(self, int64_t capacity):
        """Returns another store, for blocks with these columns and `capacity` rows."""
        cdef BlockStore other = BlockStore.__new__(BlockStore)
        other.names, other.shapes, other.dtypes = self.names, self.shapes, self.dtypes
        other.core_columns, other.of_players = self.core_columns, self.of_players
        other.num_fields, other.num_final = self.num_fields, self.num_final
        other.same_step, other.capacity = self.same_step, capacity
        other.lay_out()
        return other

    cdef int lay_out(self) except -1:
        """Decides where each column lies in a block. The final arrays come last, and in large blocks on own pages."""
        cdef Py_ssize_t i, d, n = len(self.names)
        cdef Column* c
        self.recent, self.used, self.spare = [], [], []
        row_bytes = [
            dtype.itemsize * int(np.prod(shape, dtype=object)) for dtype, shape in zip(self.dtypes, self.shapes)
        ]
        sizes = [(self.capacity * b + 63) // 64 * 64 for b in row_bytes]
        is_final = [name.startswith("final:") for name in self.names]
        final = sum(size for size, last in zip(sizes, is_final) if last)
        at = round_up(sizeof(Block), 64) + round_up(2 * self.num_fields * sizeof(void*), 64)
        start = at + sum(sizes) - final
        if final + start >= MAPPED:
            alignment = HUGE_PAGE if final >= HUGE else PAGE
            start = (start + alignment - 1) // alignment * alignment
        self.block_bytes = start + final
        if self.block_bytes >= 1 << 62:
            raise MemoryError(f"{self.capacity} rows would have {self.block_bytes} bytes: ask for fewer envs")
        self.final_from = start
        self.columns = <Column*>calloc(n, sizeof(Column))
        if self.columns == NULL:
            raise MemoryError
        for i in range(n):
            c = &self.columns[i]
            c.offset = start if is_final[i] else at
            c.row_bytes = row_bytes[i]
            c.own_references = 1
            c.ndim = 1 + len(self.shapes[i])
            c.dims[0] = self.capacity
            for d in range(len(self.shapes[i])):
                c.dims[1 + d] = self.shapes[i][d]
            if is_final[i]:
                start += sizes[i]
            else:
                at += sizes[i]
        return 0

    # ---- making blocks -----------------------------------------------------------------------------------------------

    cdef int use_prototypes(self, ResultTemplate template) except -1:
        """Gives batch blocks prototypes of the results of a template. There must be no block yet."""
        cdef Py_ssize_t i
        self.template = template
        for nest in template.prototypes(list(range(len(self.names)))):
            for i in [k for k in nest.values() if k is not None]:
                self.columns[i].own_references += 1
        return 0

    cdef void begin_block(self, Block* b, void** pointers) noexcept:
        """Lays out a zeroed Block, whose pointers have room at `pointers`; point() sets them."""
        b.fields = pointers
        if self.num_final:
            b.final = pointers + self.num_fields

    cdef void point(self, Block* b, int k, void* data) noexcept:
        """Points column k of a block at memory for its rows."""
        cdef int first_core = <int>(len(self.names) - len(self.core_columns))
        if k < self.num_fields:
            b.fields[k] = data
        elif k < self.num_fields + self.num_final:
            b.final[k - self.num_fields] = data
        elif k >= first_core:
            b.core[<int>self.core_columns[k - first_core]] = data
        elif k == first_core - 2:
            b.final_elapsed = <int32_t*>data
        else:
            b.final_mask = <uint8_t*>data

    cdef Block* init_block(self, char* at) noexcept:
        """Makes a block in zeroed memory."""
        cdef int k
        self.begin_block(<Block*>at, <void**>(at + round_up(sizeof(Block), 64)))
        for k in range(<int>len(self.names)):
            self.point(<Block*>at, k, at + self.columns[k].offset)
        return <Block*>at

    cdef BlockMemory new_memory(self):
        """Makes a block at the start of its memory; raises MemoryError if it does not fit."""
        cdef BlockMemory memory
        memory = BlockMemory(self.block_bytes) if self.source is None else self.source.new_memory(self.block_bytes)
        self.init_block(memory.base)
        self.allocated += 1
        return memory

    cdef BatchBlock new_batch_block(self):
        """Makes a block and its arrays; raises MemoryError if it does not fit."""
        cdef BlockMemory memory = self.new_memory()
        return self.new_arrays(<Block*>memory.base, memory)

    cdef BatchBlock new_arrays(self, Block* block, BlockMemory memory):
        """Makes the arrays of a block, with prototypes if there is a template."""
        cdef BatchBlock b = batch_block_of(block, memory, self.columns, self.dtypes)
        if self.template is not None:
            b.prototypes = self.template.prototypes(b.arrays)
        return b

    cdef list new_memories(self, int64_t count, Block** blocks):
        """Makes many blocks and returns the memory that contains each. Small blocks share memory."""
        cdef BlockMemory memory
        cdef int64_t k, i, size = self.block_bytes, together = 1 if size >= MAPPED else SLAB // size
        memories = []
        for k in range(0, count, together):
            if together == 1:
                memory = BlockMemory(size)
            else:
                memory = BlockMemory(min(together, count - k) * size)
            for i in range(k, min(k + together, count)):
                blocks[i] = self.init_block(memory.base + (i - k) * size)
                memories.append(memory)
        self.allocated += count
        return memories

    # ---- recycling ---------------------------------------------------------------------------------------------------

    cdef int prepare(self) except -1:
        """Provides `ready`, recycled or new; raises MemoryError, and changes nothing, if there is no memory for it.

        Making objects may start the garbage collector, and so run any code.
        """
        cdef BatchBlock b
        cdef Condition condition = HELD
        if self.ready is not None:
            if self.last_but_one is not None:   # the call that was to hand out a batch has raised
                self.recent.append(self.last_but_one)
                self.last_but_one = None
            return 0
        b = self.last_but_one
        if b is not None:
            self.last_but_one = None
            condition = b.look(self.columns)
            if condition == HELD:
                self.recent.append(b)
                b = None
        if b is None and self.last is not None:
            condition = self.last.look(self.columns)
            if condition != HELD:
                b, self.last = self.last, None
        if b is None or self.has_others():
            b = self.choose(b)
            condition = HELD if b is None else b.look(self.columns)     # again: a debugger may have found the arrays
        if condition == HELD or b.memory.is_retired:
            b = self.new_batch_block()
        else:
            b.memory.is_handed_out = False
            if condition == CHANGED:
                b = self.new_arrays(b.block, b.memory)
            b.block.written = 0
            self.reused += 1
            if self.same_step:
                self.clean(b.block, b.memory)
        self.ready = b
        return 0

    cdef BatchBlock show(self, Block* block, BlockMemory memory):
        """Returns `ready` after pointing its arrays at a block in flight that has none of its own."""
        if self.replaced is None:
            self.replaced_block, self.replaced = self.ready.block, self.ready.memory
            self.ready.show(block, memory, self.columns)
        return self.ready

    cdef object exchange(self, BatchBlock handed_out, Block** block):
        """Hands out a batch block, and returns what goes in flight in its place, with its `block`.

        That is `ready` or, if `ready` itself is handed out, the memory that its arrays showed before show(); None if
        show() was not called. No other code runs.
        """
        cdef BatchBlock ready = self.ready
        cdef BlockMemory replaced = self.replaced
        self.ready = self.replaced = None
        self.last_but_one = self.last
        self.last = handed_out
        handed_out.memory.is_handed_out = True
        if handed_out is not ready:
            block[0] = ready.block
            return ready
        if replaced is not None:
            block[0] = self.replaced_block
            replaced.is_handed_out = False
        return replaced

    cdef void forget_shown(self) noexcept:
        """Undoes show(). The arrays are dropped, since a traceback may refer to them."""
        if self.replaced is not None:
            self.ready = self.replaced = None

    cdef void drop_all(self) noexcept:
        """Forgets all blocks; what others hold stays valid."""
        self.ready = self.replaced = self.last = self.last_but_one = None
        self.recent, self.used, self.spare = [], [], []

    cdef inline bint has_others(self) noexcept:
        """Whether there are more batch blocks than the two that were handed out last."""
        return PyList_GET_SIZE(self.recent) or PyList_GET_SIZE(self.used) or PyList_GET_SIZE(self.spare)

    cdef BatchBlock choose(self, BatchBlock found):
        """Sorts all batch blocks. Returns `found` or, if that is None, a block that nobody holds, or None."""
        if found is None:
            found = self.find_recent()
        else:
            self.retire_recent()
        self.sweep()
        if found is None:
            found = self.find_spare()
        self.shrink()
        return found

    cdef BatchBlock find_recent(self):
        """Returns the batch block handed out last that nobody holds, if it is a recent one, or None."""
        cdef BatchBlock b = None
        cdef Py_ssize_t k
        for k in range(PyList_GET_SIZE(self.recent) - 1, -1, -1):
            b = <BatchBlock>self.recent[k]
            if not b.is_held(self.columns):
                del self.recent[k]
                break
            b = None
        self.retire_recent()
        return b

    cdef void retire_recent(self):
        """Moves the first of the recent batch blocks to `used` if there are many, or if nobody holds it any more."""
        cdef Py_ssize_t n = PyList_GET_SIZE(self.recent)
        if n > LOOKED_AT or (n and not (<BatchBlock>self.recent[0]).is_held(self.columns)):
            self.used.append(self.recent[0])
            del self.recent[0]

    cdef BatchBlock find_spare(self):
        """Returns a spare batch block, or None."""
        cdef BatchBlock b
        while PyList_GET_SIZE(self.spare):
            b = <BatchBlock>self.spare.pop()
            if not b.is_held(self.columns):         # again: a debugger may have found the arrays
                return b
            self.used.append(b)
        return None

    cdef void sweep(self):
        """Looks at the next few batch blocks that were handed out earlier, and moves those that nobody holds."""
        cdef BatchBlock b
        cdef Py_ssize_t n
        cdef int _i
        for _i in range(min(LOOKED_AT, PyList_GET_SIZE(self.used))):
            n = PyList_GET_SIZE(self.used)
            if self.cursor >= n:
                self.cursor = 0
            b = <BatchBlock>self.used[self.cursor]
            if b.is_held(self.columns) and n <= MAX_USED:
                self.cursor += 1
                continue
            self.used[self.cursor] = self.used[n - 1]
            del self.used[n - 1]
            if not b.is_held(self.columns):         # else it is left to its holders
                self.spare.append(b)

    cdef void shrink(self):
        """Frees a spare batch block if there have been too many for a whole period."""
        cdef Py_ssize_t n = PyList_GET_SIZE(self.spare)
        self.fewest = min(self.fewest, n)
        self.age += 1
        if self.age >= max(PERIOD, 2 * (n + PyList_GET_SIZE(self.used) + LOOKED_AT)):
            self.surplus = self.fewest
            self.fewest = n
            self.age = 0
        if self.surplus and n:
            self.surplus -= 1
            del self.spare[0]

    cdef void clean(self, Block* block, BlockMemory memory) noexcept:
        """SAME_STEP: makes the final arrays of a block that was handed out ready to be written again.

        They must be zero where no episode ends, whatever the user has written there. Their pages are given
        back, which costs nothing if they were never touched; but if rows of several ended episodes were written, so
        that this would cost page faults, the writer of a row clears it.
        """
        cdef int64_t ended = 0, row_bytes = 0, final = self.block_bytes - self.final_from, r, page, touched
        cdef const uint64_t* words = <const uint64_t*>block.final_mask
        cdef int i
        block.clears_final = 1
        if final < GIVEN_BACK:
            return
        for r in range((self.capacity + 7) // 8):       # eight rows at a time; columns are padded with zeros
            ended += words[r] != 0
        for i in range(self.num_final):
            row_bytes += self.columns[i].row_bytes
        page = HUGE_PAGE if self.block_bytes >= HUGE else 40 << 10  # a page fault costs as much as clearing that
        touched = ended * round_up(row_bytes + 1, page)
        if touched < final and ep_clear_pages(<char*>block + self.final_from, memory.size - self.final_from,
                                              memory.clearing) == 0:
            block.clears_final = 0


cdef void copy_row(BlockStore store, Block* to, int64_t row, BlockStore source_store, const Block* source,
                   int64_t source_row) noexcept:
    """Copies a row between blocks with the same columns, which have not been handed out."""
    cdef Py_ssize_t i
    cdef const Column* t
    cdef const Column* s
    for i in range(len(store.names)):
        t = &store.columns[i]
        s = &source_store.columns[i]
        memcpy(<char*>to + t.offset + row * t.row_bytes, <const char*>source + s.offset + source_row * t.row_bytes,
               t.row_bytes)
