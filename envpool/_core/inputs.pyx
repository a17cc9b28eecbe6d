"""Converting arguments of the user's to arrays and numbers. Any of these functions may run code of the user's."""

import operator

import numpy as np

from libc.stdint cimport int64_t

from envpool._support.text import shown
from envpool.errors import ActionError, ConfigError


cdef object as_array(str name, object values):
    """Converts an action to an array, without checking its dtype and shape."""
    try:
        return np.asarray(values)
    except (TypeError, ValueError) as error:
        raise ActionError(f"action {shown(name)} must be an array, got {shown(values)}: {error}") from error


cdef int64_t as_count(str name, object value, int64_t most) except -1:
    """Converts a number of envs."""
    try:
        count = operator.index(None if isinstance(value, (bool, np.bool_)) else value)
    except TypeError:
        raise TypeError(f"{name} must be an integer, got {shown(value)}") from None
    if not 0 <= count <= most:
        raise ConfigError(f"{name} is {shown(count)}, allowed are 0 to {most}, the number of envs")
    return count


cdef int64_t as_nanoseconds(str name, object value) except -2:
    """Converts a time in seconds to nanoseconds; -1 stands for no limit."""
    try:
        seconds = float(None if isinstance(value, (bool, str, bytes)) else value)
    except TypeError:
        raise TypeError(f"{name} must be a number of seconds, got {shown(value)}") from None
    if not seconds >= 0:
        raise ConfigError(f"{name} is {seconds} seconds, allowed are 0 and more")
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
            raise ConfigError(f"seeds[{i}] is {shown(seed)}, allowed are 0 to 2**64 - 1")
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
