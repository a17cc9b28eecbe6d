"""`vectorize_gym_envs`: the values of RLlib's own vector environment, and the replacement of environments that fail."""

import gymnasium
import numpy as np
import pytest
import ray
from ray.rllib.env.base_env import BaseEnv, convert_to_base_env
from ray.rllib.env.vector_env import VectorEnv as RLlibVectorEnv

import envpool
from envpool.adapters.rllib import GymVectorEnv, VectorEnv
from envpool.adapters.tianshou import RayVectorEnv
from tests.support.walks import FAIL, RIGHT, Walk

N = 3


class FragileReset(Walk):
    """A walk whose first resets fail; `failures` counts down over all environments."""

    failures = 0

    def reset(self, **kwargs):
        if FragileReset.failures:
            FragileReset.failures -= 1
            raise OSError("the reset failed")
        return super().reset(**kwargs)


@pytest.mark.parametrize("task", ["CartPole-v1", "Pendulum-v1", "FrozenLake-v1", "Blackjack-v1"])
def test_same_values_as_upstream(task):
    ours, upstream = (
        cls.vectorize_gym_envs(make_env=lambda i: gymnasium.make(task, max_episode_steps=15), num_envs=N)
        for cls in (VectorEnv, RLlibVectorEnv)
    )
    assert isinstance(ours, GymVectorEnv) and isinstance(ours, RLlibVectorEnv) and ours.num_envs == N
    assert ours.observation_space == upstream.observation_space and ours.action_space == upstream.action_space
    pairs, ends = [], 0

    def both(call):
        pairs.append([call(env) for env in (ours, upstream)])
        return pairs[-1][0]

    both(lambda env: env.vector_reset(seeds=[4, 9, 2], options=[{}, None, {}]))
    both(lambda env: env.reset_at(1))
    both(lambda env: env.reset_at(2, seed=8, options={}))
    both(lambda env: env.reset_at())
    for _ in range(40):
        actions = [ours.action_space.sample() for _ in range(N)]
        _, _, terminateds, truncateds, _ = both(lambda env, actions=actions: env.vector_step(actions))
        for i in np.flatnonzero(np.array(terminateds) | np.array(truncateds)):
            both(lambda env, i=int(i): env.reset_at(i))
            ends += 1
    assert ends > N
    for a, b in pairs:
        assert len(a) == len(b)
        assert np.array_equal(a[0], b[0])
        assert list(a[1:]) == list(b[1:])
    for rewards, terminateds, truncateds in (result[1:4] for result, _ in pairs if len(result) == 5):
        assert {type(value) for value in rewards} == {float}
        assert {type(value) for value in terminateds + truncateds} == {bool}
    ours.close()


def test_existing_environments():
    walks = [Walk(4), Walk(5)]
    made = []
    env = VectorEnv.vectorize_gym_envs(lambda i: made.append(i) or Walk(10 + i), walks, N)
    assert made == [2]
    assert env.get_sub_environments()[:2] == walks and env.get_sub_environments()[2].size == 12
    assert env.observation_space == walks[0].observation_space
    env.vector_reset(options=[{"cell": 1}, {"cell": 2}, None])
    assert [frame.max() for frame in map(env.try_render_at, (None, 1, 2))] == [1, 2, 0]
    env.close()
    env.close()
    assert [walk.num_closed for walk in walks] == [1, 1]
    spaces = gymnasium.spaces.Box(0, 9, (1,)), gymnasium.spaces.Discrete(2)
    env = VectorEnv.vectorize_gym_envs(
        existing_envs=[Walk(4)], observation_space=spaces[0], action_space=spaces[1], num_envs=1
    )
    assert (env.observation_space, env.action_space) == spaces
    with pytest.raises(envpool.errors.ConfigError, match="make_env must be a function"):
        VectorEnv.vectorize_gym_envs(existing_envs=[Walk(4)], num_envs=2)


def test_failures_are_raised():
    env = VectorEnv.vectorize_gym_envs(lambda i: Walk(4), num_envs=N)
    env.vector_reset()
    with pytest.raises(KeyError, match="was asked to fail"):
        env.vector_step([RIGHT, FAIL, RIGHT])
    assert env.vector_step([RIGHT] * N)[0] == [np.array([2]), np.array([1]), np.array([2])]


