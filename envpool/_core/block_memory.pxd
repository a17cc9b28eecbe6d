"""The memory behind batch blocks: see block_memory.pyx."""

cdef enum:
    PAGE = 4096
    HUGE_PAGE = 2 << 20
    MAPPED = 64 << 10   # least size of memory that is mapped, and so of a block that has a mapping of its own
    HUGE = 4 << 20      # least size of memory in which huge pages are asked for, as NumPy does for its arrays

cdef inline size_t round_up(size_t size, size_t multiple) noexcept nogil:
    return (size + multiple - 1) // multiple * multiple

cdef class BlockMemory:
    cdef char* base
    cdef size_t size
    cdef bint is_mapped
    cdef int clearing           # advice for madvise() that makes pages of a mapping zero
    cdef bint is_handed_out     # whether users may hold its arrays; valid if it contains a single block
    cdef bint is_retired        # whether the block is left to its holders, and not recycled
