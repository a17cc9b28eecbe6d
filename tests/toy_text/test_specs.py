"""The dm specs, info arrays and maps of toy text."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from dm_env import specs
from gymnasium import spaces
from gymnasium.envs.toy_text.frozen_lake import MAPS

import envpool
from tests.toy_text.specs import DEFAULTS, INFO, env_name, spaces_of


@pytest.mark.parametrize("task_id", DEFAULTS)
def test_dm_specs(task_id: str) -> None:
    spec = envpool.make_spec(task_id)
    space, num_actions = spaces_of(task_id)
    assert spec.action_spec() == specs.DiscreteArray(num_actions, np.int32, "action")
    obs = spec.observation_spec().obs
    if isinstance(space, spaces.Discrete):
        assert obs == specs.DiscreteArray(int(space.n), np.int32, "obs")
    else:
        assert (obs.shape, obs.dtype) == (space.shape, space.dtype)
        assert np.array_equal(np.broadcast_to(obs.minimum, obs.shape), space.low)
        assert np.array_equal(np.broadcast_to(obs.maximum, obs.shape), space.high)


@pytest.mark.parametrize("task_id", DEFAULTS)
def test_info(task_id: str) -> None:
    own = INFO.get(env_name(task_id), {})
    array_specs = envpool.make_spec(task_id).state_array_spec
    fields = {k.removeprefix("info:"): v for k, v in array_specs.items() if k.startswith("info:") and "env_id" not in k}
    assert {k: (v.dtype, v.shape) for k, v in fields.items()} == {k: (np.dtype(d), s) for k, (d, s) in own.items()}
    assert all((v.minimum, v.maximum) == (0, 1) for v in fields.values())
    with envpool.make_gymnasium(task_id, num_envs=3) as pool:
        obs, info = pool.reset()
        assert set(info) == {"env_id", "players", "elapsed_step", *own}
        for _ in range(20):
            assert all(pool.observation_space.contains(row) for row in obs)
            for key, (dtype, shape) in own.items():
                assert info[key].dtype == dtype
                assert info[key].shape == (3, *(s for s in shape if s != -1))
            obs, _, _, _, info = pool.step(np.zeros(3, np.int32))


def test_dm_style() -> None:
    with envpool.make_dm("Taxi-v4", num_envs=2) as pool:
        step = pool.reset()
        assert step.observation.action_mask.shape == (2, 6)
        assert np.array_equal(step.observation.prob, np.ones(2, np.float32))
        assert step.observation.obs.dtype == np.int32


def test_single_cell() -> None:
    """On a map of one cell the walker stays where it is."""
    with envpool.make_gymnasium("FrozenLake-v1", num_envs=4, desc=["S"]) as pool:
        pool.reset()
        for action in range(4):
            obs, reward, terminated, _, _ = pool.step(np.full(4, action, np.int32))
            assert not obs.any() and not reward.any() and not terminated.any()


@pytest.mark.parametrize(
    ("task_id", "options", "name"),
    [
        ("FrozenLake-v1", {}, "4x4"),
        ("FrozenLake8x8-v1", {}, "8x8"),
        ("FrozenLake-v1", {"size": 8}, "8x8"),
        ("FrozenLake8x8-v1", {"map_name": "4x4"}, "4x4"),
    ],
)
def test_default_maps(task_id: str, options: dict[str, Any], name: str) -> None:
    param = envpool.make_spec(task_id, **options).param_spec["desc"]
    assert [bytes(row).decode() for row in param.default] == MAPS[name]
