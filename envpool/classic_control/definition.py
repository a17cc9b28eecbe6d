"""Shared parts of the definitions of classic control environments."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from envpool.errors import ConfigError
from envpool.native import EnvDefinition, Param


class WithBounds(EnvDefinition):
    """An environment whose options of resets are the bounds between which the first state of an episode is drawn."""

    continues_after_end = True

    @staticmethod
    def check_reset_options(config: Any, values: Mapping[str, Any]) -> None:
        """Raise ConfigError unless ``low`` is at most ``high``, and their difference is finite."""
        low, high = np.broadcast_arrays(values["low"], values["high"])
        for least, most in zip(low.tolist(), high.tolist(), strict=True):
            if least > most:
                raise ConfigError(f"options['low'] must be at most options['high'], got {least} and {most}")
            if not np.isfinite(most - least):
                raise ConfigError(
                    f"options['high'] - options['low'] must be finite, got {most} and {least}: choose closer bounds"
                )


def reset_bounds(low: float, high: float, what: str, unit: str = "") -> dict[str, Param]:
    """Return the options ``low`` and ``high`` with their defaults, for `what` is drawn between them."""
    return {
        "low": Param(low, unit=unit, text=f"lower bound of {what}"),
        "high": Param(high, unit=unit, text=f"upper bound of {what}"),
    }


def table_values(definition: type[EnvDefinition], config: Any) -> list[Any]:
    """Return the parameters and the defaults of the options of resets, in the order of their table."""
    options = [option.default for option in definition.reset_options.values()]
    return [getattr(config, name) for name in definition.params] + options


def check_square(height: int, width: int) -> None:
    """Raise ConfigError unless the frame is square, since upstream draws only square frames of this environment."""
    if height != width:
        raise ConfigError(
            f"frames of this task must be square, got render_width={width} and render_height={height}: pass the same "
            "number for both"
        )
