# optimize: -Og
"""Environments as rows of one handle, in which upstream gives each row its own levels.

Row i of a handle with `rand_seed` has a generator of levels whose seed is the i-th draw of ``mt19937(rand_seed)``. To
give an environment this generator, a handle of all rows is made, and the state of one row is copied into the handle of
the environment. The handle of all rows is kept until every row has been copied, or another seed is asked for.
"""

from libc.stdint cimport int32_t, uint8_t
from libc.stdlib cimport calloc, free

from envpool.procgen.libenv cimport (
    Buffers, Library, MAX_STATE_BYTES, NUM_INFOS, OBS_BYTES, Settings, loaded, make_handle,
)

cdef extern from "<pthread.h>" nogil:
    int pthread_mutex_init(pthread_mutex_t* mutex, const void* attributes)
    int pthread_mutex_lock(pthread_mutex_t* mutex)
    int pthread_mutex_unlock(pthread_mutex_t* mutex)
    int pthread_mutex_destroy(pthread_mutex_t* mutex)


cdef Rows* new_rows(const Settings* settings, int32_t num_envs) noexcept nogil:
    cdef Rows* rows = <Rows*>calloc(1, sizeof(Rows))
    cdef Buffers* b
    cdef int32_t i, k
    if rows == NULL:
        return NULL
    pthread_mutex_init(&rows.lock, NULL)
    rows.settings = settings
    rows.num_envs = num_envs
    rows.numbers = <int32_t*>calloc(NUM_INFOS, sizeof(int32_t))
    rows.obs = <uint8_t*>calloc(1, OBS_BYTES)
    rows.state = <char*>calloc(1, MAX_STATE_BYTES)
    b = &rows.buffers
    b.ob = <void**>calloc(num_envs, sizeof(void*))
    b.ac = <void**>calloc(num_envs, sizeof(void*))
    b.info = <void**>calloc(NUM_INFOS * <size_t>num_envs, sizeof(void*))
    b.reward = <float*>calloc(num_envs, sizeof(float))
    b.first = <uint8_t*>calloc(num_envs, 1)
    if not (rows.numbers and rows.obs and rows.state and b.ob and b.ac and b.info and b.reward and b.first):
        free_rows(rows)
        return NULL
    for i in range(num_envs):
        b.ob[i] = rows.obs
        b.ac[i] = &rows.numbers[NUM_INFOS - 1]
        for k in range(NUM_INFOS):
            b.info[k * num_envs + i] = &rows.numbers[k]
    return rows


cdef void close_handle(Rows* rows) noexcept nogil:
    if rows.handle != NULL:
        loaded().close(rows.handle)
    rows.handle = NULL


cdef void free_rows(Rows* rows) noexcept nogil:
    if rows == NULL:
        return
    close_handle(rows)
    pthread_mutex_destroy(&rows.lock)
    free(rows.numbers)
    free(rows.obs)
    free(rows.state)
    free(rows.buffers.ob)
    free(rows.buffers.ac)
    free(rows.buffers.info)
    free(rows.buffers.reward)
    free(rows.buffers.first)
    free(rows)


cdef void load_row(Rows* rows, int32_t id, int32_t rand_seed, void* handle) noexcept nogil:
    """Make the environment of a handle, whose buffers are set, row `id` of the rows that belong to `rand_seed`."""
    cdef const Library* library = loaded()
    cdef Settings settings
    cdef int size
    pthread_mutex_lock(&rows.lock)
    if rows.handle == NULL or rows.rand_seed != rand_seed:
        close_handle(rows)
        settings = rows.settings[0]
        settings.renders = 0        # the buffers have no room for frames, which are not part of a state
        rows.handle = make_handle(&settings, rows.num_envs, rand_seed)
        library.set_buffers(rows.handle, &rows.buffers)
        rows.rand_seed = rand_seed
        rows.num_left = rows.num_envs
    size = library.get_state(rows.handle, id, rows.state, MAX_STATE_BYTES)
    library.set_state(handle, 0, rows.state, size)
    rows.num_left -= 1
    if rows.num_left == 0:
        close_handle(rows)
    pthread_mutex_unlock(&rows.lock)
