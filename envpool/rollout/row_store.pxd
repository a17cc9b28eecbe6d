"""Rows of one size that are taken and given back: see row_store.pyx."""

from libc.stdint cimport int32_t, int64_t

cdef struct Rows:               # rows of one size that are taken and given back
    char** chunks               # memory of `1 << shift` rows each
    int32_t* words              # by row (size): its references; while it is free, the next free row + 1
    int64_t row_bytes
    int64_t shift
    int64_t size                # rows that have memory
    int64_t used                # rows that have been taken at least once
    int64_t num_free            # of these, rows that were given back
    int32_t first_free          # the last one given back + 1; 0 if there is none

cdef class RowStore:
    cdef Rows rows
    cdef list memories          # behind the chunks

    cdef int reserve(self, int64_t count) except -1
    cdef int grow(self) except -1
    cdef void clear(self) noexcept


cdef inline char* row_at(const Rows* rows, int64_t row) noexcept nogil:
    return rows.chunks[row >> rows.shift] + (row & ((1 << rows.shift) - 1)) * rows.row_bytes


cdef inline int32_t take_row(Rows* rows) noexcept nogil:
    """Takes a row. The caller must have reserved it with RowStore.reserve()."""
    cdef int32_t row = rows.first_free - 1
    if row >= 0:
        rows.first_free = rows.words[row]
        rows.num_free -= 1
    else:
        row = <int32_t>rows.used
        rows.used += 1
    rows.words[row] = 1
    return row


cdef inline void give_row(Rows* rows, int32_t row) noexcept nogil:
    """Gives back a reference to a row."""
    rows.words[row] -= 1
    if rows.words[row] == 0:
        rows.words[row] = rows.first_free
        rows.first_free = row + 1
        rows.num_free += 1
