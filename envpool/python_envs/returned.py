"""Results of the calls of Python environments: their structure and its errors."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from envpool._support.text import shown

RESET = ("obs", "info")
STEP = ("obs", "reward", "terminated", "truncated", "info")
OLD_STEP = ("obs", "reward", "done", "info")
RESET_OF_AGENTS = ("obs", "infos")
STEP_OF_AGENTS = ("obs", "rewards", "terminations", "truncations", "infos")


def values_of(call: str, out: Any, *forms: tuple[str, ...]) -> tuple[Any, ...]:
    """Return the values that ``reset`` or ``step`` returned, or raise TypeError if no form has as many names."""
    if isinstance(out, Iterable) and not isinstance(out, (str, bytes, Mapping, np.ndarray)):
        values = tuple(out)
        if any(len(values) == len(names) for names in forms):
            return values
        out = values
    got = f"{len(out)} values" if isinstance(out, tuple) else shown(out)
    expected = " or ".join(f"({', '.join(names)})" for names in forms)
    raise TypeError(f"{call}() must return {expected}, got {got}")


def dicts_of(call: str, out: Any, names: tuple[str, ...]) -> tuple[Any, ...]:
    """Return the dicts by agent that ``reset`` or ``step`` of PettingZoo returned, or raise TypeError."""
    values = values_of(call, out, names)
    for name, value in zip(names, values, strict=True):
        if not isinstance(value, Mapping):
            raise TypeError(f"the {name} of {call}() must be a dict by agent, got {shown(value)}")
    return values


def entry_of(name: str, values: Mapping[Any, Any], agent: Any, has_acted: bool) -> Any:
    """Return the entry of an agent in a dict of a step; an agent that has not acted may have none, which is zero."""
    try:
        return values[agent] if has_acted else values.get(agent, 0)
    except KeyError:
        raise ValueError(
            f"the {name} of step() must have each agent that has acted, got none of {shown(agent)}"
        ) from None


def flag_of(name: str, value: Any, agent: Any = None) -> bool:
    """Return whether an episode has ended, or raise TypeError for what equals neither True nor False, such as NaN."""
    cause = None
    try:
        for flag in (False, True):  # also 0, 1, and arrays of one element
            if value == flag:
                return flag
    except Exception as error:  # such as an array of several elements
        cause = error
    whose = "" if agent is None else f" of agent {shown(agent)}"
    raise TypeError(f"{name}{whose} must be True or False, got {shown(value)}") from cause


def time_step_of(call: str, out: Any) -> Any:
    """Return what ``reset`` or ``step`` of dm_env returned, or raise TypeError if it is not a TimeStep."""
    if not hasattr(out, "observation") or not hasattr(out, "last"):
        raise TypeError(f"{call}() must return a dm_env.TimeStep, got {shown(out)}")
    return out


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
    """Return the name of a part of an observation in texts."""
    return "the observation" + "".join(f"[{key!r}]" for key in path)
