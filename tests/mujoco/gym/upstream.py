"""Gymnasium's envs as oracles for every id, those included that it no longer makes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from envpool.mujoco.gym import upstream
from envpool.mujoco.gym.options import ASSETS
from tests.mujoco.late_oracle import LateOracle
from tests.support.oracles.gymnasium_oracle import Upstream

FIRST_VERSION = {
    "Ant": 3,
    "HalfCheetah": 3,
    "Hopper": 3,
    "Humanoid": 3,
    "HumanoidStandup": 2,
    "InvertedDoublePendulum": 2,
    "InvertedPendulum": 2,
    "Pusher": 2,
    "Reacher": 2,
    "Swimmer": 3,
    "Walker2d": 3,
}
IDS = [f"{name}-v{version}" for name, first in FIRST_VERSION.items() for version in (first, 4, 5)]


def unstable_cheetah(folder: Path) -> str:
    """Write a HalfCheetah whose time step is so long that its simulation diverges; return the file."""
    text = (ASSETS / "half_cheetah.xml").read_text()
    assert 'timestep="0.01"' in text
    path = folder / "cheetah.xml"
    path.write_text(text.replace('timestep="0.01"', 'timestep="0.3"'))
    return str(path)


def upstream_of(task_id: str, kwargs: Mapping[str, Any] | None = None) -> Upstream:
    """Return the oracle of a task, with all keys of its info."""
    return Upstream.of(upstream.upstream_of(task_id, kwargs))


@dataclass(frozen=True)
class TaskOracle(LateOracle):
    """Plays gymnasium's environments of a task.

    Attributes
    ----------
    has_contact_forces : bool
        Whether upstream computes contact forces, as its versions from v4 on do.
    """

    has_contact_forces: bool = True

    def upstream(self) -> Upstream:
        """Return the oracle that makes the environments."""
        oracle = upstream_of(self.task_id, self.kwargs)
        return oracle if self.has_contact_forces else replace(oracle, prepare=upstream.without_contact_forces)
