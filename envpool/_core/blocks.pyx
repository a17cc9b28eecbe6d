"""Batch blocks: one piece of memory per batch, one array per column, recycled when nobody holds any of its arrays.

A block begins with the struct through which the engine writes; its columns follow. If many blocks are in flight, they
are nothing but memory: when one is handed out, the arrays of a batch block that nobody holds are pointed at it, and the
memory that they showed before goes in flight. If few are in flight, each keeps its arrays.

Memory is freed when it was not needed for a while: of the batch blocks that nobody holds, the smallest number that
remained unused at any time during a period of twice as many batches as there are batch blocks is freed, one per batch.
"""

import numpy as np

from cpython.list cimport PyList_GET_SIZE
from libc.stdint cimport int32_t, int64_t, uint8_t, uint64_t
from libc.stdlib cimport calloc, free
from libc.string cimport memcpy
from posix.mman cimport madvise

from envpool._core.batch_block cimport BatchBlock, CHANGED, Column, Condition, HELD, batch_block_of
from envpool._core.block_memory cimport BlockMemory, HUGE, HUGE_PAGE, MAPPED, PAGE, round_up
from envpool._core.structs cimport (
    DISCOUNT, DONE, ELAPSED_STEP, ENV_ID, EPISODE_LENGTH, EPISODE_MASK, EPISODE_RETURN, EPISODE_TIME, GAME_LENGTH,
    GAME_MASK, GAME_RETURN, GAME_TIME, REWARD, STEP_TYPE, TERMINATED, TRUNCATED,
)

cdef enum:
    LOOKED_AT = 4       # number of blocks handed out last, and of earlier ones, that are considered for each batch
    KEPT = 256          # blocks kept for reuse while their arrays are held; further ones are left to their holders
    PERIOD = 64         # least number of batches after which memory that was not needed is freed
    SLAB = 1 << 20      # memory shared by small blocks that are made together
    GIVEN_BACK = 256 << 10  # least size of final arrays whose pages are given back: smaller ones are in the cache