def test_environments_that_fail_are_replaced():
    made = []
    env = VectorEnv.vectorize_gym_envs(
        lambda i: made.append(i) or FragileReset(4), num_envs=N, restart_failed_sub_environments=True
    )
    FragileReset.failures = 3
    obs, infos = env.vector_reset()
    assert [row.tolist() for row in obs] == [[0]] * N and infos == [{"size": 4}] * N
    assert made == [0, 1, 2, 0, 0, 0]
    before = env.get_sub_environments()
    obs, rewards, terminateds, truncateds, infos = env.vector_step([RIGHT, FAIL, RIGHT])
    assert isinstance(obs[1], KeyError) and obs[0].tolist() == obs[2].tolist() == [1]
    assert (rewards, terminateds, truncateds) == ([0.0] * N, [False, True, False], [False, True, False])
    assert infos[1] == {} and made[6:] == [1] and before[1].num_closed == 1
    after = env.get_sub_environments()
    assert after[1] is not before[1] and after[::2] == before[::2]
    FragileReset.failures = 1
    error, info = env.reset_at(1)
    assert isinstance(error, OSError) and info == {}
    assert env.reset_at(1)[0].tolist() == [0]
    assert [row.tolist() for row in env.vector_step([RIGHT] * N)[0]] == [[2], [1], [2]]


def test_resets_that_never_work():
    """A reset that raises in every new environment ends with an error rather than never."""
    env = VectorEnv.vectorize_gym_envs(lambda i: FragileReset(4), num_envs=N, restart_failed_sub_environments=True)
    FragileReset.failures = 10**9
    try:
        with pytest.raises(RuntimeError, match=r"reset\(\) of environment 0 .* 10 times .*the reset failed") as caught:
            env.vector_reset()
    finally:
        FragileReset.failures = 0
    assert isinstance(caught.value.__cause__, OSError)
    assert [row.tolist() for row in env.vector_reset()[0]] == [[0]] * N


def test_as_base_env():
    env = VectorEnv.vectorize_gym_envs(lambda i: Walk(3), num_envs=N, restart_failed_sub_environments=True)
    base = env.to_base_env(num_envs=N, remote_envs=False, remote_env_batch_wait_ms=0)
    assert isinstance(base, BaseEnv)
    obs = base.poll()[0]
    assert {i: row["agent0"].tolist() for i, row in obs.items()} == {0: [0], 1: [0], 2: [0]}
    base.send_actions({i: {"agent0": FAIL if i == 1 else RIGHT} for i in range(N)})
    obs, _, terminateds, *_ = base.poll()
    assert isinstance(obs[1], KeyError) and terminateds[1]["__all__"]
    assert obs[0]["agent0"].tolist() == [1]
    assert base.try_reset(1)[0][1]["agent0"].tolist() == [0]


@pytest.fixture
def cluster():
    ray.init(num_cpus=2, include_dashboard=False)
    yield
    ray.shutdown()


def test_remote_environments(cluster):
    """With remote_envs, RLlib makes one actor per environment."""
    base = convert_to_base_env(
        Walk(3), make_env=lambda i: Walk(3), num_envs=2, remote_envs=True, remote_env_batch_wait_ms=1000
    )
    seen = {}
    while len(seen) < 2:
        seen |= base.poll()[0]
    assert {i: row["agent0"].tolist() for i, row in seen.items()} == {0: [0], 1: [0]}
    base.stop()


def test_ray_vector_env(cluster):
    """Tianshou's RayVectorEnv, which needs no Tianshou."""
    env = RayVectorEnv([lambda n=n: Walk(n) for n in (4, 5)], wait_num=1)
    assert env.get_env_attr("size") == [4, 5] and env.observation_space[1].high[0] == 5
    assert env.seed(1) == [[1], [2]]
    assert env.reset(options={"cell": 3})[0].tolist() == [[3]] * 2
    rows = {}
    results = [env.step([RIGHT] * 2)]
    assert sorted([info["env_id"] for info in results[0][-1]] + env.waiting_id) == [0, 1]
    while env.waiting_id:
        results.append(env.step(None))
    for obs, rew, terminated, _, infos in results:
        rows |= {
            info["env_id"]: (obs[k].tolist(), rew[k], bool(terminated[k]), info["cell"]) for k, info in enumerate(infos)
        }
    assert rows == {0: ([4], 1.0, True, 4), 1: ([4], 0.0, False, 4)}
    env.set_env_attr("size", 9, [1])
    assert env.get_env_attr("size") == [4, 9]
    assert [frame.max() for frame in env.render()] == [4, 4]
    env.close()
