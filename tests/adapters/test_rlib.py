"""The adapter for rlib: its base classes, environments in Python, and pools of native environments."""

import importlib
import sys
from types import ModuleType

import gymnasium
import numpy as np
import pytest

import envpool
from envpool.adapters import rlib
from envpool.adapters.rlib import BatchEnv, DummyBatchEnv, RLEnv, RLVecEnv, VecEnv
from envpool.errors import ConfigError
from tests.support import plugin
from tests.support.checked_pool import FAIL
from tests.support.walks import Walk

CLASSES = [BatchEnv, DummyBatchEnv]

if "tests/Walk-v0" not in gymnasium.registry:
    gymnasium.register("tests/Walk-v0", entry_point=Walk, disable_env_checker=True)


class Wrapper(RLEnv):
    """A wrapper as rlib's are: it adds `bonus` to the rewards, and resets the environment after an episode if asked."""

    def __init__(self, env, bonus=0.0, auto_reset=False):
        self.env, self.bonus, self.auto_reset = env, bonus, auto_reset

    def reset(self, *, seed=None, options=None):
        return self.env.reset(seed=seed, options=options)

    def step(self, action):
        obs, reward, terminated, truncated, info = self.env.step(action)
        if self.auto_reset and (terminated or truncated):
            obs, _ = self.env.reset()
        return obs, reward + self.bonus, terminated, truncated, info


def test_base_of_environments():
    walk = Walk(3)
    with Wrapper(Wrapper(walk)) as env:
        assert env.unwrapped is walk and env.size == 3 and env.action_space is walk.action_space
        assert env.render().shape == (2, 2, 3) and env.metadata == {}
        with pytest.raises(AttributeError, match="no_such"):
            env.no_such  # noqa: B018
        with pytest.raises(AttributeError, match="_private"):
            env._private  # noqa: B018
    assert walk.num_closed == 1
    alone = Wrapper(None)
    alone.close()
    assert alone.unwrapped is alone
    for name in ("observation_space", "spec"):
        with pytest.raises(AttributeError, match=name):
            getattr(alone, name)
    with pytest.raises(NotImplementedError, match=r"must implement render"):
        alone.render()
    with pytest.raises(TypeError, match="abstract"):
        RLEnv()


def test_merging():
    for terminated, truncated in ((False, False), (True, False), (False, True), (True, True)):
        assert RLVecEnv.merge_done(terminated, truncated) is (terminated or truncated)
        info = {"a": 1}
        merged = RLVecEnv.merge_info(info, terminated, np.bool_(truncated))
        assert merged == {"a": 1, "TimeLimit.truncated": truncated and not terminated} and info == {"a": 1}
    assert RLVecEnv.merge_info({"TimeLimit.truncated": 7}, True, True) == {"TimeLimit.truncated": 7}
    assert RLVecEnv.merge_info(None, True, True) is None


@pytest.mark.parametrize("cls", CLASSES)
def test_environments_in_python(cls):
    env = cls(Wrapper, "tests/Walk-v0", 3, make_args={"size": 2, "max_episode_steps": 3}, bonus=0.5)
    assert isinstance(env, RLVecEnv) and len(env) == 3
    assert env.bonus == 0.5 and env.observation_space.shape == (1,)
    with pytest.raises(AttributeError, match="no_such"):
        env.no_such  # noqa: B018
    obs = env.reset()
    assert obs.tolist() == [[0]] * 3 and obs.dtype == np.float32
    kept = obs.copy()
    obs, rewards, dones, infos = env.step([1, 1, 0])
    assert obs.tolist() == [[1], [1], [0]] and rewards.tolist() == [0.5] * 3 and dones.dtype == np.bool_
    assert np.array_equal(kept, [[0]] * 3)
    assert isinstance(infos, tuple) and infos[0]["cell"] == 1
    assert [info["TimeLimit.truncated"] for info in infos] == [False] * 3
    _, rewards, dones, _ = env.step(np.array([1, 0, 0]))
    assert rewards.tolist() == [1.5, 0.5, 0.5] and dones.tolist() == [True, False, False]
    with pytest.raises(ValueError, match="after the end"):  # nobody resets it
        env.step([1, 0, 0])
    env.close()
    env.close()


@pytest.mark.parametrize("cls", CLASSES)
def test_a_wrapper_resets(cls):
    env = cls(Wrapper, "tests/Walk-v0", 2, make_args={"size": 9, "max_episode_steps": 3}, auto_reset=True)
    env.reset()
    for t in range(1, 8):
        obs, _, dones, infos = env.step([1, 1])
        assert dones.all() == (t % 3 == 0) and [info["TimeLimit.truncated"] for info in infos] == [t % 3 == 0] * 2
        assert obs.tolist() == [[t % 3]] * 2
    env.close()


