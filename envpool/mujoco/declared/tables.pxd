"""The names and arrays of a model, and the tables of a program: tables.pyx describes the classes."""

from libc.stddef cimport size_t

from envpool.mujoco.base.model cimport Model
from envpool.mujoco.declared.program cimport Program, envpool_mujoco_term


cdef class ModelIndex:
    cdef readonly Model model


cdef class NativeTerm:
    cdef object capsule         # owns the term
    cdef const envpool_mujoco_term* term
    cdef int check_versions(self) except -1


cdef class Tables:
    """Owns the arrays of a Program."""
    cdef Program p
    cdef list arrays            # the bytes that the pointers of `p` point to
    cdef list terms             # the NativeTerm of each entry of Program.terms
    cdef char* new(self, size_t size) except NULL
    cdef char* keep(self, values) except NULL
