"""The common part of the env definitions of Python environments: see base.pyx."""

from cpython.ref cimport PyObject
from libc.stdint cimport int32_t, int64_t

from envpool._core.inputs cimport ResetOptions
from envpool.env cimport envpool_env, envpool_setup

cdef struct Header:             # how the state of a definition begins
    PyObject* envs              # an EnvsBase, to which the pool has a reference
    int64_t has_options         # whether a reset has ever had options

cdef class EnvsBase:
    cdef readonly object source
    cdef list texts             # by env: texts of its last failures by code
    cdef dict causes            # by code: exceptions of failures that nobody has asked about
    cdef bint keeps_causes      # whether the pool is in this process, and may ask about them
    cdef list options           # by env: the options of its next reset, None if there are none
    cdef int32_t last_code

    cdef Header* header(self) noexcept
    cdef void close(self) noexcept
    cdef int32_t note(self, int32_t id, text) noexcept
    cdef int32_t note_error(self, int32_t id, error, bint keeps_cause) noexcept
    cdef void drop_causes(self, int32_t id) noexcept

cdef class ObjectOptions(ResetOptions):
    cdef EnvsBase envs
    cdef list options

cdef int open_envs(const envpool_setup* setup, void** state, type envs_class) noexcept
cdef void set_common(envpool_env* env) noexcept
cdef void set_frames(envpool_env* env) noexcept
cdef object capsule_of(source, const envpool_env* env)
