"""Arrays of what users pass to a rollout or a replay buffer; no value changes on the way."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from envpool._core.casts import CastError, fitted
from envpool._support.text import shown
from envpool.errors import ConfigError, EnvPoolError

Array = npt.NDArray[Any]


def as_array(name: str, value: Any) -> Array:
    """Return an argument as an array, or raise ConfigError."""
    try:
        return np.asarray(value)
    except EnvPoolError:
        raise
    except (TypeError, ValueError, RuntimeError) as error:
        raise ConfigError(f"{name} must convert to a NumPy array, got {shown(value)}: {error}") from error


def as_dtype(name: str, value: Any, dtype: np.dtype[Any]) -> Array:
    """Return an argument as a C-contiguous array of a dtype, or raise ConfigError if a value would change.

    Rounding to a float is allowed. The result may share the memory of the argument.
    """
    array = as_array(name, value)
    try:
        return fitted(array, dtype)
    except CastError as error:
        raise ConfigError(f"{name} must have values that {dtype} holds, got {error}") from None
    except (TypeError, ValueError) as error:  # of objects that are not numbers
        raise ConfigError(f"{name} must have values that {dtype} holds, got {shown(value)}: {error}") from error


def as_mask(name: str, value: Any, length: int) -> npt.NDArray[np.bool_]:
    """Return an argument as a bool array (length,), or raise ConfigError."""
    array = as_array(name, value)
    if array.dtype != np.bool_ or array.shape != (length,):
        raise ConfigError(
            f"{name} must have the dtype bool and the shape ({length},), got {array.dtype} and {array.shape}"
        )
    return array
