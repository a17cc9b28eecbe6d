"""Gymnasium's envs as oracles for every id, those included that it no longer makes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from envpool.mujoco.gym import upstream
from envpool.mujoco.gym.options import ASSETS
from tests.support.oracles.gymnasium_oracle import Upstream
from tests.support.oracles.oracle import CaseOracle
from tests.support.oracles.trajectory import Trajectory

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
class TaskOracle(CaseOracle):
    """Plays gymnasium's environments of a task; they are created when a case is played, not when it is listed.

    Attributes
    ----------
    task_id : str
        The pool's task.
    kwargs : mapping
        For ``gymnasium.make``.
    has_contact_forces : bool
        Whether upstream computes contact forces, as its versions from v4 on do.
    """

    task_id: str
    kwargs: Mapping[str, Any] = field(default_factory=dict)
    has_contact_forces: bool = True

    def play(self, case: Any) -> tuple[Any, list[int], Trajectory]:
        """Return the actions and seeds of a case, and what upstream returned."""
        oracle = upstream_of(self.task_id, self.kwargs)
        if not self.has_contact_forces:
            oracle = replace(oracle, prepare=upstream.without_contact_forces)
        return oracle.play(case)
