# optimize: -Og
"""An env definition around another one, the inner definition, which fills what the inner one must write beforehand.

Before each call it fills the rows of all fields, and `reward` and `terminated` of the rows that are not resets. Values
that the inner definition does not write then show.
"""

from libc.math cimport NAN
from libc.stdint cimport int32_t, int64_t
from libc.stdlib cimport calloc, free
from libc.string cimport memset

from cpython.pycapsule cimport PyCapsule_GetPointer

from envpool.env cimport (
    ENVPOOL_CAPSULE_NAME, ENVPOOL_NO_MEMORY, envpool_batch, envpool_env, envpool_rows, envpool_setup,
)
from envpool.transforms.inner cimport Inner, create_inner, pass_on

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
    Inner inner                 # first, see inner.pxd
    const Config* config


cdef int create(const envpool_setup* setup, void** state) noexcept nogil:
    cdef State* s = <State*>calloc(1, sizeof(State))
    cdef int status
    if s == NULL:
        return ENVPOOL_NO_MEMORY
    s.config = <const Config*>setup.config
    s.inner.env = s.config.inner
    status = create_inner(&s.inner, setup)
    if status != 0:
        free(s)
        return status
    state[0] = s
    return 0


cdef void destroy(void* state) noexcept nogil:
    cdef State* s = <State*>state
    s.inner.env.destroy(s.inner.state)
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
    return s.inner.env.step_many(s.inner.state, b)


cdef void write_many(void* state, const envpool_rows* rows) noexcept nogil:
    cdef State* s = <State*>state
    poison_rows(s.config, rows)
    s.inner.env.write_many(s.inner.state, rows)


cdef int run_many(void* state, const envpool_batch* b, const envpool_rows* rows) noexcept nogil:
    cdef State* s = <State*>state
    poison_outcome(s.config, b)
    poison_rows(s.config, rows)
    return s.inner.env.run_many(s.inner.state, b, rows)


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
    env.step_many, env.write_many = step_many, write_many
    if inner.run_many != NULL:
        env.run_many = run_many
    pass_on(env, inner)
    return made
