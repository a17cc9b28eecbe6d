"""Moving actions from the user's arrays into the slots of the engine: one packed array per action field, by env id.

Casting happens while copying. A value that an integer field does not allow is refused before anything is sent, except
for an env that resets in this step and ignores its action.
"""

import numpy as np

cimport numpy as cnp
from libc.stdint cimport INT64_MAX, int32_t, int64_t
from libc.string cimport memcpy

from envpool._core.engine cimport Engine, RUNNING
from envpool.errors import ActionError

cnp.import_array()

ctypedef fused from_t:
    int32_t
    int64_t

ctypedef fused to_t:
    int32_t
    int64_t
    cnp.int8_t
    cnp.uint8_t


cdef bint copy_checked(from_t* source, to_t* slots, const int32_t* ids, int32_t n, int64_t items, int64_t low,
                       int64_t high) noexcept:
    """Copies n rows into the slots of their ids (NULL: slots 0 to n-1); False when a value is out of bounds."""
    cdef int64_t i, k, value, bad = 0       # negative as soon as one distance to a bound is
    if ids == NULL:             # a loop that the compiler vectorises
        for i in range(n * items):
            value = source[i]
            bad |= (value - low) | (high - value)
            slots[i] = <to_t>value
        return bad >= 0
    for i in range(n):
        for k in range(items):
            value = source[i * items + k]
            bad |= (value - low) | (high - value)
            slots[ids[i] * items + k] = <to_t>value
    return bad >= 0


cdef bint dispatch(from_t* source, void* slots, int64_t itemsize, bint is_signed, const int32_t* ids, int32_t n,
                   int64_t items, int64_t low, int64_t high) noexcept:
    if itemsize == 4:
        return copy_checked(source, <int32_t*>slots, ids, n, items, low, high)
    if itemsize == 8:
        return copy_checked(source, <int64_t*>slots, ids, n, items, low, high)
    if is_signed:
        return copy_checked(source, <cnp.int8_t*>slots, ids, n, items, low, high)
    return copy_checked(source, <cnp.uint8_t*>slots, ids, n, items, low, high)


