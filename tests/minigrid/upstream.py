"""The upstream environments of MiniGrid and BabyAI."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from envpool.minigrid import upstream
from envpool.minigrid.upstream import MiniGridOracle
from envpool.verify.gymnasium_oracle import GymnasiumOracle
from tests.minigrid.explorer import choose
from tests.support.oracles.gymnasium_oracle import Upstream, reference
from tests.support.oracles.trajectory import Trajectory


@dataclass(frozen=True)
class MiniGridUpstream(Upstream):
    """An upstream environment. The case's actions "explored" are those of the explorer."""

    start = MiniGridOracle.start

    def play(self, case: Any) -> tuple[Any, list[int], Trajectory]:
        """Return the actions and seeds of a case, and what upstream returned."""
        if case.actions != "explored":
            return super().play(case)
        seeds = [1000 * case.seed + i for i in range(case.num_envs)]
        actions = np.zeros((case.steps, case.num_envs), np.int32)
        for i, seed in enumerate(seeds):
            rng = np.random.default_rng(seed)
            player = self.start(seed)
            player.record(None)
            plan: list[int] = []
            for t in range(case.steps):
                if player.is_done:
                    plan = []
                elif not plan:
                    plan = choose(player.env.unwrapped, rng)
                actions[t, i] = plan.pop(0) if plan else 0
                player.record(actions[t, i])
            player.close()
        return actions, seeds, reference(self, actions, seeds)


def upstream_of(task_id: str, kwargs: Mapping[str, Any] | None = None) -> MiniGridUpstream:
    """Return the oracle of a task, with arguments of ``gymnasium.make``."""
    oracle = upstream.upstream_of(task_id)
    values = {f.name: getattr(oracle, f.name) for f in fields(GymnasiumOracle)}
    return MiniGridUpstream(**values | {"kwargs": kwargs or {}})
