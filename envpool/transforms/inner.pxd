"""Code that env definitions share if they wrap another one, the inner definition.

The state of each begins with Inner. pass_on() fills the definition with functions that only call the inner one; the
definition then replaces those in which it does something itself.
"""

from libc.stddef cimport size_t
from libc.stdint cimport int32_t, int64_t

from envpool.env cimport (
    ENVPOOL_NO_MEMORY, envpool_copies, envpool_env, envpool_frames, envpool_params, envpool_seeds, envpool_setup,
    envpool_snapshots,
)

cdef struct Inner:
    const envpool_env* env
    void* state


cdef inline int create_inner(Inner* inner, const envpool_setup* setup) noexcept nogil:
    """Makes the state of the inner definition; on failure it is NULL, and the status is not 0."""
    cdef envpool_setup own = setup[0]
    cdef int status
    own.config = inner.env.config
    status = inner.env.create(&own, &inner.state)
    if status != 0:
        inner.state = NULL
    elif inner.state == NULL:
        status = ENVPOOL_NO_MEMORY
    return status


cdef inline int seed_inner(void* state, const envpool_seeds* seeds) noexcept nogil:
    return (<Inner*>state).env.seed_many((<Inner*>state).state, seeds)


cdef inline void error_text_of_inner(void* state, int32_t id, int32_t code, char* text, size_t size) noexcept nogil:
    (<Inner*>state).env.error_text((<Inner*>state).state, id, code, text, size)


cdef inline int render_inner(void* state, const envpool_frames* frames) noexcept nogil:
    return (<Inner*>state).env.render_many((<Inner*>state).state, frames)


cdef inline int64_t inner_state_size(void* state) noexcept nogil:
    return (<Inner*>state).env.state_size((<Inner*>state).state)


cdef inline int get_inner_state(void* state, const envpool_snapshots* snapshots) noexcept nogil:
    return (<Inner*>state).env.get_state((<Inner*>state).state, snapshots)


cdef inline int set_inner_state(void* state, const envpool_snapshots* snapshots) noexcept nogil:
    return (<Inner*>state).env.set_state((<Inner*>state).state, snapshots)


cdef inline int copy_inner_state(void* state, const envpool_copies* copies) noexcept nogil:
    return (<Inner*>state).env.copy_state((<Inner*>state).state, copies)


cdef inline int64_t inner_snapshot_size(void* state, int32_t id) noexcept nogil:
    return (<Inner*>state).env.snapshot_size((<Inner*>state).state, id)


cdef inline int get_inner_params(void* state, const envpool_params* params) noexcept nogil:
    return (<Inner*>state).env.get_params((<Inner*>state).state, params)


cdef inline int set_inner_params(void* state, const envpool_params* params) noexcept nogil:
    return (<Inner*>state).env.set_params((<Inner*>state).state, params)


cdef inline void pass_on(envpool_env* env, const envpool_env* inner) noexcept:
    """Sets the functions of a definition that the inner one has, but for its life cycle and its steps."""
    env.seed_many = seed_inner
    if inner.error_text != NULL:
        env.error_text = error_text_of_inner
    if inner.render_many != NULL:
        env.render_many = render_inner
    if inner.get_state != NULL:
        env.state_size, env.get_state = inner_state_size, get_inner_state
        env.set_state, env.copy_state = set_inner_state, copy_inner_state
    if inner.snapshot_size != NULL:
        env.snapshot_size = inner_snapshot_size
    if inner.num_params:
        env.get_params, env.set_params = get_inner_params, set_inner_params
