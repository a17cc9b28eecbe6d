"""Ids, defaults, spaces and specs: EnvPool 1.2.5's, and what is new beside them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from dm_env import specs
from gymnasium import spaces

import envpool

NO_LIMIT = 2**31 - 1

#: Task id -> the options besides the common ones in EnvPool 1.2.5 (Taxi-v4: as Taxi-v3), with their defaults.
DEFAULTS: dict[str, dict[str, Any]] = {
    "Catch-v0": {"max_episode_steps": NO_LIMIT, "height": 10, "width": 5},
    "FrozenLake-v1": {"max_episode_steps": 100, "reward_threshold": 0.7, "size": 4},
    "FrozenLake8x8-v1": {"max_episode_steps": 200, "reward_threshold": 0.85, "size": 8},
    "Taxi-v3": {"max_episode_steps": 200, "reward_threshold": 8.0},
    "Taxi-v4": {"max_episode_steps": 200, "reward_threshold": 8.0},
    "NChain-v0": {"max_episode_steps": 1000},
    "CliffWalking-v1": {"max_episode_steps": NO_LIMIT, "is_slippery": False},
    "tabular/CliffWalking-v0": {"max_episode_steps": NO_LIMIT, "is_slippery": False},
    "CliffWalkingSlippery-v1": {"max_episode_steps": NO_LIMIT, "is_slippery": True},
    "CliffWalking-v0": {"max_episode_steps": NO_LIMIT, "is_slippery": False},
    "Blackjack-v1": {"max_episode_steps": NO_LIMIT, "natural": False, "sab": True},
    "tabular/Blackjack-v0": {"max_episode_steps": NO_LIMIT, "natural": False, "sab": True},
}

#: Kind of env -> options that upstream has and EnvPool 1.2.5 has not, with upstream's defaults.
NEW_OPTIONS: dict[str, dict[str, Any]] = {
    "FrozenLake": {
        "map_name": None,
        "desc": None,
        "is_slippery": True,
        "success_rate": 1.0 / 3.0,
        "reward_schedule": (1, 0, 0),
    },
    "Taxi": {
        "is_rainy": False,
        "fickle_passenger": False,
        "rainy_probability": 0.8,
        "fickle_probability": 0.3,
    },
    "NChain": {"n": 5, "slip": 0.2, "small": 2.0, "large": 10.0},
}

#: Kind of env -> (observation space, number of actions).
SPACES: dict[str, tuple[Any, int]] = {
    "Catch": (spaces.Box(0.0, 1.0, (10, 5), np.float32), 3),
    "FrozenLake": (spaces.Discrete(16), 4),
    "FrozenLake8x8": (spaces.Discrete(64), 4),
    "Taxi": (spaces.Discrete(500), 6),
    "NChain": (spaces.Discrete(5), 2),
    "CliffWalking": (spaces.Discrete(48), 4),
    "Blackjack": (spaces.Box(0, 31, (3,), np.int32), 2),
}

#: Kind of env -> its own info arrays: key -> (dtype, shape of a row).
INFO: dict[str, dict[str, tuple[type[np.generic], list[int]]]] = {
    "FrozenLake": {"prob": (np.float32, [-1])},
    "Taxi": {"prob": (np.float32, [-1]), "action_mask": (np.int8, [6])},
    "CliffWalking": {"prob": (np.float32, [-1])},
}


def kind_of(task_id: str) -> str:
    """Return the name of the kind of env."""
    return type(envpool.make_spec(task_id)).__name__.removesuffix("EnvSpec")


def test_ids_come_in_envpools_order() -> None:
    mine = [task_id for task_id in envpool.list_all_envs() if task_id in DEFAULTS]
    assert mine == list(DEFAULTS)


@pytest.mark.parametrize("task_id", DEFAULTS)
def test_defaults(task_id: str) -> None:
    config = envpool.make_spec(task_id).config._asdict()
    common = set(envpool.make_spec("CartPole-v1").config._fields) - {"sutton_barto_reward", "reward_threshold"}
    own = {k: v for k, v in config.items() if k not in common or k == "max_episode_steps"}
    assert own == DEFAULTS[task_id] | NEW_OPTIONS.get(kind_of(task_id), {})
    assert {k: type(v) for k, v in own.items()} == {
        k: type(v) for k, v in (DEFAULTS[task_id] | NEW_OPTIONS.get(kind_of(task_id), {})).items()
    }
    assert envpool.make_spec(task_id).reward_threshold == DEFAULTS[task_id].get("reward_threshold")


@pytest.mark.parametrize("task_id", DEFAULTS)
def test_spaces(task_id: str) -> None:
    spec = envpool.make_spec(task_id)
    space, num_actions = SPACES["FrozenLake8x8" if "8x8" in task_id else kind_of(task_id)]
    assert spec.observation_space == space
    assert spec.action_space == spaces.Discrete(num_actions)
    obs = spec.state_array_spec["obs"]
    assert obs.dtype == (np.float32 if kind_of(task_id) == "Catch" else np.int32)
    assert obs.shape == (list(space.shape) or [-1])
    action = spec.action_array_spec["action"]
    assert (action.dtype, action.shape) == (np.int32, [-1])
    assert (action.minimum, action.maximum) == (0, num_actions - 1)


@pytest.mark.parametrize("task_id", DEFAULTS)
def test_dm_specs(task_id: str) -> None:
    spec = envpool.make_spec(task_id)
    space, num_actions = SPACES["FrozenLake8x8" if "8x8" in task_id else kind_of(task_id)]
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
    own = INFO.get(kind_of(task_id), {})
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


@pytest.mark.parametrize(
    ("task_id", "options", "space"),
    [
        ("FrozenLake-v1", {"size": 8}, spaces.Discrete(64)),
        ("FrozenLake-v1", {"map_name": "8x8"}, spaces.Discrete(64)),
        ("FrozenLake8x8-v1", {"map_name": "4x4"}, spaces.Discrete(16)),
        ("FrozenLake-v1", {"desc": ["SFFFF", "FFFFG"]}, spaces.Discrete(10)),
        ("FrozenLake-v1", {"desc": ["S"]}, spaces.Discrete(1)),
        ("Catch-v0", {"height": 3, "width": 1}, spaces.Box(0.0, 1.0, (3, 1), np.float32)),
        ("NChain-v0", {"n": 7}, spaces.Discrete(7)),
    ],
    ids=str,
)
def test_spaces_follow_options(task_id: str, options: dict[str, Any], space: spaces.Space[Any]) -> None:
    assert envpool.make_spec(task_id, **options).observation_space == space


def test_dm_style() -> None:
    with envpool.make_dm("Taxi-v4", num_envs=2) as pool:
        step = pool.reset()
        assert step.observation.action_mask.shape == (2, 6)
        assert np.array_equal(step.observation.prob, np.ones(2, np.float32))
        assert step.observation.obs.dtype == np.int32


def test_single_cell() -> None:
    """A map without any way to go keeps the walker where it is."""
    with envpool.make_gymnasium("FrozenLake-v1", num_envs=4, desc=["S"]) as pool:
        pool.reset()
        for action in range(4):
            obs, reward, terminated, _, _ = pool.step(np.full(4, action, np.int32))
            assert not obs.any() and not reward.any() and not terminated.any()
