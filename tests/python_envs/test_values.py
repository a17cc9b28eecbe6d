"""Values between Python environments and the pool: none changes in silence, in no kind of workers."""

import functools

import gymnasium
import numpy as np
import pytest
from gymnasium import spaces

import envpool
from envpool.errors import ActionError, EnvStepError
from envpool.python_envs.infos import batch_infos
from tests.support.python_envs import same

KINDS = ["inline", "thread", "process"]

BYTES = spaces.Box(0, 255, (2,), np.uint8)
FLOATS = spaces.Box(-1, 1, (2,), np.float32)
WORDS = spaces.Box(0, 60_000, (2,), np.float16)  # carried as objects
NESTED = spaces.Dict({"a": spaces.Dict({"b": BYTES}), "c": FLOATS})


class Returning(gymnasium.Env):
    """Returns `first` from resets, and the observation and the reward that are set from steps."""

    action_space = spaces.Discrete(2)

    def __init__(self, space, first):
        self.observation_space, self.first = space, first
        self.obs, self.reward = first, 0.0

    def reset(self, *, seed=None, options=None):
        return self.first, {}

    def step(self, action):
        return self.obs, self.reward, False, False, {}


CASES = {
    "scaled image": (BYTES, np.array([0, 1], np.uint8), np.array([0.5, 1.0]), "0.5 of dtype float64, which uint8"),
    "too large": (BYTES, np.array([0, 1]), np.array([300, 1]), "300 of dtype int64, which uint8"),
    "nan": (BYTES, [0, 1], np.array([np.nan, 1], np.float32), "nan of dtype float32, which uint8"),
    "overflow": (FLOATS, [0.25, 1], np.array([1e300, 0]), "1e.300 of dtype float64, which float32"),
    "carried": (WORDS, np.array([7, 60_000]), np.array([70_000, 1]), "70000 of dtype int64, which float16"),
    "leaf": (
        NESTED,
        {"a": {"b": [1, 2]}, "c": [0.5, 0]},
        {"a": {"b": [1, -2]}, "c": [0, 0]},
        r"at \('a', 'b'\) contains -2 of dtype int64, which uint8",
    ),
    "discrete": (spaces.Discrete(3), 1, 1.5, "1.5 of dtype float64, which int64"),
    "large int": (spaces.Discrete(3), np.int32(2), 2**70, "1180591620717411303424 of dtype object, which int64"),
}


@pytest.mark.parametrize("workers", KINDS)
@pytest.mark.parametrize("case", CASES)
def test_observations(case, workers):
    space, good, bad, text = CASES[case]
    with envpool.make_python(lambda: Returning(space, good), 2, workers=workers, num_threads=1) as pool:
        first, _ = pool.reset()
        one = first["a"]["b"] if case == "leaf" else first
        assert np.array_equal(one[1], good["a"]["b"] if case == "leaf" else good)
        pool.set_attr("obs", [good, bad])
        with pytest.raises(EnvStepError, match=f"env 1: (.|\n)*{text}") as caught:
            pool.step(np.zeros(2, int))
        assert list(caught.value.failures) == [1]
        obs, _, _, truncated, _ = pool.recv()
        assert truncated.tolist() == [False, True]
        same(obs["a"]["b"][0] if case == "leaf" else obs[0], one[0])
        pool.set_attr("obs", [good, good])
        assert not pool.step(np.zeros(2, int))[3].any()


@pytest.mark.parametrize("workers", KINDS)
@pytest.mark.parametrize(
    ("reward", "text"),
    [
        (1e300, "the reward must be in the range of float32, got 1e.300"),
        (np.complex128(1 + 2j), "the reward must be a real number, got .*1.2j"),
        ("2", "the reward must be a real number"),
        (None, "the reward must be a real number, got None"),
    ],
)
def test_rewards(reward, text, workers):
    with envpool.make_python(lambda: Returning(BYTES, [0, 1]), 1, workers=workers) as pool:
        pool.reset()
        for good in (0.5, np.float32(0.5), np.array(0.5), np.array([0.5])):
            pool.set_attr("reward", [good])
            assert pool.step(np.zeros(1, int))[1].tolist() == [0.5]
        for good in (np.nan, np.inf):
            pool.set_attr("reward", good)
            np.testing.assert_array_equal(pool.step(np.zeros(1, int))[1], np.float32([good]))
        pool.set_attr("reward", reward)
        with pytest.raises(EnvStepError, match=text):
            pool.step(np.zeros(1, int))


class Structured(Returning):
    action_space = spaces.Dict({"a": spaces.Discrete(4), "b": spaces.Box(-1, 1, (1,), np.float32)})

    def step(self, action):
        return self.obs, float(action["a"]), False, False, {}


