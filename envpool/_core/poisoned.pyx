# optimize: -O1
"""An env definition around another one, the inner definition, which fills what the inner one must write beforehand.

Before each call it fills the rows of all fields, and `reward` and `terminated` of the rows that are no resets. What the
inner definition leaves out then shows.
"""

from libc.math cimport NAN
from libc.stddef cimport size_t
from libc.stdint cimport int32_t, int64_t
from libc.stdlib cimport calloc, free
from libc.string cimport memset

from cpython.pycapsule cimport PyCapsule_GetPointer

from envpool.env cimport (
    ENVPOOL_CAPSULE_NAME, ENVPOOL_NO_MEMORY, envpool_batch, envpool_copies, envpool_env, envpool_frames,
    envpool_params, envpool_rows, envpool_seeds, envpool_setup, envpool_snapshots,
)

import numpy as np

from envpool._core.definition import define, describe, upgrade_capsule

cdef enum:
    MAX_FIELDS = 64             # ENVPOOL_MAX_FIELDS
    NAN_OR_BYTE = -1            # NaN in arrays of floats, BYTE elsewhere
    BYTE = 0xAA

cdef struct Config:
    const envpool_env* inner
    int32_t byte                # every byte of the poison, or NAN_OR_BYTE
    int32_t num_fields
    int64_t items[MAX_FIELDS]   # elements of an env's row, or of the rows of all its players
    int32_t item_bytes[MAX_FIELDS]
    int32_t is_float[MAX_FIELDS]

cdef struct State:
    const Config* config
    const envpool_env* inner
    void* inner_state


cdef int create(const envpool_setup* setup, void** state) noexcept nogil:
    cdef const Config* config = <const Config*>setup.config
    cdef envpool_setup inner = setup[0]
    cdef State* s = <State*>calloc(1, sizeof(State))
    cdef int status
    if s == NULL:
        return ENVPOOL_NO_MEMORY
    s.config, s.inner = config, config.inner
    inner.config = config.inner.config
    status = config.inner.create(&inner, &s.inner_state)
    if status != 0 or s.inner_state == NULL:
        free(s)
        return status or ENVPOOL_NO_MEMORY
    state[0] = s
    return 0


cdef void destroy(void* state) noexcept nogil:
    cdef State* s = <State*>state
    s.inner.destroy(s.inner_state)
    free(s)


# ---- poison ----------------------------------------------------------------------------------------------------------

cdef void poison_outcome(const Config* c, const envpool_batch* b) noexcept nogil:
    cdef int byte = BYTE if c.byte == NAN_OR_BYTE else c.byte
    cdef int32_t i
    for i in range(b.n):
        if b.reset[i]:
            continue
        memset(&b.terminated[i], byte, 1)
        if c.byte == NAN_OR_BYTE:
            b.reward[i] = NAN
        else:
            memset(&b.reward[i], byte, sizeof(float))


cdef void poison_rows(const Config* c, const envpool_rows* rows) noexcept nogil:
    cdef int byte = BYTE if c.byte == NAN_OR_BYTE else c.byte
    cdef int64_t count, k
    cdef char* first
    cdef int32_t f
    for f in range(c.num_fields):
        count = rows.n * c.items[f]
        first = <char*>rows.fields[f] + rows.row0 * c.items[f] * c.item_bytes[f]
        if c.byte != NAN_OR_BYTE or not c.is_float[f]:
            memset(first, byte, count * c.item_bytes[f])
        elif c.item_bytes[f] == sizeof(double):
            for k in range(count):
                (<double*>first)[k] = NAN
        else:
            for k in range(count):
                (<float*>first)[k] = NAN


cdef int step_many(void* state, const envpool_batch* b) noexcept nogil:
    cdef State* s = <State*>state
    poison_outcome(s.config, b)
    return s.inner.step_many(s.inner_state, b)


cdef void write_many(void* state, const envpool_rows* rows) noexcept nogil:
    cdef State* s = <State*>state
    poison_rows(s.config, rows)
    s.inner.write_many(s.inner_state, rows)


