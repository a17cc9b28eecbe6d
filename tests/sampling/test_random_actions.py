"""`pool.sample_actions`: batches that every kind of pool accepts, with the distribution of the action space."""

import math

import gymnasium
import numpy as np
import pytest

import envpool
from envpool.config.spaces import ArraySpec, to_space
from envpool.errors import ConfigError, EnvIdError
from envpool.rollout import Sampler
from envpool.sampling.random_actions import ActionField
from tests.support import plugin

TASKS = ["CartPole-v1", "Pendulum-v1", "HalfCheetah-v5", "Pong-v5", "CheetahRun-v1", "Taxi-v3"]
RICH = {"layout": "rich", "items": 9, "num_envs": 5}


@pytest.mark.parametrize("style", ["gymnasium", "gym", "dm"])
@pytest.mark.parametrize("task", TASKS)
def test_batches_are_valid(task, style):
    with envpool.make(task, style, num_envs=6) as pool:
        space = pool.spec.gymnasium_action_space
        pool.reset()
        for _ in range(3):
            actions = pool.sample_actions()
            assert all(row in space for row in actions)
            pool.step(actions)


@pytest.mark.parametrize("style", ["gymnasium", "dm"])
def test_several_arrays(style):
    """The players are those of the env ids."""
    plugin.load()
    with envpool.make("Synthetic-v0", style, **RICH) as pool:
        pool.reset()
        actions = pool.sample_actions(3)
        assert actions["env_id"].tolist() == actions["players"]["env_id"].tolist() == [0, 1, 2, 3, 4]
        assert {k: (v.dtype, v.shape) for k, v in actions["action"].items()} == {
            "move": (np.int32, (5,)),
            "push": (np.float32, (5, 2)),
            "mode": (np.int8, (5, 3)),
            "count": (np.int64, (5,)),
        }
        pool.step(actions)
        space = pool.spec.gymnasium_action_space["action"]
        for _ in range(50):
            drawn = pool.sample_actions(None, [4, 2])
            assert drawn["env_id"].tolist() == [4, 2]
            for i in range(2):
                assert {k: v[i] for k, v in drawn["action"].items()} in space
        pool.step(drawn)


SPECS = {
    "discrete": ArraySpec(np.int32, [], 0, 4),
    "start": ArraySpec(np.int64, [-1], -2, 3),
    "bits": ArraySpec(np.bool_, [3]),
    "bytes": ArraySpec(np.uint8, [2], 0, 255),
    "small": ArraySpec(np.int16, [2], [-3, 5], [3, 5]),
    "all int32": ArraySpec(np.int32, [1, 2]),
    "words": ArraySpec(np.uint16, [2], [0, 40_000], [65_535, 40_001]),
    "all uint32": ArraySpec(np.uint32, [2]),
    "box": ArraySpec(np.float32, [2], [-1, 3], [1, 10]),
    "double": ArraySpec(np.float64, [2], -0.1, 0.3),
    "unbounded": ArraySpec(np.float32, [2]),
    "below": ArraySpec(np.float64, [], 2, None),
    "above": ArraySpec(np.float64, [1], None, -2),
}


