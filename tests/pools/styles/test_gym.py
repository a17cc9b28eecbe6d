"""env_type="gym": Gymnasium's forms, and those of gym before 0.26 where such a gym is loaded or they are asked for.

What happens with gym loaded runs in a process of its own, since loading it changes what ``make`` returns.
"""

import sys
import textwrap

import gymnasium
import numpy as np
import pytest

import envpool
from envpool.errors import ConfigError
from tests.support.python import output_of
from tests.support.results import forms

ACTION = np.array([0, 1])
START = """
import gym
import numpy as np
import envpool
assert gym.__version__ == "0.23.1"
action = np.array([0, 1])
"""


def run_with_gym(code):
    """Run code in a new process in which gym 0.23.1 is loaded, with a few names at hand."""
    output_of(START + textwrap.dedent(code))


def test_gymnasiums_forms_without_gym():
    assert "gym" not in sys.modules
    with envpool.make_gym("CartPole-v1", num_envs=2) as pool:
        assert isinstance(pool, gymnasium.vector.VectorEnv)
        assert type(pool).__name__ == "CartPoleGymnasiumEnvPool"
        assert len(pool.reset()) == 2
        assert len(pool.step(ACTION)) == 5


def test_legacy_forms_on_demand():
    with envpool.make_gym("CartPole-v1", num_envs=2, gym_api="legacy", max_episode_steps=3) as pool:
        assert type(pool).__name__ == "CartPoleGymEnvPool"
        obs = pool.reset()
        assert (obs.dtype, obs.shape) == (np.float32, (2, 4))
        step = pool.step(ACTION)
        assert forms(step) == {
            "0": ("float32", (2, 4)),
            "1": ("float32", (2,)),
            "2": ("bool", (2,)),
            "3.env_id": ("int32", (2,)),
            "3.players.env_id": ("int32", (2,)),
            "3.elapsed_step": ("int32", (2,)),
            "3.TimeLimit.truncated": ("bool", (2,)),
        }
        pool.step(ACTION)
        _, _, done, info = pool.step(ACTION)
        assert done.tolist() == info["TimeLimit.truncated"].tolist() == [True, True]
        assert pool.config["gym_reset_return_info"] is False


def test_legacy_done_is_terminated_or_truncated():
    with (
        envpool.make_gym("CartPole-v1", num_envs=2, gym_api="legacy", max_episode_steps=9) as pool,
        envpool.make_gymnasium("CartPole-v1", num_envs=2, max_episode_steps=9) as other,
    ):
        assert pool.reset().tobytes() == other.reset()[0].tobytes()
        ends = set()
        for _ in range(100):
            obs, reward, done, info = pool.step(ACTION)
            expected = other.step(ACTION)
            assert obs.tobytes() == expected[0].tobytes()
            assert reward.tobytes() == expected[1].tobytes()
            assert done.tolist() == (expected[2] | expected[3]).tolist()
            assert info["TimeLimit.truncated"].tolist() == (expected[3] & ~expected[2]).tolist()
            ends |= set(zip(expected[2].tolist(), expected[3].tolist(), strict=True))
        assert ends == {(False, False), (True, False), (False, True), (True, True)}


def test_legacy_reset_with_info():
    with envpool.make_gym("CartPole-v1", num_envs=2, gym_api="legacy", gym_reset_return_info=True) as pool:
        obs, info = pool.reset()
        assert obs.shape == (2, 4)
        assert info["env_id"].tolist() == [0, 1]


@pytest.mark.parametrize("of_pool", [False, True])
@pytest.mark.parametrize(("task", "options"), [("CartPole-v1", {}), ("ConnectFour-v0", {"controlled": [0]})])
def test_legacy_reset_takes_return_info(task, options, of_pool):
    with envpool.make_gym(task, num_envs=2, gym_api="legacy", gym_reset_return_info=of_pool, **options) as pool:
        obs, info = pool.reset(return_info=True)
        assert len(obs) == 2 and info["env_id"].tolist() == [0, 1]
        assert len(pool.reset([1], return_info=False)) == 1
        pool.async_reset()
        assert isinstance(pool.recv(reset=True), tuple) == of_pool


def test_legacy_render_takes_the_mode():
    options = {"render_mode": "rgb_array", "render_width": 32, "render_height": 32}
    with envpool.make_gym("CartPole-v1", num_envs=3, gym_api="legacy", **options) as pool:
        pool.reset()
        frames = pool.render([1, 2])
        for again in pool.render("rgb_array", env_id=[1, 2]), pool.render([1, 2], mode="rgb_array"):
            np.testing.assert_array_equal(again, frames)
        with pytest.raises(ConfigError, match="mode must be 'rgb_array', the render mode of this pool, got 'human'"):
            pool.render("human")


def test_options_that_do_not_fit():
    with pytest.raises(ConfigError, match="env_type must be 'gym' with gym_api='legacy'"):
        envpool.make_gymnasium("CartPole-v1", gym_api="legacy")
    with pytest.raises(ConfigError, match="gym_api must be one of"):
        envpool.make_gym("CartPole-v1", gym_api="old")
    with pytest.raises(ConfigError, match="gym_reset_return_info=False is only available with"):
        envpool.make_gym("CartPole-v1", gym_reset_return_info=False)


