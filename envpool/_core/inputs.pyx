"""Arguments that users pass: env ids, seeds, numbers and options of resets, as arrays and numbers that are checked.

The functions `as_...` run code of the user's. The others read the state of the engine and run no Python code before
they have succeeded, so that nothing can change between a check and what follows from it. They read each id of the
user's array once, since another thread or process may write to its memory at this moment.
"""

import operator

import numpy as np

cimport numpy as cnp
from libc.math cimport INFINITY
from libc.stdint cimport int32_t, int64_t, uint8_t
from libc.string cimport memset

from envpool._core.atomic cimport ep_load_rlx32, ep_load_rlx64
from envpool._core.structs cimport DISABLED, DRAWN, Engine, FREE, REFUSED, USED

from envpool._support.text import shown
from envpool.errors import ActionError, ConfigError, EnvIdError, EnvPoolError, PoolStateError

cnp.import_array()

cdef str RECV = "call recv() until it has returned them, or close() the pool"

cdef enum:
    SEEN = 2        # a bit of Engine.busy, set while the ids of one call are checked


# ---- conversions -----------------------------------------------------------------------------------------------------

cdef object as_array(str name, object values):
    """Converts an action to an array, without checking its dtype and shape."""
    try:
        return np.asarray(values)
    except EnvPoolError:        # of a call that the conversion has made
        raise
    except (TypeError, ValueError, RuntimeError) as error:      # RuntimeError: of a tensor that needs gradients
        raise ActionError(f"action {shown(name)} must be an array, got {shown(values)}: {error}") from error


cdef int64_t as_count(str name, object value, int64_t limit) except -1:
    """Converts a number of envs."""
    try:
        count = operator.index(None if isinstance(value, (bool, np.bool_)) else value)
    except TypeError:
        raise TypeError(f"{name} must be an integer, got {shown(value)}") from None
    if not 0 <= count <= limit:
        raise ConfigError(f"{name} must be between 0 and {limit}, the number of envs, got {shown(count)}")
    return count


cdef int64_t as_nanoseconds(str name, object value) except -2:
    """Converts a time in seconds to nanoseconds; -1 stands for no limit."""
    try:
        seconds = float(None if isinstance(value, (bool, np.bool_, str, bytes)) else value)
    except OverflowError:       # of an int that is not in the range of float64
        seconds = INFINITY if value > 0 else -INFINITY
    except (TypeError, ValueError):
        raise TypeError(f"{name} must be a number of seconds, got {shown(value)}") from None
    if not seconds >= 0:
        raise ConfigError(f"{name} must be at least 0 seconds, got {shown(value)}")
    return <int64_t>(seconds * 1e9) if seconds < 1e9 else -1


cdef tuple as_seeds(object seeds, int64_t n):
    """Converts the seeds of n envs to two arrays: uint64 (n,) seeds, and uint8 (n,) whether an env has one.

    `seeds` is a sequence of n integers, where None keeps the generator of an env; or None, which keeps all of them.
    """
    if seeds is None:
        return np.zeros(n, np.uint64), np.zeros(n, np.uint8)
    if isinstance(seeds, np.ndarray) and seeds.dtype == np.uint64 and seeds.shape == (n,):
        return np.ascontiguousarray(seeds), np.ones(n, np.uint8)
    given = list(seeds)
    if len(given) != n:
        raise ConfigError(f"seeds has {len(given)} entries, but {n} envs are reset: pass one seed, or None, for each")
    values, has_seed = np.zeros(n, np.uint64), np.zeros(n, np.uint8)
    for i, seed in enumerate(given):
        if seed is None:
            continue
        try:
            seed = operator.index(seed)
        except TypeError:
            raise TypeError(f"seeds[{i}] must be an integer or None, got {shown(seed)}") from None
        if not 0 <= seed < 2**64:
            raise ConfigError(f"seeds[{i}] must be between 0 and 2**64 - 1, got {shown(seed)}")
        values[i] = seed
        has_seed[i] = 1
    return values, has_seed


cdef dict flatten(dict nest):
    """Joins the keys of nested dicts with dots."""
    flat = {}
    for k, v in nest.items():
        if isinstance(v, dict):
            for inner, value in flatten(v).items():
                flat[f"{k}.{inner}"] = value
        else:
            flat[k] = v
    return flat

cpdef object as_ids(env_id, str name="env_id"):
    """Converts env ids to a 1-D array of integers, without checking their values; None stays None."""
    cdef cnp.ndarray a
    try:
        if env_id is None:
            return None
        a = env_id if cnp.PyArray_CheckExact(env_id) else np.asarray(env_id)
    except EnvPoolError:
        raise
    except (TypeError, ValueError, RuntimeError) as error:
        raise EnvIdError(f"{name} must be a 1-D array of integers, got {shown(env_id)}: {error}") from error
    if cnp.PyArray_NDIM(a) == 0:
        a = a.reshape(1)
    if cnp.PyArray_NDIM(a) != 1 or (not cnp.PyArray_ISINTEGER(a) and a.size):
        way = f": pass np.flatnonzero({name})" if cnp.PyArray_ISBOOL(a) and cnp.PyArray_NDIM(a) == 1 else ""
        raise EnvIdError(f"{name} must be a 1-D array of integers, got shape {np.shape(a)} and dtype {a.dtype}{way}")
    return a


