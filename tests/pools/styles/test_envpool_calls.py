"""What EnvPool's own tests of its API call, in all styles: dict actions, send and recv, steps of some environments."""

import numpy as np
import pytest

import envpool
from envpool.errors import ConfigError
from tests.support.results import leaves

IDS = np.arange(4, dtype=np.int32)


def test_all_styles_return_the_same():
    options = {"num_envs": 4, "seed": 5, "max_episode_steps": 20}
    with (
        envpool.make_gym("SpaceInvaders-v5", **options) as gym,
        envpool.make_gymnasium("SpaceInvaders-v5", **options) as gymnasium,
        envpool.make_dm("SpaceInvaders-v5", **options) as dm,
    ):
        results = gym.reset(), gymnasium.reset()
        timestep = dm.reset()
        rng = np.random.default_rng(0)
        for _ in range(30):
            for result in results:
                np.testing.assert_array_equal(result[0], timestep.observation.obs)
                for name in ("env_id", "lives", "ram", "reward", "terminated"):
                    np.testing.assert_array_equal(result[-1][name], getattr(timestep.observation, name))
                np.testing.assert_array_equal(result[-1]["players"]["env_id"], timestep.observation.players.env_id)
            actions = rng.integers(0, 6, 4)
            results = gym.step(actions), gymnasium.step(actions)
            timestep = dm.step(actions)


def test_a_dm_pool_through_an_episode():
    with envpool.make_dm("Pong-v5", num_envs=4, max_episode_steps=4) as pool:
        pool.async_reset()
        first = pool.recv()
        assert first.first().all() and first.observation.obs.shape == (4, 4, 84, 84)
        with pytest.raises(RuntimeError, match="int32"):  # a dict is not cast
            pool.send({"env_id": np.arange(4), "players.env_id": np.arange(4), "action": np.ones(4, int)})
        pool.send({"env_id": IDS, "players.env_id": IDS, "action": np.ones(4, np.int32)})
        steps = [pool.recv()]
        for action in (np.ones(4), np.ones(4, np.int64), [1, 1, 1, 1], np.ones(4, np.uint8)):  # an array is
            pool.send(action)
            steps.append(pool.recv())
        assert all(step.mid().all() for step in steps[:3])
        assert steps[3].last().all() and not steps[3].discount.any()
        assert steps[4].first().all() and (steps[4].discount == 1).all() and not steps[4].reward.any()


def test_each_environment_has_its_own_time_limit():
    count, limit = 5, 6
    with envpool.make_gymnasium("CartPole-v1", num_envs=count, max_episode_steps=limit) as pool:
        even, odd = np.arange(count)[::2], np.arange(count)[1::2]
        for _ in range(3):
            pool.reset()
            assert pool.step(np.zeros(len(odd)), odd)[-1]["env_id"].tolist() == odd.tolist()
            for _ in range(limit - 2):
                assert not pool.step(np.arange(count) % 2, np.arange(count))[3].any()
            truncated = pool.step(np.arange(count) % 2, np.arange(count))[3]
            assert np.flatnonzero(truncated).tolist() == odd.tolist()
            assert pool.step(np.zeros(len(even)), even)[3].all()


def test_the_first_step_of_a_pool_resets_it():
    with envpool.make_gymnasium("CartPole-v1", seed=3, max_episode_steps=3) as pool:
        steps = [pool.step(np.zeros(1, int)) for _ in range(5)]
        assert [int(step[-1]["elapsed_step"][0]) for step in steps] == [0, 1, 2, 3, 0]
        assert [float(step[1][0]) for step in steps] == [0, 1, 1, 1, 0]
        assert [bool(step[3][0]) for step in steps] == [False, False, False, True, False]
        assert not any(step[2][0] for step in steps)
    with envpool.make_gymnasium("CartPole-v1", seed=3) as pool:
        np.testing.assert_array_equal(pool.reset()[0], steps[0][0])


def test_a_spec_class_with_a_batch_that_is_too_large():
    from envpool.atari import AtariEnvSpec, AtariGymnasiumEnvPool

    config = AtariEnvSpec.gen_config(task="pong", num_envs=4, batch_size=5)
    with pytest.raises(ConfigError, match="batch_size"):
        AtariEnvSpec(config)
    assert issubclass(ConfigError, ValueError)
    with AtariGymnasiumEnvPool(AtariEnvSpec(AtariEnvSpec.gen_config(task="pong", num_envs=2))) as pool:
        assert (len(pool), pool.action_space.n, pool.is_async) == (2, 6, False)


def test_spaces_of_pools_draw_from_their_seeds():
    with envpool.make_gym("CartPole-v1") as pool:
        for space in (pool.action_space, pool.observation_space):
            draws = [(space.seed(2), space.sample())[1] for _ in range(2)]
            np.testing.assert_array_equal(*draws)


def test_rows_of_all_arrays():
    """The ids lead; all arrays have a row for each of them."""
    with envpool.make_gymnasium("Breakout-v5", num_envs=3, batch_size=2) as pool:
        pool.async_reset()
        result = pool.recv()
        assert len(result[-1]) == 7
        assert {values.shape[0] for _, values in leaves(result)} == {2}
        assert result[-1]["ram"].shape == (2, 128) and result[-1]["ram"].dtype == np.uint8
