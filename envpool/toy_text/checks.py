"""Checks of option values that several toy text environments share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from envpool._support.text import shown
from envpool.errors import ConfigError

FLOAT32_MAX = float(np.finfo(np.float32).max)


def check_reward(name: str, value: Any) -> float:
    """Return a reward as float, or raise ConfigError if float32 cannot hold it."""
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        number = float("nan")
    if isinstance(value, (str, bytes)) or not abs(number) <= FLOAT32_MAX:
        raise ConfigError(f"{name} must be a finite number in the range of float32, got {shown(value)}")
    return number


def check_rewards(name: str, values: Any, meanings: Sequence[str]) -> list[float]:
    """Return one reward for each of `meanings`, or raise ConfigError."""
    if not isinstance(values, (list, tuple)) or len(values) != len(meanings):
        raise ConfigError(
            f"{name} must be a tuple of {len(meanings)} numbers ({', '.join(meanings)}), got {shown(values)}"
        )
    return [
        check_reward(f"{name}[{i}] ({meaning})", v) for i, (meaning, v) in enumerate(zip(meanings, values, strict=True))
    ]
