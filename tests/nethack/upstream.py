"""Upstream's environments as the oracle of the conformance tests."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from envpool.nethack.upstream import NetHackOracle
from tests.support.oracles.gymnasium_oracle import Reference


@dataclass(frozen=True, kw_only=True)
class Upstream(NetHackOracle, Reference):
    """A class of upstream that plays the cases of the conformance tests."""


def upstream_of(task_id: str, **options: Any) -> Upstream:
    """Return the oracle of a task with options of the pool."""
    names = {"max_steps": "max_episode_steps"}
    return Upstream(
        task=task_id.removesuffix("-v0"), kwargs={names.get(name, name): value for name, value in options.items()}
    )
