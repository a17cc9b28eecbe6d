"""Checks of the options of transforms. Each returns the value in its normal form, or raises an error."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from envpool._support.text import shown
from envpool.errors import ConfigError

#: Parameters of normalisation and their defaults, those of gymnasium's wrappers.
OBS_PARAMETERS = {"epsilon": 1e-8}
REWARD_PARAMETERS = {"gamma": 0.99, "epsilon": 1e-8}


def check_time(name: str, value: Any) -> Any:
    """Return True, False or "normalized"."""
    if isinstance(value, str) and value == "normalized":
        return value
    if isinstance(value, (bool, np.bool_)):
        return bool(value)
    raise ConfigError(
        f"{name} must be True (append the elapsed steps), 'normalized' (append their fraction of max_episode_steps) or "
        f"False, got {shown(value)}"
    )


def as_float(name: str, number: Any, value: Any, expected: str) -> float:
    """Return a number that is an option or a part of its value as a float."""
    if isinstance(number, (bool, np.bool_, str, bytes)) or (isinstance(number, np.ndarray) and number.ndim):
        raise TypeError(f"{name} must be {expected}, got {shown(value)}")
    try:
        return float(number)
    except OverflowError:  # of an int that is not in the range of float64
        raise ConfigError(f"{name} must be in the range of float64, got {shown(value)}") from None
    except (TypeError, ValueError):
        raise TypeError(f"{name} must be {expected}, got {shown(value)}") from None


def check_number(name: str, value: Any) -> float:
    """Return a finite float."""
    number = as_float(name, value, value, "a number")
    if not np.isfinite(number):
        raise ConfigError(f"{name} must be finite, got {shown(value)}")
    return number


def check_scale(name: str, value: Any) -> float:
    """Return the factor of rewards."""
    number = check_number(name, value)
    if not fits_float32(number):
        raise ConfigError(f"{name} must be a number that float32 can hold, got {shown(value)}")
    return number


def fits_float32(number: float) -> bool:
    """Return whether a number is zero, infinite, or in the range of float32."""
    limits = np.finfo(np.float32)
    return number in (0, -np.inf, np.inf) or float(limits.smallest_subnormal) <= abs(number) <= float(limits.max)


def check_bounds(name: str, value: Any) -> tuple[float, float] | None:
    """Return the pair of bounds that a positive number or a pair stands for; None for None."""
    if value is None:
        return None
    try:
        shape = np.shape(value)
    except ValueError:  # of sequences of different lengths
        shape = (0,)
    if shape not in ((), (2,)):
        raise ConfigError(f"{name} must be a positive number c, for (-c, c), or a pair (low, high), got {shown(value)}")
    ends = [as_float(name, end, value, "a number or a pair of numbers") for end in (value if shape else (value,))]
    pair = ends if shape else [-ends[0], ends[0]]
    if not pair[0] < pair[1]:  # also for NaN
        raise ConfigError(
            f"{name} must be a positive number c, for (-c, c), or a pair with low < high, got {shown(value)}"
        )
    if not all(map(fits_float32, pair)) or np.float32(pair[0]) == np.float32(pair[1]):
        raise ConfigError(f"{name} must have bounds that float32 can hold and tell apart, got {shown(value)}")
    return pair[0], pair[1]


def check_reward_bounds(name: str, value: Any) -> tuple[float, float] | None:
    """Return the pair of bounds of rewards; True stands for (-1, 1), and False and None for no bounds."""
    if isinstance(value, (bool, np.bool_)):
        return (-1.0, 1.0) if value else None
    return check_bounds(name, value)


def check_normalization(name: str, value: Any) -> Any:
    """Return False, True, or a dict of checked parameters; True for an empty dict, as both stand for the defaults."""
    known = REWARD_PARAMETERS if name == "normalize_reward" else OBS_PARAMETERS
    if isinstance(value, (bool, np.bool_)):
        return bool(value)
    if not isinstance(value, Mapping):
        raise TypeError(f"{name} must be True, False, or a dict with {' and '.join(known)}, got {shown(value)}")
    unknown = [key for key in value if key not in known]
    if unknown:
        raise ConfigError(f"{name} has no parameter {unknown[0]!r}; its parameters are {', '.join(known)}")
    checked = {key: check_number(f"{name}[{shown(key)}]", number) for key, number in value.items()}
    if checked.get("epsilon", 1) <= 0:
        raise ConfigError(f"{name}['epsilon'] must be positive, got {checked['epsilon']}")
    if not 0 <= checked.get("gamma", 1) <= 1:
        raise ConfigError(f"{name}['gamma'] must be between 0 and 1, got {checked['gamma']}")
    return checked or True


def check_rescaling(name: str, value: Any) -> Any:
    """Return a pair of floats or of nested lists of floats; None for None."""
    if value is None:
        return None
    if value is True:
        return -1.0, 1.0
    if not isinstance(value, (tuple, list)) or len(value) != 2:
        raise ConfigError(f"{name} must be a pair (low, high), True for (-1, 1), or None, got {shown(value)}")
    try:
        low, high = (np.asarray(bound, np.float64) for bound in value)
    except OverflowError:
        raise ConfigError(f"{name} must be in the range of float64, got {shown(value)}") from None
    except (TypeError, ValueError):
        raise TypeError(f"{name} must be a pair of numbers or of arrays, got {shown(value)}") from None
    if not (np.isfinite(low).all() and np.isfinite(high).all()):
        raise ConfigError(f"{name} must have finite bounds, got {shown(value)}")
    try:
        is_ordered = bool(np.all(low < high))
    except ValueError:
        is_ordered = False
    if not is_ordered:
        raise ConfigError(f"{name} must have low < high for every element of an action, got {shown(value)}")
    return low.tolist(), high.tolist()
