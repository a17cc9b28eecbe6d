"""MuJoCo models. A pool compiles its model when it is made."""

from envpool.mujoco.base.mujoco cimport mjModel

cdef class Model:
    cdef mjModel* m                 # owned
    cdef readonly str source        # where the model comes from, in the words of error texts
    cdef readonly str remarks       # warnings of MuJoCo's compiler
    cdef object __weakref__

    cdef int find(self, int kind, str name) except -2
    cdef str name_of(self, int kind, int id)
