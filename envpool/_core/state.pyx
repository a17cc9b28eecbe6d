# optimize: -O1
"""Saving, restoring and copying the states of envs.

A state contains what the core keeps of an env and the env's own snapshot; state_format.pyx documents its bytes. These
calls hold the GIL from the check that the envs are idle to the end. Nobody else can send to the envs meanwhile, since
that takes the GIL, and threads that step other envs do not need it. Definitions that need long to restore
(ENVPOOL_SLOW_SNAPSHOTS) do so without the GIL; `Engine.held` keeps other calls away from the envs meanwhile.

What must hold:
- Between the check and the last change of an env no Python code runs, unless the envs are held: objects that the
  garbage collector tracks are made before.
- A state is checked completely, also by the env, before any env changes.
- An env's own functions are called only for envs that have been seeded. A state of an env that was never seeded
  consists of its seed and the parameters of its first episode; a target that was never seeded is seeded before it is
  restored.
"""

import numpy as np

cimport numpy as cnp
from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize, PyBytes_GET_SIZE
from cpython.exc cimport PyErr_CheckSignals
from libc.stdint cimport int32_t, int64_t, uint8_t, uint64_t
from libc.string cimport memcpy, memset

from envpool._core.calls cimport has_failures, seed_envs
from envpool._core.core_state cimport check_core, copy_core, extra_bytes, restore_core, save_core
from envpool._core.env_ids cimport as_ids, check_disjoint, check_idle, checked_ids, hold, let_go
from envpool._core.failures cimport failure_text
from envpool._core.guard cimport NOTHING_ELSE, enter
from envpool._core.pool cimport Pool
from envpool._core.state_format cimport (
    CoreState, check_state, core_part, env_part, env_part_bytes, make_prefix, seal, state_bytes,
)
from envpool._core.structs cimport DISABLED, Engine, PENDING, REFUSED, RESTORED
from envpool.env cimport (
    ENVPOOL_BAD_SNAPSHOT, ENVPOOL_MAX_BATCH, ENVPOOL_NO_MEMORY, ENVPOOL_SLOW_SNAPSHOTS, envpool_copies,
    envpool_snapshots,
)

from envpool._support.text import shown
from envpool.errors import EnvIdError, StateError

cnp.import_array()


cdef int check_supported(Engine* e, str task) except -1:
    """Raises StateError for an env definition without snapshots."""
    if e.env_def.get_state == NULL:
        raise StateError(
            f"the states of {task!r} cannot be saved, restored or copied: its env definition "
            f"{e.env_def.name.decode()} has no snapshots. The way back to a state is to reset with the same seed and "
            "to repeat the actions"
        )
    return 0


cdef str text_of(Engine* e, int32_t id, int32_t code):
    """Returns the description of an error code of an env."""
    if code == ENVPOOL_BAD_SNAPSHOT:
        return "it has values that get_state() does not return"
    return "there is not enough memory" if code == ENVPOOL_NO_MEMORY else failure_text(e, id, code)


cdef inline const int32_t* data_of(cnp.ndarray ids) noexcept:
    return <const int32_t*>cnp.PyArray_DATA(ids)


# ---- saving ----------------------------------------------------------------------------------------------------------

cdef int check_not_broken(Engine* e, int32_t id) except -1:
    """Raises StateError if nobody may look at the state of an env."""
    if e.broken[id] and not e.seed_pending[id]:
        raise StateError(
            f"env {id} has no state, since its last step failed: reset it, or let its next step reset it"
        )
    return 0


