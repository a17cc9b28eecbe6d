"""Whole episodes of mazes, of the Adroit hand and of the kitchen, under their own time limits."""

from __future__ import annotations

from typing import Any

import pytest

import envpool
from envpool.mujoco.robotics.registration import ADROIT_TASKS, KITCHEN_TASKS, MAZE_TASKS
from tests.mujoco.robotics.upstream import upstream_of
from tests.support.oracles.gymnasium_oracle import assert_exact

TASKS = [*MAZE_TASKS, *ADROIT_TASKS, *KITCHEN_TASKS]
#: One id of each distinct simulation.
SIMULATIONS = {"PointMaze_UMaze-v3", "PointMaze_Large_Diverse_GRDense-v3", "AntMaze_UMaze-v5", "AntMaze_OpenDense-v4"}
SIMULATIONS |= {"AntMaze_MediumDense-v3", "FrankaKitchen-v1", *(task.id for task in ADROIT_TASKS)}
TWO_THREADS: list[dict[str, Any]] = [{"num_threads": 2}]


@pytest.mark.sweep
@pytest.mark.parametrize("task_id", sorted(SIMULATIONS))
def test_twenty_episodes_of_each_simulation(task_id: str) -> None:
    limit = envpool.make_spec(task_id).config.max_episode_steps
    options = {"num_envs": 4, "steps": 5 * (limit + 1), "seed": 7, "runs": TWO_THREADS, "min_episodes": 20}
    assert_exact(task_id, upstream_of(task_id), actions="sticky", **options)


@pytest.mark.sweep
@pytest.mark.parametrize("task_id", [task.id for task in MAZE_TASKS])
def test_every_maze(task_id: str) -> None:
    limit: dict[str, Any] = {"max_episode_steps": 50}
    options = {"num_envs": 4, "steps": 255, "seed": 3, "options": limit, "runs": TWO_THREADS, "min_episodes": 20}
    assert_exact(task_id, upstream_of(task_id, limit), actions="sticky", **options)
