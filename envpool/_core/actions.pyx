"""Moving actions from the user's arrays into the slots of the engine: one packed array per action field, by env id.

A send has two stages. First everything of the user's is converted to arrays, which may run any code. Second, without
running any Python code, the env ids are checked and marked as busy, and the actions are copied into their slots. A
value that is out of bounds, or a float that the pool refuses, makes the second stage fail, except for an env that
resets in this step and ignores its action.

player_actions.pyx has the actions of envs with players.
"""

import numpy as np

cimport numpy as cnp
from libc.stdint cimport INT64_MAX, INT64_MIN, int32_t, int64_t, uint8_t, uint32_t, uint64_t
from libc.stdlib cimport calloc, free
from libc.string cimport memcpy

from envpool._core.inputs cimport as_array, as_ids, flatten, release, take_idle
from envpool._core.structs cimport Engine, RUNNING

from envpool._core.casts import as_action
from envpool._support.text import shown
from envpool.errors import ActionError, EnvIdError

cnp.import_array()

ctypedef fused from_t:
    int32_t
    int64_t

ctypedef fused to_t:
    int32_t
    int64_t
    cnp.int8_t
    cnp.uint8_t
    cnp.int16_t
    cnp.uint16_t
    uint32_t
    uint64_t

# Number that is subtracted from uint64, whose values travel as int64 until they are stored; their order stays the same.
cdef uint64_t BIAS = <uint64_t>1 << 63


cdef inline to_t as_stored(int64_t value, to_t* slots) noexcept:
    if to_t is uint64_t:
        return <uint64_t>value ^ BIAS
    else:
        return <to_t>value


cdef object unbiased(values):
    """Returns the uint64 of int64 that travel in their place."""
    return values.view(np.uint64) ^ np.uint64(BIAS)


cdef bint copy_checked(from_t* source, to_t* slots, const int32_t* ids, int32_t n, int64_t items, int64_t low,
                       int64_t high) noexcept:
    """Copies n rows into the slots of their ids (NULL: slots 0 to n-1); False if a value is out of bounds."""
    cdef int64_t i, k, value, bad = 0       # negative as soon as one distance to a bound is negative
    if ids == NULL:             # a loop that the compiler vectorises
        for i in range(n * items):
            value = source[i]
            bad |= (value - low) | (high - value)
            slots[i] = as_stored(value, slots)
        return bad >= 0
    for i in range(n):
        for k in range(items):
            value = source[i * items + k]
            bad |= (value - low) | (high - value)
            slots[ids[i] * items + k] = as_stored(value, slots)
    return bad >= 0


cdef bint dispatch(from_t* source, void* slots, int64_t itemsize, bint is_signed, const int32_t* ids, int32_t n,
                   int64_t items, int64_t low, int64_t high) noexcept:
    """Calls copy_checked() for the type of the slots."""
    if is_signed:
        if itemsize == 4:
            return copy_checked(source, <int32_t*>slots, ids, n, items, low, high)
        if itemsize == 8:
            return copy_checked(source, <int64_t*>slots, ids, n, items, low, high)
        if itemsize == 2:
            return copy_checked(source, <cnp.int16_t*>slots, ids, n, items, low, high)
        return copy_checked(source, <cnp.int8_t*>slots, ids, n, items, low, high)
    if itemsize == 1:
        return copy_checked(source, <cnp.uint8_t*>slots, ids, n, items, low, high)
    if itemsize == 2:
        return copy_checked(source, <cnp.uint16_t*>slots, ids, n, items, low, high)
    if itemsize == 4:
        return copy_checked(source, <uint32_t*>slots, ids, n, items, low, high)
    return copy_checked(source, <uint64_t*>slots, ids, n, items, low, high)


