# optimize: -O1
"""Parameters of envs: new values wait in the engine, and a worker puts them into force when it resets the env.

`param_values` has one row per env for each parameter. The rows of an env mean something only while `param_pending` is
set. They belong to the consumer while the env is idle, and to the thread that steps the env while it is in flight.

Options of resets are parameters that the env forgets with the reset: what is in force afterwards is their default.

An env with a table (`tables`) draws parameters at each reset, see draws.pyx. `params_pending` counts it as well.
"""

import numpy as np

cimport numpy as cnp
from libc.math cimport isfinite
from libc.stdint cimport int32_t, int64_t, uint8_t
from libc.string cimport memcpy, memset

from envpool._core.atomic cimport ep_add_sc32
from envpool._core.calls cimport begin_params, field_at, has_failures, row_items
from envpool._core.draws cimport ParamDraws
from envpool._core.failures cimport failure_text
from envpool._core.guard cimport NOTHING_ELSE, enter
from envpool._core.inputs cimport ResetOptions, check_idle, checked_ids
from envpool._core.pool cimport Pool
from envpool._core.structs cimport DrawTable, Engine, ParamDraw
from envpool.env cimport ENVPOOL_BOOL, ENVPOOL_MAX_BATCH, ENVPOOL_MAX_FIELDS, envpool_field, envpool_params

from envpool._core.definition import DTYPES
from envpool.errors import ConfigError, PoolStateError

cnp.import_array()

cdef extern from "envpool/_core/dtypes.h" nogil:
    double ep_element(int32_t dtype, const void* x, int64_t i)


# ---- reading and setting ---------------------------------------------------------------------------------------------

cdef int read_in_force(const Engine* e, const int32_t* ids, int64_t n, void** values) except -1:
    """Writes the parameters in force of idle envs to arrays by env id; none, if the env definition has none."""
    cdef envpool_params call
    cdef int32_t errors[ENVPOOL_MAX_BATCH]
    cdef int64_t start
    cdef int32_t i, k
    if e.env_def.num_params == 0:
        return 0
    for start in range(0, n, ENVPOOL_MAX_BATCH):
        k = <int32_t>min(n - start, <int64_t>ENVPOOL_MAX_BATCH)
        memset(errors, 0, k * sizeof(int32_t))
        begin_params(&call, ids + start, k, values, errors)
        if has_failures(e.env_def.get_params(e.state, &call), errors, k):
            for i in range(k):
                if errors[i]:
                    text = failure_text(e, ids[start + i], errors[i])
                    raise PoolStateError(f"the parameters of env {ids[start + i]} could not be read: {text}")
    return 0


cdef int load_in_force(Engine* e, const int32_t* ids, int64_t n) except -1:
    """Copies the parameters in force to the rows of idle envs that have no pending parameters."""
    cdef int64_t i
    for i in range(n):
        if not e.param_pending[ids[i]]:
            read_in_force(e, ids + i, 1, e.param_values)
    return 0


cdef void note_pending(Engine* e, int32_t id, bint is_pending) noexcept:
    if e.param_pending[id] != is_pending:
        e.param_pending[id] = is_pending
        ep_add_sc32(&e.params_pending, 1 if is_pending else -1)


cdef int put_rows(Engine* e, const int32_t* ids, int64_t n, int k, const char* source, int64_t stride) except -1:
    """Makes values of parameter k pending for idle envs, the next one `stride` bytes after the last one."""
    cdef int64_t i, row = e.param_bytes[k]
    load_in_force(e, ids, n)
    for i in range(n):
        memcpy(<char*>e.param_values[k] + ids[i] * row, source + i * stride, row)
        note_pending(e, ids[i], True)
    return 0


cdef bint is_drawn(const DrawTable* table, int k) noexcept:
    """Whether envs with this table, which may be NULL, draw parameter k."""
    cdef int32_t i
    if table != NULL:
        for i in range(table.num_draws):
            if table.draws[i].param == k:
                return True
    return False


cdef int check_not_drawn(const Engine* e, const int32_t* ids, int64_t n, int k) except -1:
    """Raises ConfigError if one of these envs draws parameter k, so that another value would not last."""
    cdef int64_t i
    for i in range(n):
        if is_drawn(e.tables[ids[i]], k):
            name = field_at(e.env_def, e.env_def.params, k).name.decode()
            raise ConfigError(
                f"{name} of env {ids[i]} cannot be set, since randomize draws it for each episode: call "
                f"set_randomize() without {name!r} first; nothing was changed"
            )
    return 0


