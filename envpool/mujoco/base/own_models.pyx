"""The models of envs that have one of their own: what a task, or parameters of the env, change in them.

The envs of a pool share one mjModel, which is never changed. An env whose task has private arrays, or whose parameters
differ from the shared model, has a copy of the struct. The pointers in the copy lead to the shared arrays, except for
private arrays and arrays that contain a changed parameter. Nothing that MuJoCo's compiler derives from these numbers
is computed again, just as after assignments to the fields of an mjModel in Python. The only exception is
body_subtreemass in tasks without an upstream.

An mjData contains no pointer to a model, so the model of an env may be exchanged between its episodes.
"""

from libc.math cimport isfinite
from libc.stddef cimport size_t
from libc.stdint cimport int32_t, int64_t
from libc.stdio cimport snprintf
from libc.stdlib cimport calloc, free
from libc.string cimport memcmp, memcpy

from envpool.env cimport ENVPOOL_NO_MEMORY, envpool_params
from envpool.mujoco.base.mujoco cimport mjModel
from envpool.mujoco.base.structs cimport MAX_PARAMS, ModelParam, PrivateArray, Sim, SimConfig, SimPool


# ---- the model -------------------------------------------------------------------------------------------------------

cdef inline char** pointer_in(const mjModel* m, size_t member) noexcept nogil:
    return <char**>(<char*>m + member)


cdef void make_own_model(Sim* s) noexcept nogil:
    """Makes Sim.own a copy of the pool's model that has its private arrays, and lets the env use it."""
    cdef const SimConfig* c = s.config
    cdef const PrivateArray* part
    cdef char** member
    cdef int32_t k
    s.model = <mjModel*>s.own
    s.model[0] = c.model[0]
    for k in range(c.num_private_arrays):
        part = &c.private_arrays[k]
        member = pointer_in(s.model, part.member)
        memcpy(s.own + part.offset, member[0], part.size)
        member[0] = s.own + part.offset


cdef int ensure_own_model(Sim* s) noexcept nogil:
    if s.model != s.config.model:
        return 0
    if s.own == NULL:
        s.own = <char*>calloc(1, s.config.own_size)
    if s.own == NULL:
        snprintf(s.error, sizeof(s.error), b"not enough memory for the model of a simulation")
        return ENVPOOL_NO_MEMORY
    make_own_model(s)
    return 0


cdef void free_own_model(Sim* s) noexcept nogil:
    s.model = s.config.model
    if s.config.num_private_arrays == 0:        # otherwise it belongs to SimPool.arrays
        free(s.own)
        s.own = NULL


cdef void restore_private_arrays(Sim* s) noexcept nogil:
    cdef const SimConfig* c = s.config
    cdef const PrivateArray* part
    cdef int32_t k
    if c.num_private_arrays == 0:
        return
    if s.model == c.model:
        make_own_model(s)
        return
    for k in range(c.num_private_arrays):
        part = &c.private_arrays[k]
        memcpy(pointer_in(s.model, part.member)[0] + part.first, pointer_in(c.model, part.member)[0] + part.first,
               part.last - part.first)


# ---- parameters ------------------------------------------------------------------------------------------------------

cdef inline double* values_in(const mjModel* m, const ModelParam* p) noexcept nogil:
    """Returns the first number of a parameter in a model."""
    return <double*>pointer_in(m, p.member)[0] if p.is_array else <double*>pointer_in(m, p.member)


cdef inline void copy_rows(const ModelParam* p, double* to, int32_t to_stride, const double* source,
                           int32_t source_stride) noexcept nogil:
    cdef int32_t r
    for r in range(p.rows):
        memcpy(to + <size_t>r * to_stride, source + <size_t>r * source_stride, p.columns * sizeof(double))


cdef bint is_shared(const SimConfig* c, const ModelParam* p, const double* source, int32_t stride) noexcept nogil:
    """Returns whether the bits of a parameter are those of the pool's model."""
    cdef const double* shared = values_in(c.model, p)
    cdef int32_t r
    for r in range(p.rows):
        if memcmp(source + <size_t>r * stride, shared + <size_t>r * p.stride, p.columns * sizeof(double)):
            return False
    return True