cdef int run_many(void* state, const envpool_batch* b, const envpool_rows* rows) noexcept nogil:
    cdef State* s = <State*>state
    poison_outcome(s.config, b)
    poison_rows(s.config, rows)
    return s.inner.run_many(s.inner_state, b, rows)


# ---- what is passed on -----------------------------------------------------------------------------------------------

cdef int seed_many(void* state, const envpool_seeds* seeds) noexcept nogil:
    return (<State*>state).inner.seed_many((<State*>state).inner_state, seeds)


cdef void error_text(void* state, int32_t id, int32_t code, char* text, size_t size) noexcept nogil:
    (<State*>state).inner.error_text((<State*>state).inner_state, id, code, text, size)


cdef int render_many(void* state, const envpool_frames* frames) noexcept nogil:
    return (<State*>state).inner.render_many((<State*>state).inner_state, frames)


cdef int64_t state_size(void* state) noexcept nogil:
    return (<State*>state).inner.state_size((<State*>state).inner_state)


cdef int get_state(void* state, const envpool_snapshots* snapshots) noexcept nogil:
    return (<State*>state).inner.get_state((<State*>state).inner_state, snapshots)


cdef int set_state(void* state, const envpool_snapshots* snapshots) noexcept nogil:
    return (<State*>state).inner.set_state((<State*>state).inner_state, snapshots)


cdef int copy_state(void* state, const envpool_copies* copies) noexcept nogil:
    return (<State*>state).inner.copy_state((<State*>state).inner_state, copies)


cdef int get_params(void* state, const envpool_params* params) noexcept nogil:
    return (<State*>state).inner.get_params((<State*>state).inner_state, params)


cdef int set_params(void* state, const envpool_params* params) noexcept nogil:
    return (<State*>state).inner.set_params((<State*>state).inner_state, params)


cdef int64_t snapshot_size(void* state, int32_t id) noexcept nogil:
    return (<State*>state).inner.snapshot_size((<State*>state).inner_state, id)


# ---- making a definition ---------------------------------------------------------------------------------------------

def poisoned(capsule, byte=None):
    """Return a definition that fills rows, rewards and `terminated` before each call of another definition.

    Parameters
    ----------
    capsule : PyCapsule
        The definition.
    byte : int, optional
        Every byte of the poison, 0 to 255. By default, arrays of floats are filled with NaN and others with 0xAA.

    Returns
    -------
    PyCapsule
        The new definition, which keeps `capsule` alive. It is the same in everything else.
    """
    capsule = upgrade_capsule(capsule)
    cdef const envpool_env* inner = <const envpool_env*>PyCapsule_GetPointer(capsule, ENVPOOL_CAPSULE_NAME)
    cdef envpool_env* env
    cdef Config c
    cdef int32_t f
    about = describe(capsule)
    players = max(about.num_players, 1)
    c.inner, c.num_fields, c.byte = inner, inner.num_fields, NAN_OR_BYTE if byte is None else byte
    for f, field in enumerate(about.fields):
        c.items[f] = int(np.prod([players if size == -1 else size for size in field.shape], dtype=np.int64))
        c.item_bytes[f] = np.dtype(field.dtype).itemsize
        c.is_float[f] = np.dtype(field.dtype).kind == "f"
    made = define(
        capsule, about.fields, about.actions, (<char*>&c)[:sizeof(Config)], params=about.params, keep=capsule
    )
    env = <envpool_env*>PyCapsule_GetPointer(made, ENVPOOL_CAPSULE_NAME)     # its memory belongs to the new capsule
    env.create, env.destroy = create, destroy
    env.seed_many, env.step_many, env.write_many = seed_many, step_many, write_many
    if inner.run_many != NULL:
        env.run_many = run_many
    if inner.error_text != NULL:
        env.error_text = error_text
    if inner.render_many != NULL:
        env.render_many = render_many
    if inner.get_state != NULL:
        env.state_size, env.get_state, env.set_state, env.copy_state = state_size, get_state, set_state, copy_state
    if inner.num_params:
        env.get_params, env.set_params = get_params, set_params
    if inner.snapshot_size != NULL:
        env.snapshot_size = snapshot_size
    return made
