"""Rows of one size that are taken and given back, such as the last observations of a replay buffer.

A row counts its references, and never moves. Taking one cannot fail, since memory is reserved before.
"""

from libc.stdint cimport INT32_MAX, int32_t, int64_t
from libc.stdlib cimport free, realloc

from envpool._core.blocks cimport BlockMemory

cdef enum:
    CHUNK = 1 << 20         # bytes of a chunk, about


cdef class RowStore:
    """Memory for rows of one size, which grows in chunks and never moves.

    Parameters
    ----------
    row_bytes : int
        Size of a row.
    """

    def __init__(self, int64_t row_bytes):
        self.memories, self.rows.row_bytes = [], row_bytes
        while row_bytes << (self.rows.shift + 1) <= CHUNK:
            self.rows.shift += 1

    def __dealloc__(self):
        free(self.rows.chunks)
        free(self.rows.words)

    cdef int reserve(self, int64_t count) except -1:
        """Makes sure that `count` rows can be taken."""
        while self.rows.size - self.rows.used + self.rows.num_free < count:
            self.grow()
        return 0

    cdef int grow(self) except -1:
        """Adds a chunk."""
        cdef Rows* r = &self.rows
        cdef int64_t chunk = <int64_t>1 << r.shift
        cdef BlockMemory memory
        cdef void* grown
        if r.size + chunk >= INT32_MAX:
            raise MemoryError("the replay buffer has too many frames or last observations")
        memory = BlockMemory(r.row_bytes << r.shift)
        grown = realloc(r.chunks, (len(self.memories) + 1) * sizeof(char*))
        if grown == NULL:
            raise MemoryError
        r.chunks = <char**>grown
        grown = realloc(r.words, (r.size + chunk) * sizeof(int32_t))
        if grown == NULL:
            raise MemoryError
        r.words = <int32_t*>grown
        r.chunks[len(self.memories)] = memory.base
        self.memories.append(memory)
        r.size += chunk
        return 0

    cdef void clear(self) noexcept:
        """Gives back all rows."""
        self.rows.used = self.rows.num_free = 0
        self.rows.first_free = 0
