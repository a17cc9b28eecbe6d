"""Upstream's environments as the oracle of the conformance tests."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import envpool
from envpool.nethack.upstream import NetHackOracle
from envpool.verify.actions import make_actions
from tests.support.oracles.gymnasium_oracle import reference
from tests.support.oracles.oracle import CaseOracle
from tests.support.oracles.trajectory import Trajectory


@dataclass(frozen=True, kw_only=True)
class Upstream(NetHackOracle, CaseOracle):
    """A class of upstream that plays the cases of the conformance tests."""

    def play(self, case: Any) -> tuple[Any, list[int], Trajectory]:
        """Return the actions and seeds of a case, and what upstream returned."""
        space = envpool.make_spec(case.task_id, **case.options).action_space
        actions = make_actions(space, case.actions, case.steps, case.num_envs, case.seed)
        seeds = [1000 * case.seed + i for i in range(case.num_envs)]
        return actions, seeds, reference(self, actions, seeds)


def upstream_of(task_id: str, **options: Any) -> Upstream:
    """Return the oracle of a task with options of the pool."""
    names = {"max_steps": "max_episode_steps"}
    return Upstream(
        task=task_id.removesuffix("-v0"), kwargs={names.get(name, name): value for name, value in options.items()}
    )
