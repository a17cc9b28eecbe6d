"""The VectorEnv of Tianshou: its contract, the values of its own DummyVectorEnv, and its asynchronous modes."""

import threading

import gymnasium
import numpy as np
import pytest
import torch
from tianshou.data import AsyncCollector, Batch, Collector, CollectStats, VectorReplayBuffer
from tianshou.env import DummyVectorEnv, VectorEnvNormObs

import envpool
from envpool.adapters.tianshou import VectorEnv
from envpool.errors import ConfigError, EnvIdError, EnvStepError, PoolStateError
from tests.clients.tianshou.policy import RandomPolicy
from tests.support import plugin
from tests.support.checked_pool import FAIL, WAIT
from tests.support.process import PATIENCE, wait_until

N = 4


@pytest.fixture
def make():
    made = []

    def make_one(task="CartPole-v1", **options):
        made.append(VectorEnv(task, **{"num_envs": N} | options))
        return made[-1]

    yield make_one
    for env in made:
        if not env.is_closed:
            env.close()


@pytest.fixture
def gate(make):
    """Make a VectorEnv whose environments stay in flight after the action WAIT until the gate opens."""
    native = plugin.load().native
    native.close_gate()
    late = threading.Timer(PATIENCE, native.open_gate)  # a call that waits for too many fails rather than hangs
    late.start()
    yield lambda **options: make("Synthetic-v0", episode_length=0, **{"num_threads": N} | options)
    late.cancel()
    native.open_gate()


def ids(result):
    return [info["env_id"] for info in result[-1]]


@pytest.mark.parametrize("task", ["CartPole-v1", "Pendulum-v1", "FrozenLake-v1"])
def test_same_values_as_dummy_vector_env(make, task):
    """Equal calls return equal arrays of equal types."""
    ours = make(task, max_episode_steps=15)
    dummy = DummyVectorEnv([lambda: gymnasium.make(task, max_episode_steps=15)] * N)
    rng = np.random.default_rng(0)
    assert ours.seed(7) == dummy.seed(7) == [[7], [8], [9], [10]]
    pairs = [(ours.reset(), dummy.reset())]
    pairs.append((ours.reset([2, 0]), dummy.reset([2, 0])))
    pairs.append((ours.reset(1), dummy.reset(1)))
    pairs.append((ours.reset(np.array([3, 1]), seed=5), dummy.reset(np.array([3, 1]), seed=5)))
    ends = 0
    for k in range(60):
        chosen = rng.permutation(N)[: rng.integers(1, N + 1)] if k % 2 else None
        action = np.stack([ours.action_space[0].sample() for _ in range(N if chosen is None else len(chosen))])
        pairs.append((ours.step(action, chosen), dummy.step(action, chosen)))
        done = np.array(ids(pairs[-1][0]))[pairs[-1][0][2] | pairs[-1][0][3]]
        ends += len(done)
        if len(done):
            pairs.append((ours.reset(done), dummy.reset(done)))
    assert ends > N
    for a, b in pairs:
        assert len(a) == len(b)
        assert np.array_equal(a[0], b[0])
        for x, y in zip(a[1:-1], b[1:-1], strict=True):
            assert np.array_equal(np.float32(x), np.float32(y))
            assert (x.dtype == np.bool_) == (y.dtype == np.bool_)
        assert (a[-1].dtype, a[-1].shape) == (b[-1].dtype, b[-1].shape) == (object, a[0].shape[:1])
        for x, y in zip(a[-1], b[-1], strict=True):
            assert type(x) is dict
            assert {k: np.float32(x[k]) for k in y} == {k: np.float32(v) for k, v in y.items()}
    dummy.close()


def test_attributes(make):
    env = make()
    assert isinstance(env, envpool.adapters.tianshou.BaseVectorEnv)
    assert len(env) == env.env_num == len(env.workers) == N
    assert env.is_async is False
    assert env.is_closed is False
    assert env.waiting_id == []
    assert env.ready_id == list(range(N))
    assert env.action_space == [gymnasium.spaces.Discrete(2)] * N
    assert len({id(space) for space in env.action_space}) == N
    assert [space.shape for space in env.observation_space] == [(4,)] * N
    assert [spec.reward_threshold for spec in env.spec] == [475.0] * N
    assert env.metadata == [{"render_modes": ["rgb_array", "human"], "render_fps": 50}] * N
    env.set_env_attr("size", 0)
    env.set_env_attr("size", 1, 0)
    env.set_env_attr("size", 2, [1, 2])
    assert env.get_env_attr("size") == [1, 2, 2, 0]
    assert env.get_env_attr("size", id=0) == [1]
    assert env.get_env_attr("size", id=[0, 3]) == [1, 0]
    assert env.workers[1].env.unwrapped.size == 2


