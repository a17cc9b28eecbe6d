"""Parameters of native tasks as attributes: what `get_attr` shows is what the physics will be."""

from contextlib import closing

import gymnasium
import numpy as np
import pytest

import envpool
from envpool.adapters.sub_env import SubEnv
from envpool.errors import ConfigError, EnvIdError, PoolStateError


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
        with pytest.raises(
            AttributeError, match=r"only their parameters can be set \(.*gravity.*\), not 'speed'.*make_py"
        ):
            envs.set_attr("speed", 1.0)
        for read in (envs.get_attr, envs.call):
            with pytest.raises(
                AttributeError, match=r"no attribute 'speed'; they have .*gravity.*spec.*; .*make_python"
            ):
                read("speed")
        with pytest.raises(AttributeError, match="not 'render_mode'"):
            envs.set_attr("render_mode", "human")


def test_what_describes_vector_environments():
    with closing(gymnasium.make_vec("envpool/CartPole-v1", 2, max_episode_steps=9, render_mode="rgb_array")) as envs:
        for read in (envs.get_attr, envs.call):
            assert read("spec") == (envs.spec, envs.spec) and envs.spec.id == "envpool/CartPole-v1"
            assert read("max_episode_steps") == (9, 9) and read("render_mode") == ("rgb_array", "rgb_array")
            assert read("action_space") == (envs.single_action_space,) * 2
            assert read("observation_space") == (envs.single_observation_space,) * 2
        envs.reset(seed=1)
        assert np.array_equal(envs.call("render"), envs.render())


@pytest.mark.parametrize("style", ["gymnasium", "gym", "dm"])
def test_pools(style):
    with envpool.make("CartPole-v1", style, num_envs=3, batch_size=2, render_mode="rgb_array") as pool:
        assert pool.get_attr("gravity", [0, 2]) == (9.8, 9.8)
        pool.set_attr("gravity", [3.0, 20.0], [2, 0])
        assert pool.get_attr("gravity") == pool.call("gravity") == (20.0, 9.8, 3.0)
        pool.set_attr("gravity", 5)
        assert pool.get_attr("gravity", 1) == (5.0,)
        assert pool.get_attr("spec") == (pool.spec,) * 3 and pool.call("max_episode_steps", env_id=[1]) == (500,)
        with pytest.raises(ConfigError, match="one entry for each of the 2 environments, got 3"):
            pool.set_attr("gravity", [1.0, 2.0, 3.0], [0, 1])
        for read in (pool.get_attr, pool.call):
            with pytest.raises(AttributeError, match=r"no attribute 'reset'; they have .*render; .*make_python"):
                read("reset")
            with pytest.raises(EnvIdError, match="must be between 0 and"):
                read("spec", env_id=[3])
        pool.async_reset()
        for read in (pool.get_attr, pool.call):
            with pytest.raises(EnvIdError, match="in flight"):
                read("render_mode")
        pool.recv()
    with pytest.raises(PoolStateError, match="closed"):
        pool.get_attr("spec")


def test_a_method_of_goal_environments():
    with closing(envpool.make_vec("FetchReach-v4", 2)) as envs:
        obs, _ = envs.reset(seed=1)
        goals = obs["achieved_goal"][0], obs["desired_goal"][0]
        expected = envs.pool.compute_reward(*goals, {})
        assert envs.call("compute_reward", *goals, {}) == (expected, expected)


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


@pytest.mark.parametrize("style", ["gymnasium", "gym", "dm"])
def test_a_parameter_is_no_attribute_of_a_pool(style):
    with envpool.make("CartPole-v1", style, num_envs=2) as pool:
        refuses_attributes(pool)
        pool.note = 5
        assert pool.note == 5


def test_a_parameter_is_no_attribute_of_a_vector_environment():
    with closing(gymnasium.make_vec("envpool/CartPole-v1", 2)) as envs:
        refuses_attributes(envs)
        envs.note, envs.render_mode = 5, "rgb_array"
        assert envs.note == 5
        envs.reset(seed=[3, 3])
        assert np.array_equal(envs.step(np.array([1, 1]))[0], next_states([9.8, 9.8]))


def refuses_attributes(pool):
    with pytest.raises(AttributeError, match=r"^gravity is a parameter .* set_params\(\) or set_attr\(\)$"):
        pool.gravity = 3.0
    with pytest.raises(AttributeError, match=r"^num_envs cannot be changed: make a new pool$"):
        pool.num_envs = 3
    assert pool.get_attr("gravity") == (9.8, 9.8) and pool.num_envs == 2


def test_a_pool_of_python_environments_has_no_parameters():
    with envpool.make_python("CartPole-v1", num_envs=2) as pool:
        pool.gravity = 3.0
        assert pool.gravity == 3.0 and pool.get_attr("gravity") == (9.8, 9.8)


def test_environments_of_a_pool():
    with envpool.make_gymnasium("CartPole-v1", num_envs=2) as pool:
        envs = [SubEnv(pool, i) for i in range(2)]
        envs[1].gravity = 3.0
        assert (envs[0].gravity, envs[1].gravity) == (9.8, 3.0)
        pool.reset(seed=[3, 3])
        assert np.array_equal(pool.step(np.array([1, 1]))[0], next_states([9.8, 3.0]))
