# optimize: -Og
"""Locking pages in memory, so that a GPU can copy from them at full speed while the CPU continues.

The CUDA runtime is loaded when memory is first locked. If another library has loaded it already, for instance torch,
the loader returns the same one. There may be several copies of it in a process; all share the state of the driver.
"""

import os
import sys
from pathlib import Path

from envpool.errors import EnvPoolError

cdef extern from "dlfcn.h" nogil:
    int RTLD_NOW
    void* dlopen(const char* path, int flags)
    void* dlsym(void* library, const char* name)
    char* dlerror()

ctypedef int (*register_t)(void* base, size_t size, unsigned int flags) noexcept nogil
ctypedef const char* (*error_string_t)(int code) noexcept nogil

cdef enum:
    PORTABLE = 1        # cudaHostRegisterPortable: locked for all CUDA contexts

#: Names under which the loader searches for the CUDA runtime.
NAMES = ("libcudart.so.13", "libcudart.so.12", "libcudart.so.11.0", "libcudart.so")


class PinningError(EnvPoolError, RuntimeError):
    """The memory of a rollout cannot be page-locked."""


def candidates():
    """Return the paths and names to load the CUDA runtime from: ENVPOOL_CUDART, or the usual ones."""
    if given := os.environ.get("ENVPOOL_CUDART"):
        return [given]
    wheels = [str(p) for entry in sys.path if entry for p in sorted(Path(entry).glob("nvidia/*/lib/libcudart.so.*"))]
    return [*NAMES, *wheels]


cdef void* load() except NULL:
    """Returns the library of the CUDA runtime."""
    cdef void* library
    cdef const char* reason
    first = ""
    tried = candidates()
    for name in tried:
        path = os.fsencode(name)
        library = dlopen(path, RTLD_NOW)
        if library != NULL:
            return library
        reason = dlerror()
        first = first or reason.decode(errors="replace")
    raise PinningError(
        f"pin=True needs the CUDA runtime, which could not be loaded ({first}): install the NVIDIA driver and the "
        "package nvidia-cuda-runtime, name the library in the variable ENVPOOL_CUDART, or leave pin out"
    )


cdef unregister_t pin(void* base, size_t size) except NULL:
    """Locks memory and returns the function that unlocks it, which must be called before the memory is freed."""
    cdef void* library = load()
    cdef register_t lock = <register_t>dlsym(library, b"cudaHostRegister")
    cdef unregister_t unlock = <unregister_t>dlsym(library, b"cudaHostUnregister")
    cdef error_string_t error_string = <error_string_t>dlsym(library, b"cudaGetErrorString")
    cdef int code
    if lock == NULL or unlock == NULL:
        raise PinningError("the CUDA runtime lacks cudaHostRegister or cudaHostUnregister: check ENVPOOL_CUDART")
    with nogil:
        code = lock(base, size, PORTABLE)
    if code:
        text = error_string(code).decode(errors="replace") if error_string != NULL else "no description"
        raise PinningError(
            f"the CUDA runtime could not lock {size / 2**20:.1f} MiB of memory: {text} (code {code}); check that a GPU "
            "is visible and that the memory is free, or leave pin out"
        )
    return unlock