def set_params(Pool pool, values, env_id):
    """Let idle envs have other parameters from their next reset on; see ``EnvPool.set_params``.

    Parameters
    ----------
    pool : Pool
        The pool.
    values : sequence of (int, numpy.ndarray)
        Parameters, by their index in the table of the env definition: C-contiguous arrays (n, *shape) or, for the same
        value in all envs, (1, *shape), in the dtype of the parameter, whose elements are within the bounds.
    env_id : array_like of int or None
        (n,) ids; None for all envs.
    """
    cdef int visit = enter(pool.guard, NOTHING_ELSE, b"set_params")
    cdef Engine* e = pool.engine
    cdef cnp.ndarray ids, array
    cdef const int32_t* id
    cdef int64_t n
    cdef int k
    try:
        ids = checked_ids(e, env_id)
        id, n = <const int32_t*>cnp.PyArray_DATA(ids), ids.shape[0]
        given = list(values)
        for _, array in given:
            if array.shape[0] not in (1, n):
                raise ConfigError(
                    f"{array.shape[0]} values were given for {n} envs: pass one value, or one value per env"
                )
        pool.guard.check_open()
        check_idle(e, id, n, False)
        for k, _ in given:
            check_not_drawn(e, id, n, k)
        for k, array in given:
            put_rows(e, id, n, k, <const char*>cnp.PyArray_DATA(array), 0 if array.shape[0] == 1 else e.param_bytes[k])
    finally:
        pool.end_visit(visit)


cdef class OptionRows(ResetOptions):
    """Options of the resets of native envs.

    Parameters
    ----------
    values : sequence of (int, numpy.ndarray)
        As for `set_params`: options by their index in the table of parameters, which also contains the options.
    has_options : numpy.ndarray
        Which of the envs have options, bool (n,); the rows of others are ignored.
    """

    cdef list values
    cdef const uint8_t[::1] has_options

    def __init__(self, values, has_options):
        self.values = list(values)
        self.has_options = has_options.view(np.uint8)

    cdef int put(self, Engine* e, const int32_t* ids, int32_t n) except -1:
        cdef cnp.ndarray array
        cdef int64_t i, row, stride
        cdef int k
        if self.has_options.shape[0] != n:
            raise ConfigError(f"there are options for {self.has_options.shape[0]} resets, but {n} envs are reset")
        for i in range(n):
            if self.has_options[i]:
                load_in_force(e, ids + i, 1)
        for k, array in self.values:
            row = e.param_bytes[k]
            stride = 0 if array.shape[0] == 1 else row
            for i in range(n):
                if self.has_options[i]:
                    memcpy(<char*>e.param_values[k] + ids[i] * row,
                           <const char*>cnp.PyArray_DATA(array) + i * stride, row)
        for i in range(n):
            if self.has_options[i]:
                note_pending(e, ids[i], True)
        return 0


def get_params(Pool pool, env_id, bint in_force):
    """Return the parameters of idle envs; see ``EnvPool.get_params``.

    Parameters
    ----------
    pool, env_id
        See `set_params`.
    in_force : bool
        If True, the parameters of the current episode; otherwise those of the next one.

    Returns
    -------
    list of numpy.ndarray
        One array (n, *shape) per parameter.
    """
    cdef int visit = enter(pool.guard, NOTHING_ELSE, b"get_params")
    cdef Engine* e = pool.engine
    cdef cnp.ndarray ids, array
    cdef const envpool_field* f
    cdef void* values[ENVPOOL_MAX_FIELDS]
    cdef int32_t k, d
    try:
        ids = checked_ids(e, env_id)
        arrays = []
        for k in range(e.env_def.num_params):
            f = field_at(e.env_def, e.env_def.params, k)
            array = np.empty((e.num_envs, *[f.shape[d] for d in range(f.ndim)]), DTYPES[f.dtype])
            values[k] = cnp.PyArray_DATA(array)
            arrays.append(array)
        pool.guard.check_open()
        check_idle(e, <const int32_t*>cnp.PyArray_DATA(ids), ids.shape[0], False)
        read_in_force(e, <const int32_t*>cnp.PyArray_DATA(ids), ids.shape[0], values)
        if not in_force:
            overlay_pending(e, <const int32_t*>cnp.PyArray_DATA(ids), ids.shape[0], values)
        return [array[ids] for array in arrays]
    finally:
        pool.end_visit(visit)


cdef void overlay_pending(const Engine* e, const int32_t* ids, int64_t n, void** values) noexcept:
    cdef int64_t i, row
    cdef int32_t k
    for i in range(n):
        if e.param_pending[ids[i]]:
            for k in range(e.env_def.num_params):
                row = e.param_bytes[k]
                memcpy(<char*>values[k] + ids[i] * row, <const char*>e.param_values[k] + ids[i] * row, row)


# ---- drawing ---------------------------------------------------------------------------------------------------------