cdef class ActionField:
    """One action array.

    Parameters
    ----------
    field : Field
        Its entry in the action table of the env.
    refused : int
        Floats that actions must not contain: 0 none, 1 NaN, 2 NaN and infinity.
    num_players : int
        Places for players in each env; 0 if the envs have none.
    """

    def __init__(self, field, int refused, int32_t num_players=0):
        self.name = field.name
        self.dtype = field.dtype
        self.typenum = field.dtype.num
        self.shape = tuple(s for s in field.shape if s != -1)
        self.players = num_players if -1 in field.shape else 0
        self.ndim = len(self.shape)
        self.itemsize = field.dtype.itemsize
        self.is_signed = field.dtype.kind == "i"
        self.is_biased = self.typenum == cnp.NPY_UINT64
        self.bias = 2**63 if self.is_biased else 0
        self.items = int(np.prod(self.shape, dtype=np.int64)) * max(self.players, 1)
        self.refused = refused if self.typenum in (cnp.NPY_FLOAT32, cnp.NPY_FLOAT64) else NO_FLOAT
        self.is_bounded = field.dtype.kind in "iu" and field.low is not None and field.high is not None
        if self.is_bounded:
            self.set_bounds(field)

    cdef int set_bounds(self, field) except -1:
        """Reads the bounds. `low` and `high` stay within half of the range of int64, so that a distance to one cannot
        overflow; if the bounds are wider, every value is compared with those of its element."""
        cdef int64_t k
        lows, highs = np.resize(field.low, self.items), np.resize(field.high, self.items)
        self.lows = <int64_t*>calloc(self.items, sizeof(int64_t))
        self.highs = <int64_t*>calloc(self.items, sizeof(int64_t))
        if self.lows == NULL or self.highs == NULL:
            raise MemoryError(f"no memory for the bounds of action {self.name!r}")
        for k in range(self.items):
            self.lows[k] = max(int(lows[k]) - self.bias, INT64_MIN)
            self.highs[k] = min(int(highs[k]) - self.bias, INT64_MAX)
        lowest = min([self.lows[k] for k in range(self.items)])
        highest = max([self.highs[k] for k in range(self.items)])
        self.low, self.high = (min(max(bound, -(2**62)), 2**62) for bound in (lowest, highest))
        self.is_uniform = bool((lows == lows[0]).all() and (highs == highs[0]).all())
        self.is_quick = self.is_uniform and self.low == lowest and self.high == highest
        return 0

    def __dealloc__(self):
        free(self.lows)
        free(self.highs)

    cdef cnp.ndarray convert(self, object action, int64_t rows, bint may_cast):
        """Returns an action as an array of `rows` rows that store() takes. may_cast: another dtype is allowed."""
        cdef cnp.ndarray a
        if not cnp.PyArray_CheckExact(action):
            action = as_array(self.name, action)
        a = <cnp.ndarray>action
        if (cnp.PyArray_NDIM(a) != 1 + self.ndim or cnp.PyArray_DIMS(a)[0] != rows
                or (self.ndim and action.shape[1:] != self.shape)):
            raise ActionError(
                f"action {self.name!r} must have the shape {(rows, *self.shape)}, one row for each of the {rows} env "
                f"ids, got {action.shape}{self.hint(action)}"
            )
        if not may_cast:
            self.check_exact(action)
        if self.is_bounded:
            if self.is_biased:
                return self.to_int64(action)
            if not (cnp.PyArray_ISCARRAY_RO(a) and cnp.PyArray_TYPE(a) in (cnp.NPY_INT64, cnp.NPY_INT32)):
                return self.to_int64(action)
        elif cnp.PyArray_TYPE(a) != self.typenum or not cnp.PyArray_ISCARRAY_RO(a):
            self.check_numbers(action)
            return as_action(self.name, action, self.dtype)
        return a

    cdef int check_exact(self, action) except -1:
        """Raises ActionError for an array of a dict in another dtype."""
        if action.dtype != self.dtype:
            raise ActionError(
                f"action {self.name!r} in a dict must have the dtype {self.dtype}, got {action.dtype}: use "
                f".astype(np.{self.dtype})"
            )
        return 0

    cdef int check_numbers(self, action) except -1:
        """Raises ActionError for an array of anything but real numbers."""
        if action.dtype.kind not in "biuf":
            raise ActionError(
                f"action {self.name!r} must have the dtype {self.dtype}, or one that casts to it, got {action.dtype}"
            )
        return 0

    cdef str hint(self, action):
        """Returns the end of the message about a wrong shape: the way out for rows of other envs, or of one env."""
        if action.ndim == 1 + self.ndim and action.shape[1:] == self.shape:
            return ": pass the ids of the rows, step(action, env_id); sample_actions(env_id=env_id) draws such rows"
        if action.shape != self.shape or action.dtype.kind not in "biuf":
            return ""
        return (
            ". This is the action of one env, which is what env.action_space of a pool describes: "
            "env.sample_actions(rng) draws a row for each env, and gymnasium.make_vec('envpool/<task>') makes a "
            "VectorEnv whose action_space describes the whole batch"
        )

    cdef cnp.ndarray to_int64(self, action):
        """Returns integers, or floats with integer values, as int64 less `bias`; refuses anything else."""
        kind = action.dtype.kind
        fits = np.True_
        self.check_numbers(action)
        if kind == "f":
            wide = action.astype(np.promote_types(action.dtype, np.float64), copy=False)
            least, end = (0.0, 2.0**64) if self.is_biased else (-(2.0**63), 2.0**63)
            fits = (np.rint(wide) == wide) & (wide >= least) & (wide < end)
        elif self.is_biased and kind == "i":
            fits = action >= 0
        elif not self.is_biased and action.dtype == np.uint64:
            fits = action <= np.uint64(INT64_MAX)
        if not fits.all():
            lowest = min([self.lows[k] for k in range(self.items)]) + self.bias
            highest = max([self.highs[k] for k in range(self.items)]) + self.bias
            raise ActionError(
                f"action {self.name!r} must hold integers from {lowest} to {highest}, got {action[~fits][0]} "
                f"(dtype {action.dtype})"
            )
        if self.is_biased:
            return (np.ascontiguousarray(action, np.uint64) ^ np.uint64(BIAS)).view(np.int64)
        return np.ascontiguousarray(action, np.int64)

    cdef int64_t store(self, Engine* e, int index, cnp.ndarray a, const int32_t* ids, int32_t n) noexcept:
        """Copies the rows of `a` into the slots of ids[i] (n).

        Returns STORED, MISFIT if code of the user's has changed the array since convert(), or the position of a row
        with a value that is out of bounds.
        """
        cdef const int32_t* to = NULL
        cdef void* slots = e.actions[index]
        cdef const char* source = <const char*>cnp.PyArray_DATA(a)
        cdef int typenum = cnp.PyArray_TYPE(a)
        cdef int64_t i, size = e.action_bytes[index]
        cdef bint ok
        if not cnp.PyArray_ISCARRAY_RO(a) or cnp.PyArray_SIZE(a) != n * self.items:
            return MISFIT
        if ids != e.all_ids:
            to = ids
        if self.is_bounded:
            if typenum == cnp.NPY_INT32:
                ok = dispatch(<int32_t*>source, slots, self.itemsize, self.is_signed, to, n, self.items, self.low,
                              self.high)
            elif typenum == cnp.NPY_INT64:
                ok = dispatch(<int64_t*>source, slots, self.itemsize, self.is_signed, to, n, self.items, self.low,
                              self.high)
            else:
                return MISFIT
            return STORED if ok and self.is_quick else self.repair(e, index, a, ids, n)
        if typenum != self.typenum:
            return MISFIT
        if to == NULL:
            memcpy(slots, source, n * size)
        else:
            for i in range(n):
                memcpy(<char*>slots + ids[i] * size, source + i * size, size)
        return STORED if self.refused == NO_FLOAT else self.first_refused(e, index, ids, n)

    cdef int64_t first_refused(self, const Engine* e, int index, const int32_t* ids, int32_t n) noexcept:
        """Returns the position of the first env whose slot has a float that is refused and would be used, or STORED.

        The slots are checked, not the user's array, which another thread may be writing to.
        """
        cdef bint is_double = self.typenum == cnp.NPY_FLOAT64, only_nan = self.refused == NAN
        cdef const double* wide = <const double*>e.actions[index]
        cdef const float* narrow = <const float*>e.actions[index]
        cdef int64_t i, at
        for i in range(n):
            at = ids[i] * self.items
            if e.reset[ids[i]] == RUNNING and (has_refused(wide + at, self.items, only_nan) if is_double else
                                               has_refused(narrow + at, self.items, only_nan)):
                return i
        return STORED

    cdef int64_t repair(self, Engine* e, int index, cnp.ndarray a, const int32_t* ids, int32_t n) noexcept:
        """Stores the rows anew, those with a value out of bounds as the lower bounds: no slot keeps a forbidden value.

        Each value is read once: another process or thread may write to the memory of the user's array at this moment.
        Returns the position of the first row with a bad value whose env would use its action, or STORED.
        """
        cdef bint is_wide = cnp.PyArray_TYPE(a) == cnp.NPY_INT64
        cdef const int64_t* wide = <const int64_t*>cnp.PyArray_DATA(a)
        cdef const int32_t* narrow = <const int32_t*>cnp.PyArray_DATA(a)
        cdef int64_t i, k, value, first = STORED
        cdef char* slot
        cdef bint bad
        for i in range(n):
            slot = <char*>e.actions[index] + ids[i] * e.action_bytes[index]
            bad = False
            for k in range(self.items):
                value = wide[i * self.items + k] if is_wide else narrow[i * self.items + k]
                bad |= value < self.lows[k] or value > self.highs[k]
                self.put(value, slot + k * self.itemsize)
            if not bad:
                continue
            dispatch(self.lows, slot, self.itemsize, self.is_signed, NULL, 1, self.items, self.low, self.high)
            if first < 0 and e.reset[ids[i]] == RUNNING:
                first = i
        return first

    cdef void put(self, int64_t value, char* slot) noexcept:
        """Stores one number, which is within the range of the dtype."""
        dispatch(&value, slot, self.itemsize, self.is_signed, NULL, 1, 1, 0, 0)

    cdef object refusal(self, const Engine* e, int index, cnp.ndarray a, int64_t row, int32_t id, object passed=None):
        """Returns the exception for a row that store() has refused, of which `passed` was converted if it is given."""
        if row == MISFIT:
            return ActionError(
                f"action {self.name!r} changed its shape or dtype while actions were being converted; nothing was sent"
            )
        if self.is_bounded:
            got = self.as_passed(a[row], None if passed is None else passed[row])
        else:
            got = np.empty(self.shape, self.dtype)
            memcpy(cnp.PyArray_DATA(<cnp.ndarray>got), <const char*>e.actions[index] + id * e.action_bytes[index],
                   e.action_bytes[index])
        return self.refusal_of_values(f"env {id} (row {row})", 0, got)

    cdef object as_passed(self, values, passed):
        """Returns converted integers as the user has passed them; if that is unknown, a text for what is no integer."""
        if passed is not None and passed.dtype.kind == "f":
            return np.array(passed)
        if self.is_biased:
            return np.array(unbiased(values))
        return "another value" if (values == INT64_MIN).any() else np.array(values)

    cdef object refusal_of_values(self, str whose, int64_t first, object got):
        """Returns the exception for values of a row or of a player, whose bounds begin with element `first`."""
        cdef int64_t k, end = first + self.items // max(self.players, 1)
        what = f"action {self.name!r} of {whose}"
        if not self.is_bounded:
            floats = "NaN" if self.refused == NAN else "NaN or infinite"
            return ActionError(f"{what} must not be {floats}, got {got}; nothing was sent")
        lows = [self.lows[k] + self.bias for k in range(first, end)]
        highs = [self.highs[k] + self.bias for k in range(first, end)]
        if len(set(lows)) == len(set(highs)) == 1:
            low, high = lows[0], highs[0]
        else:
            low, high = np.reshape(lows, self.shape).tolist(), np.reshape(highs, self.shape).tolist()
        return ActionError(f"{what} must have integers from {low} to {high}, got {got}; nothing was sent")


