"""Nests of array names, which the API styles put together from the names of a batch's arrays."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from envpool.config.spaces import nested, single


def observation(names: Sequence[str], prefix: str = "") -> Any:
    """Return the nest of the observation arrays: a name, or a nested dict of names if there are several."""
    return single(subtree(names, prefix + "obs"))


def info(names: Sequence[str], prefix: str = "") -> dict[str, Any]:
    """Return the nest of the environment's info arrays."""
    nest: dict[str, Any] = subtree(names, prefix + "info")
    return nest


def env_ids() -> dict[str, Any]:
    """Return the entries that say which environment a row belongs to; each of the environments has one player."""
    return {"env_id": "env_id", "players": {"env_id": "env_id"}}


def merged(nest: Mapping[str, Any], other: Mapping[str, Any]) -> dict[str, Any]:
    """Return the entries of two nests; dicts under one key are merged: arrays may be called ``info:players.x``."""
    out = dict(nest)
    for key, value in other.items():
        both = isinstance(value, dict) and isinstance(out.get(key), dict)
        out[key] = merged(out[key], value) if both else value
    return out


def renamed(nest: Any, names: Mapping[str, str]) -> Any:
    """Return a nest with the values of `names` in place of its leaves."""
    return {k: renamed(v, names) for k, v in nest.items()} if isinstance(nest, dict) else names[nest]


def subtree(names: Sequence[str], prefix: str) -> Any:
    """Return the nested dict of the names ``prefix:...``, or the name that equals `prefix` if there is one."""
    if prefix in names:
        return names[names.index(prefix)]
    start = prefix + ":"
    return nested({n[len(start) :]: n for n in names if n.startswith(start)})
