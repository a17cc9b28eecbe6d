"""Environments without a seed: ``seed=None`` of `make_python`, and the default of `make_vec`."""

import os

import gymnasium
import numpy as np
import pytest

import envpool

KINDS = [{}, {"workers": "thread"}, {"workers": "process", "num_threads": 2}]


class Told(gymnasium.Env):
    """Its observation is the seed that its last reset was given, -1 if it was given none."""

    observation_space = gymnasium.spaces.Box(-1, 2**31, (), np.int64)
    action_space = gymnasium.spaces.Discrete(3)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        return np.int64(-1 if seed is None else seed), {}

    def step(self, action):
        if action == 1:
            raise ValueError("broken")
        if action == 2:
            os._exit(3)
        return np.int64(-2), 0.0, False, False, {}


@pytest.mark.parametrize("options", KINDS)
def test_the_first_reset_passes_no_seed(options):
    with envpool.make_python(Told, 3, seed=None, **options) as pool:
        assert pool.config["seed"] is None
        assert pool.reset()[0].tolist() == [-1] * 3
        assert pool.reset(seed=[None, 7, None])[0].tolist() == [-1, 7, -1]
        assert pool.reset(seed=5)[0].tolist() == [5, 6, 7]
        assert pool.reset()[0].tolist() == [-1] * 3
    with envpool.make_python(Told, 2, seed=None, **options) as pool:
        assert pool.reset(seed=5)[0].tolist() == [5, 6], "a seed before the first reset"
    with envpool.make_python(Told, 2, seed=None, env_seed=[8, 9], **options) as pool:
        assert pool.reset()[0].tolist() == [8, 9]


@pytest.mark.parametrize("options", KINDS)
def test_an_environment_that_is_made_anew(options):
    """Its seed follows from the last one that it was given, if it was given one."""
    with envpool.make_python(Told, 2, seed=None, on_error="restart", **options) as pool:
        pool.reset()
        pool.step(np.array([1, 0]))
        assert pool.step(np.zeros(2, int))[0].tolist() == [-1, -2]
        pool.reset(seed=[3, None])
        pool.step(np.array([1, 0]))
        assert pool.step(np.zeros(2, int))[0][0] > 0


def test_an_environment_whose_process_ended():
    with envpool.make_python(Told, 2, seed=None, on_error="restart", workers="process", num_threads=2) as pool:
        for seed in (None, [3, 4]):
            pool.reset(seed=seed)
            pool.step(np.array([2, 0]))
            first = pool.step(np.zeros(2, int))[0][0]
            assert first == -1 if seed is None else first > 0


def test_plain_pools_keep_their_default_seed():
    with envpool.make_python(Told, 2) as pool:
        assert pool.reset()[0].tolist() == [42, 43]


def test_python_environments_of_make_vec():
    with_seed = envpool.make_vec(Told, 2, seed=3)
    assert with_seed.np_random_seed == (3, 4) and with_seed.reset()[0].tolist() == [3, 4]
    with_seed.close()
    envs = envpool.make_vec(Told, 2)
    assert envs.np_random_seed == (-1, -1)
    assert envs.reset()[0].tolist() == [-1, -1]
    assert envs.reset(seed=9)[0].tolist() == [9, 10] and envs.np_random_seed == (9, 10)
    envs.close()


@pytest.mark.parametrize("make", [envpool.make_vec, lambda *args: gymnasium.make_vec(f"envpool/{args[0]}", args[1])])
def test_native_environments_of_make_vec_draw_a_seed(make):
    seeds = set()
    for _ in range(3):
        envs = make("CartPole-v1", 2)
        first = envs.np_random_seed
        assert first[1] == first[0] + 1
        obs = envs.reset()[0]
        envs.close()
        again = envpool.make_vec("CartPole-v1", 2, seed=first[0])
        assert np.array_equal(again.reset()[0], obs)
        again.close()
        seeds.add(first)
    assert len(seeds) > 1


def test_random_actions_of_unseeded_pools_differ():
    pools = [envpool.make_python("Pendulum-v1", 8, seed=None) for _ in range(2)]
    one, other = (pool.sample_actions() for pool in pools)
    assert not np.array_equal(one, other)
    for pool in pools:
        pool.close()
