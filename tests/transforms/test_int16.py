"""Observations and actions of int16: every transform, against gymnasium's wrappers or NumPy."""

from contextlib import closing

import gymnasium
import numpy as np
import pytest
from gymnasium.wrappers import vector as wrappers

import envpool
from envpool.python_envs.vector_env import PythonVectorEnv

RANGE = np.iinfo(np.int16)


class Shorts(gymnasium.Env):
    """Returns random numbers of all of int16, and the last action."""

    observation_space = gymnasium.spaces.Box(RANGE.min, RANGE.max, (3,), np.int16)
    action_space = gymnasium.spaces.Box(-300, 300, (2,), np.int16)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        return self.draw(), {}

    def step(self, action):
        assert action.dtype == np.int16
        return self.draw(), 0.0, False, False, {"action": action.copy()}

    def draw(self):
        return self.np_random.integers(RANGE.min, RANGE.max, 3, np.int16, endpoint=True)


def assert_equal_bits(a, b):
    assert a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()


def episode(**options):
    """Return the observations of twelve steps."""
    with envpool.make_python(Shorts, 3, seed=1, **options) as pool:
        return [pool.reset()[0], *(pool.step(np.zeros((3, 2), np.int16))[0] for _ in range(11))]


def test_actions_within_bounds_reach_the_environment():
    with envpool.make_python(Shorts, 2, seed=1) as pool:
        pool.reset()
        for dtype in (np.int16, np.int32, np.int64, np.float64):
            actions = np.array([[-300, 300], [0, -1]], dtype)
            assert_equal_bits(np.stack(pool.step(actions)[-1]["action"]), actions.astype(np.int16))
        with pytest.raises(envpool.errors.ActionError, match="must have integers from -300 to 300"):
            pool.step(np.array([[0, 0], [0, 301]]))


def test_values_of_the_whole_range():
    observations = np.stack(episode())
    assert observations.dtype == np.int16 and observations.shape == (12, 3, 3)
    assert observations.min() < -30_000 and observations.max() > 30_000


def test_stacks_and_casts():
    plain, stacked, cast = episode(), episode(frame_stack=2), episode(float32_obs=True)
    for k in range(12):
        assert_equal_bits(stacked[k], np.stack([plain[max(k - 1, 0)], plain[k]], axis=1))
        assert_equal_bits(cast[k], plain[k].astype(np.float32))


@pytest.mark.parametrize("num_envs", [1, 3, 257])
def test_normalisation(num_envs):
    plain = wrappers.NormalizeObservation(PythonVectorEnv(Shorts, num_envs, seed=1))
    native = PythonVectorEnv(Shorts, num_envs, seed=1, normalize_obs=True)
    action = np.zeros((num_envs, 2), np.int16)
    with closing(plain), closing(native):
        assert_equal_bits(plain.reset()[0], native.reset()[0])
        for _ in range(8):
            assert_equal_bits(plain.step(action)[0], native.step(action)[0])
