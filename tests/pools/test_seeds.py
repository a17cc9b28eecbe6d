"""Seeds: every integer from 0 to 2**64 - 1, and the same numbers as upstream's for each of them."""

import contextlib

import gymnasium
import numpy as np
import pytest

import envpool
from envpool.errors import ConfigError
from envpool.verify.lookup import oracle_of
from envpool.verify.play import play
from tests.support.python_envs import FaultyEnv

LARGE = [2**31, 2**32 - 1, 2**32, 2**63, 2**64 - 1]

#: One task of each way to seed a generator by 64 bits, and tasks whose generator is seeded by 32 bits.
WIDE = ["CartPole-v1", "FrozenLake-v1", "LunarLander-v3", "HalfCheetah-v5", "MiniGrid-Empty-Random-5x5-v0", "Pong-v5"]
NARROW = ["CheetahRun-v1", "MinAtar/Breakout-v1", "Basic-v1", "StarpilotEasy-v0"]


@pytest.mark.parametrize("seed", LARGE)
@pytest.mark.parametrize(
    "task",
    ["CartPole-v1", "FrozenLake-v1", "LunarLander-v3", "HalfCheetah-v5", "MiniGrid-Empty-Random-5x5-v0", "Pong-v5"],
)
def test_equal_upstream(task, seed):
    outcome = play(task, oracle_of(task), 8, seed, 1)
    assert outcome.difference is None and outcome.steps == 8


@pytest.mark.parametrize("seed", [2**31, 2**32 - 1])
@pytest.mark.parametrize("task", ["CheetahRun-v1", "MinAtar/Breakout-v1"])
def test_random_state_equals_upstream(task, seed):
    assert play(task, oracle_of(task), 8, seed, 1).difference is None


@pytest.mark.parametrize("task", NARROW)
def test_seeds_of_32_bits_end_there(task):
    end = "between 0 and 4294967295, where the seeds of the upstream generator end"
    for seed in (2**32, [0, 2**32]):
        with pytest.raises(ConfigError, match=end):
            envpool.make_spec(task, num_envs=2, seed=seed)
    with pytest.raises(ConfigError, match=r"seed must be at most 4294967294, since environment i gets seed \+ i"):
        envpool.make_spec(task, num_envs=2, seed=2**32 - 1)
    assert envpool.make_spec(task, num_envs=2, seed=2**32 - 2).seeds().tolist() == [2**32 - 2, 2**32 - 1]
    if task == "Basic-v1":  # it would start an engine
        return
    with envpool.make_gymnasium(task, num_envs=2) as pool:
        pool.reset(seed=2**32 - 2)
        with pytest.raises(ConfigError, match=rf"seed\[1\] must be {end}"):
            pool.reset(seed=[0, 2**32])
        with pytest.raises(ConfigError, match="seed must be at most 4294967294"):
            pool.reset(seed=2**32 - 1)
        pool.reset([0], seed=2**32 - 1)


def test_the_largest_seed_is_that_of_the_last_environment():
    with envpool.make_gymnasium("CartPole-v1", num_envs=3, seed=2**64 - 3) as pool:
        obs, _ = pool.reset()
        for i in range(3):
            assert np.array_equal(obs[i], gymnasium.make("CartPole-v1").reset(seed=2**64 - 3 + i)[0])
        assert np.array_equal(pool.reset(seed=[2**63, None, np.uint64(2**64 - 1)])[0][2], obs[2])
        assert np.array_equal(pool.reset([0, 1], seed=2**64 - 3)[0], obs[:2])
        for seed in (2**64 - 2, 2**64, -1):
            with pytest.raises(ConfigError, match=r"^seed must be"):
                pool.reset(seed=seed)
    for options in ({"seed": 2**64}, {"seed": -1}, {"seed": 2**64 - 1}, {"env_seed": [0, 2**64]}, {"seed": [-1, 0]}):
        with pytest.raises(ConfigError, match=r"seed(\[\d\])? must be"):
            envpool.make_spec("CartPole-v1", num_envs=2, **options)


@pytest.mark.parametrize("seed", LARGE)
def test_vector_and_single_environments(seed):
    expected = gymnasium.make("CartPole-v1").reset(seed=seed)[0]
    for make in (lambda: envpool.make_vec("CartPole-v1", 1, seed=seed), lambda: envpool.make_vec("CartPole-v1")):
        envs = make()
        assert np.array_equal(envs.reset(seed=seed)[0][0], expected) and envs.np_random_seed == (seed,)
        envs.close()
    env = gymnasium.make("envpool/CartPole-v1", seed=seed)
    assert np.array_equal(env.reset()[0], expected) and np.array_equal(env.reset(seed=seed)[0], expected)
    env.close()


@pytest.mark.parametrize("workers", ["inline", "process"])
def test_python_environments(workers):
    seeds = [2**31, 2**64 - 1, 2**63]
    with envpool.make_python(FaultyEnv, 3, seed=seeds, workers=workers, num_threads=1, on_error="restart") as pool:
        for given in (None, [5, 2**63 + 7, None]):
            obs, _ = pool.reset(seed=given)
            known = seeds if given is None else [5, 2**63 + 7, 2**63]
            assert pool.get_attr("last_seed") == tuple(known)
            for i, seed in enumerate(known[:2]):
                assert obs[i, 2] == np.float32(gymnasium.utils.seeding.np_random(seed)[0].random())
        for action in (1, 0):  # they fail, and are made anew
            pool.step(np.full(3, action))
        assert all(seed < 2**31 for seed in pool.get_attr("last_seed"))
    with contextlib.closing(envpool.make_vec(FaultyEnv, 2, seed=2**64 - 2)) as envs:
        envs.reset()
        assert envs.get_attr("last_seed") == (2**64 - 2, 2**64 - 1)


def test_states_keep_large_seeds():
    """Also a seed that is still pending."""
    with envpool.make_gymnasium("CartPole-v1", seed=2**64 - 1) as pool, envpool.make_gymnasium("CartPole-v1") as other:
        state = pool.get_state()
        other.set_state(state)
        assert np.array_equal(other.reset()[0], pool.reset()[0])
        assert pool.sample_actions() in (0, 1)


def test_ids_that_the_user_writes_are_not_those_of_the_pool():
    """The seeds of a reset follow from them."""
    pools = [envpool.make_gymnasium("CartPole-v1", num_envs=3) for _ in range(2)]
    pools[0].all_env_ids[:] = 2
    first, second = (pool.reset(seed=5)[0] for pool in pools)
    assert np.array_equal(first, second)
    assert pools[0].all_env_ids.tolist() == [2, 2, 2]
