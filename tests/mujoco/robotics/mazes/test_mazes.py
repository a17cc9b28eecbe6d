"""PointMaze and AntMaze: rewards of batches of goals, and the distance in info."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import envpool
from tests.mujoco.robotics.upstream import upstream_of


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
