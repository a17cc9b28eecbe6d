"""Rollouts of async pools: each row is recorded in the next time slot of its env."""

import re

import numpy as np
import pytest

import envpool
from envpool.errors import ConfigError, EnvStepError, PoolStateError
from tests.support import plugin

N, BATCH, T = 7, 3, 5


class Log:
    """What the pool returned of each env, in order: one list of (obs, reward, done, elapsed) an env."""

    def __init__(self):
        self.rows = {i: [] for i in range(N)}
        self.sent = {i: [] for i in range(N)}

    def add(self, result):
        obs, info = result[0], result[-1]
        done = np.logical_or(*result[2:4]) if len(result) == 5 else np.zeros(len(obs), bool)
        reward = result[1] if len(result) == 5 else np.zeros(len(obs))
        for k, i in enumerate(info["env_id"]):
            self.rows[int(i)].append((obs[k].copy(), float(reward[k]), bool(done[k]), int(info["elapsed_step"][k])))


def collect(rollout, log, result, rng):
    """Fill a rollout, which begins with a batch that was received; return its data and None, since all is answered."""
    while True:
        if result is not None:
            log.add(result)
            ids = result[-1]["env_id"].copy()
            move = rng.choice([2, 3, 96], len(ids), p=[0.45, 0.45, 0.1]).astype(np.int32)
            for i, m in zip(ids, move, strict=True):
                log.sent[int(i)].append(int(m))
            rollout.send(move, ids, value=move * 2.0 + ids)
        if rollout.is_full:
            return rollout.finish()
        result = rollout.recv()


@pytest.mark.parametrize("mode", ["next_step", "same_step"])
@pytest.mark.parametrize("num_threads", [1, 3])
def test_each_env_has_its_own_slots(mode, num_threads):
    pool = plugin.make(
        num_envs=N,
        batch_size=BATCH,
        num_threads=num_threads,
        autoreset_mode=mode,
        distribution="heavy_tailed",
        cost_ns=20000,
    )
    rollout = envpool.Rollout(pool, T, {"value": np.float32}, max_steps=9)
    rng, log = np.random.default_rng(4), Log()
    result, begin, seen = rollout.reset(), dict.fromkeys(range(N), 0), set()
    for _ in range(12):
        data = collect(rollout, log, result, rng)
        result = None
        assert data.lengths.sum() >= T * N or data.lengths.max() == 9
        assert data.lengths.max() <= 9
        assert data.num_steps == data.lengths.max()
        seen.update(data.lengths.tolist())
        obs, last, last_obs, value = data.obs, data.next_obs, data.last_obs, data.last("value")
        final = {(t, n): row for t, n, row in zip(*data.last_of_episodes(), strict=True)}
        for i in range(N):
            steps = data.lengths[i]
            rows = log.rows[i][begin[i] : begin[i] + steps + 1]
            sent = log.sent[i][begin[i] : begin[i] + steps + 1]
            assert not data.valid[steps:, i].any()
            assert not data.reward[steps:, i].any()
            assert not data.done[steps:, i].any()
            if not rows:  # the env was never received
                assert steps == 0
                continue
            np.testing.assert_array_equal(last_obs[i], rows[-1][0])
            assert value[i] == sent[-1] * 2 + i
            for t in range(steps):
                np.testing.assert_array_equal(obs[t, i], rows[t][0])
                np.testing.assert_array_equal(last[t, i], rows[t + 1][0])
                assert (data.action[t, i], data.value[t, i]) == (sent[t], sent[t] * 2 + i)
                assert (data.reward[t, i], data.done[t, i]) == rows[t + 1][1:3]
                assert data.first[t, i] == (rows[t][3] == 0)
                assert data.valid[t, i] == (mode == "same_step" or rows[t + 1][3] > 0)
                if data.done[t, i]:
                    assert final[t, i][2] == rows[t][0][2] + 1
            begin[i] += steps
    assert len(seen) > 1


