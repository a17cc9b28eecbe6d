"""Saving, restoring and copying Procgen environments.

A snapshot is a checksum, and after it the bytes that the library writes. The library ends the process if it cannot
read them, and does not check their values. Bytes that it has not written are recognised by the checksum.
"""

from libc.stdint cimport int32_t, int64_t, uint64_t
from libc.stdlib cimport free, malloc
from libc.string cimport memcpy

from envpool.env cimport (
    ENVPOOL_BAD_SNAPSHOT, ENVPOOL_NO_MEMORY, envpool_copies, envpool_env, envpool_snapshots,
)
from envpool.procgen.libenv cimport MAX_STATE_BYTES, loaded
from envpool.procgen.structs cimport Env, Envs

cdef enum:
    HEAD = sizeof(uint64_t)     # bytes of the checksum


cdef inline Env* env_of(void* state, int32_t id) noexcept nogil:
    return <Env*>(<Envs*>state).head.records + id


cdef uint64_t checksum(const char* data, int64_t size) noexcept nogil:
    """Return FNV-1a of the words of eight bytes, with the size as the seed. A change of one word changes the result."""
    cdef uint64_t value = 0xcbf29ce484222325ULL ^ <uint64_t>size, word
    cdef int64_t at = 0
    while at < size:
        word = 0
        memcpy(&word, data + at, min(size - at, <int64_t>sizeof(word)))
        value = (value ^ word) * 0x100000001b3ULL
        value ^= value >> 29
        at += sizeof(word)
    return value


cdef int64_t state_size(void* state) noexcept nogil:
    return HEAD + MAX_STATE_BYTES


cdef int get_state(void* state, const envpool_snapshots* snapshots) noexcept nogil:
    cdef uint64_t value
    cdef int64_t size
    cdef char* at
    cdef int32_t i
    for i in range(snapshots.n):
        at = <char*>snapshots.bytes[i]
        size = loaded().get_state(env_of(state, snapshots.ids[i]).handle, 0, at + HEAD, MAX_STATE_BYTES)
        value = checksum(at + HEAD, size)
        memcpy(at, &value, HEAD)
        snapshots.sizes[i] = HEAD + size
    return 0


cdef void restore(Env* env, char* data, int64_t size) noexcept nogil:
    """Restore an env from bytes of the library, which also fills its buffers."""
    loaded().set_state(env.handle, 0, data, <int>size)
    env.has_ended = 0


cdef int set_state(void* state, const envpool_snapshots* snapshots) noexcept nogil:
    cdef uint64_t value
    cdef int64_t size
    cdef char* at
    cdef int32_t i
    cdef int status = 0
    for i in range(snapshots.n):
        at = <char*>snapshots.bytes[i]
        size = snapshots.sizes[i] - HEAD
        if size > 0:
            memcpy(&value, at, HEAD)
        if not 0 < size <= MAX_STATE_BYTES or value != checksum(at + HEAD, size):
            status = snapshots.errors[i] = ENVPOOL_BAD_SNAPSHOT
        elif not snapshots.only_checks:
            restore(env_of(state, snapshots.ids[i]), at + HEAD, size)
    return status


cdef int copy_state(void* state, const envpool_copies* copies) noexcept nogil:
    cdef char* data = <char*>malloc(MAX_STATE_BYTES)
    cdef int64_t size
    cdef int32_t i
    if data == NULL:
        return ENVPOOL_NO_MEMORY
    for i in range(copies.n):
        size = loaded().get_state(env_of(state, copies.sources[i]).handle, 0, data, MAX_STATE_BYTES)
        restore(env_of(state, copies.targets[i]), data, size)
    free(data)
    return 0


cdef void with_snapshots(envpool_env* env_def) noexcept:
    env_def.state_size = state_size
    env_def.get_state = get_state
    env_def.set_state = set_state
    env_def.copy_state = copy_state
