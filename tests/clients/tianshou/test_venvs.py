"""The classes for Python environments in Tianshou: its own classes return the same, and its collectors run on them."""

import gymnasium
import numpy as np
import pytest
import tianshou.env
from pettingzoo.classic import tictactoe_v3
from tianshou.data import AsyncCollector, Batch, Collector, CollectStats, VectorReplayBuffer
from tianshou.env import ContinuousToDiscrete, MultiDiscreteToDiscrete, PettingZooEnv, VectorEnvNormObs

from envpool.adapters.tianshou import DummyVectorEnv, ShmemVectorEnv, SubprocVectorEnv
from tests.clients.tianshou.policy import RandomPolicy
from tests.support.walks import RIGHT, Walk

N = 4
CLASSES = [DummyVectorEnv, SubprocVectorEnv, ShmemVectorEnv]


def assert_same(ours, theirs):
    """Two results have equal values, types and infos; integer rewards are float64 here."""
    for k, (a, b) in enumerate(zip(ours, theirs, strict=True)):
        assert a.dtype == (np.float64 if len(ours) == 5 and k == 1 else b.dtype)
        assert a.shape == b.shape
        assert a.tolist() == b.tolist()


@pytest.mark.parametrize("cls", CLASSES)
@pytest.mark.parametrize("task", ["CartPole-v1", "Pendulum-v1", "FrozenLake-v1", "Blackjack-v1"])
def test_same_results_as_tianshou(cls, task):
    def env_fn():
        env = gymnasium.make(task, max_episode_steps=15)
        if task == "Blackjack-v1":  # Tianshou refuses tuples
            return gymnasium.wrappers.TransformObservation(env, np.array, gymnasium.spaces.Box(0, 31, (3,), np.int64))
        return env

    ours, theirs = cls([env_fn] * N), tianshou.env.DummyVectorEnv([env_fn] * N)
    assert ours.seed(7) == theirs.seed(7) == [[7], [8], [9], [10]]
    assert_same(ours.reset(), theirs.reset())
    assert_same(ours.reset(np.array([3, 1]), seed=5), theirs.reset(np.array([3, 1]), seed=5))
    rng, ends = np.random.default_rng(0), 0
    for k in range(40):
        chosen = rng.permutation(N)[: rng.integers(1, N + 1)] if k % 2 else np.arange(N)
        action = np.stack([ours.action_space[0].sample() for _ in chosen])
        results = ours.step(action, chosen), theirs.step(action, chosen)
        assert_same(*results)
        done = chosen[results[0][2] | results[0][3]]
        ends += len(done)
        if len(done):
            assert_same(ours.reset(done), theirs.reset(done))
    assert ends > N
    ours.close(), theirs.close()


@pytest.mark.parametrize("form", ["array", "dict", "ragged", "graph"])
def test_same_forms_as_tianshou(form):
    env_fns = [lambda n=n: Walk(n, form=form, num_rewards=2) for n in (4, 5, 6)]
    # Without spaces, only Tianshou's SubprocVectorEnv works.
    kind = tianshou.env.SubprocVectorEnv if form in ("ragged", "graph") else tianshou.env.DummyVectorEnv
    ours, theirs = DummyVectorEnv(env_fns), kind(env_fns)
    seeds = {"seed": 1} if hasattr(Walk(form=form), "action_space") else {}
    results = ours.reset(**seeds)[0], theirs.reset(**seeds)[0]
    for _ in range(3):
        assert results[0].dtype == results[1].dtype and results[0].shape == results[1].shape
        assert [repr(row) for row in results[0]] == [repr(row) for row in results[1]]
        results = ours.step([RIGHT] * 3)[0], theirs.step([RIGHT] * 3)[0]
    ours.close(), theirs.close()


@pytest.mark.parametrize("cls", CLASSES)
def test_collector(cls):
    env = cls([lambda: gymnasium.make("CartPole-v1", max_episode_steps=11)] * N)
    collector = Collector[CollectStats](RandomPolicy(env.action_space[0]), env, VectorReplayBuffer(N * 100, N))
    collector.reset()
    assert collector.collect(n_step=100).n_collected_steps >= 100
    assert collector.collect(n_episode=9).n_collected_episodes >= 9
    for buffer in collector.buffer.buffers:
        rows = buffer[:]
        goes_on = ~rows.done[:-1]
        assert goes_on.sum() > 5
        assert np.array_equal(rows.obs[1:][goes_on], rows.obs_next[:-1][goes_on])


