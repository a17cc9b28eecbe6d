"""The loop that fills a rollout, in sync and async pools."""

import numpy as np
import pytest

import envpool
from envpool.errors import ConfigError
from tests.support import plugin

N, T = 6, 4


def env_ids(result):
    return result.observation.env_id if hasattr(result, "observation") else result[-1]["env_id"]


@pytest.mark.parametrize("style", ["gymnasium", "gym", "dm"])
def test_sync(style):
    pool = plugin.make(style, num_envs=N)
    rollout = envpool.Rollout(pool, T, {"value": np.float32})
    calls = []

    def act(result):
        calls.append(env_ids(result))
        return np.full(N, len(calls)), {"value": np.full(N, len(calls))}

    result = rollout.reset()
    for k in range(3):
        data, result = rollout.collect(act, result)
        first = k * (T + 1) + 1
        assert data.action[:, 0].tolist() == list(range(first, first + T))
        assert data.value[:, 0].tolist() == list(range(first, first + T))
        assert (data.last("value") == first + T).all()
    assert len(calls) == 3 * (T + 1)


@pytest.mark.parametrize("style", ["gymnasium", "dm"])
def test_async(style):
    pool = plugin.make(style, num_envs=N, batch_size=N // 2, num_threads=2)
    rollout = envpool.Rollout(pool, T, {"value": np.float32})

    def act(result):
        ids = env_ids(result)
        return ids + 2, {"value": ids * 3}

    result = rollout.reset()
    for _ in range(4):
        data, result = rollout.collect(act, result)
        assert result is None
        assert data.lengths.sum() >= T * N
        assert pool.num_outstanding == N or data.lengths.min() == 0
        for i in range(N):
            assert (data.action[: data.lengths[i], i] == i + 2).all()
            assert (data.value[: data.lengths[i], i] == i * 3).all()


def test_mistakes():
    rollout = envpool.Rollout(plugin.make(num_envs=N), T)
    rollout.reset()
    with pytest.raises(ConfigError, match=r"collect\(\) of a sync pool needs the last result"):
        rollout.collect(lambda result: (np.ones(N), {}))
    rollout = envpool.Rollout(plugin.make(num_envs=N, autoreset_mode="disabled"), T)
    with pytest.raises(ConfigError, match="needs a pool that resets its environments"):
        rollout.collect(lambda result: (np.ones(N), {}), rollout.reset())
