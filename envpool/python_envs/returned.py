"""What the calls of Python environments return: its structure, and what is wrong with it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from envpool._support.text import shown

RESET = ("obs", "info")
STEP = ("obs", "reward", "terminated", "truncated", "info")


def values_of(call: str, out: Any, names: tuple[str, ...]) -> tuple[Any, ...]:
    """Return the values that ``reset`` or ``step`` returned, or raise TypeError if there are not as many as names."""
    if isinstance(out, Iterable) and not isinstance(out, (str, bytes, Mapping, np.ndarray)):
        values = tuple(out)
        if len(values) == len(names):
            return values
        out = values
    got = f"{len(out)} values" if isinstance(out, tuple) else shown(out)
    raise TypeError(f"{call}() must return ({', '.join(names)}), got {got}")


def part_of(obs: Any, path: tuple[Any, ...]) -> Any:
    """Return the part of an observation to which keys and positions lead, or raise TypeError if there is none."""
    value = obs
    for k, key in enumerate(path):
        try:
            value = value[key]
        except Exception as error:
            got = f"the keys {shown(list(value))}" if isinstance(value, Mapping) else shown(value)
            raise TypeError(
                f"{name(path[:k])} must have the entry {key!r}, as the observation_space says, got {got}"
            ) from error
    return value


def name(path: tuple[Any, ...]) -> str:
    """Return what the part of an observation is called in a text."""
    return "the observation" + "".join(f"[{key!r}]" for key in path)
