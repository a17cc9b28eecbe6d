"""PointMaze and AntMaze: rewards of batches of goals, and the distance in info."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import envpool
from envpool.errors import ConfigError, EnvStepError
from envpool.mujoco.robotics.maze_rewards import MazeEnvDefinition
from tests.mujoco.robotics.upstream import upstream_of

#: A map with a single cell in which episodes begin.
CORRIDOR = [[1, 1, 1, 1, 1], [1, "r", 0, "g", 1], [1, 1, 1, 1, 1]]


@pytest.mark.parametrize("task_id", ["PointMaze_UMaze-v3", "PointMaze_UMazeDense-v3"])
def test_compute_reward_equals_upstreams(task_id: str) -> None:
    rng = np.random.default_rng(0)
    achieved, desired = rng.normal(scale=0.5, size=(2, 3, 100, 2))
    upstream: Any = upstream_of(task_id).make()
    with envpool.make_gymnasium(task_id) as pool:
        for a, b in ((achieved, desired), (achieved[0, 0], desired[0, 0])):
            expected = upstream.unwrapped.compute_reward(a, b, {})
            found = pool.compute_reward(a, b)
            np.testing.assert_array_equal(found, expected, strict=True)
            assert (expected > 0).any() or a.ndim == 1


@pytest.mark.parametrize("task_id", ["PointMaze_OpenDense-v3", "AntMaze_UMaze-v5"])
def test_compute_reward_equals_the_rewards_of_steps(task_id: str) -> None:
    with envpool.make_gymnasium(task_id, num_envs=8, seed=3) as pool:
        pool.reset()
        for _ in range(20):
            obs, reward, _, _, info = pool.step(
                np.ones((8, *pool.spec.action_space.shape), pool.spec.action_space.dtype)
            )
            achieved, desired = obs["achieved_goal"], obs["desired_goal"]
            np.testing.assert_array_equal(pool.compute_reward(achieved, desired).astype(np.float32), reward)
            distance = [np.linalg.norm(a - b) for a, b in zip(achieved, desired, strict=True)]
            np.testing.assert_array_equal(info["distance"], distance)
            np.testing.assert_array_equal(info["success"], info["distance"] <= 0.45)


@pytest.mark.parametrize(
    "options",
    [
        {"goal_cell": (1, 1), "reset_cell": (1, 3)},
        {"goal_cell": [(1, 1), (1, 2)], "reset_cell": [(1, 1), (-1, -1)]},
        {"goal_cell": (1, 2)},
        {"reset_cell": (1, 3)},  # the only cell of goals: upstream draws the goal without looking at the start
    ],
)
def test_cells_of_a_map_with_one_start(options: dict[str, Any]) -> None:
    with envpool.make_gymnasium("PointMaze_UMaze-v3", num_envs=2, maze_map=CORRIDOR) as pool:
        pool.reset(options=options)
        with pytest.raises(ConfigError, match=r"the only cell in which an episode can begin, got \(1, 1\)"):
            pool.reset(options={"goal_cell": [(1, 2), (1, 1)], "reset_cell": [(1, 1), (-1, -1)]})


@pytest.mark.parametrize("task_id", ["PointMaze_UMaze-v3", "AntMaze_UMaze-v5"])
def test_resets_that_find_no_start_fail(task_id: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A forged state can ask for a goal that check_reset_options() refuses."""
    monkeypatch.setattr(MazeEnvDefinition, "check_reset_options", lambda config, values: None)
    with envpool.make_gymnasium(task_id, num_envs=2, maze_map=CORRIDOR, step_timeout=20.0) as pool:
        with pytest.raises(EnvStepError, match="no cell in which the episode can begin is far enough from its goal"):
            pool.reset(options=[{"goal_cell": (1, 1)}, None])
        pool.reset()
