"""Checks of arrays that the native code of this package reads and writes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from envpool._support.text import shown
from envpool.errors import ConfigError

FLOATS = (np.float32, np.float64)


def checked(
    name: str, value: Any, dtypes: Sequence[Any], shape: Sequence[int | str], *, is_output: bool = False
) -> npt.NDArray[Any]:
    """Return an argument as a C-contiguous NumPy array that shares its memory.

    Parameters
    ----------
    name : str
        Name of the argument.
    value : array_like
        The argument: an array, or anything that NumPy converts, such as a list or a torch tensor on the CPU.
    dtypes : sequence of dtype
        Dtypes that are allowed.
    shape : sequence of int or str
        Lengths that are required; a str names an axis that may have any length.
    is_output : bool
        If True, the array must be writable, and it must be an ndarray.

    Raises
    ------
    TypeError
        The value cannot be converted, or it is an output and not an ndarray.
    ConfigError
        The dtype, the shape or the memory layout is not allowed.
    """
    if is_output and not isinstance(value, np.ndarray):
        raise TypeError(f"{name} must be a numpy.ndarray, got {type(value).__name__}: it is written in place")
    try:
        array = np.asarray(value)
    except (TypeError, ValueError, RuntimeError) as error:
        raise TypeError(
            f"{name} must convert to a NumPy array, got {type(value).__name__} ({error}): pass an array on the CPU"
        ) from error
    allowed = [np.dtype(d) for d in dtypes]
    if array.dtype not in allowed:
        names = " or ".join(d.name for d in allowed)
        raise ConfigError(f"{name} must have the dtype {names}, got {array.dtype}: use .astype(np.{allowed[0].name})")
    if array.ndim != len(shape) or any(
        got != want for got, want in zip(array.shape, shape, strict=True) if not isinstance(want, str)
    ):
        expected = ", ".join(map(str, shape)) + ("," if len(shape) == 1 else "")
        raise ConfigError(f"{name} must have the shape ({expected}), got {array.shape}")
    if not array.flags.c_contiguous:
        way = "pass a contiguous array" if is_output else f"pass np.ascontiguousarray({name})"
        raise ConfigError(f"{name} must be C-contiguous, got the strides {array.strides}: {way}")
    if not array.flags.aligned or not array.dtype.isnative:
        got = "unaligned memory" if array.dtype.isnative else f"the dtype {array.dtype.str}"
        raise ConfigError(f"{name} must be aligned and in native byte order, got {got}: pass a copy of it")
    if is_output and not array.flags.writeable:
        raise ConfigError(f"{name} must be writable, got a read-only array: the result is written into it")
    return array


def outputs(
    names: Sequence[str], out: Any, dtypes: Sequence[Any], shapes: Sequence[Sequence[int]], inputs: Sequence[Any]
) -> list[npt.NDArray[Any]]:
    """Return the arrays for results: fresh ones, or the arrays in the argument `out`.

    Parameters
    ----------
    names : sequence of str
        Names of the results.
    out : tuple of numpy.ndarray, optional
        An array for each result.
    dtypes, shapes : sequence
        Dtype and shape of each result.
    inputs : sequence of numpy.ndarray
        Arrays that are read meanwhile, which `out` must not overlap.

    Raises
    ------
    TypeError, ConfigError
        `out` is not a tuple of such arrays.
    """
    if out is None:
        return [np.empty(shape, dtype) for dtype, shape in zip(dtypes, shapes, strict=True)]
    if not isinstance(out, (tuple, list)) or len(out) != len(names):
        raise TypeError(f"out must be a tuple of the arrays ({', '.join(names)}), got {type(out).__name__}")
    arrays = [
        checked(f"out[{k}] ({name})", array, [dtype], shape, is_output=True)
        for k, (name, array, dtype, shape) in enumerate(zip(names, out, dtypes, shapes, strict=True))
    ]
    for k, array in enumerate(arrays):
        for other in [*inputs, *arrays[:k]]:
            if np.may_share_memory(array, other):
                raise ConfigError(
                    f"out[{k}] ({names[k]}) must not overlap an argument or another output: pass memory of its own"
                )
    return arrays


def number(name: str, value: Any, low: float, high: float) -> float:
    """Return a finite number from low to high as a float.

    Raises
    ------
    TypeError
        The value is not a number.
    ConfigError
        It is out of range, or NaN.
    """
    if isinstance(value, bool) or not isinstance(value, (int, float, np.integer, np.floating)):
        raise TypeError(f"{name} must be a number, got {type(value).__name__}")
    if not low <= value <= high:
        raise ConfigError(f"{name} must be between {low:g} and {high:g}, got {shown(value)}")
    return float(value)


def count(name: str, value: Any, low: int, high: int = 2**31 - 1) -> int:
    """Return an integer from low to high as an int.

    Raises
    ------
    TypeError
        The value is not an integer.
    ConfigError
        It is out of range.
    """
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)):
        raise TypeError(f"{name} must be an int, got {type(value).__name__}")
    if not low <= value <= high:
        raise ConfigError(f"{name} must be between {low} and {high}, got {shown(value)}")
    return int(value)