def test_workers_step_by_themselves(make):
    env = make()
    obs, _ = env.workers[2].reset(seed=5)
    assert np.array_equal(obs, gymnasium.make("CartPole-v1").reset(seed=5)[0])
    worker = env.workers[2]
    obs, reward, terminated, truncated, info = worker.step(1)
    assert (obs.shape, reward, terminated, truncated) == ((4,), 1.0, False, False)
    assert info["elapsed_step"] == 1
    worker.send(None)
    assert len(worker.recv()) == 2


def test_frames(make):
    env = make(render_mode="rgb_array")
    env.reset()
    frames = env.render()
    assert [frame.shape for frame in frames] == [(400, 600, 3)] * N
    upstream = gymnasium.make("CartPole-v1", render_mode="rgb_array")
    env.workers[1].reset(seed=3)
    upstream.reset(seed=3)
    assert np.array_equal(env.workers[1].render(), upstream.render())
    with pytest.raises(RuntimeError, match="render_mode='rgb_array'"):
        make().render()


def test_calls_after_close(make):
    env = make()
    env.close()
    assert env.is_closed
    for call in (env.close, env.reset, env.seed, lambda: env.step([0] * N), lambda: env.get_env_attr("spec")):
        with pytest.raises(AssertionError, match="after close"):
            call()


def test_forms_of_actions(make):
    env = make()
    env.reset()
    for action in ([1] * N, np.ones(N, np.int64), torch.ones(N, dtype=torch.int64)):
        assert env.step(action)[0].shape == (N, 4)
    assert env.step([1], 2)[0].shape == (1, 4)
    with pytest.raises(ValueError, match="wait_num"):
        env.step(None)
    with pytest.raises(ValueError):
        env.step([1, 1], [0, 1, 2])


def test_dict_observations(make):
    env = make("CheetahRun-v1")
    obs, _ = env.reset([1, 2])
    assert (obs.dtype, obs.shape) == (object, (2,))
    assert obs[0].keys() == {"position", "velocity"}
    collector = Collector[CollectStats](RandomPolicy(env.action_space[0]), env, VectorReplayBuffer(N * 20, N))
    collector.reset()
    collector.collect(n_step=5 * N)
    assert collector.buffer[:].obs.position.shape == (5 * N, 8)


def test_normalised_observations(make):
    env = VectorEnvNormObs(make())
    obs, infos = env.reset()
    assert obs.shape == (N, 4)
    assert len(infos) == N
    assert isinstance(infos[0], dict)
    assert [space.shape for space in env.observation_space] == [(4,)] * N


def test_arguments(make):
    for bad in ({"wait_num": N + 1}, {"wait_num": -1}, {"timeout": 0.0}):
        with pytest.raises(AssertionError):
            make(**bad)
    with pytest.raises(ConfigError, match="batch_size must be num_envs=4 for an adapter, got 2"):
        make(batch_size=2)
    with pytest.raises(ConfigError, match="no reset option 'gravity'"):
        make().reset([0], options={"gravity": 1})
    with envpool.make_gymnasium("CartPole-v1", num_envs=N) as pool:
        assert VectorEnv(pool, wait_num=2).is_async
        assert VectorEnv(pool, timeout=1.0).is_async
        assert not VectorEnv(pool, wait_num=N).is_async


def test_returns_when_wait_num_have_finished(gate):
    env = gate(wait_num=2)
    env.reset()
    result = env.step([0, WAIT, 0, WAIT], range(N))
    assert sorted(ids(result)) == [0, 2]
    assert sorted(env.waiting_id) == [1, 3]
    assert sorted(env.ready_id) == [0, 2]
    for _ in range(20):  # those two alone, again and again
        assert sorted(ids(env.step([0, 0], [2, 0]))) == [0, 2]
    plugin.load().native.open_gate()
    assert sorted(ids(env.step(None))) == [1, 3]
    assert env.waiting_id == []


def test_no_environment_waits_for_another_one_from_the_first_step_on(gate, monkeypatch):
    env = gate(num_envs=64, num_threads=2, cost_ns=5e3, wait_num=63)
    for _ in range(20):  # a thread now expects steps that are cheap enough to be claimed together
        env.reset()
    recv = env.pool.recv

    def late_recv(min_ready, **options):
        if min_ready:
            wait_until(lambda: plugin.load().native.num_at_gate() == 1)
        return recv(min_ready=min_ready, **options)

    monkeypatch.setattr(env.pool, "recv", late_recv)
    assert sorted(ids(env.step([WAIT] + [0] * 63, range(64)))) == list(range(1, 64))


def test_returns_what_there_is_at_the_timeout(gate):
    env = gate(wait_num=3, timeout=0.05)
    env.reset()
    assert ids(env.step([WAIT, WAIT, 0, WAIT], range(N))) == [2]
    assert ids(env.step([0], [2])) == [2]


