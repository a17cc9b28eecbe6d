"""Frames of simulations, rendered by libmujoco (mjv and mjr) exactly as upstream renders them."""

from libc.stddef cimport size_t
from libc.stdint cimport int32_t, int64_t, uint8_t

from envpool.mujoco.base.mujoco cimport mjData, mjModel, mjvCamera

# How upstream renders a task by default.
cdef struct CameraView:
    int32_t height              # default frame size (pixels)
    int32_t width
    int32_t max_geom            # capacity of the scene, in geoms
    bint shows_rangefinders
    mjvCamera camera            # the camera of a call that names none
    bint aims_at_median         # the camera looks at the median position of the geoms in the env's first frame

# The point that the camera of one env looks at, if CameraView.aims_at_median. All zero until the first frame.
cdef struct LookAt:
    bint is_set
    double point[3]

# The OpenGL contexts of one pool. Several threads may render with one GLRenderer at the same time.
cdef struct GLRenderer

# One frame to render.
cdef struct FrameJob:
    const mjModel* model
    mjData* data                # of an env that no thread is stepping; rendering changes no result of later steps
    LookAt* look_at             # of the env
    int64_t terrain             # version number of the env's height fields; a new number means new heights
    int32_t height
    int32_t width
    int32_t camera              # id of a camera in the model, or -1 for the camera of the CameraView
    bint is_planar              # layout of `pixels`: (3, height, width) if true, otherwise (height, width, 3)
    uint8_t* pixels             # output: RGB, top row first

# Returns NULL if memory runs out. has_own_terrain: each env has height fields of its own.
cdef GLRenderer* new_gl_renderer(const mjModel* model, const CameraView* view, bint has_own_terrain) noexcept nogil
# Must not be called while a thread renders.
cdef void free_gl_renderer(GLRenderer* renderer) noexcept nogil
# Returns 0, or -1 with a text in `error` (size bytes). Contexts are created on demand and kept.
cdef int render_frame(GLRenderer* renderer, const FrameJob* job, char* error, size_t size) noexcept nogil