# ---- env ids ---------------------------------------------------------------------------------------------------------

cdef int32_t take_idle(Engine* e, object env_id, const int32_t** ids, bint is_reset) except -1:
    """Marks the envs of a send as busy and returns their number.

    `env_id` is a result of as_ids(); `ids` becomes the list of the ids. If one of the envs is not idle, is held, or may
    not be stepped, no env is marked and EnvIdError is raised.
    """
    cdef cnp.ndarray a
    cdef const int64_t* wide
    cdef const int32_t* narrow
    cdef int64_t n, i, id
    cdef bint is_wide
    if env_id is None:
        return take_all(e, ids, is_reset)
    n = (<cnp.ndarray>env_id).shape[0]
    if n > e.num_envs:
        raise EnvIdError(f"env_id has {n} entries, but the pool has {e.num_envs} envs, and each may appear once")
    a = env_id
    if not (cnp.PyArray_ISCARRAY_RO(a) and cnp.PyArray_TYPE(a) in (cnp.NPY_INT64, cnp.NPY_INT32)):
        a = np.ascontiguousarray(env_id, np.int64)      # a value that does not fit becomes negative, and is refused
    wide = <const int64_t*>cnp.PyArray_DATA(a)
    narrow = <const int32_t*>cnp.PyArray_DATA(a)
    is_wide = cnp.PyArray_TYPE(a) == cnp.NPY_INT64
    for i in range(n):
        id = ep_load_rlx64(&wide[i]) if is_wide else ep_load_rlx32(&narrow[i])
        if id < 0 or id >= e.num_envs or e.busy[id] or e.held[id] or (not is_reset and e.reset[id] == REFUSED):
            release(e, e.scratch, <int32_t>i)
            refuse(e, env_id, i, is_reset)
        e.busy[id] = 1
        e.scratch[i] = <int32_t>id
    ids[0] = e.scratch
    return <int32_t>n


cdef int32_t take_all(Engine* e, const int32_t** ids, bint is_reset) except -1:
    """See take_idle(): marks all envs."""
    cdef int32_t i
    if e.outstanding:
        i = 0
        while not e.busy[i]:
            i += 1
        raise EnvIdError(
            f"{e.outstanding} of {e.num_envs} envs are still in flight (e.g. env {i}) and cannot be sent to again: "
            f"pass env_id with the ids that were received, or {RECV}"
        )
    if e.num_held or (e.autoreset == DISABLED and not is_reset):
        for i in range(e.num_envs):
            if e.held[i] or (not is_reset and e.reset[i] == REFUSED):
                refuse(e, np.arange(e.num_envs), i, is_reset)
    memset(e.busy, 1, e.num_envs)
    ids[0] = e.all_ids
    return e.num_envs


cdef int refuse(const Engine* e, object env_id, int64_t at, bint is_reset) except -1:
    """Raises EnvIdError for env_id[at]; all earlier entries passed."""
    id = int(env_id[at])
    effect = "nothing was reset" if is_reset else "nothing was sent"
    if not 0 <= id < e.num_envs:
        raise EnvIdError(f"env_id[{at}] must be between 0 and {e.num_envs - 1}, got {id}; {effect}")
    if id in env_id[:at].tolist():
        raise EnvIdError(f"env_id[{at}] is {id}, which appears twice: pass each id once; {effect}")
    if e.busy[<int32_t>id]:
        raise EnvIdError(f"env_id[{at}] is {id}, which is still in flight: {RECV}; {effect}")
    if e.held[<int32_t>id]:
        raise EnvIdError(f"env_id[{at}] is {id}, which {holding_call(e, <int32_t>id)}; {effect}")
    raise EnvIdError(
        f"env {id} has no running episode and autoreset_mode is 'disabled': call reset(env_id) for it first; "
        f"{effect}"
    )


cdef void release(Engine* e, const int32_t* ids, int32_t n) noexcept:
    """Marks envs as idle."""
    cdef int32_t i
    for i in range(n):
        e.busy[ids[i]] = 0


cdef void hold(Engine* e, const int32_t* ids, int64_t n, uint8_t how) noexcept:
    """Keeps other calls away from envs that nobody holds, which may repeat, until unhold()."""
    cdef int64_t i
    for i in range(n):
        e.num_held += e.held[ids[i]] == FREE
        e.held[ids[i]] = how


cdef void unhold(Engine* e, const int32_t* ids, int64_t n) noexcept:
    cdef int64_t i
    for i in range(n):
        e.num_held -= e.held[ids[i]] != FREE
        e.held[ids[i]] = FREE


cdef str holding_call(const Engine* e, int32_t id):
    """Returns what another call does with an env that is held, and what to wait for."""
    if e.held[id] == DRAWN:
        return "another thread is rendering: wait until render() has returned"
    if e.held[id] == USED:
        return "another call is using: wait until call(), get_attr() or set_attr() has returned"
    return "another call is restoring or copying: wait until set_state() or copy_state() has returned"


