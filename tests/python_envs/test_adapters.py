"""Environments of old gym, of dm_env, and of no library; test_players.py has those of PettingZoo."""

import importlib
import sys

import dm_env
import gymnasium
import numpy as np
import pytest
from dm_env import specs
from gymnasium import spaces

import envpool
from envpool.errors import EnvStepError


@pytest.fixture
def gym():
    """Return the old gym package; it is unloaded afterwards, since env_type "gym" asks whether it is loaded."""
    yield importlib.import_module("gym")
    for name in [name for name in sys.modules if name.split(".")[0] == "gym"]:
        del sys.modules[name]


def old_gym_class(gym):
    class OldGym(gym.Env):
        """A gym environment with results of the old lengths."""

        observation_space = gym.spaces.Dict({"x": gym.spaces.Box(-1, 1, (2,), np.float32), "n": gym.spaces.Discrete(4)})
        action_space = gym.spaces.MultiDiscrete([2, 3])

        def seed(self, seed=None):
            self.rng = np.random.default_rng(seed)

        def reset(self):
            self.count = 0
            return {"x": self.rng.random(2).astype(np.float32), "n": 1}

        def step(self, action):
            self.count += 1
            info = {"TimeLimit.truncated": True} if self.count == 3 and action[1] == 2 else {}
            return {"x": np.full(2, self.count / 10, np.float32), "n": 2}, 0.5, self.count == 3, info

        def render(self, mode="human"):
            assert mode == "rgb_array"
            return np.full((2, 3, 3), self.count, np.uint8)

    return OldGym


def test_old_gym(gym):
    with envpool.make_python(old_gym_class(gym), 2, seed=6, render_mode="rgb_array") as pool:
        assert isinstance(pool.observation_space, spaces.Dict) and pool.observation_space["n"] == spaces.Discrete(4)
        obs, _ = pool.reset()
        assert np.array_equal(obs["x"][1], np.random.default_rng(7).random(2).astype(np.float32))
        for _ in range(3):
            obs, reward, terminated, truncated, info = pool.step(np.array([[0, 0], [1, 2]]))
        assert reward.tolist() == [0.5, 0.5] and obs["n"].tolist() == [2, 2]
        assert terminated.tolist() == [True, False] and truncated.tolist() == [False, True]
        assert info["TimeLimit.truncated"].tolist() == [False, True]
        assert (pool.render([1]) == 3).all()


def test_class_of_no_library():
    class Plain:
        observation_space = spaces.Discrete(9)
        action_space = spaces.Discrete(2)

        def reset(self, seed=None):
            self.last = 0 if seed is None else seed
            return self.last % 9

        def step(self, action):
            return int(action), 1.0, False, False, {}

    with envpool.make_python(Plain, 2, seed=3) as pool:
        assert pool.reset()[0].tolist() == [3, 4]
        assert pool.step(np.array([0, 1]))[0].tolist() == [0, 1]


class Old:
    """Returns what it is given."""

    action_space = spaces.Discrete(2)
    observation_space = spaces.Tuple([spaces.Discrete(5), spaces.Dict(a=spaces.Discrete(5))])

    def __init__(self, of_reset, of_step=None):
        self.of_reset, self.of_step = of_reset, of_step

    def reset(self):
        return self.of_reset

    def step(self, action):
        return self.of_step


def test_old_results():
    obs = (1, {"a": 2})
    for first in (obs, (obs, {})):  # a pair is no observation with an info if it looks like the space
        with envpool.make_python(lambda first=first: Old(first, (obs, 2.0, True, None)), 1) as pool:
            assert pool.reset()[0][1]["a"].tolist() == [2]
            assert pool.step(np.zeros(1, int))[1:4] == ([2.0], [True], [False])
    expected = r"step\(\) must return \(obs, .*\) or \(obs, reward, done, info\), got "
    for out, text in (((obs, 2.0, True), expected + "3 values"), (None, expected + "None")):
        with envpool.make_python(lambda out=out: Old(obs, out), 1) as pool:
            pool.reset()
            with pytest.raises(EnvStepError, match=text):
                pool.step(np.zeros(1, int))


def test_results_of_dm_env():
    class Wrong(Dm):
        def step(self, action):
            return 0.5, False

    with envpool.make_python(Wrong, 1) as pool:
        pool.reset()
        with pytest.raises(EnvStepError, match=r"step\(\) must return a dm_env.TimeStep, got \(0.5, False\)"):
            pool.step(np.zeros((1, 1), np.float32))


