"""Oracles whose upstream environments are created when a case is played, not when it is listed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from tests.support.oracles.gymnasium_oracle import Upstream
from tests.support.oracles.oracle import CaseOracle
from tests.support.oracles.trajectory import Trajectory


@dataclass(frozen=True)
class LateOracle(CaseOracle):
    """Plays the upstream environments of a task.

    Attributes
    ----------
    task_id : str
        The pool's task.
    kwargs : mapping
        For ``gymnasium.make``.
    """

    task_id: str
    kwargs: Mapping[str, Any] = field(default_factory=dict)

    def upstream(self) -> Upstream:
        """Return the oracle that makes the environments."""
        raise NotImplementedError

    def play(self, case: Any) -> tuple[Any, list[int], Trajectory]:
        """Return the actions and seeds of a case, and what upstream returned."""
        return self.upstream().play(case)
