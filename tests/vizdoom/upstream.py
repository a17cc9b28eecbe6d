"""The library of the vizdoom package as the oracle of the conformance tests."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

import envpool
from envpool.vizdoom.upstream import ViZDoomOracle
from envpool.vizdoom.upstream import upstream_of as oracle_of
from tests.support.oracles.gymnasium_oracle import reference
from tests.support.oracles.oracle import CaseOracle
from tests.support.oracles.trajectory import Trajectory


@dataclass(frozen=True, kw_only=True)
class Upstream(ViZDoomOracle, CaseOracle):
    """Games of ``vizdoom.DoomGame`` that play the cases of the conformance tests."""

    def play(self, case: Any) -> tuple[Any, list[int], Trajectory]:
        """Return the actions and seeds of a case, and what upstream returned."""
        space = envpool.make_spec(case.task_id, **case.options).action_space
        actions = self.choose_actions(space, case.actions, case.steps - 1, case.num_envs, case.seed)
        seeds = [1000 * case.seed + i for i in range(case.num_envs)]
        return actions, seeds, reference(self, actions, seeds)


def upstream_of(task_id: str, **kwargs: Any) -> Upstream:
    """Return the oracle of a task, with other attributes."""
    oracle = oracle_of(task_id)
    assert oracle is not None
    return Upstream(**{f.name: getattr(oracle, f.name) for f in fields(oracle)} | kwargs)
