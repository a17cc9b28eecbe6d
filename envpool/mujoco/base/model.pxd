"""MuJoCo models. A pool compiles its model when it is made."""

from libc.stdint cimport uint64_t

from envpool.mujoco.base.mujoco cimport mjData, mjModel

cdef class Model:
    cdef mjModel* m                 # owned
    cdef readonly str source        # where the model comes from, in the words of error texts
    cdef readonly str remarks       # warnings of MuJoCo's compiler
    cdef public uint64_t digest     # of the files of a user's model; 0: the options of a pool determine the model
    cdef object __weakref__

    cdef int find(self, int kind, str name) except -2
    cdef str name_of(self, int kind, int id)

ctypedef int (*ScratchFunction)(mjModel* m, mjData* d, void* argument) noexcept nogil

# Calls a function with a new mjData when a pool is made, for example to find the state in which all episodes begin. An
# error of MuJoCo, or a nonzero result, is raised as a ConfigError, which names the model. The function may change the
# model if no pool uses it yet, or if it was changed like that before.
cdef int run_scratch(Model model, ScratchFunction function, void* argument) except -1

# Makes the search for contacts faster: removes geoms that only frames show from the ends of the lists of geoms of
# bodies. The contacts and their order stay the same. MuJoCo does not move these geoms any more, so a frame needs
# place_visual_geoms(). Models stay as they are if a tendon, a sensor or a plugin may depend on a geom without contacts.
#
# Many bodies then have a single geom, and before MuJoCo looks for contacts between two such bodies, it compares their
# bounding spheres instead of their bounding boxes. Measure before you call this function: it makes Adroit slower.
cdef void leave_out_visual_geoms(mjModel* m) noexcept nogil
# Whether geoms were left out.
cdef bint lacks_geoms(const mjModel* m) noexcept nogil
# Moves the geoms that were left out to where MuJoCo would have moved them.
cdef void place_visual_geoms(const mjModel* m, mjData* d) noexcept nogil