def test_structured_actions():
    with envpool.make_python(lambda: Structured(BYTES, [0, 1]), 2) as pool:
        pool.reset()
        assert pool.step({"a": [1.0, 3.0], "b": np.zeros((2, 1))})[1].tolist() == [1, 3]
        with pytest.raises(ActionError, match=r"'action.a' contains 0.5 of dtype float64, which int64"):
            pool.step({"a": [0.5, 1], "b": np.zeros((2, 1))})
        with pytest.raises(ActionError, match=r"'action.b' contains 1e.300 of dtype float64, which float32"):
            pool.step({"a": [0, 1], "b": np.full((2, 1), 1e300)})
        assert pool.step({"a": [2, 0], "b": np.zeros((2, 1))})[1].tolist() == [2, 0]


class OneLeaf(Returning):
    """Its actions are dicts and tuples with a single number."""

    action_space = spaces.Dict(x=spaces.Tuple([spaces.Discrete(4)]))

    def step(self, action):
        return self.obs, float(action["x"][0]), False, False, {}


def test_sampled_actions_of_one_leaf():
    with envpool.make_python(lambda: OneLeaf(BYTES, [0, 1]), 2) as pool:
        pool.reset()
        actions = pool.sample_actions()
        assert pool.step(actions)[1].tolist() == actions["x"][0].tolist()


def test_integers_in_infos_are_not_rounded():
    large = 2**53 + 1
    found = batch_infos(3, [0, 2], [{"n": large, "v": np.array([large])}, {"n": 0.5, "v": np.array([0.5])}])
    assert found["n"].tolist() == [large, None, 0.5] and found["v"][0].tolist() == [large]
    assert batch_infos(2, [0, 1], [{"n": 1}, {"n": 0.5}])["n"].dtype == np.float64
    assert batch_infos(2, [0, 1], [{"n": 2**63}, {"n": -1}])["n"].tolist() == [2**63, -1]


class Reusing(gymnasium.Env):
    """Returns the same objects again and again, with new values; episodes last 3 steps."""

    observation_space = spaces.Dict(
        {"words": WORDS, "names": spaces.Sequence(spaces.Discrete(9)), "x": spaces.Box(0, 9, (1,), np.float32)}
    )
    action_space = spaces.Discrete(2)

    def __init__(self):
        self.obs = {"words": np.zeros(2, np.float16), "names": [0], "x": np.zeros(1, np.float32)}
        self.info = {"count": 0, "list": [0], "array": np.zeros(2), "nested": {"count": 0}}

    def fill(self, value):
        self.obs["words"][:] = self.obs["x"][:] = self.obs["names"][0] = value
        self.info["count"] = self.info["list"][0] = self.info["nested"]["count"] = self.info["array"][:] = value
        return self.obs, self.info

    def reset(self, *, seed=None, options=None):
        self.count = 0
        return self.fill(8)

    def step(self, action):
        self.count += 1
        obs, info = self.fill(self.count)
        return obs, 1.0, self.count == 3, False, info


@pytest.mark.parametrize("workers", KINDS)
def test_what_an_ended_episode_left_is_not_that_of_its_reset(workers):
    with envpool.make_python(Reusing, 2, workers=workers, autoreset_mode="same_step") as pool:
        pool.reset()
        for _ in range(3):
            obs, _, terminated, _, info = pool.step(np.zeros(2, int))
        assert terminated.all() and obs["words"].tolist() == [[8, 8], [8, 8]] and info["count"].tolist() == [8, 8]
        final_obs, final = info["final_obs"], info["final_info"]
        assert final_obs["words"].tolist() == [[3, 3], [3, 3]] and final_obs["x"].tolist() == [[3], [3]]
        assert [list(names) for names in final_obs["names"]] == [[3], [3]]
        assert final["count"].tolist() == final["nested"]["count"].tolist() == [3, 3]
        assert final["list"].tolist() == [[3], [3]] and final["array"].tolist() == [[3, 3], [3, 3]]


@pytest.mark.parametrize("workers", KINDS)
def test_results_keep_their_values(workers):
    """The environment reuses its objects and arrays; infos of different shapes are arrays in an object array."""
    with envpool.make_python([Reusing, Longer], workers=workers) as pool:
        obs, info = pool.reset()
        pool.step(np.zeros(2, int))
        assert [list(names) for names in obs["names"]] == [[8], [8]] and obs["words"].tolist() == [[8, 8]] * 2
        assert [array.tolist() for array in info["array"]] == [[8, 8], [8, 8, 8]]


class Longer(Reusing):
    def __init__(self):
        super().__init__()
        self.info["array"] = np.zeros(3)


class WithLock(Reusing):
    def fill(self, value):
        obs, info = super().fill(value)
        return obs, info | {"function": (x for x in ())}


INFO = {"number": 0, "array": np.zeros(2), "nested": {"number": 0}}


class Shared(Returning):
    """All environments return one info, which each of them changes."""

    def step(self, action):
        INFO["number"] = INFO["nested"]["number"] = int(action)
        INFO["array"][:] = action
        return self.obs, 0.0, False, False, INFO