class Dm(dm_env.Environment):
    def __init__(self, last_discount=0.0):
        self.last_discount = last_discount

    def observation_spec(self):
        return {"position": specs.BoundedArray((2,), np.float64, -1, 1), "flag": specs.Array((), np.bool_)}

    def action_spec(self):
        return specs.BoundedArray((1,), np.float32, -2, 2)

    def _obs(self):
        return {"position": np.full(2, self.count / 4), "flag": np.bool_(self.count % 2)}

    def reset(self):
        self.count = 0
        return dm_env.restart(self._obs())

    def step(self, action):
        self.count += 1
        if self.count == 3:
            return dm_env.TimeStep(dm_env.StepType.LAST, float(action[0]), self.last_discount, self._obs())
        return dm_env.transition(float(action[0]), self._obs(), 0.75)


@pytest.mark.parametrize("workers", ["inline", "process"])
def test_dm_env(workers):
    with envpool.make_python([Dm, lambda: Dm(1.0)], env_type="dm", workers=workers) as pool:
        assert pool.reset().observation.position.shape == (2, 2)
        step = pool.step(np.array([[0.5], [1]], np.float32))
        assert step.reward.tolist() == [0.5, 1] and step.discount.tolist() == [0.75, 0.75]
        assert step.observation.flag.tolist() == [True, True]
        pool.step(np.zeros((2, 1), np.float32))
        step = pool.step(np.zeros((2, 1), np.float32))
        assert step.step_type.tolist() == [2, 2]
    with envpool.make_python([Dm, lambda: Dm(1.0)], workers=workers) as pool:
        pool.reset()
        for _ in range(3):
            *_, terminated, truncated, _ = pool.step(np.zeros((2, 1), np.float32))
        assert terminated.tolist() == [True, False] and truncated.tolist() == [False, True]


def test_gymnasium_is_not_wrapped():
    with envpool.make_python("CartPole-v1", 1) as pool:
        pool.reset()
        assert type(pool.get_attr("unwrapped")[0]) is type(gymnasium.make("CartPole-v1").unwrapped)


def test_options_of_resets():
    with envpool.make_python(Dm, 1) as pool:
        pool.reset(options={})
        with pytest.raises(EnvStepError, match="options must be None for a dm_env environment, got"):
            pool.reset(options={"a": 1})


class Scaled(Old):
    """Returns `scale` as the reward, and has attributes of names that an adapter has as well."""

    metadata = {"render_modes": [], "render_fps": 7}

    def __init__(self):
        super().__init__((1, {"a": 2}))
        self.scale, self.spec, self.inner = 1.0, "mine", "own"

    def step(self, action):
        return (1, {"a": 2}), self.scale, False, {}


class ScaledDm(Dm):
    scale = 1.0

    def step(self, action):
        return dm_env.transition(self.scale, self._obs())


@pytest.mark.parametrize("cls", [Scaled, ScaledDm])
@pytest.mark.parametrize("workers", ["inline", "process"])
def test_attributes_are_those_of_the_environment(cls, workers):
    with envpool.make_python(cls, 2, workers=workers) as pool:
        pool.reset()
        pool.set_attr("scale", [5.0, 6.0])
        pool.set_attr("inner", 3)
        assert pool.step(pool.sample_actions())[1].tolist() == [5, 6]
        assert pool.get_attr("scale") == (5, 6) and pool.get_attr("inner") == (3, 3)
        if cls is not ScaledDm:
            assert pool.get_attr("spec") == ("mine", "mine") and pool.metadata["render_fps"] == 7


def test_attributes_inside_wrappers(gym):
    class Owner(old_gym_class(gym)):
        scale = 1.0

        def reset(self, **kwargs):
            self.seed(0)
            return super().reset()

        def step(self, action):
            obs, _, done, info = super().step(action)
            return obs, self.scale + getattr(self, "extra", 0), done, info

    with envpool.make_python(lambda: gym.Wrapper(Owner()), 1, seed=1) as pool:
        pool.reset()
        pool.set_attr("scale", 5.0)
        pool.set_attr("extra", 2.0)
        assert pool.step(np.zeros((1, 2), int))[1].tolist() == [7]
        assert pool.get_attr("extra") == (2,)
    with envpool.make_python("CartPole-v1", 1) as pool:
        pool.set_attr("extra", 1)
        assert pool.get_attr("unwrapped")[0].extra == 1
