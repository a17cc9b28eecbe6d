"""pool.normalization: running statistics are read, set, frozen and saved."""

import copy
import pickle

import numpy as np
import pytest
from gymnasium.wrappers import vector as wrappers

import envpool
from envpool.errors import ConfigError, PoolStateError
from envpool.gymnasium_api.vector_env import EnvPoolVectorEnv

NORMALIZED = {"normalize_obs": True, "normalize_reward": True, "max_episode_steps": 13}


def make(task="HalfCheetah-v5", num_envs=3, **options):
    return envpool.make_gymnasium(task, num_envs=num_envs, **NORMALIZED | options)


def steps(pool, count, seed=0):
    rng = np.random.default_rng(seed)
    results = [pool.step(pool.sample_actions(rng))[:2] for _ in range(count)]
    return [array.tobytes() for result in results for array in result]


def assert_equal_entries(a, b):
    assert a.keys() == b.keys()
    for name in a:
        assert a[name].dtype == b[name].dtype and a[name].tobytes() == b[name].tobytes(), name


@pytest.mark.parametrize("task", ["HalfCheetah-v5", "CartPole-v1"])
def test_values_are_those_of_gymnasium(task):
    observations = wrappers.NormalizeObservation(EnvPoolVectorEnv(task, 3, seed=42, max_episode_steps=13))
    rewards = wrappers.NormalizeReward(observations)
    rewards.reset()
    with make(task) as pool:
        pool.reset()
        for t in range(20):
            action = pool.sample_actions(t)
            rewards.step(action)
            pool.step(action)
        values = pool.normalization.get()
    rewards.close()
    expected = {"obs": observations.obs_rms, "reward": rewards.return_rms}
    for name, rms in expected.items():
        for part in ("mean", "var", "count"):
            value = np.asarray(getattr(rms, part))
            assert value.dtype == values[f"{name}.{part}"].dtype
            assert np.array_equal(value, values[f"{name}.{part}"])
    assert np.array_equal(rewards.accumulated_reward, values["reward.discounted"])


@pytest.mark.parametrize("task", ["HalfCheetah-v5", "CartPole-v1"])
@pytest.mark.parametrize("before", [0, 7])
def test_saved_statistics_continue_exactly(task, before, tmp_path):
    with make(task) as pool, make(task) as other:
        pool.reset()
        steps(pool, before)
        np.savez(tmp_path / "statistics.npz", **pool.normalization.get())
        states = pool.get_state()
        expected = steps(pool, 20)
        other.set_state(states)
        with np.load(tmp_path / "statistics.npz") as values:
            other.normalization.set(values)
        assert steps(other, 20) == expected
        assert_equal_entries(pool.normalization.get(), other.normalization.get())


@pytest.mark.parametrize("is_frozen", [False, True])
def test_pickled_pools_contain_statistics(is_frozen):
    with make() as pool:
        pool.reset()
        steps(pool, 5)
        pool.normalization.is_frozen = is_frozen
        with pickle.loads(pickle.dumps(pool)) as other, copy.deepcopy(pool) as third:
            assert other.normalization.is_frozen == third.normalization.is_frozen == is_frozen
            expected = steps(pool, 10)
            assert steps(other, 10) == steps(third, 10) == expected


@pytest.mark.parametrize("task", ["HalfCheetah-v5", "CartPole-v1"])
@pytest.mark.parametrize("updates", [0, 6])
def test_frozen_statistics(task, updates):
    observations = wrappers.NormalizeObservation(EnvPoolVectorEnv(task, 3, seed=42, max_episode_steps=13))
    rewards = wrappers.NormalizeReward(observations)
    with make(task) as pool:
        if updates:
            rewards.reset()
            pool.reset()
        for t in range(20):
            if t == updates:
                observations.update_running_mean = rewards.update_running_mean = False
                pool.normalization.is_frozen = True
                rewards.reset()
                pool.reset()
                frozen = pool.normalization.get()
            action = pool.sample_actions(t)
            expected, got = rewards.step(action), pool.step(action)
            assert np.array_equal(expected[0], got[0])
            assert np.array_equal(expected[1].astype(np.float32), got[1])
        values = pool.normalization.get()
        assert values.pop("reward.discounted").any()  # gymnasium continues the sums as well
        frozen.pop("reward.discounted")
        assert_equal_entries(values, frozen)
    rewards.close()


def test_states_begin_or_copy_the_sums_of_rewards():
    with make() as pool:
        pool.reset()
        steps(pool, 5)
        pool.copy_state([0], [2])
        sums = pool.normalization.get()["reward.discounted"]
        assert sums.all() and sums[0] == sums[2] != sums[1]
        pool.set_state(pool.get_state([1]), [1])
        assert (pool.normalization.get()["reward.discounted"] != 0).tolist() == [True, False, True]
        pool.reset([0])
        assert (pool.normalization.get()["reward.discounted"] != 0).tolist() == [False, False, True]


def test_pools_that_do_not_normalise_have_none():
    with envpool.make_gymnasium("CartPole-v1", num_envs=2, reward_clip=1) as pool:
        assert pool.normalization is None


def test_values_are_fresh_arrays():
    with make() as pool:
        pool.reset()
        for value in pool.normalization.get().values():
            value[...] = 7
        assert not any((value == 7).all() for value in pool.normalization.get().values())


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({"obs.mean": None}, r"missing are \['obs.mean'\]"),
        ({"obs.median": 0}, r"unknown are \['obs.median'\]"),
        ({"obs.mean": np.zeros(16)}, r"obs.mean must have the shape \(17,\), got \(16,\)"),
        ({"obs.var": np.full(17, -1.0)}, "obs.var must be finite and not negative, got -1"),
        ({"obs.mean": np.full(17, np.nan)}, "obs.mean must be finite, got nan"),
        ({"obs.count": 0}, "obs.count must be greater than 0"),
        ({"obs.mean": "text"}, "obs.mean must have numbers"),
        ({"reward.discounted": np.zeros(2)}, r"reward.discounted must have the shape \(3,\)"),
    ],
)
def test_values_that_are_not_allowed(changes, text):
    with make() as pool:
        pool.reset()
        before = pool.normalization.get()
        values = {name: value for name, value in (before | changes).items() if value is not None}
        with pytest.raises(ConfigError, match=text):
            pool.normalization.set(values)
        assert_equal_entries(before, pool.normalization.get())
        with pytest.raises(TypeError, match="is_frozen must be True or False"):
            pool.normalization.is_frozen = 2


def test_closed_pools_keep_their_statistics():
    pool = make()
    pool.reset()
    before = pool.normalization.get()
    pool.close()
    assert_equal_entries(before, pool.normalization.get())
    with pytest.raises(PoolStateError):
        pool.reset()