cdef bytes save_env(Engine* e, bytes prefix, int32_t id, char* scratch):
    """Returns the state of an idle env. `scratch` has room for its snapshot, whose size is not known before."""
    cdef int64_t prefix_bytes = PyBytes_GET_SIZE(prefix), extras = extra_bytes(e, id), size = 0
    cdef bytes state
    cdef char* core
    cdef void* snapshot = scratch
    cdef envpool_snapshots call
    cdef int32_t error = 0
    check_not_broken(e, id)
    if not e.seed_pending[id]:
        begin_snapshots(&call)
        call.n = 1
        call.ids = &id
        call.bytes = &snapshot
        call.sizes = &size
        call.errors = &error
        if has_failures(e.env_def.get_state(e.state, &call), &error, 1):
            raise StateError(f"env {id} could not be saved: {text_of(e, id, error)}")
    state = PyBytes_FromStringAndSize(NULL, state_bytes(prefix_bytes, extras + size))
    core = PyBytes_AS_STRING(state) + prefix_bytes
    memcpy(PyBytes_AS_STRING(state), PyBytes_AS_STRING(prefix), prefix_bytes)
    save_core(e, id, core)
    memcpy(core + sizeof(CoreState) + extras, scratch, size)
    seal(PyBytes_AS_STRING(state), prefix_bytes, extras + size)
    return state


cdef bytes make_scratch(Engine* e, const int32_t* ids, Py_ssize_t n):
    """Returns memory for the snapshot of any of these envs: none if all of them have never been seeded."""
    cdef int64_t most = -1
    cdef Py_ssize_t i
    for i in range(n):
        if e.seed_pending[ids[i]]:
            continue
        if e.env_def.snapshot_size == NULL:
            most = e.env_def.state_size(e.state)
            break
        most = max(most, e.env_def.snapshot_size(e.state, ids[i]))
    return PyBytes_FromStringAndSize(NULL, most + 1) if most >= 0 else b""      # empty bytes would be shared


cdef void begin_snapshots(envpool_snapshots* call) noexcept:
    memset(call, 0, sizeof(envpool_snapshots))
    call.struct_size = sizeof(envpool_snapshots)


def save_states(Pool pool, str task, bytes options, env_ids):
    """Return the states of idle envs; see ``EnvPool.get_state`` for ids and errors.

    Parameters
    ----------
    pool : Pool
        The pool.
    task : str
        Name of the task, by which a state is recognised.
    options : bytes
        Digest of the options, 16 bytes, by which a state is recognised.
    env_ids : array_like of int or None
        (n,) ids; None for all envs.

    Returns
    -------
    tuple of bytes
        One state per id.
    """
    cdef int visit = enter(pool.guard, NOTHING_ELSE, b"get_state")
    cdef Engine* e = pool.engine
    cdef cnp.ndarray ids
    cdef Py_ssize_t i
    cdef bytes scratch
    try:
        check_supported(e, task)
        ids = checked_ids(e, as_ids(env_ids, "env_ids"), "env_ids")
        prefix = make_prefix(e, task, options)
        states = [None] * ids.shape[0]
        pool.guard.check_open()
        check_idle(e, data_of(ids), ids.shape[0], False, "env_ids")
        scratch = make_scratch(e, data_of(ids), ids.shape[0])
        for i in range(ids.shape[0]):
            states[i] = save_env(e, prefix, data_of(ids)[i], PyBytes_AS_STRING(scratch))
        return tuple(states)
    finally:
        pool.end_visit(visit)


# ---- restoring -------------------------------------------------------------------------------------------------------

cdef inline bint is_slow(const Engine* e) noexcept:
    return e.env_def.flags & ENVPOOL_SLOW_SNAPSHOTS


cdef inline int32_t envs_per_call(const Engine* e) noexcept:
    """Returns how many envs set_state and copy_state of the definition get at once. Slow ones look for signals after as
    many as are simulated in the time of one."""
    return min(max(e.env_def.lanes, 1), <int32_t>ENVPOOL_MAX_BATCH) if is_slow(e) else ENVPOOL_MAX_BATCH


cdef int after_call(Pool pool) except -1:
    """Lets signals in between two calls of a slow definition, and raises if the pool was closed."""
    if is_slow(pool.engine):
        PyErr_CheckSignals()
        pool.guard.check_open()
    return 0


cdef void give_up(Engine* e, int32_t id) noexcept:
    """Lets the next step of an env start an episode, since a change of its state has failed half-way."""
    e.reset[id] = REFUSED if e.autoreset == DISABLED else PENDING
    e.elapsed[id] = 0
    e.broken[id] = 1