cdef int end_draws(Engine* e, int32_t id, const DrawTable* new) except -1:
    """Makes the nominal values of parameters pending that an idle env draws, but not with another table."""
    cdef const DrawTable* table = e.tables[id]
    cdef const ParamDraw* d
    cdef int32_t i
    for i in range(0 if table == NULL else table.num_draws):
        d = &table.draws[i]
        if not is_drawn(new, d.param):
            put_rows(e, &id, 1, d.param, d.nominal + id * d.nominal_stride, 0)
    return 0


def set_draws(Pool pool, ParamDraws draws, env_id):
    """Let idle envs draw parameters from their next reset on; see ``EnvPool.set_randomize``.

    Parameters
    ----------
    pool : Pool
        The pool.
    draws : ParamDraws or None
        How parameters are drawn, for a pool of as many envs; None for no draws.
    env_id : array_like of int or None
        (n,) ids; None for all envs.
    """
    cdef int visit = enter(pool.guard, NOTHING_ELSE, b"set_randomize")
    cdef Engine* e = pool.engine
    cdef const DrawTable* table = NULL if draws is None else &draws.table
    cdef cnp.ndarray ids
    cdef const int32_t* id
    cdef int64_t i
    try:
        ids = checked_ids(e, env_id)
        id = <const int32_t*>cnp.PyArray_DATA(ids)
        none, old = [None] * e.num_envs, [None] * ids.shape[0]
        pool.guard.check_open()
        check_idle(e, id, ids.shape[0], False)
        if e.env_def.num_params == 0:
            return
        if pool.orphan.tables is None:
            pool.orphan.tables = none
        for i in range(ids.shape[0]):
            end_draws(e, id[i], table)
            ep_add_sc32(&e.params_pending, <int32_t>(table != NULL) - <int32_t>(e.tables[id[i]] != NULL))
            e.tables[id[i]] = table
            old[i], pool.orphan.tables[id[i]] = pool.orphan.tables[id[i]], draws     # `old` ends after the last change
    finally:
        pool.end_visit(visit)


def get_ranges(Pool pool, env_id):
    """Return the `ranges` of the ParamDraws of envs, a list with None for an env that draws nothing.

    Parameters
    ----------
    pool, env_id
        See `set_draws`; the envs may be in flight.
    """
    cdef int visit = enter(pool.guard, NOTHING_ELSE, b"get_randomize")
    cdef ParamDraws draws
    try:
        ids = checked_ids(pool.engine, env_id)
        pool.guard.check_open()
        found = []
        for id in ids.tolist():
            draws = None if pool.orphan.tables is None else pool.orphan.tables[id]
            found.append(None if draws is None else draws.ranges)
        return found
    finally:
        pool.end_visit(visit)


# ---- saved states ----------------------------------------------------------------------------------------------------

cdef int64_t params_size(const Engine* e) noexcept:
    """Returns the bytes that a state needs for all parameters of one env: a multiple of 16, so that what follows is
    aligned."""
    cdef int64_t size = 0
    cdef int32_t k
    for k in range(e.env_def.num_params):
        size += e.param_bytes[k]
    return (size + 15) & ~<int64_t>15


cdef int save_params(Engine* e, int32_t id, char* saved) except -1:
    """Writes the parameters that the next episode of an idle env will have, params_size() bytes."""
    cdef int32_t k
    memset(saved, 0, params_size(e))
    load_in_force(e, &id, 1)
    for k in range(e.env_def.num_params):
        memcpy(saved, <const char*>e.param_values[k] + id * e.param_bytes[k], e.param_bytes[k])
        saved += e.param_bytes[k]
    return 0


cdef void restore_params(Engine* e, int32_t id, const char* saved) noexcept:
    """Makes parameters pending that are allowed; without any (NULL), none are pending afterwards."""
    cdef int32_t k
    if saved != NULL:
        for k in range(e.env_def.num_params):
            memcpy(<char*>e.param_values[k] + id * e.param_bytes[k], saved, e.param_bytes[k])
            saved += e.param_bytes[k]
    note_pending(e, id, saved != NULL)


cdef bint are_allowed(const Engine* e, const char* saved) noexcept:
    """Whether the parameters of one env, which may be forged, are finite and within their bounds."""
    cdef const envpool_field* f
    cdef int64_t i, items
    cdef int32_t k
    cdef double value
    for k in range(e.env_def.num_params):
        f = field_at(e.env_def, e.env_def.params, k)
        items = row_items(e.env_def, f)
        for i in range(items):
            value = ep_element(f.dtype, saved, i)
            if not isfinite(value) or (f.dtype == ENVPOOL_BOOL and not 0 <= value <= 1):
                return False
            if f.num_low and not value >= f.low[i if f.num_low > 1 else 0]:
                return False
            if f.num_high and not value <= f.high[i if f.num_high > 1 else 0]:
                return False
        saved += e.param_bytes[k]
    return True
