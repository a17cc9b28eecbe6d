"""Turning what a user passes into arrays, before the pool is looked at: that may run any code of the user's."""

import operator

import numpy as np

cimport numpy as cnp
from libc.stdint cimport int64_t

from envpool.errors import ActionError, ConfigError, EnvIdError

cnp.import_array()


cdef object as_array(str name, object values):
    """An action as an array, whose dtype and shape are yet to be checked."""
    try:
        return np.asarray(values)
    except (TypeError, ValueError) as error:
        raise ActionError(f"action {name!r} must be an array, got {values!r}: {error}") from error


cpdef object as_ids(env_id, str name="env_id"):
    """Env ids as a 1-D array of integers, whose values are yet to be checked; None stays None."""
    cdef cnp.ndarray a
    try:
        if env_id is None:
            return None
        a = env_id if cnp.PyArray_CheckExact(env_id) else np.asarray(env_id)
    except (TypeError, ValueError) as error:
        raise EnvIdError(f"{name} must be a 1-D array of integers, got {env_id!r}: {error}") from error
    if cnp.PyArray_NDIM(a) == 0:
        a = a.reshape(1)
    if cnp.PyArray_NDIM(a) != 1 or (not cnp.PyArray_ISINTEGER(a) and a.size):
        raise EnvIdError(f"{name} must be a 1-D array of integers, got shape {np.shape(a)} and dtype {a.dtype}")
    return a


cdef int64_t as_count(str name, object value, int64_t most) except -1:
    """A number of envs."""
    try:
        count = operator.index(None if isinstance(value, (bool, np.bool_)) else value)
    except TypeError:
        raise TypeError(f"{name} must be an integer, got {value!r}") from None
    if not 0 <= count <= most:
        raise ConfigError(f"{name} is {count}, allowed are 0 to {most}, the number of envs")
    return count


cdef int64_t as_nanoseconds(str name, object value) except -2:
    """A time in seconds as nanoseconds; -1 for one without end."""
    try:
        seconds = float(None if isinstance(value, (bool, str, bytes)) else value)
    except TypeError:
        raise TypeError(f"{name} must be a number of seconds, got {value!r}") from None
    if not seconds >= 0:
        raise ConfigError(f"{name} is {seconds} seconds, allowed are 0 and more")
    return <int64_t>(seconds * 1e9) if seconds < 1e9 else -1


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
