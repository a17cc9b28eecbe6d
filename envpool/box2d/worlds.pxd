"""Many worlds: the environment ABI (include/envpool/env.h) once for all Box2D tasks.

A task is a `Task`, a table of small functions that look after one env, a kind of env that `init_kind` makes, and a
class whose `build` puts an `Options` before the options of its own. Everything is inline, as each extension has a copy
of Box2D of its own with tables that are filled on first use: a world has to stay with the copy that made it.
"""

from libc.stddef cimport size_t
from libc.stdint cimport int32_t, int64_t, uint8_t, uint64_t
from libc.stdio cimport snprintf
from libc.stdlib cimport calloc, free, malloc
from libc.string cimport memset

from envpool.box2d.scene cimport SCENE_BLOCK, SCENE_LANES, b2World, scene_create, scene_step, scene_warm_up
from envpool.raster.image cimport smooth_image, smooth_scale
from envpool.env cimport envpool_batch, envpool_env, envpool_env_init, envpool_frames
from envpool.numerics.rng cimport ep_pcg64, ep_pcg64_seed

# What the struct of an env of a task begins with.
cdef struct Env:
    ep_pcg64 rng
    b2World* world              # empty, and without a listener, when `start` is called for the first time

cdef enum:
    FRAME_HEIGHT = 400          # upstream's, of every task
    FRAME_WIDTH = 600
    NO_MEMORY = -1              # error code; those of tasks are positive

# What a step came to. All zero unless the task sets it.
cdef struct Outcome:
    double reward
    uint8_t terminated
    uint8_t truncated

# What a task does for one env. All run on any thread without the GIL.
#   release     optional: frees what `draw` made
#   seed        optional: draws what does not come from Env.rng, which is seeded already
#   start       makes the bodies of a new episode. A step without an action belongs to it: `push` and `observe` follow
#   choose      takes the action of env `id`; nonzero: an error, which must leave the env as it was
#   push        what happens before the world moves
#   observe     what came of it. `out` is NULL where the episode has just begun
#   write       the fields of the last step into a row of each
#   draw        the picture of the env into a canvas (canvas_height, canvas_width, 3), red, green, blue. It may change
#               what only pictures depend on. False: out of memory
cdef struct Task:
    size_t env_size                                                                             # bytes, zero at first
    const char* bad_action                                                                      # text of that error
    void (*release)(Env* env) noexcept nogil
    void (*seed)(Env* env, const Options* options, uint64_t seed) noexcept nogil
    void (*start)(Env* env, const Options* options) noexcept nogil
    int32_t (*choose)(Env* env, const Options* options, const void* actions, int32_t id) noexcept nogil
    void (*push)(Env* env, const Options* options) noexcept nogil
    void (*observe)(Env* env, const Options* options, Outcome* out) noexcept nogil
    void (*write)(const Env* env, const Options* options, void* const* fields, int64_t row) noexcept nogil
    int32_t canvas_height
    int32_t canvas_width
    bint (*draw)(Env* env, const Options* options, uint8_t* canvas) noexcept nogil

# What create() gets begins with this.
cdef struct Options:
    const Task* task
    double gravity              # m/s**2, upwards

cdef struct Worlds:
    const Options* options
    char* envs                  # (n, task.env_size)
    int32_t n


cdef inline Env* env_at(const Worlds* s, int32_t id) noexcept nogil:
    return <Env*>(s.envs + id * s.options.task.env_size)


cdef inline void destroy(void* state) noexcept nogil:
    cdef Worlds* s = <Worlds*>state
    cdef int32_t i
    if s.envs != NULL:
        for i in range(s.n):
            if s.options.task.release != NULL:
                s.options.task.release(env_at(s, i))
            del env_at(s, i).world
    free(s.envs)
    free(s)


cdef inline void* create(const void* config, int32_t n) noexcept nogil:
    cdef Worlds* s = <Worlds*>calloc(1, sizeof(Worlds))
    cdef int32_t i
    if s == NULL:
        return NULL
    s.options = <const Options*>config
    s.n = n
    s.envs = <char*>calloc(n, s.options.task.env_size)
    if s.envs == NULL:
        destroy(s)
        return NULL
    for i in range(n):
        env_at(s, i).world = scene_create(s.options.gravity)
        if env_at(s, i).world == NULL:
            destroy(s)
            return NULL
    return s


