"""Gymnasium-Robotics' environments as oracles."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from envpool.mujoco.robotics import oracle
from tests.support.oracles.gymnasium_oracle import Upstream
from tests.support.oracles.oracle import CaseOracle
from tests.support.oracles.trajectory import Trajectory


def upstream_of(task_id: str, kwargs: Mapping[str, Any] | None = None) -> Upstream:
    """Return the oracle of a task, with all keys of its info."""
    return Upstream.of(oracle.upstream_of(task_id, kwargs))


@dataclass(frozen=True)
class TaskOracle(CaseOracle):
    """Plays the upstream environments of a task; they are created when a case is played, not when it is listed.

    Attributes
    ----------
    task_id : str
        The pool's task.
    kwargs : mapping
        For ``gymnasium.make``.
    """

    task_id: str
    kwargs: Mapping[str, Any] = field(default_factory=dict)

    def play(self, case: Any) -> tuple[Any, list[int], Trajectory]:
        """Return the actions and seeds of a case, and what upstream returned."""
        return upstream_of(self.task_id, self.kwargs).play(case)
