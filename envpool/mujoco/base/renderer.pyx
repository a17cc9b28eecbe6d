"""Frames of simulations, rendered by libmujoco (mjv and mjr) exactly as upstream renders them.

A GLContext is an OpenGL context together with the resources that MuJoCo keeps in it: textures, meshes and buffers. It
belongs to one GLRenderer. A thread takes a free context for each frame and creates one if none is free, so that a
renderer has at most as many contexts as threads have rendered at the same time.
"""

from libc.stddef cimport size_t
from libc.stdint cimport int32_t, int64_t, uint8_t
from libc.stdio cimport snprintf
from libc.stdlib cimport calloc, free, qsort
from libc.string cimport memcpy

from envpool.mujoco.base.mujoco cimport (
    ep_mj_call, ep_mj_enter, ep_mj_handlers, ep_mj_leave, mjData, mjModel, mjvCamera,
)

cdef extern from "mujoco/mujoco.h" nogil:
    ctypedef struct mjvOption:
        unsigned char* flags

    ctypedef struct mjvPerturb:
        pass

    ctypedef struct mjvScene:
        pass

    ctypedef struct mjrContext:
        int offWidth
        int offHeight

    ctypedef struct mjrRect:
        int left
        int bottom
        int width
        int height

    int mjCAMERA_FIXED
    int mjCAT_ALL
    int mjFB_OFFSCREEN
    int mjFONTSCALE_150
    int mjVIS_RANGEFINDER

    void mjv_defaultOption(mjvOption* option)
    void mjv_defaultPerturb(mjvPerturb* perturb)
    void mjv_defaultScene(mjvScene* scene)
    void mjv_makeScene(const mjModel* m, mjvScene* scene, int maxgeom)
    void mjv_freeScene(mjvScene* scene)
    void mjv_updateScene(const mjModel* m, mjData* d, const mjvOption* option, const mjvPerturb* perturb,
                         mjvCamera* camera, int categories, mjvScene* scene)
    void mjr_defaultContext(mjrContext* context)
    void mjr_makeContext(const mjModel* m, mjrContext* context, int fontscale)
    void mjr_freeContext(mjrContext* context)
    void mjr_resizeOffscreen(int width, int height, mjrContext* context)
    void mjr_setBuffer(int buffer, mjrContext* context)
    void mjr_uploadHField(const mjModel* m, const mjrContext* context, int hfield)
    void mjr_render(mjrRect viewport, mjvScene* scene, const mjrContext* context)
    void mjr_readPixels(unsigned char* rgb, float* depth, mjrRect viewport, const mjrContext* context)

cdef extern from "<pthread.h>" nogil:
    ctypedef struct pthread_mutex_t:
        pass

    int pthread_mutex_init(pthread_mutex_t* mutex, const void* attributes)
    int pthread_mutex_destroy(pthread_mutex_t* mutex)
    int pthread_mutex_lock(pthread_mutex_t* mutex)
    int pthread_mutex_unlock(pthread_mutex_t* mutex)

cdef extern from "gl.h" nogil:
    ctypedef struct ep_gl_context:
        pass

    ctypedef struct ep_gl_before:
        pass

    ctypedef struct ep_gl_backend:
        int (*create)(ep_gl_context* context, char* error, size_t size) noexcept nogil
        void (*destroy)(ep_gl_context* context) noexcept nogil
        int (*enter)(ep_gl_context* context, ep_gl_before* before, char* error, size_t size) noexcept nogil
        void (*leave)(const ep_gl_before* before) noexcept nogil

    const ep_gl_backend* ep_gl
    bint ep_gl_begin()
    void ep_gl_end(bint has_waited)
    void ep_gl_look_at_renderer()
    int ep_gl_load(int kind, const char* library, int device, char* error, size_t size)

cdef extern from *:
    """
    /* libmujoco looks up the OpenGL functions in one table for all threads whenever it creates a context. */
    static pthread_mutex_t ep_creating_context = PTHREAD_MUTEX_INITIALIZER;
    """
    pthread_mutex_t ep_creating_context

