"""The checks of ``make_python(..., debug=True)``: observations are in their space; errors name the element."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from gymnasium import spaces

from envpool._support.text import shown
from envpool.python_envs.returned import name


def check_observation(space: Any, value: Any, path: tuple[Any, ...] = ()) -> None:
    """Raise ValueError if an observation is not in the space of its environment.

    Its dtype may differ from that of the space, as in every pool; the values count.

    Parameters
    ----------
    space : gymnasium.spaces.Space
        The space.
    value : object
        The observation.
    path : tuple
        Keys and positions that lead to it, for the text.
    """
    if isinstance(space, spaces.Dict):
        keys = list(value) if isinstance(value, Mapping) else None
        if keys is None or set(keys) != set(space.spaces):
            got = shown(value) if keys is None else f"the keys {shown(keys)}"
            raise ValueError(f"{name(path)} must have the keys {list(space.spaces)} of its space, got {got}")
        for key, inner in space.spaces.items():
            check_observation(inner, value[key], (*path, key))
    elif isinstance(space, spaces.Tuple):
        if not isinstance(value, (tuple, list)) or len(value) != len(space.spaces):
            raise ValueError(f"{name(path)} must be a tuple of {len(space.spaces)} entries, got {shown(value)}")
        for k, inner in enumerate(space.spaces):
            check_observation(inner, value[k], (*path, k))
    elif isinstance(space, spaces.Box):
        check_box(space, np.asarray(value), path)
    else:
        is_array = isinstance(space, (spaces.Discrete, spaces.MultiDiscrete, spaces.MultiBinary))
        if not space.contains(np.asarray(value).astype(space.dtype)[()] if is_array else value):
            raise ValueError(f"{name(path)} must be in {space}, got {shown(value)}: {WAY_OUT}")


def check_box(space: Any, array: np.ndarray[Any, Any], path: tuple[Any, ...]) -> None:
    """Raise ValueError if an array of the shape of a Box has an element outside of its bounds, or NaN."""
    outside = np.argwhere(~((array >= space.low) & (array <= space.high)))
    if len(outside):
        index = tuple(outside[0].tolist())
        element = f", at {index}," if index else ""
        raise ValueError(
            f"{name(path)}{element} must be between {space.low[index]} and {space.high[index]} as its space says, got "
            f"{array[index]}; {len(outside)} of {array.size} elements are outside: {WAY_OUT}"
        )


WAY_OUT = "correct the environment or its observation_space"