cdef class ActionTable:
    """All action arrays of an env.

    Parameters
    ----------
    fields : sequence of Field
        The action table of the env.
    refused : int
        Floats that actions must not contain, see ActionField.
    flatten_action : callable, optional
        Makes an action in the form of ActionTable.load() of what the user passes; by default these are the same.
    """

    def __init__(self, fields, int refused, flatten_action=None):
        self.fields = tuple(ActionField(f, refused) for f in fields)
        self.flatten_action = flatten_action

    cdef int32_t load(self, Engine* e, object action, object env_id, const int32_t** ids) except -1:
        """Marks the envs of a send as busy, copies their actions, and returns their number; `ids` becomes their ids.

        Parameters
        ----------
        action : array_like or dict
            An array if the env has one action field, else arrays by field name. A dict may also contain "env_id" and
            "players.env_id".
        env_id : array_like of int or None
            Ids of idle envs, each once; None means all envs.

        Raises
        ------
        ActionError, EnvIdError
            Nothing is marked in this case.
        """
        cdef ActionField field
        cdef cnp.ndarray a
        cdef int32_t n
        cdef int64_t result, rows = e.num_envs
        if self.flatten_action is not None:
            action = self.flatten_action(action)
        if isinstance(action, dict):
            return self.load_dict(e, flatten(action), env_id, ids)
        if len(self.fields) != 1:
            raise ActionError(f"action must be a dict with the keys {self.names()}, got {type(action).__name__}")
        field = <ActionField>self.fields[0]
        if env_id is not None:
            env_id = as_ids(env_id)
            rows = (<cnp.ndarray>env_id).shape[0]
        a = field.convert(action, rows, True)
        n = take_idle(e, env_id, ids, False)
        result = field.store(e, 0, a, ids[0], n)
        if result != STORED:
            release(e, ids[0], n)
            raise field.refusal(e, 0, a, result, ids[0][max(result, 0)])
        return n

    cdef int32_t load_dict(self, Engine* e, dict action, object env_id, const int32_t** ids) except -1:
        """See load(); `action` has one key per array."""
        cdef ActionField field
        cdef list arrays
        cdef int32_t n
        cdef int64_t rows, result
        cdef int i
        own_ids = action.pop("env_id", None)
        players = action.pop("players.env_id", None)
        env_id = as_ids(own_ids if env_id is None else env_id)
        rows = e.num_envs if env_id is None else (<cnp.ndarray>env_id).shape[0]
        if players is not None:
            self.check_players(players, np.arange(rows) if env_id is None else env_id)
        self.check_keys(action, "")
        arrays = [(<ActionField>f).convert(action[(<ActionField>f).name], rows, False) for f in self.fields]
        n = take_idle(e, env_id, ids, False)
        for i in range(len(self.fields)):
            field = <ActionField>self.fields[i]
            result = field.store(e, i, <cnp.ndarray>arrays[i], ids[0], n)
            if result != STORED:
                release(e, ids[0], n)
                raise field.refusal(e, i, <cnp.ndarray>arrays[i], result, ids[0][max(result, 0)])
        return n

    cdef int check_players(self, players, env_id) except -1:
        """Refuses ids of players other than the env ids themselves, of envs that have one player."""
        if not np.array_equal(np.atleast_1d(players), env_id):
            raise EnvIdError(
                f"players.env_id must equal env_id, one player per env; got {shown(players)} for env_id {shown(env_id)}"
            )
        return 0

    cdef int check_keys(self, dict action, str others) except -1:
        """Raises ActionError unless a dict has a key for each action array; `others` says what else it could have."""
        names = self.names()
        unknown, missing = [k for k in action if k not in names], [k for k in names if k not in action]
        if unknown or missing:
            raise ActionError(
                f"action must have the keys {names}{others}; missing are {missing}, unknown are {unknown}"
            )
        return 0

    cdef list names(self):
        """Returns the names of the action arrays."""
        return [(<ActionField>f).name for f in self.fields]