cdef void put_param(Sim* s, const ModelParam* p, const double* source, int32_t stride) noexcept nogil:
    """Puts a parameter into the env's own model."""
    cdef const SimConfig* c = s.config
    if p.offset:
        if is_shared(c, p, source, stride):
            pointer_in(s.model, p.member)[0] = pointer_in(c.model, p.member)[0]
            return
        memcpy(s.own + p.offset, values_in(c.model, p), <size_t>p.rows * p.stride * sizeof(double))
        pointer_in(s.model, p.member)[0] = s.own + p.offset
    copy_rows(p, values_in(s.model, p), p.stride, source, stride)


cdef void put_subtree_masses(Sim* s) noexcept nogil:
    """Computes body_subtreemass as MuJoCo's compiler does, if body_mass has changed."""
    cdef mjModel* m = s.model
    cdef int64_t i
    m.body_subtreemass = s.config.model.body_subtreemass
    if m.body_mass == s.config.model.body_mass:
        return
    m.body_subtreemass = <double*>(s.own + s.config.subtree_place)
    memcpy(m.body_subtreemass, m.body_mass, m.nbody * sizeof(double))
    for i in range(m.nbody - 1, 0, -1):
        m.body_subtreemass[m.body_parentid[i]] += m.body_subtreemass[i]


cdef int put_params(Sim* s, const mjModel* source, const double** rows) noexcept nogil:
    cdef const SimConfig* c = s.config
    cdef const ModelParam* p
    cdef const double* values[MAX_PARAMS]
    cdef int32_t strides[MAX_PARAMS]
    cdef bint has_params = False
    cdef int32_t k
    for k in range(c.num_params):
        p = &c.params[k]
        if rows == NULL:
            values[k], strides[k] = values_in(source, p), p.stride
        else:
            values[k], strides[k] = rows[k], p.columns
        has_params |= not is_shared(c, p, values[k], strides[k])
    if not has_params and not s.has_params:
        return 0
    if not has_params and c.num_private_arrays == 0:
        free_own_model(s)
    elif ensure_own_model(s):
        return ENVPOOL_NO_MEMORY
    else:
        for k in range(c.num_params):
            put_param(s, &c.params[k], values[k], strides[k])
        if c.subtree_place:
            put_subtree_masses(s)
    s.has_params = has_params
    return 0


cdef int put_packed_params(Sim* s, const double* values) noexcept nogil:
    cdef const double* rows[MAX_PARAMS]
    cdef int32_t k
    if values == NULL:
        return put_params(s, s.config.model, NULL)
    for k in range(s.config.num_params):
        rows[k] = values
        values += s.config.params[k].rows * s.config.params[k].columns
    return put_params(s, NULL, rows)


cdef void read_packed_params(const Sim* s, double* values) noexcept nogil:
    cdef const ModelParam* p
    cdef int32_t k
    for k in range(s.config.num_params):
        p = &s.config.params[k]
        copy_rows(p, values, p.columns, values_in(s.model, p), p.stride)
        values += p.rows * p.columns


cdef bint are_packed_params_valid(const SimConfig* c, const double* values) noexcept nogil:
    cdef const ModelParam* p
    cdef int32_t i, k
    for k in range(c.num_params):
        p = &c.params[k]
        for i in range(p.rows * p.columns):
            if not isfinite(values[i]) or not p.low <= values[i] <= p.high:
                return False
        values += p.rows * p.columns
    return True


cdef int get_params(void* state, const envpool_params* call) noexcept nogil:
    cdef SimPool* all = <SimPool*>state
    cdef const ModelParam* p
    cdef int32_t i, k, id
    for k in range(all.config.num_params):
        p = &all.config.params[k]
        for i in range(call.n):
            id = call.ids[i]
            copy_rows(p, <double*>call.values[k] + <size_t>id * p.rows * p.columns, p.columns,
                      values_in(all.sims[id].model, p), p.stride)
    return 0


cdef int set_params(void* state, const envpool_params* call) noexcept nogil:
    cdef SimPool* all = <SimPool*>state
    cdef const ModelParam* p
    cdef const double* rows[MAX_PARAMS]
    cdef int32_t i, k
    cdef int status = 0
    for i in range(call.n):
        for k in range(all.config.num_params):
            p = &all.config.params[k]
            rows[k] = <const double*>call.values[k] + <size_t>call.ids[i] * p.rows * p.columns
        call.errors[i] = put_params(&all.sims[call.ids[i]], NULL, rows)
        status |= call.errors[i]
    return 1 if status else 0
