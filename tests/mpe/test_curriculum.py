"""Stages of the curriculum, which may differ among environments."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import envpool
from tests.mpe.cases import GRID, STAGES, TASKS

#: Options with which stages matter in any episode.
CROWDED = {"simple_spread": {"N": 20}, "simple_tag": {}}


def played(name: str, stages: Any) -> list[list[Any]]:
    """Return observations and rewards (steps) of each of three environments with the same seed."""
    options = {**GRID, **CROWDED[name], "curriculum": True, "curriculum_stage": stages, "seed": [5, 5, 5]}
    with envpool.make_gymnasium(TASKS[name], num_envs=3, **options) as pool:
        actions = np.random.default_rng(2).integers(0, 5, (40, pool.action_space.shape[-1]))
        rows = [pool.reset()[0]]
        for action in actions:
            rows += pool.step(np.broadcast_to(action, (3, *action.shape)).copy())[:2]
    return [[row[i] for row in rows] for i in range(3)]


@pytest.mark.parametrize("name", STAGES)
def test_stages_of_environments(name: str) -> None:
    last = STAGES[name][-1]
    stages = [0, last, last]
    mixed = played(name, stages)
    for i, stage in enumerate(stages):
        assert all(np.array_equal(a, b) for a, b in zip(mixed[i], played(name, stage)[0], strict=True))
    assert any(not np.array_equal(a, b) for a, b in zip(mixed[0], mixed[1], strict=True))


def test_upstream_forgets_its_stage() -> None:
    """The reason why `ParallelOracle` sets the stage itself."""
    from mpe2._mpe_utils.scenario import BaseScenario

    class Scenario(BaseScenario):
        make_world = reset_world = reward = observation = None

    scenario = Scenario()
    scenario.curriculum_stage = 1
    assert scenario.curriculum_stage == 0
