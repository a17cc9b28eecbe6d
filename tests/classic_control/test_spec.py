"""Specs, spaces and options of the family: gymnasium's spaces, and EnvPool's names, types and defaults."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
import pytest

import envpool
from envpool.errors import ConfigError
from tests.support.oracles.spaces import assert_same_space

# Task id -> (gymnasium's id, time limit, reward threshold, dtype and shape of the action)
TASKS: dict[str, tuple[str, int, float | None, type, list[int]]] = {
    "CartPole-v0": ("CartPole-v0", 200, 195.0, np.int32, [-1]),
    "phys2d/CartPole-v0": ("CartPole-v0", 200, 195.0, np.int32, [-1]),
    "CartPole-v1": ("CartPole-v1", 500, 475.0, np.int32, [-1]),
    "phys2d/CartPole-v1": ("CartPole-v1", 500, 475.0, np.int32, [-1]),
    "Pendulum-v0": ("Pendulum-v1", 200, None, np.float32, [-1, 1]),
    "phys2d/Pendulum-v0": ("Pendulum-v1", 200, None, np.float32, [-1, 1]),
    "Pendulum-v1": ("Pendulum-v1", 200, None, np.float32, [-1, 1]),
    "MountainCar-v0": ("MountainCar-v0", 200, -110.0, np.int32, [-1]),
    "MountainCarContinuous-v0": ("MountainCarContinuous-v0", 999, 90.0, np.float32, [-1, 1]),
    "Acrobot-v1": ("Acrobot-v1", 500, -100.0, np.int32, [-1]),
}
EACH = pytest.mark.parametrize("task_id", TASKS)


def test_tasks_come_in_this_order() -> None:
    mine = [t for t in envpool.list_all_envs() if t in TASKS]
    assert mine == list(TASKS)


@EACH
def test_time_limit_and_reward_threshold(task_id: str) -> None:
    upstream_id, limit, threshold, _, _ = TASKS[task_id]
    spec = envpool.make_spec(task_id)
    upstream = gymnasium.spec(upstream_id)
    assert spec.config.max_episode_steps == limit == upstream.max_episode_steps
    assert spec.reward_threshold == threshold == upstream.reward_threshold
    assert ("reward_threshold" in spec.config._fields) == (threshold is not None)


@EACH
@pytest.mark.filterwarnings("ignore:.*out of date:DeprecationWarning")
def test_spaces_equal_gymnasiums(task_id: str) -> None:
    spec = envpool.make_spec(task_id)
    upstream = gymnasium.make(TASKS[task_id][0])
    assert_same_space(spec.observation_space, upstream.observation_space)
    assert_same_space(spec.action_space, upstream.action_space)


@EACH
def test_arrays_are_envpools(task_id: str) -> None:
    spec = envpool.make_spec(task_id)
    _, _, _, action_dtype, action_shape = TASKS[task_id]
    state = {k: v for k, v in spec.state_array_spec.items() if k.startswith("obs") or k == "info:state"}
    assert list(state) == (["obs", "info:state"] if task_id == "Acrobot-v1" else ["obs"])
    assert state["obs"].dtype == np.float32
    action = spec.action_array_spec["action"]
    assert (action.dtype, action.shape) == (action_dtype, action_shape)
    if task_id == "Acrobot-v1":
        assert (state["info:state"].dtype, state["info:state"].shape) == (np.float32, [2])


def test_info_state_of_acrobot() -> None:
    with envpool.make_gymnasium("Acrobot-v1", num_envs=3) as pool:
        obs, info = pool.reset()
        assert info["state"].shape == (3, 2)
        assert info["state"].dtype == np.float32
        np.testing.assert_allclose(np.cos(info["state"][:, 0]), obs[:, 0], atol=1e-6)
        np.testing.assert_allclose(np.sin(info["state"][:, 1]), obs[:, 3], atol=1e-6)


def test_versions_of_pendulum() -> None:
    assert envpool.make_spec("Pendulum-v0").config.version == 0
    assert envpool.make_spec("Pendulum-v1").config.version == 1


BAD: list[tuple[str, dict[str, Any], type[Exception], str]] = [
    ("Pendulum-v1", {"version": 2}, ConfigError, "version is 2, allowed are 0 and 1"),
    ("Pendulum-v1", {"g": "strong"}, TypeError, "g must be of type float, got 'strong'"),
    ("Pendulum-v1", {"reward_threshold": 0.0}, TypeError, "no option 'reward_threshold'"),
    ("MountainCar-v0", {"goal_velocity": None}, TypeError, "goal_velocity must be of type float, got None"),
    ("Acrobot-v1", {"book_or_nips": "paper"}, ConfigError, "book_or_nips must be 'book' or 'nips', got 'paper'"),
    ("Acrobot-v1", {"torque_noise_max": -1.0}, ConfigError, "torque_noise_max is -1.0, allowed are 0 to 1000"),
    ("Acrobot-v1", {"torque_noise_max": 1e4}, ConfigError, "torque_noise_max is 10000.0, allowed are 0 to 1000"),
    ("Acrobot-v1", {"torque_noise_max": float("nan")}, ConfigError, "torque_noise_max is nan, allowed are 0 to 1000"),
    ("CartPole-v1", {"sutton_barto_reward": 2}, TypeError, "sutton_barto_reward must be of type bool, got 2"),
]


@pytest.mark.parametrize(("task_id", "options", "error", "text"), BAD)
def test_bad_options(task_id: str, options: dict[str, Any], error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text):
        envpool.make_spec(task_id, **options)