cdef class ActionField:
    """One action array.

    Parameters
    ----------
    field : Field
        Its entry in the env's action table.
    """

    def __init__(self, field):
        self.name = field.name
        self.dtype = field.dtype
        self.typenum = field.dtype.num
        self.shape = tuple(s for s in field.shape if s != -1)
        self.ndim = len(self.shape)
        self.itemsize = field.dtype.itemsize
        self.is_signed = field.dtype.kind == "i"
        self.items = int(np.prod(self.shape, dtype=np.int64))
        self.is_checked = field.dtype.kind in "iu" and field.low is not None and field.high is not None
        if self.is_checked:
            # Within a quarter of the range of int64, so that a distance to a bound cannot overflow unnoticed.
            self.low, self.high = max(int(np.min(field.low)), -(2**62)), min(int(np.max(field.high)), 2**62)
            if np.ndim(field.low) or np.ndim(field.high):
                self.lows = np.broadcast_to(np.reshape(field.low, np.shape(field.low) and self.shape), self.shape)
                self.highs = np.broadcast_to(np.reshape(field.high, np.shape(field.high) and self.shape), self.shape)

    cdef int load(self, Engine* e, int index, object action, const int32_t* ids, int32_t n, bint cast) except -1:
        """Copies an action for ids[i] (n) into the slots. cast: take any dtype that can hold such a value."""
        cdef cnp.ndarray a
        cdef int64_t i, size
        cdef char* slots
        cdef char* source
        if not cnp.PyArray_CheckExact(action):
            action = np.asarray(action)
        a = <cnp.ndarray>action
        if (cnp.PyArray_NDIM(a) != 1 + self.ndim or cnp.PyArray_DIMS(a)[0] != n
                or (self.ndim and action.shape[1:] != self.shape)):
            raise ActionError(
                f"action {self.name!r} has shape {action.shape}, expected {(n, *self.shape)}: one row for each of the "
                f"{n} env ids"
            )
        if not cast and action.dtype != self.dtype:
            raise ActionError(
                f"action {self.name!r} in a dict has dtype {action.dtype}, expected exactly {self.dtype}: use "
                f".astype(np.{self.dtype})"
            )
        if self.is_checked:
            return self.load_checked(e, index, a, ids, n)
        if cnp.PyArray_TYPE(a) != self.typenum or not cnp.PyArray_ISCARRAY_RO(a):
            if action.dtype.kind not in "biuf":
                raise ActionError(
                    f"action {self.name!r} has dtype {action.dtype}, expected {self.dtype} or what casts to it"
                )
            a = np.ascontiguousarray(action, self.dtype)
        slots = <char*>e.actions[index]
        source = <char*>cnp.PyArray_DATA(a)
        size = e.action_bytes[index]
        if ids == e.all_ids:
            memcpy(slots, source, n * size)
        else:
            for i in range(n):
                memcpy(slots + ids[i] * size, source + i * size, size)
        return 0

    cdef int load_checked(self, Engine* e, int index, cnp.ndarray action, const int32_t* ids, int32_t n) except -1:
        cdef cnp.ndarray a = action
        cdef const int32_t* to = ids
        cdef bint fine
        if ids == e.all_ids:
            to = NULL
        if not (cnp.PyArray_ISCARRAY_RO(a) and cnp.PyArray_TYPE(a) in (cnp.NPY_INT64, cnp.NPY_INT32)):
            a = self.to_int64(action)
        if cnp.PyArray_TYPE(a) == cnp.NPY_INT32:
            fine = dispatch(<int32_t*>cnp.PyArray_DATA(a), e.actions[index], self.itemsize, self.is_signed, to, n,
                            self.items, self.low, self.high)
        else:
            fine = dispatch(<int64_t*>cnp.PyArray_DATA(a), e.actions[index], self.itemsize, self.is_signed, to, n,
                            self.items, self.low, self.high)
        if self.lows is not None:
            fine = fine and bool(((a >= self.lows) & (a <= self.highs)).all())
        if not fine:
            self.refuse(e, index, a, ids, n)
        return 0

    def to_int64(self, action):
        """Integers as int64, whole floats too; anything else is refused."""
        kind = action.dtype.kind
        if kind == "f":
            whole = (np.rint(action) == action) & (np.abs(action).astype(np.float64) < 2.0**62)
            if not whole.all():
                raise ActionError(
                    f"action {self.name!r} must hold integers from {self.low} to {self.high}, got {action[~whole][0]} "
                    f"(dtype {action.dtype})"
                )
        elif kind not in "biu":
            raise ActionError(
                f"action {self.name!r} has dtype {action.dtype}, expected {self.dtype} or another integer"
            )
        elif action.dtype == np.uint64:
            action = np.minimum(action, np.uint64(INT64_MAX))
        return np.ascontiguousarray(action, np.int64)

    cdef int refuse(self, Engine* e, int index, cnp.ndarray values, const int32_t* ids, int32_t n) except -1:
        """Sets bad rows to the lowest value, and raises for the first one whose env would look at its action."""
        lows = self.low if self.lows is None else self.lows
        highs = self.high if self.highs is None else self.highs
        low_row = np.full(self.shape, lows, self.dtype).tobytes()
        cdef const char* lowest = low_row
        cdef int i
        bad = ((values < lows) | (values > highs)).reshape(n, -1).any(axis=1)
        for i in np.flatnonzero(bad):       # a slot never keeps what its env does not allow
            memcpy(<char*>e.actions[index] + ids[i] * e.action_bytes[index], lowest, e.action_bytes[index])
        for i in np.flatnonzero(bad):
            if e.reset[ids[i]] == RUNNING:
                raise ActionError(
                    f"action {self.name!r} of env {ids[i]} (row {i}) is {values[i]}, allowed are integers from "
                    f"{np.asarray(lows).tolist()} to {np.asarray(highs).tolist()}; nothing was sent"
                )
        return 0


cdef class ActionTable:
    """All action arrays of an env.

    Parameters
    ----------
    fields : sequence of Field
        The env's action table.
    """

    def __init__(self, fields):
        self.fields = tuple(ActionField(f) for f in fields)

    cdef int load(self, Engine* e, object action, const int32_t* ids, int32_t n) except -1:
        """Copies actions for ids[i] (n) into the slots; an array if there is one field, else a dict by field name."""
        cdef int i
        if not isinstance(action, dict):
            if len(self.fields) != 1:
                raise ActionError(f"action must be a dict with the keys {self.names()}, got {type(action).__name__}")
            return (<ActionField>self.fields[0]).load(e, 0, action, ids, n, True)
        unknown = [k for k in action if k not in self.names()]
        missing = [k for k in self.names() if k not in action]
        if unknown or missing:
            raise ActionError(
                f"action dict needs the keys {self.names()}; missing are {missing}, unknown are {unknown}"
            )
        for i in range(len(self.fields)):
            (<ActionField>self.fields[i]).load(e, i, action[(<ActionField>self.fields[i]).name], ids, n, False)
        return 0

    def names(self):
        return [(<ActionField>f).name for f in self.fields]