@pytest.mark.parametrize("workers", KINDS)
def test_infos_that_environments_share(workers):
    with envpool.make_python(lambda: Shared(FLOATS, np.zeros(2)), 3, workers=workers, num_threads=1) as pool:
        pool.reset()
        info = pool.step(np.array([0, 1, 1]))[4]
        assert info["number"].tolist() == info["nested"]["number"].tolist() == info["array"][:, 1].tolist() == [0, 1, 1]


def test_what_cannot_be_copied_is_shared():
    with envpool.make_python(WithLock, 1, autoreset_mode="same_step") as pool:
        pool.reset()
        for _ in range(3):
            *_, info = pool.step(np.zeros(1, int))
        assert info["final_info"]["list"].tolist() == [[3]] and info["final_info"]["function"][0] is not None


INT64 = np.iinfo(np.int64)
U64 = functools.partial(np.array, dtype=np.uint64)


class Echo(gymnasium.Env):
    """Returns its last action."""

    def __init__(self, action_space):
        self.action_space = action_space
        self.dtype = action_space.dtype
        ends = np.iinfo(self.dtype)
        self.observation_space = spaces.Box(ends.min, ends.max, action_space.shape, self.dtype)

    def reset(self, *, seed=None, options=None):
        return np.zeros(self.action_space.shape, self.dtype), {}

    def step(self, action):
        assert self.action_space.contains(action), action
        return action, 0.0, False, False, {}


@pytest.mark.parametrize("style", ["gymnasium", "gym", "dm"])
@pytest.mark.parametrize(
    ("space", "low", "high"),
    [
        (spaces.Box(INT64.min, INT64.max, (1,), np.int64), [INT64.min], [INT64.max]),
        (spaces.Box(np.array([0, -(2**60)]), np.array([3, INT64.max]), (2,), np.int64), [0, -(2**60)], [3, INT64.max]),
        (spaces.Discrete(2**63 - 1), 0, 2**63 - 2),
        (spaces.Discrete(5, start=2**60), 2**60, 2**60 + 4),
        (spaces.Discrete(3, start=-(2**63)), -(2**63), -(2**63) + 2),
        (spaces.MultiDiscrete([3, 2**62], start=[2**60, 5]), [2**60, 5], [2**60 + 2, 2**62 + 4]),
        (spaces.Box(2**62 + 5, 2**62 + 9, (2,), np.int64), [2**62 + 5] * 2, [2**62 + 9] * 2),
        (spaces.Box(0, 2**64 - 1, (1,), np.uint64), [0], [2**64 - 1]),
        (spaces.Box(2**63 - 1, 2**63 + 1, (), np.uint64), 2**63 - 1, 2**63 + 1),
        (spaces.Box(U64([3, 2**60]), U64([9, 2**64 - 2]), (2,), np.uint64), [3, 2**60], [9, 2**64 - 2]),
        (spaces.Box(7, 2**32 - 2, (2,), np.uint32), [7] * 2, [2**32 - 2] * 2),
        (spaces.Box(0, 2**16 - 1, (2, 1), np.uint16), [[0]] * 2, [[2**16 - 1]] * 2),
    ],
)
def test_bounds_of_integers_are_exact(space, low, high, style):
    ends = np.iinfo(space.dtype if space.dtype.kind == "u" else np.int64)
    with envpool.make_python(lambda: Echo(space), 2, env_type=style, autoreset_mode="disabled") as pool:
        pool.reset()
        actions = np.array([low, high], space.dtype)
        obs = pool.step(actions)
        obs = obs.observation.obs if style == "dm" else obs[0]
        same(obs, actions)
        for row, bound, step in ((0, low, -1), (1, high, 1)):
            past = np.array(np.ravel(bound).tolist(), object) + step
            if (past >= ends.min).all() and (past <= ends.max).all():
                bad = actions.copy()
                bad[row] = past.reshape(space.shape)
                with pytest.raises(ActionError, match=rf"env {row} \(row {row}\) must have integers from .*"):
                    pool.step(bad)
        if ends.min == 0:
            for wrong in (np.full(actions.shape, -1), np.full(actions.shape, -1.0), np.full(actions.shape, 0.5)):
                with pytest.raises(ActionError, match=r"must h(ave|old) integers from .*, got"):
                    pool.step(wrong)
        sampled = pool.sample_actions(1)
        assert all(row in space for row in sampled)
        pool.step(sampled)
        if 2**63 - 1 in np.ravel(high) and space.dtype != np.uint64:
            for wide in (np.full(actions.shape, 2**63, np.uint64), np.full(actions.shape, 2.0**63)):
                with pytest.raises(ActionError, match=r"must hold integers from .* to 9223372036854775807, got 9"):
                    pool.step(wide)
        minimum = pool.spec.action_array_spec["action"].minimum
        assert np.array_equal(np.broadcast_to(minimum, space.shape), np.array(low, space.dtype))
