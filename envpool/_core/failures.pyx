"""Turning the error codes of envs into exceptions."""

from libc.stdint cimport int32_t, int64_t

from envpool._core.atomic cimport ep_add_sc32
from envpool._core.calls cimport CreateFailure, TEXT_SIZE
from envpool._core.structs cimport Engine

from envpool.env cimport ENVPOOL_NO_MEMORY

from envpool.errors import EnvCreateError, EnvStepError


cdef int raise_create_failure(str name, int32_t num_envs, const CreateFailure* failure) except -1:
    """Raises the exception for envs that could not be created."""
    if failure.status == ENVPOOL_NO_MEMORY:
        raise MemoryError(f"no memory for {num_envs} envs of {name}: ask for fewer envs")
    raise EnvCreateError(name, failure.status, (<bytes>failure.text).decode(errors="replace"))


cdef str failure_text(Engine* e, int32_t id, int32_t code):
    """Returns the env's own description of an error code."""
    cdef char text[TEXT_SIZE]
    text[0] = 0
    if e.env_def.error_text != NULL:
        e.env_def.error_text(e.state, id, code, text, sizeof(text))
        text[TEXT_SIZE - 1] = 0
    return (<bytes>text).decode(errors="replace") or f"error code {code}"


cdef int raise_failures(Engine* e, const char* ids, size_t stride, int64_t n) except -1:
    """Raises EnvStepError if any of n envs has failed, once per failure. The ids are `stride` bytes apart."""
    cdef int64_t i
    cdef int32_t id
    failures = {}
    for i in range(n):
        id = (<const int32_t*>(ids + i * stride))[0]
        code = e.errors[id]
        if code:
            failures[id] = failure_text(e, id, code)
            e.errors[id] = 0
    if failures:
        ep_add_sc32(&e.failures, -<int32_t>len(failures))
        raise EnvStepError(failures)
    return 0
