"""The adapter for rlib, tested with classes that follow its contract, as no package index has rlib itself."""

import importlib
import sys
from abc import ABC, abstractmethod
from types import ModuleType

import numpy as np
import pytest

import envpool
from envpool.errors import ConfigError
from tests.support import plugin
from tests.support.checked_pool import FAIL


class RLVecEnv(ABC):
    """The interface of a vectorised environment of rlib."""

    @abstractmethod
    def reset(self): ...

    @abstractmethod
    def step(self, actions): ...

    @abstractmethod
    def close(self): ...

    @abstractmethod
    def __len__(self): ...

    @staticmethod
    def merge_done(terminated, truncated):
        return bool(terminated or truncated)

    @staticmethod
    def merge_info(info, terminated, truncated):
        return {"TimeLimit.truncated": bool(truncated) and not terminated} | info


@pytest.fixture
def adapter(monkeypatch):
    for name in ("rlib", "rlib.envs", "rlib.envs.base"):
        monkeypatch.setitem(sys.modules, name, ModuleType(name))
    sys.modules["rlib.envs.base"].RLVecEnv = RLVecEnv
    monkeypatch.delitem(sys.modules, "envpool.adapters.rlib", raising=False)
    yield importlib.import_module("envpool.adapters.rlib")
    sys.modules.pop("envpool.adapters.rlib")


def test_forms(adapter):
    env = adapter.BatchEnv("CartPole-v1", 3, seed=1)
    assert isinstance(env, RLVecEnv) and len(env) == 3 and env.spec.id == "CartPole-v1"
    assert env.reset().shape == (3, 4)
    obs, rewards, dones, infos = env.step([0, 1, 0])
    assert obs.shape == (3, 4) and rewards.dtype == np.float32 and dones.dtype == np.bool_
    assert isinstance(infos, tuple)
    assert [info["elapsed_step"] for info in infos] == [1, 1, 1]
    assert [info["TimeLimit.truncated"] for info in infos] == [False] * 3
    env.close()
    env.close()


def test_other_attributes_are_those_of_the_pool(adapter):
    env = adapter.BatchEnv("CartPole-v1", 2)
    assert env.observation_space is env.pool.observation_space
    assert env.action_space.n == 2
    with pytest.raises(AttributeError, match="no_such"):
        env.no_such  # noqa: B018
    with pytest.raises(AttributeError, match="_private"):
        env._private  # noqa: B018


def pick(nest, key):
    """One array of an observation that may have several."""
    return nest if key is None else nest[key]


@pytest.mark.parametrize("task", ["CartPole-v1", "CheetahRun-v1"])
def test_steps_are_those_of_the_pool(adapter, task):
    env = adapter.BatchEnv(task, 3, seed=4, max_episode_steps=15)
    pool = envpool.make_gymnasium(task, num_envs=3, seed=4, max_episode_steps=15, autoreset_mode="same_step")
    rng = np.random.default_rng(0)
    env.reset(), pool.reset()
    ends = []
    for _ in range(60):
        actions = np.stack([pool.action_space.sample() for _ in range(3)])
        obs, rewards, dones, infos = env.step(actions)
        their_obs, their_rewards, terminated, truncated, info = pool.step(actions)
        key = None if isinstance(obs, np.ndarray) else rng.choice(list(obs))
        assert pick(obs, key).tobytes() == pick(their_obs, key).tobytes()
        assert rewards.tobytes() == their_rewards.tobytes()
        assert dones.tolist() == [env.merge_done(*ends) for ends in zip(terminated, truncated, strict=True)]
        for i in np.flatnonzero(dones):
            assert pick(infos[i]["final_obs"], key).tobytes() == pick(info["final_obs"], key)[i].tobytes()
            assert infos[i]["elapsed_step"] == info["final_info"]["elapsed_step"][i]
            assert infos[i]["TimeLimit.truncated"] == (truncated[i] and not terminated[i])
            ends.append(infos[i]["TimeLimit.truncated"])
    assert True in ends


def test_mistakes(adapter):
    with pytest.raises(ConfigError, match="autoreset_mode is always 'same_step' for rlib's trainers"):
        adapter.BatchEnv("CartPole-v1", 2, autoreset_mode="disabled")


def test_without_rlib():
    with pytest.raises(ImportError, match="jhare96/reinforcement-learning"):
        importlib.import_module("envpool.adapters.rlib")


def test_the_text_of_a_failed_env_is_in_its_info(adapter):
    plugin.load()
    env = adapter.BatchEnv("Synthetic-v0", 3, on_error="restart", episode_length=0)
    env.reset()
    *_, dones, infos = env.step([0, FAIL, 0])
    assert dones.tolist() == [False, True, False]
    assert infos[1]["error"] == "was asked to fail at step 0 of episode 2 (env 1)"
    assert all("error" not in infos[i] for i in (0, 2))
    env.close()


def test_statistics_are_in_the_infos_of_ended_episodes(adapter):
    env = adapter.BatchEnv("CartPole-v1", 3, episode_statistics=True)
    env.reset()
    num_ended = 0
    for _ in range(60):
        *_, dones, infos = env.step([1, 1, 1])
        assert [("episode" in info) for info in infos] == dones.tolist()
        num_ended += dones.sum()
        assert all(info["episode"]["l"] == info["elapsed_step"] for info in infos if "episode" in info)
    assert num_ended > 5
    env.close()