cdef int seed_target(Engine* e, int32_t id) except -1:
    """Seeds an env that was never seeded, so that its state exists; its seed remains pending until it is restored."""
    cdef uint64_t seed = e.seeds[id]
    cdef int32_t error = 0
    if e.seed_pending[id] and seed_envs(e.env_def, e.state, &id, 1, &seed, &error):
        raise StateError(f"env {id} could not be seeded: {text_of(e, id, error)}; nothing was restored")
    return 0


cdef int set_some(Engine* e, list states, const int32_t* ids, int32_t first, int32_t n, bint only_checks) except -1:
    """Checks or restores the envs of states[first:first + n], n <= ENVPOOL_MAX_BATCH."""
    cdef envpool_snapshots call
    cdef int32_t some[ENVPOOL_MAX_BATCH]
    cdef int32_t errors[ENVPOOL_MAX_BATCH]
    cdef int32_t where[ENVPOOL_MAX_BATCH]
    cdef void* snapshots[ENVPOOL_MAX_BATCH]
    cdef int64_t sizes[ENVPOOL_MAX_BATCH]
    cdef uint8_t resets[ENVPOOL_MAX_BATCH]
    cdef int32_t i, k = 0, failed = -1
    cdef bint has_failed
    cdef bytes state
    for i in range(first, first + n):
        state = states[i]
        if not only_checks:
            restore_core(e, ids[i], state)
        if core_part(state).seed_pending:
            continue
        some[k] = ids[i]
        where[k] = i
        snapshots[k] = <void*>env_part(state)
        sizes[k] = env_part_bytes(state)
        resets[k] = core_part(state).reset
        k += 1
    if k == 0:
        return 0
    memset(errors, 0, k * sizeof(int32_t))
    begin_snapshots(&call)
    call.n = k
    call.ids = some
    call.bytes = snapshots
    call.sizes = sizes
    call.errors = errors
    call.resets = resets
    call.only_checks = only_checks
    if only_checks or not is_slow(e):
        has_failed = has_failures(e.env_def.set_state(e.state, &call), errors, k)
    else:
        with nogil:
            has_failed = has_failures(e.env_def.set_state(e.state, &call), errors, k)
    if not has_failed:
        return 0
    for i in range(k):
        if errors[i]:
            failed = i
            if not only_checks:
                give_up(e, some[i])
    text = text_of(e, some[failed], errors[failed])
    if only_checks:
        raise StateError(f"states[{where[failed]}] cannot be restored: {text}; nothing was restored")
    raise StateError(f"env {some[failed]} could not be restored, and its next step starts an episode: {text}")


def restore_states(Pool pool, str task, bytes options, states, env_ids):
    """Restore idle envs from the results of `save_states`; see ``EnvPool.set_state``.

    Parameters
    ----------
    pool, task, options, env_ids
        See `save_states`.
    states : sequence of bytes
        (n,) one state per id.
    """
    cdef int visit = enter(pool.guard, NOTHING_ELSE, b"set_state")
    cdef Engine* e = pool.engine
    cdef cnp.ndarray ids
    cdef const int32_t* id = NULL
    cdef list given
    cdef bytes state, prefix
    cdef int32_t i, n = 0
    cdef bint is_holding = False
    try:
        check_supported(e, task)
        ids = checked_ids(e, as_ids(env_ids, "env_ids"), "env_ids")
        prefix = make_prefix(e, task, options)
        given = list(states)
        id, n = data_of(ids), <int32_t>ids.shape[0]
        for i in range(<int32_t>len(given)):
            if type(given[i]) is not bytes:
                raise TypeError(f"states[{i}] must be bytes, got {shown(given[i])}")
        if len(given) != n:
            raise StateError(f"{len(given)} states cannot be restored to {n} envs: pass one state per env")
        pool.guard.check_open()
        check_idle(e, id, n, False, "env_ids")
        for i in range(n):
            state = given[i]
            check_state(state, prefix, i)
            check_core(e, state, i)
        for i in range(n):
            if not core_part(<bytes>given[i]).seed_pending:
                seed_target(e, id[i])
        for i in range(0, n, ENVPOOL_MAX_BATCH):
            set_some(e, given, id, i, min(n - i, <int32_t>ENVPOOL_MAX_BATCH), True)
        if is_slow(e):
            hold(e, id, n, RESTORED)
            is_holding = True
        for i in range(0, n, envs_per_call(e)):
            set_some(e, given, id, i, min(n - i, envs_per_call(e)), False)
            after_call(pool)
    finally:
        if is_holding:
            let_go(e, id, n)
        pool.end_visit(visit)


