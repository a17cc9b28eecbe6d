"""Options that contain failures of environments: ``on_error`` and ``step_timeout``."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from envpool.error_texts import shown
from envpool.errors import ConfigError

#: What a pool does if an environment fails.
ON_ERROR = ("raise", "restart")

#: The largest step_timeout, in seconds: about thirty years.
MOST_SECONDS = 1e9


def check_on_error(value: str) -> None:
    """Raise ConfigError if there is no such value of the option on_error."""
    if value not in ON_ERROR:
        raise ConfigError(f"on_error must be 'raise' or 'restart', got {shown(value)}")


def check_timeout(name: str, value: Any) -> float | None:
    """Return a timeout in seconds as a float, None for no timeout; or raise ConfigError or TypeError."""
    if value is None:
        return None
    try:
        seconds = float(None if isinstance(value, (bool, np.bool_, str, bytes)) else value)  # type: ignore[arg-type]
    except OverflowError:
        seconds = math.inf
    except (TypeError, ValueError):
        raise TypeError(f"{name} must be a number of seconds, or None for no timeout, got {shown(value)}") from None
    if not 0 < seconds <= MOST_SECONDS or math.isnan(seconds):
        raise ConfigError(
            f"{name} must be greater than 0 and at most {MOST_SECONDS:g} seconds, or None for no timeout, got "
            f"{shown(value)}"
        )
    return seconds


def nanoseconds(seconds: float | None) -> int:
    """Return a timeout in nanoseconds, at least 1; 0 for no timeout."""
    return 0 if seconds is None else max(round(seconds * 1e9), 1)
