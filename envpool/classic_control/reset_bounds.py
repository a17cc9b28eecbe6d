"""The options of resets that set the bounds between which the first state of an episode is drawn."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from envpool.errors import ConfigError
from envpool.native import Param


def reset_bounds(low: float, high: float, what: str, unit: str = "") -> dict[str, Param]:
    """Return the options ``low`` and ``high`` with their defaults, for `what` is drawn between them."""
    return {
        "low": Param(low, unit=unit, text=f"lower bound of {what}"),
        "high": Param(high, unit=unit, text=f"upper bound of {what}"),
    }


def check_bounds(values: Mapping[str, Any]) -> None:
    """Raise ConfigError unless ``low`` is at most ``high``, and their difference is finite."""
    low, high = np.broadcast_arrays(values["low"], values["high"])
    for least, most in zip(low.tolist(), high.tolist(), strict=True):
        if least > most:
            raise ConfigError(f"options['low'] must be at most options['high'], got {least} and {most}")
        if not np.isfinite(most - least):
            raise ConfigError(
                f"options['high'] - options['low'] must be finite, got {most} and {least}: choose closer bounds"
            )
