"""Sorting the array names of a block into nests; shared by the API styles."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from envpool.spaces import nested


def observation(names: Sequence[str], prefix: str = "") -> Any:
    """Return the nest of observation arrays: one name, or a nested dict where there are several."""
    return single(subtree(names, prefix + "obs"))


def info(names: Sequence[str], prefix: str = "") -> dict[str, Any]:
    """Return the nest of the env's info arrays."""
    nest: dict[str, Any] = subtree(names, prefix + "info")
    return nest


def env_ids() -> dict[str, Any]:
    """Return the entries that say which env a row belongs to; every env has one player."""
    return {"env_id": "env_id", "players": {"env_id": "env_id"}}


def subtree(names: Sequence[str], prefix: str) -> Any:
    """Return the nested dict of the names ``prefix:...``, or `prefix` itself if that is a name."""
    if prefix in names:
        return prefix
    start = prefix + ":"
    return nested({n[len(start) :]: n for n in names if n.startswith(start)})


def single(nest: Any) -> Any:
    """Return the only leaf of a nest that has one, else the nest."""
    inner = nest
    while isinstance(inner, dict) and len(inner) == 1:
        inner = next(iter(inner.values()))
    return nest if isinstance(inner, dict) else inner
