"""Specs, spaces, options and errors of the family: gymnasium's spaces, and EnvPool's names, types and defaults."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
import pytest

import envpool
from envpool.errors import ConfigError, EnvStepError
from tests.support.oracles.spaces import assert_same_space
from tests.support.process import resident

# Task id -> (gymnasium's id and options, time limit, reward threshold, dtype and shape of the action)
TASKS: dict[str, tuple[str, dict[str, Any], int, float, type, list[int]]] = {
    "LunarLander-v2": ("LunarLander-v3", {}, 1000, 200.0, np.int32, [-1]),
    "LunarLanderContinuous-v2": ("LunarLanderContinuous-v3", {}, 1000, 200.0, np.float32, [-1, 2]),
    "LunarLander-v3": ("LunarLander-v3", {}, 1000, 200.0, np.int32, [-1]),
    "LunarLanderContinuous-v3": ("LunarLanderContinuous-v3", {}, 1000, 200.0, np.float32, [-1, 2]),
    "BipedalWalker-v3": ("BipedalWalker-v3", {}, 1600, 300.0, np.float32, [-1, 4]),
    "BipedalWalkerHardcore-v3": ("BipedalWalkerHardcore-v3", {}, 2000, 300.0, np.float32, [-1, 4]),
    "CarRacing-v2": ("CarRacing-v3", {}, 1000, 900.0, np.float32, [-1, 3]),
    "CarRacing-v3": ("CarRacing-v3", {}, 1000, 900.0, np.float32, [-1, 3]),
}
EACH = pytest.mark.parametrize("task_id", TASKS)


def test_tasks_come_in_this_order() -> None:
    assert [t for t in envpool.list_all_envs() if t in TASKS] == list(TASKS)


@EACH
def test_time_limit_and_reward_threshold(task_id: str) -> None:
    upstream_id, _, limit, threshold, _, _ = TASKS[task_id]
    spec = envpool.make_spec(task_id)
    upstream = gymnasium.spec(upstream_id)
    assert spec.config.max_episode_steps == limit == upstream.max_episode_steps
    assert spec.reward_threshold == threshold == upstream.reward_threshold


@pytest.mark.parametrize(
    ("task_id", "options"),
    [(t, {}) for t in TASKS if t not in ("LunarLander-v2", "LunarLanderContinuous-v2")]
    + [("LunarLander-v3", {"continuous": True}), ("CarRacing-v3", {"continuous": False})],
)
def test_spaces_equal_gymnasiums(task_id: str, options: dict[str, Any]) -> None:
    spec = envpool.make_spec(task_id, **options)
    upstream = gymnasium.make(TASKS[task_id][0], **options)
    assert_same_space(spec.observation_space, upstream.observation_space)
    assert_same_space(spec.action_space, upstream.action_space)


def test_observation_space_of_lander_2() -> None:
    """Gymnasium 0.29.1 has these bounds."""
    space = envpool.make_spec("LunarLander-v2").observation_space
    high = np.array([1.5, 1.5, 5, 5, np.pi, 5, 1, 1], np.float32)
    assert np.array_equal(space.high, high)
    assert np.array_equal(space.low, np.concatenate([-high[:6], [0, 0]]))


@EACH
def test_arrays_are_envpools(task_id: str) -> None:
    spec = envpool.make_spec(task_id)
    *_, action_dtype, action_shape = TASKS[task_id]
    is_car = task_id.startswith("CarRacing")
    state = {k: v for k, v in spec.state_array_spec.items() if k.startswith("obs") or k == "info:lap_finished"}
    assert list(state) == (["obs", "info:lap_finished"] if is_car else ["obs"])
    assert state["obs"].dtype == (np.uint8 if is_car else np.float32)
    action = spec.action_array_spec["action"]
    assert (action.dtype, action.shape) == (action_dtype, action_shape)


BAD: list[tuple[str, dict[str, Any], type[Exception], str]] = [
    ("LunarLander-v3", {"gravity": 0.0}, ConfigError, "gravity is 0.0, allowed are numbers between -12 and 0"),
    ("LunarLander-v3", {"gravity": -12.0}, ConfigError, "gravity is -12.0, allowed are numbers between"),
    ("LunarLander-v3", {"gravity": float("nan")}, ConfigError, "gravity is nan, allowed are numbers between"),
    ("LunarLander-v3", {"wind_power": 1e4}, ConfigError, "wind_power is 10000.0, allowed are -1000 to 1000"),
    ("LunarLander-v3", {"turbulence_power": float("nan")}, ConfigError, "turbulence_power is nan, allowed are -1000"),
    ("LunarLander-v3", {"version": 1}, ConfigError, "version is 1, allowed are 2 and 3"),
    ("LunarLander-v3", {"enable_wind": 2}, TypeError, "enable_wind must be of type bool, got 2"),
    ("LunarLander-v3", {"winds": True}, TypeError, "no option 'winds'"),
    ("BipedalWalker-v3", {"hardcore": "very"}, TypeError, "hardcore must be of type bool, got 'very'"),
    ("CarRacing-v3", {"lap_complete_percent": 95.0}, ConfigError, "lap_complete_percent is 95.0, allowed are 0 to 1"),
    ("CarRacing-v3", {"lap_complete_percent": float("nan")}, ConfigError, "lap_complete_percent is nan, allowed"),
    ("CarRacing-v3", {"version": 1}, ConfigError, "version is 1, allowed are 2 and 3"),
    ("CarRacing-v3", {"domain_randomize": None}, TypeError, "domain_randomize must be of type bool, got None"),
]


@pytest.mark.parametrize(("task_id", "options", "error", "text"), BAD)
def test_bad_options(task_id: str, options: dict[str, Any], error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text):
        envpool.make_spec(task_id, **options)


@pytest.mark.parametrize(("task_id", "size"), [("BipedalWalker-v3", 4), ("CarRacing-v3", 3)])
def test_nan_in_an_action(task_id: str, size: int) -> None:
    """It would never leave the world again; the other envs go on, and the env begins another episode."""
    with envpool.make_gymnasium(task_id, num_envs=12, num_threads=2) as pool:
        pool.reset()
        action = np.zeros((12, size), np.float32)
        action[5, 1] = np.nan
        with pytest.raises(EnvStepError, match="the action has a NaN, allowed are numbers") as caught:
            pool.step(action)
        assert list(caught.value.failures) == [5]
        obs, _, terminated, truncated, _ = pool.recv()
        assert np.flatnonzero(truncated).tolist() == [5]
        assert not terminated.any()
        assert not obs[5].any()
        obs, _, _, truncated, info = pool.step(np.zeros((12, size), np.float32))
        assert not truncated.any()
        assert info["elapsed_step"].tolist() == [0 if i == 5 else 2 for i in range(12)]
        assert np.isfinite(obs.astype(np.float64)).all()


@pytest.mark.slow
@pytest.mark.parametrize("task_id", ["LunarLander-v3", "LunarLander-v2", "BipedalWalkerHardcore-v3", "CarRacing-v3"])
def test_memory_stays(task_id: str) -> None:
    """Resets after the first tenth take no more memory, but for what an env with more to draw than ever needs."""
    num_envs, resets = 16, 100_000
    with envpool.make_gymnasium(task_id, num_envs=num_envs, num_threads=2) as pool:
        pool.reset()
        before = 0
        for i in range(resets // num_envs):
            if i == resets // num_envs // 10:
                before = resident()
            pool.reset()
        assert resident() - before < 3_000_000
