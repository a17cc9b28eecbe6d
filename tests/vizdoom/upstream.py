"""The library of the vizdoom package as the oracle of the conformance tests."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

from envpool.vizdoom.upstream import ViZDoomOracle
from envpool.vizdoom.upstream import upstream_of as oracle_of
from tests.support.oracles.gymnasium_oracle import Reference


@dataclass(frozen=True, kw_only=True)
class Upstream(ViZDoomOracle, Reference):
    """Games of ``vizdoom.DoomGame`` that play the cases of the conformance tests."""


def upstream_of(task_id: str, **kwargs: Any) -> Upstream:
    """Return the oracle of a task, with other attributes."""
    oracle = oracle_of(task_id)
    assert oracle is not None
    return Upstream(**{f.name: getattr(oracle, f.name) for f in fields(oracle)} | kwargs)
