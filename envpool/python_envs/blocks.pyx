# optimize: -Og
"""Batch blocks in memory that the worker processes share: a worker writes an observation where NumPy will show it.

The region is the last part of the arena's file. It has slots of the size of a block. Their pages are taken with the
first write, and given back when the block is freed.

Arrays must not change after they were handed out. While a block is in flight, workers write to it; the pool waits for
all of them before it hands the block out. In two cases that does not suffice, and the block is made *private*: its
pages in this process become copy-on-write, like ordinary memory, without a change of their address or content.

- A fork: the child would see what is written to a recycled block. Blocks in the hands of users become private before.
  Another handler of forks, or another thread while such a handler runs, may receive a batch after that: its block
  becomes private in the child, whose writes the arrays of the parent would otherwise show.
- A wait that ended early, for instance by Ctrl-C: the worker writes its row later.

A private block is left to its holders, and the next batch gets another one.
"""

import os
import weakref

cimport cython
from cpython.ref cimport PyObject
from libc.stdint cimport int64_t, uint8_t
from libc.stdlib cimport calloc, free
from posix.mman cimport (
    MAP_FAILED, MAP_FIXED, MAP_NORESERVE, MAP_PRIVATE, MAP_SHARED, mmap, munlock, munmap,
    PROT_READ, PROT_WRITE,
)
from posix.unistd cimport close

from envpool._core.blocks cimport BlockMemory, ep_clear_pages, EP_SHARED_PAGES, PAGE, round_up
from envpool._core.guard cimport fork_generation
from envpool.python_envs.arena cimport Arena, epy_copy_pages

from envpool._support.descriptors import high_descriptor


cdef class SharedBlocks:
    """The blocks of one pool.

    Parameters
    ----------
    arena : Arena
        The shared memory of the pool. Its view gets the region.
    size : int
        Bytes of the region; blocks that do not fit get ordinary memory.

    Raises
    ------
    OSError
        A limit of the process forbids a mapping or a file of this size.
    """

    def __init__(self, Arena arena, int64_t size):
        self.size = size // PAGE * PAGE
        self.start, self.generation, self.free = arena.region_at, fork_generation(), []
        arena.map_region(self.size)
        self.region.base = arena.v.region
        self.fd = high_descriptor(os.dup(arena.fd))
        opened.add(weakref.ref(self, opened.discard))

    def __dealloc__(self):
        if self.region.base != NULL:
            munmap(self.region.base, self.size)
        if self.fd > 0:
            close(self.fd)
        free(self.region.is_private)
        free(self.live)

    cdef int divide(self, int64_t slot_bytes) except -1:
        """Divides the region into slots."""
        self.num_slots = self.size // slot_bytes
        self.region.is_private = <uint8_t*>calloc(self.num_slots + 1, 1)
        self.live = <PyObject**>calloc(self.num_slots + 1, sizeof(PyObject*))
        if self.region.is_private == NULL or self.live == NULL:
            raise MemoryError
        self.region.slot_bytes = slot_bytes
        return 0

    def new_memory(self, size_t size):
        """Return the memory of a block, zeroed. It is ordinary memory if the region is full."""
        cdef SharedMemory memory
        cdef int64_t slot
        if self.region.slot_bytes == 0:
            self.divide(round_up(size, PAGE))
        if size > <size_t>self.region.slot_bytes or (not self.free and self.region.num_used == self.num_slots):
            return BlockMemory(size)
        memory = SharedMemory.__new__(SharedMemory, 0)
        if self.free:
            slot = self.free.pop()
        else:
            slot = self.region.num_used
            self.region.num_used += 1
        memory.blocks, memory.slot = self, slot
        memory.base, memory.size = self.region.base + slot * self.region.slot_bytes, self.region.slot_bytes
        memory.is_mapped, memory.clearing = True, EP_SHARED_PAGES
        self.live[slot] = <PyObject*>memory
        return memory

    cdef int share(self, SharedMemory memory, int flags) noexcept:
        """Maps the memory of a block again, shared or private; -1 if the system refuses."""
        cdef int64_t at = self.start + memory.slot * self.region.slot_bytes
        cdef void* found = mmap(memory.base, memory.size, PROT_READ | PROT_WRITE, MAP_FIXED | MAP_NORESERVE | flags,
                                self.fd, at)
        if found == MAP_FAILED:
            return -1
        munlock(memory.base, memory.size)       # Linux does not clear memory that is locked
        return 0

    cdef void make_private(self, SharedMemory memory) noexcept:
        """Separates a block from the file. Other threads may be reading or writing it."""
        memory.is_retired = True
        if not self.region.is_private[memory.slot] and self.share(memory, MAP_PRIVATE) == 0:
            self.region.is_private[memory.slot] = 1
            epy_copy_pages(memory.base, memory.size)

    cdef void abandon(self, int64_t offset) noexcept:
        """Makes the block in flight at an offset of the region private, since a worker may write to it later."""
        cdef SharedMemory memory = <SharedMemory>self.live[offset // self.region.slot_bytes]
        memory.is_lost = True
        self.make_private(memory)

    cdef void release(self, SharedMemory memory) noexcept:
        """Gives the pages of a block back, and its slot if nobody writes there."""
        self.live[memory.slot] = NULL
        if self.generation != fork_generation():
            return                          # in a forked child: the file belongs to its parent
        if self.region.is_private[memory.slot] and self.share(memory, MAP_SHARED) < 0:
            return
        ep_clear_pages(memory.base, memory.size, EP_SHARED_PAGES)
        if not memory.is_lost:
            self.region.is_private[memory.slot] = 0
            self.free.append(memory.slot)

    def separate(self):
        """Make all blocks private that users may hold: this process is about to fork, or has just been forked off."""
        cdef int64_t k
        for k in range(self.region.num_used):
            if self.live[k] != NULL and (<SharedMemory>self.live[k]).is_handed_out:
                self.make_private(<SharedMemory>self.live[k])


# Hidden from the garbage collector, which would clear `blocks` before __dealloc__ needs it.
@cython.no_gc
cdef class SharedMemory(BlockMemory):
    """The memory of one block, in a slot of the region."""

    def __dealloc__(self):
        self.blocks.release(self)
        self.base = NULL


cdef int64_t offset_of(const Region* region, const void* at) noexcept nogil:
    """Returns where an address lies in the region; 0 if workers cannot write there. A block begins with no row."""
    cdef int64_t offset = <const char*>at - region.base
    if offset <= 0 or offset >= region.num_used * region.slot_bytes or region.is_private[offset // region.slot_bytes]:
        return 0
    return offset


opened = set()      # of weak references; copied at once before it is iterated over, since other threads change it


def separate_blocks():
    """Separate what a forked child has from what the pool has, in the process that this function is called in."""
    for reference in opened.copy():
        blocks = reference()
        if blocks is not None:
            blocks.separate()


os.register_at_fork(before=separate_blocks, after_in_child=separate_blocks)
