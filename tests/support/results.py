"""Inspecting the results of a pool: every array of nested tuples, named tuples and dicts."""

import numpy as np


def leaves(nest, path=""):
    """Yield (path, array) for every array of a result."""
    if isinstance(nest, dict):
        for key, value in nest.items():
            yield from leaves(value, f"{path}.{key}")
    elif isinstance(nest, tuple):
        for key, value in zip(getattr(nest, "_fields", range(len(nest))), nest, strict=True):
            yield from leaves(value, f"{path}.{key}")
    else:
        yield path.lstrip("."), nest


def forms(nest):
    """Return {path: (dtype name, shape)} of a result."""
    return {path: (str(a.dtype), a.shape) for path, a in leaves(nest)}


def assert_same(a, b):
    """Assert that two results have the same arrays, bit for bit."""
    a, b = dict(leaves(a)), dict(leaves(b))
    assert list(a) == list(b)
    for path, x in a.items():
        assert (x.dtype, x.shape) == (b[path].dtype, b[path].shape), path
        assert x.tobytes() == b[path].tobytes(), path


def assert_owned(nest, *others):
    """Assert that every array is writable and shares no memory with another result."""
    for path, a in leaves(nest):
        assert type(a) is np.ndarray, path
        assert a.flags.writeable and a.flags.c_contiguous and a.flags.aligned, path
        for other in others:
            for name, b in leaves(other):
                assert not np.shares_memory(a, b), (path, name)
