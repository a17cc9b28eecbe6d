"""Simulating a claimed chunk and writing its rows: see execute.pyx."""

from libc.stdint cimport int32_t, int64_t

from envpool._core.structs cimport Engine, Worker

cdef void execute_partial(Engine* e, const int32_t* id, int64_t started) noexcept nogil
cdef void execute_sync(Engine* e, const int32_t* ids, int64_t n, int64_t row, int64_t started) noexcept nogil
cdef void execute_async(Engine* e, const int32_t* ids, int32_t n, int64_t started, Worker* watched) noexcept nogil
