"""The memory behind batch blocks.

Large blocks have mappings of their own, so that freeing one returns its memory to the system at once. Their pages are
zero and are first touched by the thread that writes a row.
"""

from libc.stdlib cimport free
from libc.string cimport memset
from posix.mman cimport (
    MADV_DONTNEED, MADV_HUGEPAGE, madvise, MAP_ANONYMOUS, MAP_FAILED, MAP_PRIVATE, mmap, munmap, PROT_READ, PROT_WRITE,
)

cdef extern from "stdlib.h" nogil:
    void* aligned_alloc(size_t alignment, size_t size)


cdef char* map_memory(size_t size, size_t alignment) noexcept nogil:
    """Returns zero pages at a multiple of `alignment`, NULL if there are none."""
    cdef size_t extra = alignment - PAGE, before
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
        self.clearing = MADV_DONTNEED
        if size == 0:
            return
        self.is_mapped = size >= MAPPED
        if self.is_mapped:
            self.size = round_up(size, PAGE)
            self.base = map_memory(self.size, HUGE_PAGE if size >= HUGE else PAGE)
            if self.base != NULL and size >= HUGE:
                madvise(self.base, self.size, MADV_HUGEPAGE)
        else:
            self.size = size
            self.base = <char*>aligned_alloc(64, size)
            if self.base != NULL:
                memset(self.base, 0, size)
        if self.base == NULL:
            raise MemoryError(f"no memory for a batch of {size} bytes")

    def __dealloc__(self):
        if not self.is_mapped:
            free(self.base)
        elif self.base != NULL:
            munmap(self.base, self.size)
