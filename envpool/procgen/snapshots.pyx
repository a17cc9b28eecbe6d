# optimize: -Og
"""Saving, restoring and copying Procgen environments.

A snapshot is a checksum, and after it the bytes that the library writes. The library ends the process if it cannot
read them, and does not check their values. The checksum catches corruption; ``saved_state.h`` refuses values that
the library cannot have written, whatever the checksum is.
"""

from libc.stdint cimport int32_t, int64_t, uint64_t
from libc.stdio cimport snprintf
from libc.stdlib cimport free, malloc
from libc.string cimport memcpy

from envpool.env cimport (
    ENVPOOL_BAD_SNAPSHOT, ENVPOOL_NO_MEMORY, envpool_copies, envpool_env, envpool_snapshots,
)
from envpool.procgen.libenv cimport MAX_STATE_BYTES, loaded
from envpool.procgen.structs cimport Env, Envs

cdef enum:
    HEAD = sizeof(uint64_t)     # bytes of the checksum
    BAD_FIELD = 1               # error code: `refused` of the env names a field of the library


cdef extern from "saved_state.h" nogil:
    ctypedef struct saved_reader:
        pass
    void saved_learn(saved_reader* reader, const char* data, int64_t size)
    const char* saved_refused(saved_reader* reader, const char* data, int64_t size)


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


cdef int read_env(const Env* env, char* data) noexcept nogil:
    """Let the library write the state of an env to MAX_STATE_BYTES bytes, and return its size."""
    return loaded().get_state(env.handle, 0, data, MAX_STATE_BYTES)


cdef int get_state(void* state, const envpool_snapshots* snapshots) noexcept nogil:
    cdef uint64_t value
    cdef int64_t size
    cdef char* at
    cdef int32_t i
    for i in range(snapshots.n):
        at = <char*>snapshots.bytes[i]
        size = read_env(env_of(state, snapshots.ids[i]), at + HEAD)
        value = checksum(at + HEAD, size)
        memcpy(at, &value, HEAD)
        snapshots.sizes[i] = HEAD + size
    return 0


cdef void restore(Env* env, const char* data, int64_t size) noexcept nogil:
    """Restore an env from bytes of the library, which also fills its buffers."""
    loaded().set_state(env.handle, 0, <char*>data, <int>size)
    env.has_ended = 0


cdef int check(Env* env, saved_reader* reader, const char* data, int64_t size) noexcept nogil:
    """Return the error code of a snapshot for the env that `reader` was made for."""
    cdef uint64_t value
    if not HEAD < size <= HEAD + MAX_STATE_BYTES:
        return ENVPOOL_BAD_SNAPSHOT
    memcpy(&value, data, HEAD)
    if value != checksum(data + HEAD, size - HEAD):
        return ENVPOOL_BAD_SNAPSHOT
    env.refused = saved_refused(reader, data + HEAD, size - HEAD)
    return BAD_FIELD if env.refused != NULL else 0


cdef int check_all(void* state, const envpool_snapshots* snapshots) noexcept nogil:
    """Check snapshots. The state of any env of the pool has all that its states share, such as the options."""
    cdef char* data = <char*>malloc(MAX_STATE_BYTES)
    cdef Env* env
    cdef saved_reader reader
    cdef int32_t i
    cdef int status = 0
    if data == NULL:
        return ENVPOOL_NO_MEMORY
    env = env_of(state, snapshots.ids[0])
    saved_learn(&reader, data, read_env(env, data))
    free(data)
    for i in range(snapshots.n):
        env = env_of(state, snapshots.ids[i])
        snapshots.errors[i] = check(env, &reader, <const char*>snapshots.bytes[i], snapshots.sizes[i])
        status |= snapshots.errors[i]
    return status


cdef int set_state(void* state, const envpool_snapshots* snapshots) noexcept nogil:
    """Check snapshots, or restore those that have been checked."""
    cdef int32_t i
    if snapshots.only_checks:
        return check_all(state, snapshots)
    for i in range(snapshots.n):
        restore(env_of(state, snapshots.ids[i]), <const char*>snapshots.bytes[i] + HEAD, snapshots.sizes[i] - HEAD)
    return 0


cdef int copy_state(void* state, const envpool_copies* copies) noexcept nogil:
    """Copy envs. The check covers what the library has made of a forged state that was accepted."""
    cdef char* data = <char*>malloc(MAX_STATE_BYTES)
    cdef Env* target
    cdef saved_reader reader
    cdef int32_t i
    cdef int size, status = 0
    if data == NULL:
        return ENVPOOL_NO_MEMORY
    saved_learn(&reader, data, read_env(env_of(state, copies.targets[0]), data))
    for i in range(copies.n):
        target = env_of(state, copies.targets[i])
        size = read_env(env_of(state, copies.sources[i]), data)
        target.refused = saved_refused(&reader, data, size)
        if target.refused != NULL:
            status = copies.errors[i] = BAD_FIELD
        else:
            restore(target, data, size)
    free(data)
    return status


cdef void error_text(void* state, int32_t id, int32_t code, char* text, size_t size) noexcept nogil:
    if env_of(state, id).refused != NULL:
        snprintf(text, size, b"the library cannot have written its field '%s'", env_of(state, id).refused)


cdef void with_snapshots(envpool_env* env_def) noexcept:
    env_def.state_size = state_size
    env_def.get_state = get_state
    env_def.set_state = set_state
    env_def.copy_state = copy_state
    env_def.error_text = error_text
