"""Pictures of simulations, drawn by libmujoco (mjv and mjr) as upstream draws them.

A canvas is an OpenGL context with what MuJoCo keeps in it: textures, meshes, buffers. Each belongs to one pool. A
thread takes one for a picture, or makes one if none is free, so that there are as many as threads that drew at once.
"""

from libc.stddef cimport size_t
from libc.stdint cimport int32_t, int64_t, uint8_t
from libc.stdio cimport snprintf
from libc.stdlib cimport calloc, free, qsort
from libc.string cimport memcpy

from envpool.mujoco.base.mujoco cimport (
    ep_mj_call, ep_mj_enter, ep_mj_leave, mjData, mjfLogHandler, mjModel, mjvCamera,
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
    int ep_gl_load(int kind, const char* library, int device, char* error, size_t size)

cdef extern from *:
    """
    /* libmujoco looks for OpenGL's functions whenever it makes a context, in one table for all threads. */
    static pthread_mutex_t ep_making = PTHREAD_MUTEX_INITIALIZER;
    """
    pthread_mutex_t ep_making

cdef struct GLContext:
    GLContext* next
    ep_gl_context gl
    mjrContext context
    mjvScene scene
    mjvOption option
    mjvPerturb perturb
    uint8_t* rows               # of the picture, the bottom one first (num_rows_bytes)
    size_t size
    double* places              # scratch (ngeom)
    const mjData* terrain_of    # whose height fields it has, and their number
    int64_t terrain

cdef struct GLRenderer:
    pthread_mutex_t lock        # for `free`
    GLContext* free
    const View* view
    const mjModel* model        # the pool's
    bint changes_terrain

# What ep_mj_call hands to a function.
cdef struct Job:
    GLRenderer* studio
    GLContext* canvas
    const Picture* picture


cdef GLRenderer* new_studio(const mjModel* model, const View* view, bint changes_terrain) noexcept nogil:
    cdef GLRenderer* studio = <GLRenderer*>calloc(1, sizeof(GLRenderer))
    if studio == NULL:
        return NULL
    pthread_mutex_init(&studio.lock, NULL)
    studio.model = model
    studio.view = view
    studio.changes_terrain = changes_terrain
    return studio


# ---- canvases --------------------------------------------------------------------------------------------------------

cdef int prepare(void* argument) noexcept nogil:
    """Makes what MuJoCo keeps in a context, which is current."""
    cdef Job* job = <Job*>argument
    cdef GLContext* canvas = job.canvas
    cdef mjModel model = job.studio.model[0]
    # Upstream enlarges the buffer in the model, too; what is drawn into it may depend on its size.
    model.vis_offwidth = max(model.vis_offwidth, job.picture.width)
    model.vis_offheight = max(model.vis_offheight, job.picture.height)
    mjr_makeContext(&model, &canvas.context, mjFONTSCALE_150)
    mjr_setBuffer(mjFB_OFFSCREEN, &canvas.context)
    mjv_makeScene(&model, &canvas.scene, job.studio.view.max_geom)
    return 0


cdef void free_canvas(GLContext* canvas) noexcept nogil:
    """Where the context cannot be entered any more, the library is ending with all that is in its contexts."""
    cdef mjfLogHandler handler = ep_mj_enter()
    cdef ep_gl_before before
    cdef char error[200]
    if ep_gl.enter(&canvas.gl, &before, error, sizeof(error)) == 0:
        mjr_freeContext(&canvas.context)
        ep_gl.leave(&before)
    mjv_freeScene(&canvas.scene)
    ep_mj_leave(handler)
    ep_gl.destroy(&canvas.gl)
    free(canvas.rows)
    free(canvas.places)
    free(canvas)


cdef void free_studio(GLRenderer* studio) noexcept nogil:
    cdef GLContext* canvas
    while studio.free != NULL:
        canvas = studio.free
        studio.free = canvas.next
        free_canvas(canvas)
    pthread_mutex_destroy(&studio.lock)
    free(studio)


cdef GLContext* new_canvas(GLRenderer* studio, const Picture* picture, char* error, size_t size) noexcept nogil:
    cdef GLContext* canvas = <GLContext*>calloc(1, sizeof(GLContext))
    cdef mjfLogHandler handler
    cdef ep_gl_before before
    cdef Job job = Job(studio, canvas, picture)
    cdef int failed
    if canvas == NULL:
        snprintf(error, size, b"no memory for drawing")
        return NULL
    if ep_gl.create(&canvas.gl, error, size):
        free(canvas)
        return NULL
    mjr_defaultContext(&canvas.context)
    mjv_defaultScene(&canvas.scene)
    mjv_defaultOption(&canvas.option)
    mjv_defaultPerturb(&canvas.perturb)
    canvas.option.flags[mjVIS_RANGEFINDER] = studio.view.shows_rangefinders
    canvas.size = 3 * <size_t>picture.width * picture.height
    canvas.rows = <uint8_t*>calloc(1, canvas.size)
    canvas.places = <double*>calloc(studio.model.ngeom + 1, sizeof(double))
    failed = canvas.rows == NULL or canvas.places == NULL
    if failed:
        snprintf(error, size, b"no memory for drawing")
    elif ep_gl.enter(&canvas.gl, &before, error, size) == 0:
        handler = ep_mj_enter()
        pthread_mutex_lock(&ep_making)
        failed = ep_mj_call(prepare, &job, error, size)
        pthread_mutex_unlock(&ep_making)
        ep_mj_leave(handler)
        ep_gl.leave(&before)
    else:
        failed = True
    if failed:
        free_canvas(canvas)
        return NULL
    return canvas


cdef GLContext* take_canvas(GLRenderer* studio) noexcept nogil:
    """A free canvas, or NULL."""
    cdef GLContext* canvas
    pthread_mutex_lock(&studio.lock)
    canvas = studio.free
    if canvas != NULL:
        studio.free = canvas.next
    pthread_mutex_unlock(&studio.lock)
    return canvas


cdef void give_back(GLRenderer* studio, GLContext* canvas) noexcept nogil:
    pthread_mutex_lock(&studio.lock)
    canvas.next = studio.free
    studio.free = canvas
    pthread_mutex_unlock(&studio.lock)


# ---- pictures --------------------------------------------------------------------------------------------------------

cdef int by_size(const void* a, const void* b) noexcept nogil:
    cdef double x = (<const double*>a)[0], y = (<const double*>b)[0]
    return (x > y) - (x < y)


cdef void aim_at_middle(GLContext* canvas, const Picture* p) noexcept nogil:
    """Looks at the median place of the geoms, coordinate by coordinate."""
    cdef int32_t n = <int32_t>p.model.ngeom, axis, i
    for axis in range(3):
        for i in range(n):
            canvas.places[i] = p.data.geom_xpos[3 * i + axis]
        qsort(canvas.places, n, sizeof(double), by_size)
        p.aim.lookat[axis] = 0.5 * (canvas.places[(n - 1) // 2] + canvas.places[n // 2]) if n else 0.0
    p.aim.is_set = True


cdef int paint(void* argument) noexcept nogil:
    """Draws into canvas.rows; its context is current."""
    cdef Job* job = <Job*>argument
    cdef GLContext* canvas = job.canvas
    cdef const Picture* p = job.picture
    cdef mjvCamera camera = job.studio.view.camera
    cdef mjrRect viewport = mjrRect(0, 0, p.width, p.height)
    cdef int k
    if job.studio.view.finds_middle:
        if not p.aim.is_set:
            aim_at_middle(canvas, p)
        memcpy(&camera.lookat[0], &p.aim.lookat[0], sizeof(p.aim.lookat))
    if p.camera >= 0:
        camera.type = mjCAMERA_FIXED
        camera.fixedcamid = p.camera
    if canvas.context.offWidth < p.width or canvas.context.offHeight < p.height:
        mjr_resizeOffscreen(max(canvas.context.offWidth, p.width), max(canvas.context.offHeight, p.height),
                            &canvas.context)
    if job.studio.changes_terrain and (canvas.terrain_of != p.data or canvas.terrain != p.terrain):
        for k in range(<int>p.model.nhfield):
            mjr_uploadHField(p.model, &canvas.context, k)
        canvas.terrain_of = p.data
        canvas.terrain = p.terrain
    mjv_updateScene(p.model, p.data, &canvas.option, &canvas.perturb, &camera, mjCAT_ALL, &canvas.scene)
    mjr_render(viewport, &canvas.scene, &canvas.context)
    mjr_readPixels(canvas.rows, NULL, viewport, &canvas.context)
    return 0


cdef void copy_rows(const GLContext* canvas, const Picture* p) noexcept nogil:
    """Turns the picture upside down, and planes apart where asked to."""
    cdef size_t width = 3 * <size_t>p.width, plane = <size_t>p.width * p.height
    cdef const uint8_t* row
    cdef uint8_t* to
    cdef int32_t y, x
    for y in range(p.height):
        row = canvas.rows + (p.height - 1 - y) * width
        if not p.is_planar:
            memcpy(p.pixels + y * width, row, width)
            continue
        to = p.pixels + <size_t>y * p.width
        for x in range(p.width):
            to[x] = row[3 * x]
            to[x + plane] = row[3 * x + 1]
            to[x + 2 * plane] = row[3 * x + 2]


cdef int fit(GLContext* canvas, const Picture* p) noexcept nogil:
    """Makes room for the rows of a picture of another size."""
    cdef size_t size = 3 * <size_t>p.width * p.height
    if size > canvas.size:
        free(canvas.rows)
        canvas.size = size
        canvas.rows = <uint8_t*>calloc(1, size)
        if canvas.rows == NULL:
            canvas.size = 0
            return -1
    return 0


cdef int draw(GLRenderer* studio, const Picture* picture, char* error, size_t size) noexcept nogil:
    cdef GLContext* canvas
    cdef mjfLogHandler handler
    cdef ep_gl_before before
    cdef Job job
    cdef int failed
    if picture.data == NULL:
        snprintf(error, size, b"there is nothing to draw: it was never reset")
        return -1
    if picture.camera >= picture.model.ncam:
        snprintf(error, size, b"camera_id is %d, allowed are -1 to %d: the model has %d cameras", picture.camera,
                 <int>picture.model.ncam - 1, <int>picture.model.ncam)
        return -1
    if ep_gl == NULL:
        snprintf(error, size, b"no OpenGL library is loaded")
        return -1
    canvas = take_canvas(studio)
    if canvas == NULL:
        canvas = new_canvas(studio, picture, error, size)
        if canvas == NULL:
            return -1
    if fit(canvas, picture):
        snprintf(error, size, b"no memory for drawing")
        give_back(studio, canvas)
        return -1
    if ep_gl.enter(&canvas.gl, &before, error, size):
        free_canvas(canvas)
        return -1
    job = Job(studio, canvas, picture)
    handler = ep_mj_enter()
    failed = ep_mj_call(paint, &job, error, size)
    ep_mj_leave(handler)
    ep_gl.leave(&before)
    if failed:
        free_canvas(canvas)
        return -1
    copy_rows(canvas, picture)
    give_back(studio, canvas)
    return 0


# ---- the library -----------------------------------------------------------------------------------------------------

def load_gl(int kind, str library, int device=-1):
    """Load an OpenGL library for the process.

    Parameters
    ----------
    kind : int
        0 for GLFW, 1 for EGL, 2 for OSMesa.
    library : str
        File name or path.
    device : int
        EGL's, counted from 0; negative for the first that works.

    Returns
    -------
    str or None
        Why it cannot be used; None if it can.
    """
    cdef char error[300]
    name = library.encode()
    if ep_gl_load(kind, name, device, error, sizeof(error)):
        return error.decode(errors="replace")
    return None


def has_gl():
    """Whether `load_gl` has loaded one."""
    return ep_gl != NULL
