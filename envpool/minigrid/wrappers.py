"""Options that stand for upstream's wrappers of rewards, seeds and the direction of the goal, as tables for levels."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from envpool._support.text import shown
from envpool.config.checks import check_choice, check_seed
from envpool.errors import ConfigError

#: Values of the option `bonus`, in the order of the enum Bonus, and upstream's wrappers.
BONUSES = {"": "", "position": "PositionBonus", "action": "ActionBonus"}
#: Values of the option `goal_direction`, and the bound of what they return.
DIRECTIONS = {"": 0.0, "slope": np.inf, "angle": np.pi / 2, "angle_atan2": np.pi}


def seed_table(seeds: Any) -> npt.NDArray[np.uint64]:
    """Return the option `reset_seeds` as an array, or raise ConfigError or TypeError."""
    if not isinstance(seeds, (list, tuple)):
        raise TypeError(f"reset_seeds must be a tuple or a list of integers, () for none, got {shown(seeds)}")
    return np.array([check_seed(f"reset_seeds[{i}]", seed) for i, seed in enumerate(seeds)], np.uint64)


def direction(kind: str, dx: int, dy: int) -> float:
    """Return the direction to a goal that is dx columns and dy rows away, as DirectionObsWrapper returns it."""
    if dx == 0 and dy == 0:
        return 0.0
    if kind == "angle_atan2":
        return float(np.arctan2(dy, dx))
    slope = float(np.copysign(np.inf, dy)) if dx == 0 else dy / dx
    return float(np.arctan(slope)) if kind == "angle" else slope


def direction_table(kind: str, width: int, height: int) -> npt.NDArray[np.float64]:
    """Return the directions for every difference of rows and columns in a grid; none if `kind` is empty."""
    if not kind:
        return np.zeros(0)
    rows, columns = range(1 - height, height), range(1 - width, width)
    return np.array([direction(kind, dx, dy) for dy in rows for dx in columns])


def check_direction(config: Any, form: str) -> str:
    """Return the option `goal_direction`, or raise ConfigError; `form` is the form of observations."""
    kind: str = config.goal_direction
    check_choice("goal_direction", kind, DIRECTIONS)
    if kind and form == "flat":
        raise ConfigError(
            f"goal_direction={shown(kind)} adds an array to dict observations, and observation='flat' has no dict: "
            "leave out one of them"
        )
    return kind
