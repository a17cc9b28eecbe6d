"""The option of resets ``initial_state_dict`` of the Adroit hand: the state in which an episode begins."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np

from envpool._support.text import shown
from envpool.config.checks import is_sequence
from envpool.errors import ConfigError
from envpool.native import Param

NAME = "initial_state_dict"
#: Entries of what upstream's ``get_env_state()`` returns that its ``set_env_state()`` does not use.
UNUSED = ("hand_qpos", "palm_pos", "target_pos")


def state_option(sizes: Mapping[str, int]) -> dict[str, Param]:
    """Return the options of resets of a task.

    Parameters
    ----------
    sizes : mapping of str to int
        Number of elements of each entry of the state, in the order of the parameter: 1 if there is a state, and the
        entries. qpos and qvel come first.
    """
    keys = ", ".join(sizes)
    return {
        NAME: Param(
            np.zeros(1 + sum(sizes.values())),
            text=f"state in which the episode begins, a dict with {keys}, as upstream's get_env_state() returns it",
            convert=partial(flat_state, dict(sizes)),
        )
    }


def flat_state(sizes: Mapping[str, int], state: Any) -> Any:
    """Return a state, or one state for each environment, as float64 (..., 1 + elements).

    Parameters
    ----------
    sizes : mapping of str to int
        See `state_option`.
    state : dict or sequence of dict
        The state; in a dict, entries may have one row for each environment.

    Raises
    ------
    ConfigError, TypeError
        Entries are missing or unknown, or have a wrong type or shape.
    """
    if isinstance(state, Mapping):
        missing = [key for key in sizes if key not in state]
        unknown = [key for key in state if key not in sizes and key not in UNUSED]
        if missing or unknown:
            raise ConfigError(
                f"options[{NAME!r}] must have the keys {', '.join(sizes)}, got {', '.join(map(str, state)) or 'none'}"
            )
        parts = [entry(key, size, state[key]) for key, size in sizes.items()]
        rows = np.broadcast_shapes(*(part.shape[:-1] for part in parts))
        return np.concatenate([np.ones((*rows, 1)), *(np.broadcast_to(p, (*rows, p.shape[-1])) for p in parts)], -1)
    if is_sequence(state) and all(isinstance(one, Mapping) for one in state):
        return np.stack([flat_state(sizes, one) for one in state])
    raise TypeError(f"options[{NAME!r}] must be a dict, or a sequence of one dict per environment, got {shown(state)}")


def entry(key: str, size: int, value: Any) -> Any:
    """Return an entry of a state as float64 (..., size), or raise ConfigError or TypeError."""
    name = f"options[{NAME!r}][{key!r}]"
    array = np.asarray(value)
    if array.dtype.kind not in "iuf":
        raise TypeError(f"{name} must be numbers, got {shown(value)}")
    if array.ndim not in (1, 2) or array.shape[-1] != size:
        raise ConfigError(
            f"{name} must have the shape ({size},), or one such row per environment, got {tuple(array.shape)}"
        )
    if not np.isfinite(array).all():
        raise ConfigError(f"{name} must be finite, got {shown(value)}")
    return array.astype(np.float64)
