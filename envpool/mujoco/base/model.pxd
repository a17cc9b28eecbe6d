"""MuJoCo models, compiled when a pool is made."""

from envpool.mujoco.base.mujoco cimport mjModel

cdef class Model:
    cdef mjModel* m                 # owned
    cdef readonly str source        # what it was made of, as error texts call it
    cdef object __weakref__
    cdef readonly str remarks       # what the compiler warned of

    cdef int find(self, int kind, str name) except -2
