"""Preparation of an env before a worker steps or resets it: a seed, and parameters that come into force."""

from libc.stdint cimport int32_t, uint64_t
from libc.string cimport memset

from envpool._core.atomic cimport ep_add_sc32
from envpool._core.calls cimport begin_params, has_failures, seed_envs
from envpool._core.draws cimport draw_params, forget_stream
from envpool._core.structs cimport Engine
from envpool.env cimport ENVPOOL_MAX_BATCH, envpool_params


cdef bint apply_seeds(Engine* e, const int32_t* ids, int32_t n, int32_t* errors) noexcept nogil:
    """Seeds the envs that wait for it, except those without a seed.

    Returns whether any could not be seeded: its seed stays pending, and `errors` (n) has the code of each env.
    """
    cdef int32_t todo[ENVPOOL_MAX_BATCH]
    cdef int32_t where[ENVPOOL_MAX_BATCH]
    cdef int32_t codes[ENVPOOL_MAX_BATCH]
    cdef uint64_t seeds[ENVPOOL_MAX_BATCH]
    cdef int32_t i, k = 0, done = 0
    cdef bint has_failed
    for i in range(n):
        if e.seed_pending[ids[i]] == NO_SEED:
            e.seed_pending[ids[i]] = 0
            ep_add_sc32(&e.seeds_pending, -1)
        elif e.seed_pending[ids[i]]:
            todo[k] = ids[i]
            where[k] = i
            seeds[k] = e.seeds[ids[i]]
            k += 1
    if k == 0:
        return False
    memset(codes, 0, k * sizeof(int32_t))
    memset(errors, 0, n * sizeof(int32_t))
    has_failed = seed_envs(e.env_def, e.state, todo, k, seeds, codes)
    for i in range(k):
        errors[where[i]] = codes[i]
        if codes[i] == 0:
            e.seed_pending[todo[i]] = 0
            forget_stream(e, todo[i])
            done += 1
    ep_add_sc32(&e.seeds_pending, -done)
    return has_failed


cdef int32_t read_undecided(Engine* e, int32_t* ids, int32_t* where, int32_t n, int32_t* errors) noexcept nogil:
    """Writes the parameters in force to the rows of envs that have no pending ones.

    Returns the number of envs that remain in `ids` and `where`: those that could be read. `errors`, by the entries of
    `where`, gets the codes of the others.
    """
    cdef envpool_params call
    cdef int32_t some[ENVPOOL_MAX_BATCH]
    cdef int32_t codes[ENVPOOL_MAX_BATCH]
    cdef int32_t i, k = 0, left = 0
    for i in range(n):
        if not e.param_pending[ids[i]]:
            some[k] = ids[i]
            k += 1
    if k == 0:
        return n
    memset(codes, 0, k * sizeof(int32_t))
    begin_params(&call, some, k, e.param_values, codes)
    if not has_failures(e.env_def.get_params(e.state, &call), codes, k):
        return n
    k = 0
    for i in range(n):
        if not e.param_pending[ids[i]]:
            k += 1
            if codes[k - 1]:
                errors[where[i]] = codes[k - 1]
                continue
        ids[left], where[left] = ids[i], where[i]
        left += 1
    return left


cdef bint apply_params(Engine* e, const int32_t* ids, int32_t n, const int32_t* resets, int32_t num_resets,
                       int32_t* errors) noexcept nogil:
    """Draws parameters of the envs that reset, and puts them and pending ones into force.

    Returns whether any were refused, and `errors` (n) then has the code of each env. Pending parameters that were
    refused remain pending.
    """
    cdef envpool_params call
    cdef int32_t some[ENVPOOL_MAX_BATCH]
    cdef int32_t codes[ENVPOOL_MAX_BATCH]
    cdef int32_t where[ENVPOOL_MAX_BATCH]
    cdef int32_t i, id, k = 0, done = 0, read
    cdef bint has_failed
    for i in range(num_resets):
        id = ids[resets[i]]
        if e.param_pending[id] or (e.tables != NULL and e.tables[id] != NULL):
            some[k] = id
            where[k] = resets[i]
            k += 1
    if k == 0:
        return False
    memset(errors, 0, n * sizeof(int32_t))
    read = read_undecided(e, some, where, k, errors)
    has_failed = read < k
    k = read
    if k == 0:
        return has_failed
    draw_params(e, some, k)
    memset(codes, 0, k * sizeof(int32_t))
    begin_params(&call, some, k, e.param_values, codes)
    has_failed = has_failures(e.env_def.set_params(e.state, &call), codes, k) or has_failed
    for i in range(k):
        if codes[i]:
            errors[where[i]] = codes[i]
        elif e.param_pending[some[i]]:
            e.param_pending[some[i]] = 0
            done += 1
    ep_add_sc32(&e.params_pending, -done)
    return has_failed