cdef const char* OUT_OF_MEMORY = b"not enough memory to render a frame"

cdef struct GLContext:
    GLContext* next
    ep_gl_context gl
    mjrContext mjr
    mjvScene scene
    mjvOption option
    mjvPerturb perturb
    uint8_t* rows               # the frame as OpenGL returns it, bottom row first
    size_t size                 # capacity of `rows` (bytes)
    double* coordinates         # scratch for a median (ngeom)
    const mjData* terrain_of    # the env whose height fields were uploaded last,
    int64_t terrain             # and their version number

cdef struct GLRenderer:
    pthread_mutex_t lock        # guards `free`
    GLContext* free
    const CameraView* view
    const mjModel* model        # of the pool
    bint has_own_terrain

# The argument of the functions that run inside ep_mj_call().
cdef struct RenderCall:
    GLRenderer* renderer
    GLContext* context
    const FrameJob* job


cdef GLRenderer* new_gl_renderer(const mjModel* model, const CameraView* view, bint has_own_terrain) noexcept nogil:
    cdef GLRenderer* renderer = <GLRenderer*>calloc(1, sizeof(GLRenderer))
    if renderer == NULL:
        return NULL
    pthread_mutex_init(&renderer.lock, NULL)
    renderer.model = model
    renderer.view = view
    renderer.has_own_terrain = has_own_terrain
    return renderer


# ---- contexts --------------------------------------------------------------------------------------------------------

cdef int create_mujoco_resources(void* argument) noexcept nogil:
    """Creates the resources that MuJoCo keeps in a context. The context must be current."""
    cdef RenderCall* call = <RenderCall*>argument
    cdef GLContext* context = call.context
    cdef mjModel model = call.renderer.model[0]
    # Upstream enlarges the offscreen buffer in the model as well; pixels may depend on the size of the buffer.
    model.vis_offwidth = max(model.vis_offwidth, call.job.width)
    model.vis_offheight = max(model.vis_offheight, call.job.height)
    mjr_makeContext(&model, &context.mjr, mjFONTSCALE_150)
    mjr_setBuffer(mjFB_OFFSCREEN, &context.mjr)
    mjv_makeScene(&model, &context.scene, call.renderer.view.max_geom)
    return 0


cdef void free_gl_context(GLContext* context) noexcept nogil:
    """Frees a context. If it can no longer be made current, the OpenGL library is shutting down and frees its part."""
    cdef ep_mj_handlers handler = ep_mj_enter()
    cdef ep_gl_before before
    cdef char error[200]
    cdef bint has_waited = ep_gl_begin()
    if ep_gl.enter(&context.gl, &before, error, sizeof(error)) == 0:
        mjr_freeContext(&context.mjr)
        ep_gl.leave(&before)
    mjv_freeScene(&context.scene)
    ep_mj_leave(handler)
    ep_gl.destroy(&context.gl)
    ep_gl_end(has_waited)
    free(context.rows)
    free(context.coordinates)
    free(context)


cdef void free_gl_renderer(GLRenderer* renderer) noexcept nogil:
    cdef GLContext* context
    while renderer.free != NULL:
        context = renderer.free
        renderer.free = context.next
        free_gl_context(context)
    pthread_mutex_destroy(&renderer.lock)
    free(renderer)


