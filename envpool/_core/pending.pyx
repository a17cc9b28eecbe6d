"""What the consumer leaves for a worker to do before it steps or resets an env: seeds, and parameters."""

from libc.stdint cimport int32_t, uint64_t
from libc.string cimport memset

from envpool._core.atomic cimport ep_add_sc32
from envpool._core.calls cimport begin_params, has_failures, seed_envs
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
            done += 1
    ep_add_sc32(&e.seeds_pending, -done)
    return has_failed


cdef bint apply_params(Engine* e, const int32_t* ids, int32_t n, const int32_t* resets, int32_t num_resets,
                       int32_t* errors) noexcept nogil:
    """Puts pending parameters of the envs that reset into force.

    Returns whether any were refused: they remain pending, and `errors` (n) then has the code of each env.
    """
    cdef envpool_params call
    cdef int32_t some[ENVPOOL_MAX_BATCH]
    cdef int32_t codes[ENVPOOL_MAX_BATCH]
    cdef int32_t where[ENVPOOL_MAX_BATCH]
    cdef int32_t i, k = 0, done = 0
    cdef bint has_failed
    for i in range(num_resets):
        if e.param_pending[ids[resets[i]]]:
            some[k] = ids[resets[i]]
            where[k] = resets[i]
            k += 1
    if k == 0:
        return False
    memset(codes, 0, k * sizeof(int32_t))
    begin_params(&call, some, k, e.param_values, codes)
    has_failed = has_failures(e.env_def.set_params(e.state, &call), codes, k)
    if has_failed:
        memset(errors, 0, n * sizeof(int32_t))
    for i in range(k):
        if codes[i]:
            errors[where[i]] = codes[i]
        else:
            e.param_pending[some[i]] = 0
            done += 1
    ep_add_sc32(&e.params_pending, -done)
    return has_failed