def test_what_is_held_is_never_overwritten():
    pool = plugin.make(num_envs=N, batch_size=BATCH, num_threads=2)
    rollout = envpool.Rollout(pool, T, {"value": np.float32})
    rng, log, held, result = np.random.default_rng(4), Log(), [], rollout.reset()
    for k in range(30):
        data = collect(rollout, log, result, rng)
        result = None
        if k % 3:
            held.append((data.obs, data.obs.copy(), data.reward, data.reward.copy()))
        if k % 7 == 0:
            del held[:2]
        del data
    for obs, obs_copy, reward, reward_copy in held:
        np.testing.assert_array_equal(obs, obs_copy)
        np.testing.assert_array_equal(reward, reward_copy)


def test_step_is_send_and_recv():
    pool = plugin.make(num_envs=N, batch_size=BATCH, num_threads=1)
    rollout = envpool.Rollout(pool, 2)
    ids = rollout.reset()[-1]["env_id"]
    while not rollout.is_full:
        ids = rollout.step(np.ones(len(ids)), ids)[-1]["env_id"]
    with pytest.raises(PoolStateError, match="was received and not sent an action: send it one before finish"):
        rollout.finish()
    rollout.send(np.ones(len(ids)), ids)
    with pytest.raises(PoolStateError, match="the rollout is full"):
        rollout.recv()
    assert rollout.finish().lengths.sum() >= 2 * N


def test_the_disabled_mode():
    pool = plugin.make(num_envs=N, batch_size=BATCH, num_threads=2, autoreset_mode="disabled", episode_length=3)
    rollout = envpool.Rollout(pool, 4)
    result, ends, rollouts, open_codes = rollout.reset(), 0, 0, {i: [] for i in range(N)}
    while rollouts < 8:
        ids = result[-1]["env_id"].copy()
        if len(result) == 5 and (done := np.logical_or(*result[2:4])).any():
            rollout.reset(ids[done])
        rollout.send(np.ones(len(ids)), ids)
        if rollout.is_full:
            data = rollout.finish()
            rollouts += 1
            final = {(t, n): row for t, n, row in zip(*data.last_of_episodes(), strict=True)}
            ends += len(final)
            for i in range(N):
                for t in range(data.lengths[i]):
                    assert data.valid[t, i]
                    open_codes[i].append(data.obs[t, i, 2])
                    if data.done[t, i]:
                        assert [*open_codes[i], final[t, i][2]] == [0, 1, 2, 3]
                        open_codes[i] = []
        result = rollout.recv()
    assert ends > 20


def test_failures():
    pool = plugin.make(num_envs=N, batch_size=BATCH, num_threads=1)
    rollout = envpool.Rollout(pool, 2)
    ids = rollout.reset()[-1]["env_id"].copy()
    rollout.send(np.full(BATCH, 97), ids)
    failed = 0
    while not rollout.is_full:
        try:
            ids = rollout.recv()[-1]["env_id"]
        except EnvStepError as error:
            failed += len(error.failures)
            continue
        rollout.send(np.ones(len(ids)), ids)
    data = rollout.finish()
    recorded = np.arange(data.num_steps)[:, None] < data.lengths
    resets = recorded & (data.array("elapsed_step", 1) == 0)
    assert failed == BATCH
    assert (recorded & ~resets & ~data.valid).sum() == failed
    assert data.truncated.sum() == failed


def test_mistakes():
    pool = plugin.make(num_envs=N, batch_size=BATCH, num_threads=1)
    with pytest.raises(ConfigError, match="max_steps must be at least num_steps=2 in an async pool, got 1"):
        envpool.Rollout(pool, 2, max_steps=1)
    rollout = envpool.Rollout(pool, 2, {"value": np.float32})
    ids = rollout.reset()[-1]["env_id"].copy()
    with pytest.raises(ConfigError, match=re.escape("value must have 3 rows, one for each action, got 2")):
        rollout.send(np.ones(BATCH), ids, value=np.zeros(2))
    rollout.send(np.ones(BATCH), ids, value=np.zeros(BATCH))
    with pytest.raises(ConfigError, match=r"finish\(\) of an async pool takes no extras"):
        rollout.finish(value=np.zeros(N))
    result = pool.recv()
    with pytest.raises(PoolStateError, match="the rollout has not received an observation of env"):
        rollout.send(np.ones(BATCH), result[-1]["env_id"], value=np.zeros(BATCH))
    pool.send(np.ones(BATCH, np.int32), result[-1]["env_id"])
