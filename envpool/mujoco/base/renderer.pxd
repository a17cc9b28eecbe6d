"""Pictures of simulations, drawn by libmujoco (mjv and mjr) as upstream draws them; pictures.pyx says more."""

from libc.stddef cimport size_t
from libc.stdint cimport int32_t, int64_t, uint8_t

from envpool.mujoco.base.mujoco cimport mjData, mjModel, mjvCamera

# How upstream looks at a task.
cdef struct View:
    int32_t height              # of a picture where none is asked for
    int32_t width
    int32_t max_geom            # things in a scene
    bint shows_rangefinders
    mjvCamera camera            # where none is asked for
    bint finds_middle           # `camera` looks at the middle of what the env's first picture shows, see Aim

# Where the camera of one env looks; zero at first.
cdef struct Aim:
    bint is_set
    double lookat[3]

# What a pool needs for drawing. Threads may draw at once.
cdef struct GLRenderer

# A picture to draw.
cdef struct Picture:
    const mjModel* model
    mjData* data                # of an env that no thread steps; what steps give does not change
    Aim* aim                    # the env's
    int64_t terrain             # number of its height fields: others have another one
    int32_t height
    int32_t width
    int32_t camera              # of the model; -1: the view's
    bint is_planar              # (3, height, width) instead of (height, width, 3)
    uint8_t* pixels             # out: RGB, the top row first

# NULL: out of memory. changes_terrain: whether envs have height fields of their own.
cdef GLRenderer* new_studio(const mjModel* model, const View* view, bint changes_terrain) noexcept nogil
# When no thread draws.
cdef void free_studio(GLRenderer* studio) noexcept nogil
# Returns 0, or -1 with a text in error (size). The first pictures need contexts, which are made here and kept.
cdef int draw(GLRenderer* studio, const Picture* picture, char* error, size_t size) noexcept nogil