CORE_COLUMNS = {
    REWARD: ("reward", np.float32), TERMINATED: ("terminated", np.bool_), TRUNCATED: ("truncated", np.bool_),
    ELAPSED_STEP: ("elapsed_step", np.int32), ENV_ID: ("env_id", np.int32), DONE: ("done", np.bool_),
    DISCOUNT: ("discount", np.float32), STEP_TYPE: ("step_type", np.int32),
    EPISODE_RETURN: ("episode:r", np.float64), EPISODE_LENGTH: ("episode:l", np.int64),
    EPISODE_TIME: ("episode:t", np.float64), EPISODE_MASK: ("episode:mask", np.bool_),
    GAME_RETURN: ("game:r", np.float64), GAME_LENGTH: ("game:l", np.int64),
    GAME_TIME: ("game:t", np.float64), GAME_MASK: ("game:mask", np.bool_),
}
# The columns of every block; the others are optional.
REQUIRED_COLUMNS = (REWARD, TERMINATED, TRUNCATED, ELAPSED_STEP, ENV_ID)


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
    """

    def __init__(self, fields, capacity, optional, same_step, final_fields=True):
        columns = [(f.name, f.dtype, tuple(s for s in f.shape if s != -1)) for f in fields]
        self.num_fields = len(columns)
        self.num_final = self.num_fields if same_step and final_fields else 0
        self.same_step = same_step
        self.capacity = capacity
        if same_step:
            columns += [("final:" + name, dtype, shape) for name, dtype, shape in columns[:self.num_final]]
            columns += [("final:elapsed_step", np.int32, ()), ("final:mask", np.bool_, ())]
        self.core_columns = tuple(
            k for k in sorted(CORE_COLUMNS) if k in REQUIRED_COLUMNS or CORE_COLUMNS[k][0] in optional
        )
        columns += [(*CORE_COLUMNS[k], ()) for k in self.core_columns]
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
        other.core_columns = self.core_columns
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

    cdef Block* place(self, char* at) noexcept:
        """Makes a block in zeroed memory."""
        cdef Block* b = <Block*>at
        cdef int i, n = self.num_fields, first = <int>(len(self.names) - len(self.core_columns))
        b.fields = <void**>(at + round_up(sizeof(Block), 64))
        for i in range(n):
            b.fields[i] = at + self.columns[i].offset
        if self.num_final:
            b.final = b.fields + n
        for i in range(self.num_final):
            b.final[i] = at + self.columns[n + i].offset
        if self.same_step:
            b.final_elapsed = <int32_t*>(at + self.columns[n + self.num_final].offset)
            b.final_mask = <uint8_t*>(at + self.columns[n + self.num_final + 1].offset)
        for i in range(<int>len(self.core_columns)):
            b.core[<int>self.core_columns[i]] = at + self.columns[first + i].offset
        return b

    cdef BlockMemory new_memory(self):
        """Makes a block at the start of its memory; raises MemoryError if it does not fit."""
        cdef BlockMemory memory
        memory = BlockMemory(self.block_bytes) if self.source is None else self.source.new_memory(self.block_bytes)
        self.place(memory.base)
        self.allocated += 1
        return memory

    cdef BatchBlock new_batch_block(self):
        """Makes a block and its arrays; raises MemoryError if it does not fit."""
        cdef BlockMemory memory = self.new_memory()
        return batch_block_of(<Block*>memory.base, memory, self.columns, self.dtypes)

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
                blocks[i] = self.place(memory.base + (i - k) * size)
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
                b = batch_block_of(b.block, b.memory, self.columns, self.dtypes)
            b.block.written = 0
            self.reused += 1
            if self.same_step:
                self.clean(b.block, b.memory)
        self.ready = b
        return 0

    cdef BatchBlock take_ready(self, BatchBlock handed_out):
        """Returns `ready`. It replaces the batch block that is handed out, or is handed out itself if that is None.

        No other code runs.
        """
        cdef BatchBlock b = self.ready
        self.ready = None
        self.last_but_one = self.last
        self.last = b if handed_out is None else handed_out
        self.last.memory.is_handed_out = True
        return b

    cdef void drop_all(self) noexcept:
        """Forgets all blocks; what others hold stays valid."""
        self.ready = self.last = self.last_but_one = None
        self.recent, self.used, self.spare = [], [], []

    cdef inline bint has_others(self) noexcept:
        """Whether there are more batch blocks than the two that were handed out last."""
        return PyList_GET_SIZE(self.recent) or PyList_GET_SIZE(self.used) or PyList_GET_SIZE(self.spare)

    cdef BatchBlock choose(self, BatchBlock found):
        """Looks after all batch blocks, and returns `found`, or one that nobody holds if that is None, or None."""
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
            if not b.is_held():
                del self.recent[k]
                break
            b = None
        self.retire_recent()
        return b

    cdef void retire_recent(self):
        """Moves the first of the recent batch blocks to `used` if there are many, or if nobody holds it any more."""
        cdef Py_ssize_t n = PyList_GET_SIZE(self.recent)
        if n > LOOKED_AT or (n and not (<BatchBlock>self.recent[0]).is_held()):
            self.used.append(self.recent[0])
            del self.recent[0]

    cdef BatchBlock find_spare(self):
        """Returns a spare batch block, or None."""
        cdef BatchBlock b
        while PyList_GET_SIZE(self.spare):
            b = <BatchBlock>self.spare.pop()
            if not b.is_held():         # again: a debugger may have found the arrays
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
            if b.is_held() and n <= KEPT:
                self.cursor += 1
                continue
            self.used[self.cursor] = self.used[n - 1]
            del self.used[n - 1]
            if not b.is_held():         # else it is left to its holders
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
        that this would cost page faults, whoever writes a row clears it.
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
        page = HUGE_PAGE if self.block_bytes >= HUGE else 10 * PAGE     # a page fault costs as much as clearing that
        touched = ended * round_up(row_bytes + 1, page)
        if touched < final and madvise(<char*>block + self.final_from, memory.size - self.final_from,
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