# ---- copying ---------------------------------------------------------------------------------------------------------

cdef int copy_some(Engine* e, const int32_t* sources, const int32_t* targets, int32_t n) except -1:
    """Copies n <= ENVPOOL_MAX_BATCH envs; those whose source is the target stay as they are."""
    cdef envpool_copies call
    cdef int32_t origins[ENVPOOL_MAX_BATCH]
    cdef int32_t copies[ENVPOOL_MAX_BATCH]
    cdef int32_t errors[ENVPOOL_MAX_BATCH]
    cdef int32_t i, k = 0, failed = 0
    cdef bint has_failed = False
    for i in range(n):
        origins[k] = sources[i]
        copies[k] = targets[i]
        k += sources[i] != targets[i] and not e.seed_pending[sources[i]]
    if k:
        memset(errors, 0, k * sizeof(int32_t))
        call.struct_size = sizeof(envpool_copies)
        call.n = k
        call.sources = origins
        call.targets = copies
        call.errors = errors
        if is_slow(e):
            with nogil:
                has_failed = has_failures(e.env_def.copy_state(e.state, &call), errors, k)
        else:
            has_failed = has_failures(e.env_def.copy_state(e.state, &call), errors, k)
    for i in range(n):
        if sources[i] != targets[i]:
            copy_core(e, sources[i], targets[i])
    if has_failed:
        for i in range(k):
            if errors[i]:
                failed = i
                give_up(e, copies[i])
        raise StateError(
            f"env {origins[failed]} could not be copied to env {copies[failed]}, whose next step starts an episode: "
            f"{text_of(e, copies[failed], errors[failed])}"
        )
    return 0


def copy_states(Pool pool, str task, source_ids, target_ids):
    """Copy the states of idle envs to other idle envs; see ``EnvPool.copy_state``.

    Parameters
    ----------
    pool : Pool
        The pool.
    task : str
        Name of the task, for messages.
    source_ids, target_ids : array_like of int
        (n,) ids.
    """
    cdef int visit = enter(pool.guard, NOTHING_ELSE, b"copy_state")
    cdef Engine* e = pool.engine
    cdef cnp.ndarray sources, targets
    cdef const int32_t* source = NULL
    cdef const int32_t* target = NULL
    cdef int32_t i, n = 0
    cdef bint is_holding = False
    try:
        check_supported(e, task)
        sources = checked_ids(e, np.empty(0, np.int64) if source_ids is None else as_ids(source_ids, "source_ids"),
                              "source_ids")
        targets = checked_ids(e, np.empty(0, np.int64) if target_ids is None else as_ids(target_ids, "target_ids"),
                              "target_ids")
        source, target, n = data_of(sources), data_of(targets), <int32_t>targets.shape[0]
        if sources.shape[0] != n:
            raise EnvIdError(
                f"source_ids has {sources.shape[0]} entries and target_ids has {n}: pass one source per target"
            )
        pool.guard.check_open()
        check_idle(e, target, n, False, "target_ids")
        check_idle(e, source, n, True, "source_ids")
        check_disjoint(e, source, target, n)
        for i in range(n):
            check_not_broken(e, source[i])
        for i in range(n):
            if source[i] != target[i] and not e.seed_pending[source[i]]:
                seed_target(e, target[i])
        if is_slow(e):
            hold(e, source, n, RESTORED)
            hold(e, target, n, RESTORED)
            is_holding = True
        for i in range(0, n, envs_per_call(e)):
            copy_some(e, source + i, target + i, min(n - i, envs_per_call(e)))
            after_call(pool)
    finally:
        if is_holding:
            let_go(e, source, n)
            let_go(e, target, n)
        pool.end_visit(visit)