def test_waits_on_after_a_timeout_with_nothing(gate):
    env = gate(wait_num=1, timeout=0.01)
    env.reset()
    timer = threading.Timer(0.2, plugin.load().native.open_gate)
    timer.start()
    assert len(ids(env.step([WAIT] * N, range(N)))) >= 1
    timer.join()


def test_resets_exactly_those_asked_for_while_others_are_in_flight(gate):
    env = gate(wait_num=1)
    env.reset()
    env.step([WAIT, 0, 0, 0], range(N))
    env.step(None, id=[i for i in env.waiting_id if i != 0])
    assert env.waiting_id == [0]
    obs, infos = env.reset([3, 1])
    assert obs[:, 0].tolist() == [3, 1]
    assert len(infos) == 2
    with pytest.raises(EnvIdError, match=r"\[0\] are in flight: fetch them with step\(None\)"):
        env.reset([0, 1])
    with pytest.raises(EnvIdError, match=r"drop them with reset\(\)"):
        env.step([1], [0])
    for call in (lambda: env.get_env_attr("spec", 0), env.seed):
        with pytest.raises(AssertionError, match=r"stepping now: fetch it with step\(None\)"):
            call()
    for bad, text in (([1, N], "must be between"), ([1, 1], "appears twice")):
        for call in (lambda bad=bad: env.step([1, 1], bad), lambda bad=bad: env.reset(bad)):
            with pytest.raises(EnvIdError, match=text):
                call()
    with pytest.raises(RuntimeError, match="still stepping"):
        env.render()
    assert env.waiting_id == [0]
    plugin.load().native.open_gate()
    assert ids(env.step(None, id=[0])) == [0]
    assert len(env.reset()[0]) == N


def test_nothing_to_fetch(make):
    env = make(wait_num=2)
    env.reset()
    with pytest.raises(PoolStateError):
        env.step(None)


def test_a_failure_loses_nobody(gate):
    env = gate(wait_num=N - 1, timeout=5.0)
    env.reset()
    with pytest.raises(EnvStepError, match="env 1"):
        env.step([0, FAIL, 0], [0, 1, 2])
    assert sorted(env.waiting_id) == [0, 1, 2]
    _, _, _, truncated, infos = env.step(None)
    assert sorted(info["env_id"] for info in infos) == [0, 1, 2]
    assert [bool(t) for t in truncated] == [info["env_id"] == 1 for info in infos]


def test_keeps_stepping(make):
    """Tianshou's own test of asynchronous environments works like this: every received environment is sent again."""
    env = make("Synthetic-v0", num_envs=8, wait_num=4, timeout=1e-3, cost_ns=1e5, distribution="exponential")
    env.seed(None)
    env.reset()
    sent, chosen, batches = 0, list(range(8)), []
    while sent < 200:
        result = env.step([1] * len(chosen), chosen)
        batches.append(Batch(obs=result[0], rew=result[1], info=result[4]))
        sent += len(chosen)
        done = np.array(ids(result))[result[2] | result[3]]
        if len(done):
            env.reset(done)
        chosen = batches[-1].info.env_id
    merged = Batch.cat(batches)
    assert np.array_equal(merged.obs[:, 0], merged.info.env_id)
    assert len(merged.rew) >= 200 - 8


def test_reset_with_a_seed_in_async_mode(make):
    env = make(wait_num=N // 2, timeout=1e-3)
    obs, infos = env.reset(seed=1)
    assert len(infos) == N
    assert all(np.array_equal(row, gymnasium.make("CartPole-v1").reset(seed=1)[0]) for row in obs)


@pytest.mark.parametrize("options", [{"wait_num": 1}, {"wait_num": 3}, {"timeout": 1e-4}], ids=str)
def test_async_collector(make, options):
    """Each environment's stored transitions follow one another; nothing hangs, in steps or in episodes."""
    env = make(max_episode_steps=11, num_threads=2, **options)
    collector = AsyncCollector(RandomPolicy(env.action_space[0]), env, VectorReplayBuffer(N * 500, N))
    collector.reset()
    assert collector.collect(n_step=100).n_collected_steps >= 100
    assert collector.collect(n_episode=20).n_collected_episodes >= 20
    collector.reset_env()
    assert collector.collect(n_step=50, reset_before_collect=True).n_collected_steps >= 50
    buffer = collector.buffer
    for i in range(N):
        rows = buffer.buffers[i][:]
        assert np.array_equal(rows.info.env_id, np.full(len(rows), i))
        if not len(rows):
            continue
        goes_on = ~rows.done[:-1] & (rows.info.elapsed_step[1:] > 1)
        assert goes_on.any()
        assert np.array_equal(rows.obs[1:][goes_on], rows.obs_next[:-1][goes_on])
        assert (rows.info.elapsed_step[1:][rows.done[:-1]] == 1).all()