def test_seed_says_where_seeds_go():
    with envpool.make_gym("CartPole-v1", gym_api="legacy") as pool, pytest.warns(UserWarning, match="pass seed to"):
        pool.seed(3)


def test_gym_loaded():
    run_with_gym(
        """
        pool = envpool.make("CartPole-v1", env_type="gym", num_envs=2, seed=5)
        assert type(pool).__name__ == "CartPoleGymEnvPool"
        assert isinstance(pool, gym.Env)
        assert isinstance(pool.action_space, gym.spaces.Discrete) and pool.action_space.n == 2
        assert isinstance(pool.observation_space, gym.spaces.Box) and pool.observation_space.shape == (4,)
        assert isinstance(pool.single_action_space, gym.spaces.Discrete)
        assert isinstance(pool.single_observation_space, gym.spaces.Box)
        obs = pool.reset()
        assert obs.shape == (2, 4)
        assert pool.observation_space.contains(obs[0])
        obs, reward, done, info = pool.step(action)
        assert done.dtype == bool and info["TimeLimit.truncated"].dtype == bool
        """
    )


def test_wrappers_of_gym():
    run_with_gym(
        """
        pool = envpool.make("CartPole-v1", env_type="gym", num_envs=2, render_mode="rgb_array")
        env = gym.wrappers.NormalizeObservation(gym.wrappers.OrderEnforcing(pool))
        assert env.reset(seed=1).shape == (2, 4) and env.step(action)[0].shape == (2, 4)
        assert gym.Wrapper(env).render("rgb_array").shape == (1, 400, 600, 3)
        """
    )


def test_wrappers_of_gym_for_single_envs():
    run_with_gym(
        """
        import pytest
        pool = envpool.make("CartPole-v1", env_type="gym", num_envs=2)
        wrappers = {"FlattenObservation": (), "TimeAwareObservation": (), "FrameStack": (2,), "TimeLimit": (5,)}
        for name, args in wrappers.items() | {("RecordEpisodeStatistics", ())}:
            with pytest.raises(TypeError, match=rf"gym.wrappers.{name} is for a single env.* of 2: use an option of"):
                getattr(gym.wrappers, name)(gym.Wrapper(pool), *args).reset()
        assert pool.reset().shape == (2, 4)
        """
    )


def test_attributes_that_cleanrl_sets():
    run_with_gym(
        """
        class RecordEpisodeStatistics(gym.Wrapper):
            def __init__(self, env):
                super().__init__(env)
                self.num_envs = getattr(env, "num_envs", 1)

            def reset(self, **kwargs):
                self.returns = np.zeros(self.num_envs, np.float32)
                return super().reset(**kwargs)

            def step(self, action):
                observations, rewards, dones, infos = super().step(action)
                self.returns += rewards
                infos["r"] = self.returns
                return observations, rewards, dones, infos

        envs = envpool.make("CartPole-v1", env_type="gym", num_envs=2)
        envs.num_envs = 2
        envs.single_action_space = envs.action_space
        envs.single_observation_space = envs.observation_space
        envs.is_vector_env = True
        envs = RecordEpisodeStatistics(envs)
        assert isinstance(envs.action_space, gym.spaces.Discrete)
        envs.reset()
        for k in range(1, 4):
            _, _, _, infos = envs.step(action)
        assert infos["r"].tolist() == [3, 3]
        """
    )


def test_the_other_forms_with_gym_loaded():
    run_with_gym(
        """
        import gymnasium
        pool = envpool.make("CartPole-v1", env_type="gym", num_envs=2, gym_api="gymnasium")
        assert isinstance(pool, gymnasium.vector.VectorEnv)
        assert len(pool.reset()) == 2 and len(pool.step(action)) == 5
        assert isinstance(pool.action_space, gymnasium.spaces.Discrete)
        pool = envpool.make("CartPole-v1", env_type="gymnasium", num_envs=2)
        assert len(pool.step(action)) == 5
        """
    )


def test_the_specs_spaces_are_gyms_once_that_is_loaded():
    """Even if gym is loaded after the pool was made, whose own spaces stay unchanged."""
    code = """
    import envpool
    import gymnasium

    pool = envpool.make("CartPole-v1", env_type="gym", num_envs=2)
    assert type(pool.spec.action_space) is gymnasium.spaces.Discrete
    import gym

    assert type(pool.spec.action_space) is gym.spaces.Discrete
    assert type(pool.spec.observation_space) is gym.spaces.Box
    assert pool.spec.observation_space is pool.spec.observation_space
    assert type(pool.spec.gymnasium_action_space) is type(pool.action_space) is gymnasium.spaces.Discrete
    for options in {"env_type": "gymnasium"}, {"env_type": "gym", "gym_api": "gymnasium"}:
        pool = envpool.make("CartPole-v1", num_envs=2, **options)
        assert type(pool.spec.action_space) is type(pool.action_space) is gymnasium.spaces.Discrete
    """
    output_of(textwrap.dedent(code))
