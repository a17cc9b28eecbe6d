"""Observations and actions of integers that few tasks have: every transform, against gymnasium's wrappers or NumPy."""

from contextlib import closing

import gymnasium
import numpy as np
import pytest
from gymnasium.wrappers import vector as wrappers

import envpool
from envpool.python_envs.vector_env import PythonVectorEnv

DTYPES = [np.int16, np.uint16, np.uint32, np.uint64]


class Integers(gymnasium.Env):
    """Returns random numbers of all of a dtype, and the last action."""

    def __init__(self, dtype):
        self.dtype, self.ends = dtype, np.iinfo(dtype)
        self.observation_space = gymnasium.spaces.Box(self.ends.min, self.ends.max, (3,), dtype)
        self.action_space = gymnasium.spaces.Box(max(self.ends.min, -300), 300, (2,), dtype)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        return self.draw(), {}

    def step(self, action):
        assert action.dtype == self.dtype
        return self.draw(), 0.0, False, False, {"action": action.copy()}

    def draw(self):
        return self.np_random.integers(self.ends.min, self.ends.max, 3, self.dtype, endpoint=True)


@pytest.fixture(params=DTYPES, ids=[d.__name__ for d in DTYPES])
def dtype(request):
    return request.param


def assert_equal_bits(a, b):
    assert a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()


def episode(dtype, **options):
    """Return the observations of twelve steps."""
    with envpool.make_python(lambda: Integers(dtype), 3, seed=1, **options) as pool:
        return [pool.reset()[0], *(pool.step(np.zeros((3, 2), dtype))[0] for _ in range(11))]


def test_actions_within_bounds_reach_the_environment(dtype):
    with envpool.make_python(lambda: Integers(dtype), 2, seed=1) as pool:
        pool.reset()
        low = max(np.iinfo(dtype).min, -300)
        for given in (dtype, np.int32, np.int64, np.float64):
            actions = np.array([[low, 300], [0, 1]], given)
            assert_equal_bits(np.stack(pool.step(actions)[-1]["action"]), actions.astype(dtype))
        with pytest.raises(envpool.errors.ActionError, match=f"must have integers from {low} to 300"):
            pool.step(np.array([[0, 0], [0, 301]]))


def test_values_of_the_whole_range(dtype):
    observations, ends = np.stack(episode(dtype)), np.iinfo(dtype)
    assert observations.dtype == dtype and observations.shape == (12, 3, 3)
    width = int(ends.max) - int(ends.min)
    assert observations.min() < int(ends.min) + width // 8 and observations.max() > int(ends.max) - width // 8


def test_stacks_and_casts(dtype):
    plain, stacked, cast = episode(dtype), episode(dtype, frame_stack=2), episode(dtype, float32_obs=True)
    for k in range(12):
        assert_equal_bits(stacked[k], np.stack([plain[max(k - 1, 0)], plain[k]], axis=1))
        assert_equal_bits(cast[k], plain[k].astype(np.float32))


@pytest.mark.parametrize("num_envs", [1, 3, 257])
def test_normalisation(num_envs, dtype):
    def make(**options):
        return PythonVectorEnv(lambda: Integers(dtype), num_envs, seed=1, **options)

    plain, native, action = (
        wrappers.NormalizeObservation(make()),
        make(normalize_obs=True),
        np.zeros((num_envs, 2), dtype),
    )
    with closing(plain), closing(native):
        assert_equal_bits(plain.reset()[0], native.reset()[0])
        for _ in range(8):
            assert_equal_bits(plain.step(action)[0], native.step(action)[0])
