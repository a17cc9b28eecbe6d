"""What the core keeps of an env, in saved states: see core_state.pyx."""

from libc.stdint cimport int32_t, int64_t

from envpool._core.structs cimport Engine

cdef int64_t extra_bytes(const Engine* e, int32_t id) noexcept
cdef int save_core(Engine* e, int32_t id, char* core) except -1
cdef int check_core(const Engine* e, bytes state, Py_ssize_t at) except -1
cdef void restore_core(Engine* e, int32_t id, bytes state) noexcept
cdef int copy_core(Engine* e, int32_t source, int32_t target) except -1
