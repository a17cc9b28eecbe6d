"""Casts that keep every value, for what users and their environments hand over in another dtype than is declared."""

import numpy as np

cimport numpy as cnp

from envpool._support.text import shown
from envpool.errors import ActionError, EnvPoolError

cnp.import_array()


class CastError(EnvPoolError, ValueError):
    """A value that another dtype cannot hold; the text names the value and both dtypes."""


cpdef cnp.ndarray fitted(object values, cnp.dtype dtype):
    """Returns values as a C-contiguous array of a dtype, a fresh one unless they are such an array already.

    Rounding to a float is allowed. Raises CastError if a value would change otherwise: an integer that is out of range,
    a fraction or NaN that would become an integer, a number that would become infinite, an imaginary part, a text.
    """
    cdef cnp.ndarray given = values if cnp.PyArray_CheckExact(values) else np.asarray(values)
    cdef cnp.ndarray out
    if cnp.PyArray_TYPE(given) == cnp.NPY_FLOAT64 and dtype.num == cnp.NPY_FLOAT32 and cnp.PyArray_ISCARRAY_RO(given):
        out = narrowed(given)
        if out is not None:
            return out
    elif given.dtype == dtype:
        return np.asarray(given, dtype, order="C")
    return checked(given, dtype)


cdef cnp.ndarray narrowed(cnp.ndarray given):
    """Returns float64 as float32; None if a finite number would become infinite."""
    cdef cnp.ndarray out = cnp.PyArray_EMPTY(given.ndim, cnp.PyArray_DIMS(given), cnp.NPY_FLOAT32, 0)
    cdef const double* wide = <const double*>cnp.PyArray_DATA(given)
    cdef float* narrow = <float*>cnp.PyArray_DATA(out)
    cdef Py_ssize_t i
    cdef int bad = 0
    for i in range(cnp.PyArray_SIZE(given)):
        narrow[i] = <float>wide[i]
        bad |= (narrow[i] - narrow[i] != 0) & (wide[i] - wide[i] == 0)      # x - x is NaN unless x is finite
    return None if bad else out


cdef cnp.ndarray checked(cnp.ndarray given, cnp.dtype dtype):
    """See fitted()."""
    if given.dtype.kind not in "biufcO" or (given.dtype.kind == "O" and has_text(given)):
        raise CastError(f"{shown(given[()])} of dtype {given.dtype}, which is not a number")
    is_float = dtype.kind in "fc"
    real = given.real if given.dtype.kind == "c" and dtype.kind != "c" else given
    try:
        with np.errstate(over="ignore", invalid="ignore"):
            out = np.asarray(real, dtype, order="C")
    except OverflowError:               # of an int that is an object, since it is larger than any integer of NumPy
        raise CastError(f"{shown(given[()])} of dtype {given.dtype}, which {dtype} cannot hold") from None
    kept = given.imag == 0 if real is not given else np.True_
    if given.dtype.kind == "O":
        kept = (np.isfinite(out) | is_not_finite(given)) if is_float else np.asarray(out == given, np.bool_)
    elif is_float:
        kept = kept & (np.isfinite(out) | ~np.isfinite(real))
    elif real.dtype.kind == "f":
        exact = real if real.dtype.itemsize >= 8 else real.astype(np.float64)
        low, high = limits_of(dtype)
        kept = kept & (np.rint(exact) == exact) & (exact >= float(low)) & (exact < float(high) + 1)
    elif real.dtype.kind != "b":
        low, high = limits_of(dtype)
        own_low, own_high = limits_of(real.dtype)
        kept = kept & (real >= max(low, own_low)) & (real <= min(high, own_high))
    kept = np.broadcast_to(kept, np.shape(given))
    if not kept.all():
        raise CastError(f"{given[~kept][0]} of dtype {given.dtype}, which {dtype} cannot hold")
    return out


cdef object is_not_finite(cnp.ndarray given):
    """Returns which objects are NaN or infinite; None, which NumPy makes NaN, is not a number."""
    found = [isinstance(value, (float, np.floating)) and not np.isfinite(value) for value in given.flat]
    return np.reshape(np.array(found, np.bool_), np.shape(given))


cdef bint has_text(cnp.ndarray given):
    for value in given.flat:
        if isinstance(value, (str, bytes)):
            return True
    return False


cdef tuple limits_of(dtype):
    """Returns the smallest and the largest value of a dtype of integers or bools."""
    if dtype.kind == "b":
        return 0, 1
    return int(np.iinfo(dtype).min), int(np.iinfo(dtype).max)


def as_action(str name, object values, cnp.dtype dtype):
    """Return an action in the dtype of its space.

    Parameters
    ----------
    name : str
        Name of the action array.
    values : array_like
        The action, of any shape.
    dtype : numpy.dtype
        The dtype of the array.

    Raises
    ------
    ActionError
        A value is not a number, or the dtype cannot hold it.
    """
    try:
        return fitted(values, dtype)
    except CastError as error:
        raise ActionError(f"action {name!r} contains {error}; nothing was sent") from None
    except (TypeError, ValueError) as error:
        raise ActionError(f"action {name!r} must be an array, got {shown(values)}: {error}") from error
