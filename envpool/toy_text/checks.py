"""Checks of option values that several toy text envs have."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from envpool.errors import ConfigError

FLOAT32_MAX = float(np.finfo(np.float32).max)


def check_probability(name: str, value: float) -> float:
    """Return a number in [0, 1], or raise ConfigError."""
    if not 0.0 <= value <= 1.0:
        raise ConfigError(f"{name} is {value}, allowed are probabilities from 0 to 1")
    return value


def check_reward(name: str, value: Any) -> float:
    """Return a reward that float32 can hold, or raise ConfigError."""
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        number = float("nan")
    if isinstance(value, (str, bytes)) or not abs(number) <= FLOAT32_MAX:
        raise ConfigError(f"{name} is {value!r}, allowed are finite numbers in the range of float32")
    return number


def check_rewards(name: str, values: Any, meanings: Sequence[str]) -> list[float]:
    """Return one reward for each of `meanings`, or raise ConfigError."""
    if not isinstance(values, (list, tuple)) or len(values) != len(meanings):
        raise ConfigError(
            f"{name} is {values!r}, allowed is a tuple of {len(meanings)} numbers: ({', '.join(meanings)})"
        )
    return [
        check_reward(f"{name}[{i}] ({meaning})", v) for i, (meaning, v) in enumerate(zip(meanings, values, strict=True))
    ]