cdef cnp.ndarray in_flight_ids(Engine* e, object env_id):
    """Returns ids of envs in flight, each once, as an int32 array that nobody else can change.

    `env_id` is a result of as_ids(). Raises EnvIdError for any other id.
    """
    cdef cnp.ndarray wide = np.ascontiguousarray(env_id, np.int64)
    cdef cnp.ndarray ids = np.empty(wide.shape[0], np.int32)
    cdef const int64_t* given = <const int64_t*>cnp.PyArray_DATA(wide)
    cdef int32_t* taken = <int32_t*>cnp.PyArray_DATA(ids)
    cdef int64_t i, given_id, n = ids.shape[0], bad = -1
    for i in range(n):
        given_id = ep_load_rlx64(&given[i])
        if given_id < 0 or given_id >= e.num_envs or e.busy[given_id] != 1:
            bad = i
            break
        taken[i] = <int32_t>given_id
        e.busy[taken[i]] |= SEEN
    for i in range(n if bad < 0 else bad):
        e.busy[taken[i]] &= ~SEEN
    if bad < 0:
        return ids
    id = int(env_id[bad])
    if not 0 <= id < e.num_envs:
        raise EnvIdError(f"env_id[{bad}] must be between 0 and {e.num_envs - 1}, got {id}")
    if id in env_id[:bad].tolist():
        raise EnvIdError(f"env_id[{bad}] is {id}, which appears twice: pass each id once")
    raise EnvIdError(f"env_id[{bad}] is {id}, which is not in flight: send to it first")


cdef cnp.ndarray checked_ids(const Engine* e, object env_id, str name="env_id"):
    """Returns ids as an int32 array that nobody else can change, all ids for None; raises EnvIdError out of range."""
    cdef cnp.ndarray wide, ids
    cdef const int64_t* given
    cdef int64_t i, id
    env_id = as_ids(env_id, name)
    if env_id is None:
        return np.arange(e.num_envs, dtype=np.int32)
    wide = np.ascontiguousarray(env_id, np.int64)      # a value that does not fit becomes negative
    ids = np.empty(wide.shape[0], np.int32)
    given = <const int64_t*>cnp.PyArray_DATA(wide)
    for i in range(ids.shape[0]):
        id = ep_load_rlx64(&given[i])
        if not 0 <= id < e.num_envs:
            raise EnvIdError(f"{name}[{i}] must be between 0 and {e.num_envs - 1}, got {env_id[i]}")
        (<int32_t*>cnp.PyArray_DATA(ids))[i] = <int32_t>id
    return ids


cdef int check_idle(Engine* e, const int32_t* ids, int64_t n, bint may_repeat, str name="env_id") except -1:
    """Raises EnvIdError unless envs are idle, nobody holds them, and, unless they may repeat, each appears once.

    If a call() of Python environments uses an env, PoolStateError says so.
    """
    cdef int64_t i, bad = -1
    for i in range(n):
        if e.busy[ids[i]] or e.held[ids[i]]:
            bad = i
            break
        e.busy[ids[i]] = 0 if may_repeat else SEEN
    for i in range(0 if may_repeat else n if bad < 0 else bad):
        e.busy[ids[i]] = 0
    if bad < 0:
        return 0
    what = f"{name}[{bad}] is {ids[bad]}"
    if e.held[ids[bad]]:
        error = PoolStateError if e.held[ids[bad]] == USED else EnvIdError
        raise error(f"{what}, which {holding_call(e, ids[bad])}")
    if e.busy[ids[bad]]:
        raise EnvIdError(f"{what}, which is still in flight: {RECV}")
    raise EnvIdError(f"{what}, which appears twice: pass each id once")


cdef int check_disjoint(Engine* e, const int32_t* sources, const int32_t* targets, int64_t n) except -1:
    """Raises EnvIdError if a source is the target of a copy of another env. All of these envs are idle."""
    cdef int64_t i, bad = -1
    for i in range(n):
        if sources[i] != targets[i]:
            e.busy[targets[i]] = SEEN
    for i in range(n):
        if e.busy[sources[i]]:
            bad = i
            break
    for i in range(n):
        e.busy[targets[i]] = 0
    if bad < 0:
        return 0
    raise EnvIdError(
        f"source_ids[{bad}] is {sources[bad]}, which is also in target_ids: copy in two calls, or call "
        "set_state(get_state(source_ids), target_ids)"
    )


# ---- options of resets -----------------------------------------------------------------------------------------------

cdef class ResetOptions:
    """The options of one call of reset(), converted and checked.

    A subclass knows how they reach the envs. An instance is used once.
    """

    cdef int put(self, Engine* e, const int32_t* ids, int32_t n) except -1:
        """Leaves the options for the envs that are about to be reset.

        The envs (n) are marked as busy, but not published yet; the call that raises changes none of them. No Python
        code of the user's may run in here.
        """
        raise NotImplementedError
