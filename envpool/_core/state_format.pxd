"""The bytes of a saved state: see state_format.pyx."""

from libc.stdint cimport int32_t, int64_t, uint8_t, uint32_t, uint64_t

from envpool._core.statistics cimport Sums
from envpool._core.structs cimport Engine

cdef struct Header:             # the first bytes of a state; the name of the task and that of the env definition follow
    char magic[8]               # MAGIC
    uint32_t format
    uint32_t prefix_bytes       # of the header and the names, filled up with zeros to a multiple of 16
    int64_t env_bytes           # of everything between the CoreState and the zeros before the checksum
    uint8_t options[16]         # digest of the options on which the dynamics and the snapshot depend
    uint32_t state_version      # of the env definition
    uint32_t task_bytes
    uint32_t name_bytes
    uint32_t reserved

cdef struct CoreState:          # what the core keeps of an env, between the prefix and the env's snapshot
    uint64_t seed               # to be applied, if seed_pending
    int32_t elapsed
    uint8_t reset               # Reset
    uint8_t seed_pending        # 1: the env is not seeded yet, and has no snapshot
    uint8_t has_sums            # 1: the Sums of its statistics follow
    uint8_t zero
    uint32_t param_bytes        # size of the pending parameters, which follow: all parameters, or 0
    uint32_t zeros[3]

cdef bytes make_prefix(Engine* e, str task, bytes options)
cdef int64_t state_bytes(int64_t prefix_bytes, int64_t env_bytes) noexcept
cdef void seal(char* state, int64_t prefix_bytes, int64_t env_bytes) noexcept
cdef int check_state(bytes state, bytes prefix, Py_ssize_t at) except -1
cdef const CoreState* core_part(bytes state) noexcept
cdef const Sums* sums_part(bytes state) noexcept
cdef const char* params_part(bytes state) noexcept
cdef const char* env_part(bytes state) noexcept
cdef int64_t env_part_bytes(bytes state) noexcept
