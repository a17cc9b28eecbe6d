"""Comparison of arrays by their bits."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from envpool.errors import EnvPoolError


class MismatchError(EnvPoolError, AssertionError):
    """Two results cannot be compared: an array is missing, or its shape or type differs."""


def bits_apart(expected: npt.NDArray[Any], actual: npt.NDArray[Any]) -> npt.NDArray[np.int64]:
    """Count the differing bits of each element; integers and bools by value, any NaN equals any NaN.

    Returns
    -------
    numpy.ndarray
        int64, shape of the arguments.

    Raises
    ------
    MismatchError
        The shapes differ, or the types: floats must have the same width.
    """
    if expected.shape != actual.shape:
        raise MismatchError(f"shapes {expected.shape} and {actual.shape}")
    if expected.dtype.kind in "biu" and actual.dtype.kind in "biu":
        bits = expected.astype(np.int64).view(np.uint64) ^ actual.astype(np.int64).view(np.uint64)
        return np.asarray(np.bitwise_count(bits), np.int64)
    if expected.dtype.kind != "f" or expected.dtype != actual.dtype:
        raise MismatchError(f"types {expected.dtype} and {actual.dtype}")
    unsigned = np.dtype(f"u{expected.dtype.itemsize}")
    bits = np.asarray(expected, order="C").view(unsigned) ^ np.asarray(actual, order="C").view(unsigned)
    count = np.array(np.bitwise_count(bits), np.int64)
    count[np.isnan(expected) & np.isnan(actual)] = 0
    return count
