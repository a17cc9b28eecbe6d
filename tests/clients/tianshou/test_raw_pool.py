"""Tianshou accepts an unchanged pool in its Collector and in its wrapper that normalises observations."""

import gymnasium
import numpy as np
import pytest
from tianshou.data import Collector, CollectStats, VectorReplayBuffer
from tianshou.env import DummyVectorEnv, VectorEnvNormObs
from tianshou.utils import RunningMeanStd

import envpool
from tests.clients.tianshou.policy import RandomPolicy

N = 4


@pytest.fixture
def make():
    made = []

    def make_one(task, **options):
        made.append(envpool.make_gymnasium(task, **{"num_envs": N} | options))
        return made[-1]

    yield make_one
    for pool in made:
        pool.close()


def collect(env, action_space, **what):
    buffer = VectorReplayBuffer(N * 200, N)
    collector = Collector[CollectStats](RandomPolicy(action_space), env, buffer)
    collector.reset()
    return collector, collector.collect(**what)


def test_collector_stores_whose_row_it_is(make):
    """Tianshou's own test of its Collector with EnvPool makes these checks, with these numbers."""
    pool = make("Pendulum-v1", gym_reset_return_info=True)
    collector = Collector[CollectStats](
        RandomPolicy(pool.action_space), pool, VectorReplayBuffer(N * 10, N), exploration_noise=True
    )
    collector.reset()
    collector.collect(n_step=2 * N)
    expected = np.zeros(N * 10)
    expected[[10 * i + k for i in range(N) for k in range(2)]] = np.repeat(range(N), 2)
    assert np.array_equal(collector.buffer.info["env_id"], expected)


@pytest.mark.parametrize("mode", ["next_step", "disabled"])
@pytest.mark.parametrize("task", ["CartPole-v1", "Pendulum-v1"])
@pytest.mark.parametrize("what", [{"n_step": 50 * N}, {"n_episode": 11}], ids=str)
def test_collector_gets_the_transitions_of_tianshous_own_environments(make, task, what, mode):
    pool = make(task, seed=3, autoreset_mode=mode, max_episode_steps=12)
    upstream = DummyVectorEnv([lambda: gymnasium.make(task, max_episode_steps=12)] * N)
    for worker, seed in zip(upstream.workers, range(3, 3 + N), strict=True):
        worker.env.unwrapped.np_random = np.random.default_rng(seed)  # what a reset() with the seed makes
    one, stats = collect(pool, pool.action_space, **what)
    other, expected = collect(upstream, pool.action_space, **what)
    assert stats.n_collected_episodes == expected.n_collected_episodes > 0
    assert stats.n_collected_steps == expected.n_collected_steps
    assert np.array_equal(stats.lens, expected.lens)
    assert np.allclose(stats.returns, expected.returns, rtol=1e-6)  # these sum float32, those float64
    a, b = one.buffer[:], other.buffer[:]
    assert len(a) == len(b) > 0
    for key in ("obs", "act", "obs_next", "terminated", "truncated", "done"):
        assert np.array_equal(a[key], b[key]), key
    assert np.array_equal(np.float32(a.rew), np.float32(b.rew))


def test_attributes(make):
    pool = make("CartPole-v1")
    assert len(pool) == N
    assert pool.is_async is False
    assert pool.action_space == gymnasium.make("CartPole-v1").action_space


def run(env, actions):
    """Return the observations of some steps, done environments being reset by the caller; and those of the resets."""
    seen = [env.reset()[0]]
    for action in actions:
        obs, _, terminated, truncated, _ = env.step(action)
        seen.append(obs)
        done = np.where(terminated | truncated)[0]
        if len(done):
            seen.append(env.reset(done)[0])
    return seen


def test_normalised_observations(make):
    options = {"max_episode_steps": 9}
    raw, train = make("Ant-v3", **options), VectorEnvNormObs(make("Ant-v3", **options))
    test = VectorEnvNormObs(make("Ant-v3", **options), update_obs_rms=False)
    test.set_obs_rms(train.get_obs_rms())
    actions = [np.stack([raw.action_space.sample() for _ in range(N)]) for _ in range(30)]
    expected = RunningMeanStd()
    for plain, normalised in zip(run(raw, actions), run(train, actions), strict=True):
        expected.update(plain)
        assert np.allclose((plain - expected.mean) / np.sqrt(expected.var + np.finfo(np.float32).eps), normalised)
    for env in (train, test):
        assert np.allclose(env.get_obs_rms().mean, expected.mean)
        assert np.allclose(env.get_obs_rms().var, expected.var)
    raw.reset(seed=1)
    for plain, normalised in zip(run(raw, actions), run(test, actions), strict=True):
        assert plain.shape == normalised.shape
    assert np.allclose(test.get_obs_rms().mean, expected.mean)


def test_infos_of_the_wrapper(make):
    env = VectorEnvNormObs(make("Ant-v3", gym_reset_return_info=True))
    obs, info = env.reset()
    assert obs.shape[0] == N
    assert all(v.shape[0] == N for v in info.values() if not isinstance(v, dict))