@pytest.mark.parametrize("options", [{"wait_num": 1}, {"wait_num": 3}, {"timeout": 1e-4}], ids=str)
def test_async_collector(options):
    env = SubprocVectorEnv([lambda: gymnasium.make("CartPole-v1", max_episode_steps=11)] * N, **options)
    collector = AsyncCollector(RandomPolicy(env.action_space[0]), env, VectorReplayBuffer(N * 500, N))
    collector.reset()
    assert collector.collect(n_step=100).n_collected_steps >= 100
    assert collector.collect(n_episode=20).n_collected_episodes >= 20
    for i, buffer in enumerate(collector.buffer.buffers):
        rows = buffer[:]
        assert np.array_equal(rows.info.env_id, np.full(len(rows), i))
        goes_on = ~rows.done[:-1]
        assert goes_on.any()
        assert np.array_equal(rows.obs[1:][goes_on], rows.obs_next[:-1][goes_on])


def test_normalised_observations():
    env = VectorEnvNormObs(DummyVectorEnv([lambda: gymnasium.make("CartPole-v1")] * N))
    obs, infos = env.reset()
    assert obs.shape == (N, 4) and len(infos) == N and isinstance(infos[0], dict)
    assert [space.shape for space in env.observation_space] == [(4,)] * N
    assert env.step(np.ones(N, int))[0].shape == (N, 4)
    assert env.get_obs_rms().count == 2 * N


def test_normalisation_equals_that_of_tianshou():
    """The statistics of observations, through steps and resets of some environments, and a test env that uses them."""
    env_fns = [lambda n=n: Walk(n) for n in (5, 7, 9, 11)]
    ours, theirs = (VectorEnvNormObs(kind(env_fns)) for kind in (DummyVectorEnv, tianshou.env.DummyVectorEnv))
    test = VectorEnvNormObs(DummyVectorEnv(env_fns), update_obs_rms=False)
    test.set_obs_rms(ours.get_obs_rms())
    results = [(env.reset()[0],) for env in (ours, theirs)]
    for _ in range(30):
        assert np.array_equal(results[0][0], results[1][0])
        results = [env.step([RIGHT] * N) for env in (ours, theirs)]
        ended = np.flatnonzero(results[0][2])
        if len(ended):
            assert np.array_equal(*(env.reset(ended)[0] for env in (ours, theirs)))
    count = ours.get_obs_rms().count
    assert count == theirs.get_obs_rms().count > 30 * N
    rms = ours.get_obs_rms()
    assert np.allclose(test.reset()[0], -rms.mean / np.sqrt(rms.var), atol=1e-5)
    assert test.get_obs_rms().count == count


def test_attributes_of_the_environments_themselves():
    env = DummyVectorEnv([lambda: gymnasium.make("CartPole-v1")])
    env.set_env_attr("mark", 1337)
    assert env.get_env_attr("mark") == [1337]
    assert env.workers[0].env.unwrapped.mark == 1337


def test_wrappers_inside():
    env = DummyVectorEnv(
        [lambda: MultiDiscreteToDiscrete(ContinuousToDiscrete(gymnasium.make("Pendulum-v1"), [5]))] * N
    )
    assert env.action_space[0] == gymnasium.spaces.Discrete(5)
    env.reset(seed=1)
    assert env.step(np.arange(N))[0].shape == (N, 3)


@pytest.mark.parametrize("cls", CLASSES)
def test_pettingzoo(cls):
    """A turn-based game of two players: observations are dicts, rewards have one entry per player."""
    ours, theirs = (
        kind([lambda: PettingZooEnv(tictactoe_v3.env())] * 2) for kind in (cls, tianshou.env.DummyVectorEnv)
    )
    results = ours.reset(), theirs.reset()
    for action in ([0, 4], [1, 5], [3, 8]):
        obs = [Batch(result[0]) for result in results]
        assert obs[0].agent_id.tolist() == obs[1].agent_id.tolist()
        assert np.array_equal(obs[0].obs, obs[1].obs) and np.array_equal(obs[0].mask, obs[1].mask)
        results = ours.step(action), theirs.step(action)
        for a, b in zip(results[0][1:4], results[1][1:4], strict=True):
            assert np.array_equal(a, b)
    assert results[0][1].shape == (2, 2)
    ours.close(), theirs.close()