def test_the_environments_of_a_dummy():
    env = DummyBatchEnv(Wrapper, "tests/Walk-v0", 2)
    assert [type(one) for one in env.envs] == [Wrapper, Wrapper]
    env.close()
    assert not BatchEnv(Wrapper, "tests/Walk-v0", 1).blocking


def test_registered_environments():
    assert rlib.make is gymnasium.make
    for task_id in ("ApplePicker-v0", "ApplePickerDeterministic-v0"):
        env = gymnasium.make(task_id, num_objects=5, default_reward=-0.1)
        with envpool.make_gymnasium(task_id, num_objects=5, default_reward=-0.1, seed=3) as pool:
            rows = [(env.reset(seed=3)[0], pool.reset()[0][0])]
            for action in (0, 1, 2, 3) * 5:
                step, steps = env.step(action), pool.step(np.array([action]))
                rows.append((step[0], steps[0][0]))
                assert step[1] == steps[1][0] and step[2] == steps[2][0]
        assert all(np.array_equal(*pair) for pair in rows)
        env.close()
    batch = DummyBatchEnv(Wrapper, "ApplePicker-v0", 3, make_args={"num_objects": 7})
    obs = batch.reset()
    assert obs.shape == (3, 84, 84, 3) and len({row.tobytes() for row in obs}) == 3
    batch.close()


def test_the_classes_of_rlib_know_these(monkeypatch):
    class Theirs(RLVecEnv):
        """Stands for rlib's class."""

    for name in ("rlib", "rlib.envs", "rlib.envs.base"):
        monkeypatch.setitem(sys.modules, name, ModuleType(name))
    sys.modules["rlib.envs"].base = sys.modules["rlib.envs.base"]
    sys.modules["rlib.envs.base"].RLVecEnv, sys.modules["rlib.envs.base"].RLEnv = Theirs, type("T", (RLEnv,), {})
    monkeypatch.delitem(sys.modules, "envpool.adapters.rlib")
    monkeypatch.delitem(sys.modules, "envpool.adapters.rlib_base")
    adapter = importlib.import_module("envpool.adapters.rlib")
    assert issubclass(adapter.BatchEnv, Theirs)


def test_pools():
    env = VecEnv("CartPole-v1", 3, seed=1)
    assert isinstance(env, RLVecEnv) and len(env) == 3 and env.spec.id == "CartPole-v1"
    assert env.reset().shape == (3, 4)
    obs, rewards, dones, infos = env.step([0, 1, 0])
    assert obs.shape == (3, 4) and rewards.dtype == np.float32 and dones.dtype == np.bool_
    assert isinstance(infos, tuple)
    assert [info["elapsed_step"] for info in infos] == [1, 1, 1]
    assert [info["TimeLimit.truncated"] for info in infos] == [False] * 3
    env.close()
    env.close()


def test_other_attributes_are_those_of_the_pool():
    env = VecEnv("CartPole-v1", 2)
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
def test_steps_are_those_of_the_pool(task):
    env = VecEnv(task, 3, seed=4, max_episode_steps=15)
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


def test_mistakes():
    with pytest.raises(ConfigError, match="autoreset_mode is always 'same_step' for rlib's trainers"):
        VecEnv("CartPole-v1", 2, autoreset_mode="disabled")


def test_the_text_of_a_failed_env_is_in_its_info():
    plugin.load()
    env = VecEnv("Synthetic-v0", 3, on_error="restart", episode_length=0)
    env.reset()
    *_, dones, infos = env.step([0, FAIL, 0])
    assert dones.tolist() == [False, True, False]
    assert infos[1]["error"] == "was asked to fail at step 0 of episode 2 (env 1)"
    assert all("error" not in infos[i] for i in (0, 2))
    env.close()


def test_statistics_are_in_the_infos_of_ended_episodes():
    env = VecEnv("CartPole-v1", 3, episode_statistics=True)
    env.reset()
    num_ended = 0
    for _ in range(60):
        *_, dones, infos = env.step([1, 1, 1])
        assert [("episode" in info) for info in infos] == dones.tolist()
        num_ended += dones.sum()
        assert all(info["episode"]["l"] == info["elapsed_step"] for info in infos if "episode" in info)
    assert num_ended > 5
    env.close()


def without_wrappers(env):
    """Return the environment alone, since gymnasium's wrappers refuse steps before a reset."""
    return env.unwrapped


@pytest.mark.parametrize("cls", CLASSES)
def test_steps_before_the_first_reset_are_passed_on(cls):
    env = cls(without_wrappers, "tests/Walk-v0", 2)
    assert env.step([1, 1])[0].tolist() == [[1], [1]]
    env.close()