cdef GLContext* new_gl_context(GLRenderer* renderer, const FrameJob* job, char* error, size_t size) noexcept nogil:
    cdef GLContext* context = <GLContext*>calloc(1, sizeof(GLContext))
    cdef ep_mj_handlers handler
    cdef ep_gl_before before
    cdef RenderCall call = RenderCall(renderer, context, job)
    cdef int failed
    if context == NULL:
        snprintf(error, size, b"%s", OUT_OF_MEMORY)
        return NULL
    if ep_gl.create(&context.gl, error, size):
        free(context)
        return NULL
    mjr_defaultContext(&context.mjr)
    mjv_defaultScene(&context.scene)
    mjv_defaultOption(&context.option)
    mjv_defaultPerturb(&context.perturb)
    context.option.flags[mjVIS_RANGEFINDER] = renderer.view.shows_rangefinders
    context.size = 3 * <size_t>job.width * job.height
    context.rows = <uint8_t*>calloc(1, context.size)
    context.coordinates = <double*>calloc(renderer.model.ngeom + 1, sizeof(double))
    failed = context.rows == NULL or context.coordinates == NULL
    if failed:
        snprintf(error, size, b"%s", OUT_OF_MEMORY)
    elif ep_gl.enter(&context.gl, &before, error, size) == 0:
        ep_gl_look_at_renderer()
        handler = ep_mj_enter()
        pthread_mutex_lock(&ep_creating_context)
        failed = ep_mj_call(create_mujoco_resources, &call, error, size)
        pthread_mutex_unlock(&ep_creating_context)
        ep_mj_leave(handler)
        ep_gl.leave(&before)
    else:
        failed = True
    if failed:
        free_gl_context(context)
        return NULL
    return context


cdef GLContext* take_free_context(GLRenderer* renderer) noexcept nogil:
    """Takes a free context from the renderer; returns NULL if all contexts are in use."""
    cdef GLContext* context
    pthread_mutex_lock(&renderer.lock)
    context = renderer.free
    if context != NULL:
        renderer.free = context.next
    pthread_mutex_unlock(&renderer.lock)
    return context


cdef void return_context(GLRenderer* renderer, GLContext* context) noexcept nogil:
    pthread_mutex_lock(&renderer.lock)
    context.next = renderer.free
    renderer.free = context
    pthread_mutex_unlock(&renderer.lock)


# ---- frames ----------------------------------------------------------------------------------------------------------

cdef int compare_doubles(const void* a, const void* b) noexcept nogil:
    cdef double x = (<const double*>a)[0], y = (<const double*>b)[0]
    return (x > y) - (x < y)


