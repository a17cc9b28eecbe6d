"""Parameters of envs: see params.pyx."""

from libc.stdint cimport int32_t, int64_t

from envpool._core.structs cimport Engine

cdef int64_t params_size(const Engine* e) noexcept
cdef int save_params(Engine* e, int32_t id, char* saved) except -1
cdef bint are_allowed(const Engine* e, const char* saved) noexcept
cdef void restore_params(Engine* e, int32_t id, const char* saved) noexcept
