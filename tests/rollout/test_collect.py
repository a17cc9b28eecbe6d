"""The loop that fills a rollout, in sync and async pools."""

import numpy as np
import pytest

import envpool
from envpool.errors import ActionError, ConfigError
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
    with pytest.raises(ConfigError, match=r"collect\(\) needs the last result"):
        rollout.collect(lambda result: (np.ones(N), {}))
    for answer in (np.ones(2), [1, 0], (np.ones(N),), (np.ones(N), None), None):
        with pytest.raises(TypeError, match=r"act must return a pair \(action, extras\), .* got "):
            rollout.collect(lambda result, answer=answer: answer, rollout.reset())
    rollout = envpool.Rollout(plugin.make(num_envs=N, autoreset_mode="disabled"), T)
    with pytest.raises(ConfigError, match="needs a pool that resets its environments"):
        rollout.collect(lambda result: (np.ones(N), {}), rollout.reset())


def interrupt(answer):
    raise KeyboardInterrupt


@pytest.mark.parametrize("fail", [interrupt, lambda answer: (answer[0], {}), lambda answer: ("none", answer[1])])
@pytest.mark.parametrize("batch_size", [N, N // 2])
def test_a_policy_that_fails_gets_its_result_again(batch_size, fail):
    rollout = envpool.Rollout(plugin.make(num_envs=N, batch_size=batch_size), T, {"seen": (np.float32, (3,))})

    def act(result):
        return np.ones(len(result[0])), {"seen": result[0][:, :3]}

    for passes in (True, False):  # whether the program passes its result again, which is older than the one that failed
        result, answers = rollout.reset(), iter([act, act, act, lambda result: fail(act(result))])
        with pytest.raises((KeyboardInterrupt, ConfigError, ActionError)):
            rollout.collect(lambda result, answers=answers: next(answers)(result), result)
        data, _ = rollout.collect(act, result if passes else None)
        for i, length in enumerate(data.lengths):
            assert (data.seen[:length, i] == data.obs[:length, i, :3]).all()
        assert data.lengths.sum() == T * N


def test_a_step_of_the_program_makes_a_kept_result_outdated():
    rollout = envpool.Rollout(plugin.make(num_envs=N), T)
    answers = iter([(np.ones(N), {}), None])
    with pytest.raises(TypeError):
        rollout.collect(lambda _: next(answers), rollout.reset())
    result = rollout.step(np.ones(N))
    with pytest.raises(ConfigError, match="needs the last result"):
        rollout.collect(lambda _: (np.ones(N), {}))
    data, _ = rollout.collect(lambda _: (np.ones(N), {}), result)
    assert data.obs[:, 0, 2].tolist() == [0, 1, 2, 3]
