"""Parameters of native tasks as attributes: what `get_attr` shows is what the physics will be."""

from contextlib import closing

import gymnasium
import numpy as np
import pytest

import envpool
from envpool.adapters.sub_env import SubEnv
from envpool.errors import ConfigError


def next_states(gravity):
    """Return CartPole's states after a reset with seed 3 and a step, for each gravity."""
    found = []
    for value in gravity:
        env = gymnasium.make("CartPole-v1")
        env.unwrapped.gravity = value
        env.reset(seed=3)
        found.append(env.step(1)[0])
    return np.array(found)


def test_vector_environments():
    with closing(envpool.make_vec("CartPole-v1", 2)) as envs:
        assert envs.get_attr("gravity") == (9.8, 9.8)
        for values, expected in ((3.0, (3.0, 3.0)), ([3.0, 20.0], (3.0, 20.0))):
            envs.set_attr("gravity", values)
            assert envs.get_attr("gravity") == expected
            envs.reset(seed=[3, 3])
            assert np.array_equal(envs.step(np.array([1, 1]))[0], next_states(expected))
        for values, text in (([1.0], "values must have one entry for each of the 2"), ("a", "gravity must be")):
            with pytest.raises((ConfigError, TypeError), match=text):
                envs.set_attr("gravity", values)
        with pytest.raises(ConfigError, match=r"set_params\(\) sets their parameters \(.*gravity.*\), got 'speed'"):
            envs.set_attr("speed", 1.0)
        with pytest.raises(AttributeError, match=r"no attribute 'speed'; they have .*gravity"):
            envs.get_attr("speed")


def test_single_environments():
    with closing(gymnasium.make("envpool/CartPole-v1")) as env:
        env.unwrapped.gravity = 3.0
        env.reset(seed=3)
        assert env.unwrapped.gravity == env.get_wrapper_attr("gravity") == 3.0
        assert np.array_equal(env.step(1)[0], next_states([3.0])[0])
        env.unwrapped.note = 5
        assert env.unwrapped.note == 5 and not hasattr(env.unwrapped, "speed")
        with pytest.raises(TypeError, match="gravity must be"):
            env.unwrapped.gravity = "a"


def test_environments_of_a_pool():
    with envpool.make_gymnasium("CartPole-v1", num_envs=2) as pool:
        envs = [SubEnv(pool, i) for i in range(2)]
        envs[1].gravity = 3.0
        assert (envs[0].gravity, envs[1].gravity) == (9.8, 3.0)
        pool.reset(seed=[3, 3])
        assert np.array_equal(pool.step(np.array([1, 1]))[0], next_states([9.8, 3.0]))
