"""MountainCar reaches its goal, or not, exactly as upstream does."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import envpool
from envpool.errors import ConfigError
from tests.classic_control.cases import CAR, FORCE, upstream_of
from tests.support.oracles.gymnasium_oracle import reference
from tests.support.oracles.pool_runner import assert_pools_equal


# Upstream's continuous car compares the Python float of a clipped velocity, and the float32 of any other velocity. The
# last goal velocity rounds to the largest velocity in float32 and lies above it in float64.
@pytest.mark.parametrize(
    ("task_id", "goal_velocity", "is_reachable"),
    [
        (CAR, 0.0, True),
        (CAR, 0.03, True),
        (CAR, 0.07, True),
        (CAR, 0.0700000001, False),
        (FORCE, 0.0, True),
        (FORCE, 0.03, True),
        (FORCE, 0.07, True),
        (FORCE, 0.0700000001, False),
    ],
)
def test_goal(task_id: str, goal_velocity: float, is_reachable: bool) -> None:
    """Pushes along the velocity reach the goal, and the wall behind it; the actions of other tests hardly ever do."""
    options = {"goal_velocity": goal_velocity}
    upstream = upstream_of(task_id, options)
    left, right = (0, 2) if task_id == CAR else (np.array([-1], np.float32), np.array([1], np.float32))
    env = upstream.make()
    (_, velocity), _ = env.reset(seed=0)
    pushes, done = [], False
    while not done:
        pushes.append(right if velocity >= 0 else left)
        (_, velocity), _, terminated, truncated, _ = env.step(pushes[-1])
        done = terminated or truncated
    assert terminated == is_reachable
    actions = np.array(pushes)[:, None]
    assert_pools_equal(reference(upstream, actions, [0]), task_id, actions, [0], **options)


@pytest.mark.parametrize(
    ("task_id", "options", "text"),
    [
        (CAR, {"min_position": 1.0}, "min_position must be at most max_position=0.6, got 1.0"),
        (CAR, {"max_position": -2}, "min_position must be at most max_position=-2.0, got -1.2"),
        (CAR, {"min_position": [-1.2, 1.0]}, r"min_position\[1\] must be at most max_position=0.6, got 1.0"),
        (
            CAR,
            {"min_position": [-1.0, 0.3], "max_position": np.array([0.5, 0.2])},
            r"min_position\[1\] must be at most max_position\[1\]=0.2, got 0.3",
        ),
        (CAR, {"min_position": "x"}, "min_position must be a finite number"),
        (CAR, {"min_position": [0.0, 1.0, 2.0]}, "min_position must have the shape"),
        (FORCE, {"min_position": 1.0}, "min_position must be at most max_position=0.6, got 1.0"),
        (FORCE, {"min_action": 2}, "min_action must be at most max_action=1.0, got 2.0"),
        (FORCE, {"max_action": [1.0, -2.0]}, r"min_action must be at most max_action\[1\]=-2.0, got -1.0"),
    ],
)
def test_bounds_in_the_wrong_order(task_id: str, options: dict[str, Any], text: str) -> None:
    with pytest.raises((ConfigError, TypeError), match=f"^{text}"):
        envpool.make_gymnasium(task_id, num_envs=2, **options)


def test_bounds_may_be_equal() -> None:
    with envpool.make_gymnasium(FORCE, num_envs=2, min_action=[0.5, -1.0], max_action=[0.5, 2.0]) as pool:
        pool.reset()