cdef inline void seed_many(void* state, const int32_t* ids, int32_t n, const uint64_t* seeds) noexcept nogil:
    cdef Worlds* s = <Worlds*>state
    cdef const Task* task = s.options.task
    cdef int32_t i
    for i in range(n):
        ep_pcg64_seed(&env_at(s, ids[i]).rng, seeds[i])
        if task.seed != NULL:
            task.seed(env_at(s, ids[i]), s.options, seeds[i])


cdef inline bint step_block(Worlds* s, const envpool_batch* b, int32_t first, int32_t n) noexcept nogil:
    """Steps positions first to first + n - 1 of the batch; returns whether one failed."""
    cdef const Task* task = s.options.task
    cdef b2World* worlds[SCENE_BLOCK]
    cdef int32_t positions[SCENE_BLOCK]
    cdef Env* env
    cdef Outcome out
    cdef int32_t i, at, num = 0
    memset(worlds, 0, sizeof(worlds))
    for at in range(first, first + n):
        env = env_at(s, b.ids[at])
        if b.reset[at]:
            task.start(env, s.options)
        else:
            b.errors[at] = task.choose(env, s.options, b.actions[0], b.ids[at])
            if b.errors[at]:
                continue
        task.push(env, s.options)
        positions[num] = at
        worlds[num] = env.world
        num += 1
    scene_step(worlds, num)
    for i in range(num):
        at = positions[i]
        env = env_at(s, b.ids[at])
        if b.reset[at]:
            task.observe(env, s.options, NULL)
        else:
            memset(&out, 0, sizeof(out))
            task.observe(env, s.options, &out)
            b.reward[at] = <float>out.reward
            b.terminated[at] = out.terminated
            b.truncated[at] = out.truncated
    return num < n


cdef inline int step_many(void* state, const envpool_batch* b) noexcept nogil:
    cdef int failed = 0
    cdef int32_t first = 0
    while first < b.n:
        failed |= step_block(<Worlds*>state, b, first, min(SCENE_BLOCK, b.n - first))
        first += SCENE_BLOCK
    return failed


cdef inline void write_many(void* state, const int32_t* ids, int32_t n, void* const* fields,
                            int64_t row0) noexcept nogil:
    cdef Worlds* s = <Worlds*>state
    cdef const Task* task = s.options.task
    cdef int32_t i
    for i in range(n):
        task.write(env_at(s, ids[i]), s.options, fields, row0 + i)


cdef inline int render_many(void* state, const envpool_frames* f) noexcept nogil:
    """Draws each env as upstream does, and scales that as pygame.transform.smoothscale would."""
    cdef Worlds* s = <Worlds*>state
    cdef const Task* task = s.options.task
    cdef size_t frame_bytes = <size_t>3 * f.height * f.width
    cdef bint is_scaled = f.height != task.canvas_height or f.width != task.canvas_width
    cdef uint8_t* scratch = NULL
    cdef smooth_image drawn, frame
    cdef int failed = 0
    cdef int32_t i
    drawn.height = task.canvas_height
    drawn.width = task.canvas_width
    frame.height = f.height
    frame.width = f.width
    drawn.channels = frame.channels = 3
    if is_scaled:
        scratch = <uint8_t*>malloc(<size_t>3 * task.canvas_height * task.canvas_width)
    for i in range(f.n):
        frame.pixels = f.pixels + frame_bytes * i
        drawn.pixels = frame.pixels
        if is_scaled:
            drawn.pixels = scratch
        if drawn.pixels == NULL or not task.draw(env_at(s, f.ids[i]), s.options, drawn.pixels):
            f.errors[i] = NO_MEMORY
            failed = 1
        elif is_scaled:
            smooth_scale(&drawn, &frame)
    free(scratch)
    return failed


cdef inline void error_text(void* state, int32_t id, int32_t code, char* text, size_t size) noexcept nogil:
    if code == NO_MEMORY:
        snprintf(text, size, "there is no memory to draw a picture; a smaller one or fewer at a time may fit")
    else:
        snprintf(text, size, "%s", (<Worlds*>state).options.task.bad_action)


cdef inline void init_kind(envpool_env* kind, const char* name) noexcept:
    """Makes a task's kind of env and prepares the extension's Box2D; once, while the extension is imported."""
    envpool_env_init(kind, name)
    kind.create = create
    kind.destroy = destroy
    kind.seed_many = seed_many
    kind.step_many = step_many
    kind.write_many = write_many
    kind.error_text = error_text
    kind.lanes = SCENE_LANES
    kind.render_many = render_many
    kind.frame_height = FRAME_HEIGHT
    kind.frame_width = FRAME_WIDTH
    scene_warm_up()