cdef void look_at_median(GLContext* context, const FrameJob* job) noexcept nogil:
    """Makes the camera of the env look at the median position of the geoms, taken coordinate by coordinate."""
    cdef int32_t n = <int32_t>job.model.ngeom, axis, i
    cdef double* x = context.coordinates
    for axis in range(3):
        for i in range(n):
            x[i] = job.data.geom_xpos[3 * i + axis]
        qsort(x, n, sizeof(double), compare_doubles)
        job.look_at.point[axis] = 0.5 * (x[(n - 1) // 2] + x[n // 2]) if n else 0.0
    job.look_at.is_set = True


cdef int render_rows(void* argument) noexcept nogil:
    """Renders a frame into GLContext.rows. The context must be current."""
    cdef RenderCall* call = <RenderCall*>argument
    cdef GLRenderer* renderer = call.renderer
    cdef GLContext* context = call.context
    cdef const FrameJob* job = call.job
    cdef mjvCamera camera = renderer.view.camera
    cdef mjrRect viewport = mjrRect(0, 0, job.width, job.height)
    cdef int k
    if renderer.view.aims_at_median:
        if not job.look_at.is_set:
            look_at_median(context, job)
        memcpy(&camera.lookat[0], &job.look_at.point[0], sizeof(job.look_at.point))
    if job.camera >= 0:
        camera.type = mjCAMERA_FIXED
        camera.fixedcamid = job.camera
    if context.mjr.offWidth < job.width or context.mjr.offHeight < job.height:
        mjr_resizeOffscreen(max(context.mjr.offWidth, job.width), max(context.mjr.offHeight, job.height), &context.mjr)
    if renderer.has_own_terrain and (context.terrain_of != job.data or context.terrain != job.terrain):
        for k in range(<int>job.model.nhfield):
            mjr_uploadHField(job.model, &context.mjr, k)
        context.terrain_of = job.data
        context.terrain = job.terrain
    mjv_updateScene(job.model, job.data, &context.option, &context.perturb, &camera, mjCAT_ALL, &context.scene)
    mjr_render(viewport, &context.scene, &context.mjr)
    mjr_readPixels(context.rows, NULL, viewport, &context.mjr)
    return 0


cdef void copy_rows(const GLContext* context, const FrameJob* job) noexcept nogil:
    """Copies a frame into FrameJob.pixels: top row first, and with one plane per colour if the job asks for planes."""
    cdef size_t width = 3 * <size_t>job.width, plane = <size_t>job.width * job.height
    cdef const uint8_t* row
    cdef uint8_t* to
    cdef int32_t y, x
    for y in range(job.height):
        row = context.rows + (job.height - 1 - y) * width
        if not job.is_planar:
            memcpy(job.pixels + y * width, row, width)
            continue
        to = job.pixels + <size_t>y * job.width
        for x in range(job.width):
            to[x] = row[3 * x]
            to[x + plane] = row[3 * x + 1]
            to[x + 2 * plane] = row[3 * x + 2]


cdef int ensure_capacity(GLContext* context, const FrameJob* job) noexcept nogil:
    """Enlarges GLContext.rows if the frame does not fit; returns 0, or -1 if memory runs out."""
    cdef size_t size = 3 * <size_t>job.width * job.height
    if size > context.size:
        free(context.rows)
        context.size = size
        context.rows = <uint8_t*>calloc(1, size)
        if context.rows == NULL:
            context.size = 0
            return -1
    return 0


cdef int check_job(const FrameJob* job, char* error, size_t size) noexcept nogil:
    if job.data == NULL:
        snprintf(error, size, b"the environment cannot be rendered before its first reset")
        return -1
    if job.camera >= job.model.ncam:
        snprintf(error, size, b"camera_id must be between -1 and %d, got %d: the model has %d cameras",
                 <int>job.model.ncam - 1, job.camera, <int>job.model.ncam)
        return -1
    if ep_gl == NULL:
        snprintf(error, size, b"no OpenGL library is loaded")
        return -1
    return 0


cdef int render_frame(GLRenderer* renderer, const FrameJob* job, char* error, size_t size) noexcept nogil:
    cdef GLContext* context
    cdef bint has_waited
    cdef int failed
    if check_job(job, error, size):
        return -1
    has_waited = ep_gl_begin()
    context = take_free_context(renderer)
    if context == NULL:
        context = new_gl_context(renderer, job, error, size)
    failed = context == NULL or render_in_context(renderer, context, job, error, size)
    ep_gl_end(has_waited)
    if failed:
        return -1
    copy_rows(context, job)
    return_context(renderer, context)
    return 0


cdef int render_in_context(GLRenderer* renderer, GLContext* context, const FrameJob* job, char* error,
                           size_t size) noexcept nogil:
    """Renders a frame into GLContext.rows. A context that fails is freed; one without memory is returned."""
    cdef ep_mj_handlers handler
    cdef ep_gl_before before
    cdef RenderCall call = RenderCall(renderer, context, job)
    cdef int failed
    if ensure_capacity(context, job):
        snprintf(error, size, b"%s", OUT_OF_MEMORY)
        return_context(renderer, context)
        return -1
    if ep_gl.enter(&context.gl, &before, error, size):
        free_gl_context(context)
        return -1
    handler = ep_mj_enter()
    failed = ep_mj_call(render_rows, &call, error, size)
    ep_mj_leave(handler)
    ep_gl.leave(&before)
    if failed:
        free_gl_context(context)
    return failed


# ---- the OpenGL library ----------------------------------------------------------------------------------------------

def load_gl(int kind, str library, int device=-1):
    """Load the OpenGL library that this process uses from now on.

    Parameters
    ----------
    kind : int
        0 for GLFW, 1 for EGL, 2 for OSMesa.
    library : str
        File name or path of the library.
    device : int
        Index of the EGL device, counted from 0. With -1, the default, the first device that works is used.

    Returns
    -------
    str or None
        The reason why the library cannot be used; None if it was loaded.
    """
    cdef char error[300]
    name = library.encode()
    if ep_gl_load(kind, name, device, error, sizeof(error)):
        return error.decode(errors="replace")
    return None


def has_gl():
    """Return whether `load_gl` has loaded a library."""
    return ep_gl != NULL
