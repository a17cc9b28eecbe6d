"""The VectorEnv of RLlib's old stack: its contract, and the values of what RLlib makes of gymnasium's environments."""

import gymnasium
import numpy as np
import pytest
from ray.rllib.env.base_env import BaseEnv
from ray.rllib.env.vector_env import VectorEnv as RLlibVectorEnv

import envpool
from envpool.adapters.rllib import VectorEnv
from envpool.errors import ConfigError, EnvStepError, PoolStateError
from tests.support import plugin
from tests.support.checked_pool import FAIL

N = 3


@pytest.fixture
def make():
    made = []

    def make_one(task="CartPole-v1", **options):
        made.append(VectorEnv(task, **{"num_envs": N} | options))
        return made[-1]

    yield make_one
    for env in made:
        env.close()


@pytest.mark.parametrize("task", ["CartPole-v1", "Pendulum-v1", "FrozenLake-v1"])
def test_same_values_as_upstream(make, task):
    ours = make(task, max_episode_steps=15)
    upstream = RLlibVectorEnv.vectorize_gym_envs(
        make_env=lambda i: gymnasium.make(task, max_episode_steps=15), num_envs=N
    )
    assert ours.observation_space == upstream.observation_space
    pairs = []

    def both(call):
        pairs.append([call(env) for env in (ours, upstream)])
        return pairs[-1][0]

    both(lambda env: env.vector_reset(seeds=[4, 9, 2]))
    both(lambda env: env.reset_at(1))
    both(lambda env: env.reset_at(2, seed=8, options={}))
    both(lambda env: env.reset_at())
    ends = 0
    for _ in range(60):
        actions = [ours.action_space.sample() for _ in range(N)]
        _, _, terminateds, truncateds, _ = both(lambda env, actions=actions: env.vector_step(actions))
        for i in np.flatnonzero(np.array(terminateds) | np.array(truncateds)):
            both(lambda env, i=int(i): env.reset_at(i))
            ends += 1
    assert ends > N
    for a, b in pairs:
        assert len(a) == len(b)
        assert np.array_equal(a[0], b[0])
        for x, y in zip(a[1:-1], b[1:-1], strict=True):
            assert np.array_equal(np.float32(x), np.float32(y))


def test_types(make):
    env = make()
    assert isinstance(env, RLlibVectorEnv)
    assert env.num_envs == N
    obs, infos = env.vector_reset()
    assert [row in env.observation_space for row in obs] == [True] * N
    assert [type(info) for info in infos] == [dict] * N
    results = env.vector_step([0] * N)
    assert [type(part) for part in results] == [list] * 5
    assert [type(part[0]) for part in results[1:]] == [float, bool, bool, dict]
    assert results[4][0]["elapsed_step"] == 1
    obs, info = env.reset_at(1)
    assert obs.shape == (4,)
    assert type(info) is dict
    env.restart_at(1)
    env.vector_step([np.int64(1)] * N)


def test_sub_environments(make):
    env = make()
    subs = env.get_sub_environments()
    assert len(subs) == N
    assert all(isinstance(sub, gymnasium.Env) for sub in subs)
    assert np.array_equal(subs[2].reset(seed=6)[0], gymnasium.make("CartPole-v1").reset(seed=6)[0])
    env.vector_reset()
    assert [sub.unwrapped is sub for sub in subs] == [True] * N
    assert env.vector_step([0] * N)[4][2]["elapsed_step"] == 1


def test_frames(make):
    env = make(render_mode="rgb_array")
    env.vector_reset()
    first, other = env.try_render_at(), env.try_render_at(2)
    assert first.shape == (400, 600, 3)
    assert not np.array_equal(first, other)
    assert np.array_equal(env.to_base_env().try_render(2), other)


def test_poll_and_send_actions(make):
    """RLlib's sampler sends all actions, polls, and resets the environments whose episodes ended."""
    env = make(max_episode_steps=2).to_base_env()
    assert isinstance(env, BaseEnv)
    obs, *_ = env.poll()
    assert obs.keys() == {0, 1, 2}
    for t in (1, 2, 1, 2):
        env.send_actions({i: {"agent0": 0} for i in range(N)})
        obs, rewards, terminateds, truncateds, infos, _ = env.poll()
        assert [rewards[i]["agent0"] for i in range(N)] == [1.0] * N
        assert [truncateds[i]["__all__"] for i in range(N)] == [t == 2] * N
        assert not any(terminateds[i]["__all__"] for i in range(N))
        assert [infos[i]["agent0"]["elapsed_step"] for i in range(N)] == [t] * N
        if t == 2:
            for i in range(N):
                first, _ = env.try_reset(i)
                assert not np.array_equal(first[i]["agent0"], obs[i]["agent0"])


def test_a_failure_is_an_observation(make):
    plugin.load()
    env = make("Synthetic-v0", episode_length=0)
    env.vector_reset()
    obs, rewards, terminateds, _, infos = env.vector_step([0, FAIL, 0])
    assert isinstance(obs[1], EnvStepError)
    assert obs[1].failures.keys() == {1}
    assert terminateds == [False, True, False]  # RLlib insists on that where there is an exception
    assert terminateds[1] is True
    assert rewards[1] == 0
    assert infos[1].keys() == infos[0].keys()
    env.restart_at(1)
    obs, _ = env.reset_at(1)
    assert obs[1:3].tolist() == [2, 0]  # second episode, no step yet
    assert all(isinstance(row, np.ndarray) for row in env.vector_step([0] * N)[0])


def test_a_reset_that_fails(make):
    plugin.load()
    env = make("Synthetic-v0", episode_length=2, fail_reset=1)
    env.vector_reset()
    env.vector_step([0] * N)
    assert env.vector_step([0] * N)[2] == [True] * N
    error, info = env.reset_at(1)
    assert isinstance(error, EnvStepError)
    assert error.failures.keys() == {1}
    assert info == {}
    env.restart_at(1)
    obs, _ = env.reset_at(1)  # it fails once only
    assert isinstance(obs, np.ndarray)


def test_what_it_refuses(make):
    env = make()
    with pytest.raises(ConfigError, match="no reset option 'gravity'"):
        env.vector_reset(options=[{"gravity": 1}, None, None])
    env.vector_reset(options=[{}, None, None])
    with pytest.raises(ConfigError, match="no reset option 'gravity'"):
        env.reset_at(0, options={"gravity": 1})
    pool = envpool.make_gymnasium("CartPole-v1", autoreset_mode="same_step")
    with pool, pytest.raises(ConfigError, match="'disabled'"):
        VectorEnv(pool)
    env.close()
    env.close()
    with pytest.raises(PoolStateError):
        env.vector_reset()