@pytest.mark.parametrize("name", SPECS)
def test_distribution_of_the_space(name):
    """Quantiles are those of samples of gymnasium's own, whose generator has a fixed seed as well."""
    count = 4000
    space = to_space(SPECS[name], gymnasium.spaces)
    space.seed(1)
    drawn = ActionField(SPECS[name]).draw(Sampler(0), count)
    assert drawn.dtype == SPECS[name].dtype
    assert drawn.shape == (count, *SPECS[name].row_shape)
    assert np.isfinite(drawn).all()
    ours = np.sort(drawn.reshape(count, -1).astype(np.float64), axis=0)
    theirs = np.sort(np.stack([space.sample() for _ in range(count)]).reshape(count, -1).astype(np.float64), axis=0)
    assert (ours.min(axis=0) >= np.min(SPECS[name].minimum)).all()
    assert (ours.max(axis=0) <= np.max(SPECS[name].maximum)).all()
    for column, other in zip(ours.T, theirs.T, strict=True):
        points = np.unique(other)[:: max(len(np.unique(other)) // 50, 1)]
        a, b = (np.searchsorted(c, points, side="right") / count for c in (column, other))
        assert np.abs(a - b).max() < 0.045  # Kolmogorov and Smirnov: 0.1 % of pairs of samples are this far apart


@pytest.mark.parametrize("dtype", [np.int64, np.uint64])
def test_all_64_bit_integers(dtype):
    """Samples of gymnasium's own are all the same number here, since its sum of the bounds overflows."""
    drawn = ActionField(ArraySpec(dtype, [3])).draw(Sampler(0), 1000)
    bits = np.unpackbits(drawn.view(np.uint8)).reshape(3000, 64)
    assert np.abs(bits.mean(axis=0) - 0.5).max() < 0.05


def test_bounds_whose_distance_overflows():
    most = np.finfo(np.float64).max
    drawn = ActionField(ArraySpec(np.float64, [], -most, most)).draw(Sampler(0), 1000)
    assert np.isfinite(drawn).all() and -0.1 < (drawn > 0).mean() - 0.5 < 0.1


def test_generators():
    with envpool.make_gymnasium("HalfCheetah-v5", num_envs=3, seed=1) as pool:
        first, second = pool.sample_actions(), pool.sample_actions()
        assert (first != second).any()
        assert np.array_equal(pool.sample_actions(4), pool.sample_actions(4))
        assert np.array_equal(pool.sample_actions(rng=Sampler(4)), pool.sample_actions(4))
        rng = np.random.default_rng(0)
        assert (pool.sample_actions(rng) != pool.sample_actions(rng)).any()
        assert pool.sample_actions(env_id=[2, 0]).shape == (2, 6)
        assert pool.sample_actions(env_id=[]).shape == (0, 6)
    with envpool.make_gymnasium("HalfCheetah-v5", num_envs=3, seed=1) as pool:
        assert np.array_equal(pool.sample_actions(), first)
    with envpool.make_gymnasium("HalfCheetah-v5", num_envs=3, seed=2) as pool:
        assert (pool.sample_actions() != first).any()


def test_environments_are_not_affected():
    with envpool.make_gymnasium("CartPole-v1", num_envs=3) as a, envpool.make_gymnasium("CartPole-v1", num_envs=3) as b:
        a.sample_actions()
        assert np.array_equal(a.reset()[0], b.reset()[0])


def test_mistakes():
    with envpool.make_gymnasium("CartPole-v1", num_envs=3) as pool:
        with pytest.raises(EnvIdError, match=r"env_id\[1\] must be between 0 and 2.*, got 3"):
            pool.sample_actions(env_id=[0, 3])
        with pytest.raises(TypeError, match="rng must be"):
            pool.sample_actions("x")
        with pytest.raises(ConfigError, match="seed must be "):
            pool.sample_actions(-1)
        with pytest.raises(TypeError, match="rng must be"):
            pool.sample_actions(math.pi)


def test_bounds_of_floats_beyond_the_dtype():
    """The tables of a plug-in in C round the largest int64 to 2**63."""
    spec = ArraySpec(np.int64, [2], -(2.0**63), np.array([2.0**63, np.inf]))
    assert spec.minimum == -(2**63) and spec.maximum.tolist() == [2**63 - 1] * 2
    assert ActionField(spec).draw(Sampler(0), 3).shape == (3, 2)
    assert to_space(ArraySpec(np.int64, [], -(2**62), 5), gymnasium.spaces).contains(np.array(-(2**62)))


@pytest.mark.parametrize("keys", [("target_env_id", "x"), ("target_env_id",)])
def test_names_that_end_like_those_of_ids(keys):
    class Named(gymnasium.Env):
        observation_space = gymnasium.spaces.Box(-1, 1, (1,))
        action_space = gymnasium.spaces.Dict({key: gymnasium.spaces.Discrete(3) for key in keys})

        def reset(self, *, seed=None, options=None):
            return np.zeros(1, np.float32), {}

        def step(self, action):
            assert sorted(action) == sorted(keys)
            return np.zeros(1, np.float32), sum(action.values()), False, False, {}

    with envpool.make_python(Named, 2) as pool:
        pool.reset()
        pool.step(pool.sample_actions())
