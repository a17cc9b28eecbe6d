"""Whole episodes of every simulation: each id of the current versions plays 20 of them."""

from __future__ import annotations

import pytest

from envpool.mujoco.robotics.registration import TASKS
from tests.conformance.cases import ExactnessCase
from tests.mujoco.robotics.upstream import TaskOracle

CURRENT = [
    task for task in TASKS if task.id == task.upstream_id and task.module in ("fetch", "hand_reach", "hand_manipulate")
]


@pytest.mark.sweep
@pytest.mark.parametrize("task", CURRENT, ids=[task.id for task in CURRENT])
def test_twenty_episodes(task) -> None:
    steps = 10 * (task.max_episode_steps + 1) - 1
    case = ExactnessCase(task.id, TaskOracle(task.id), num_envs=2, steps=steps, seed=7, min_episodes=20)
    case.oracle.check(case)
