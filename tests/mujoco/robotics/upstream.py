"""Gymnasium-Robotics' environments as oracles."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from envpool.mujoco.robotics import upstream as oracle
from tests.mujoco.late_oracle import LateOracle
from tests.support.oracles.gymnasium_oracle import Upstream


def upstream_of(task_id: str, kwargs: Mapping[str, Any] | None = None) -> Upstream:
    """Return the oracle of a task, with all keys of its info."""
    return Upstream.of(oracle.upstream_of(task_id, kwargs))


class TaskOracle(LateOracle):
    """Plays Gymnasium-Robotics' environments of a task."""

    def upstream(self) -> Upstream:
        """Return the oracle that makes the environments."""
        return upstream_of(self.task_id, self.kwargs)
