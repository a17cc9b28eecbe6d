# optimize: -O1
"""What the core keeps of an env: a CoreState, the sums of its statistics, and parameters that are pending.

state_format.pyx documents where a saved state contains them. The callers hold the GIL, and the envs are idle.
"""

from libc.stdint cimport int32_t, int64_t, uint8_t, uint32_t
from libc.string cimport memset

from envpool._core.atomic cimport ep_add_sc32
from envpool._core.params cimport are_allowed, copy_params, params_size, restore_params, save_params
from envpool._core.state_format cimport CoreState, core_part, env_part_bytes, params_part, sums_part
from envpool._core.statistics cimport Sums, are_possible, restore_sums, save_sums
from envpool._core.structs cimport DISABLED, Engine, PENDING, REFUSED, RUNNING

from envpool.errors import StateError


cdef inline int64_t sums_bytes(const Engine* e) noexcept:
    return sizeof(Sums) if e.tally != NULL else 0


cdef int64_t pending_bytes(const Engine* e, int32_t id) noexcept:
    """Returns the size of the parameters that a state contains beside the snapshot, which has those in force.

    An env that was never seeded has no snapshot.
    """
    return params_size(e) if e.param_pending[id] or e.seed_pending[id] else 0


cdef int64_t extra_bytes(const Engine* e, int32_t id) noexcept:
    """Returns the size of what follows the CoreState of an env before its snapshot."""
    return sums_bytes(e) + pending_bytes(e, id)


cdef void fill_core(const Engine* e, int32_t id, CoreState* core) noexcept:
    memset(core, 0, sizeof(CoreState))
    core.elapsed = e.elapsed[id]
    core.reset = e.reset[id]
    core.seed_pending = e.seed_pending[id]
    core.seed = e.seeds[id] if e.seed_pending[id] else 0
    core.has_sums = e.tally != NULL
    core.param_bytes = <uint32_t>pending_bytes(e, id)


cdef int save_core(Engine* e, int32_t id, char* core) except -1:
    """Writes a CoreState and what follows it, extra_bytes() bytes."""
    cdef char* at = core + sizeof(CoreState)
    fill_core(e, id, <CoreState*>core)
    if e.tally != NULL:
        save_sums(e, id, <Sums*>at)
    if pending_bytes(e, id):
        save_params(e, id, at + sums_bytes(e))
    return 0


cdef int check_core(const Engine* e, bytes state, Py_ssize_t at) except -1:
    """Raises StateError for values that the core does not produce, of a state that check_state() has accepted."""
    cdef const CoreState* core = core_part(state)
    cdef const Sums* sums = sums_part(state)
    cdef int64_t env_bytes = env_part_bytes(state), param_bytes = core.param_bytes
    cdef uint8_t ended = REFUSED if e.autoreset == DISABLED else PENDING
    cdef bint is_possible = (
        env_bytes >= 0
        and 0 <= core.elapsed <= e.max_episode_steps
        and (core.reset == ended or (core.reset == RUNNING and core.elapsed < e.max_episode_steps))
        and core.seed_pending <= 1 and core.has_sums <= 1
        and (not core.seed_pending or (core.reset == ended and env_bytes == 0))
        and (sums == NULL or are_possible(sums))
        and (param_bytes == params_size(e) or (param_bytes == 0 and not core.seed_pending))
        and (param_bytes == 0 or are_allowed(e, params_part(state)))
    )
    if not is_possible:
        raise StateError(f"states[{at}] has values that get_state() does not return; nothing was restored")
    return 0


cdef void put(Engine* e, int32_t id, const CoreState* core) noexcept:
    if core.seed_pending:
        e.seeds[id] = core.seed
    if core.seed_pending != e.seed_pending[id]:
        e.seed_pending[id] = core.seed_pending
        ep_add_sc32(&e.seeds_pending, 1 if core.seed_pending else -1)
    e.elapsed[id] = core.elapsed
    e.reset[id] = core.reset
    e.broken[id] = 0


cdef void restore_core(Engine* e, int32_t id, bytes state) noexcept:
    """Restores what the core keeps of an env from a state that check_core() has accepted."""
    put(e, id, core_part(state))
    if e.tally != NULL:
        restore_sums(e, id, sums_part(state))
    restore_params(e, id, params_part(state) if core_part(state).param_bytes else NULL)


cdef int copy_core(Engine* e, int32_t source, int32_t target) except -1:
    """Copies what the core keeps of an env to another env."""
    cdef CoreState core
    cdef Sums sums
    fill_core(e, source, &core)
    put(e, target, &core)
    if e.tally != NULL:
        save_sums(e, source, &sums)
        restore_sums(e, target, &sums)
    if core.param_bytes:
        copy_params(e, source, target)
    else:
        restore_params(e, target, NULL)
    return 0
