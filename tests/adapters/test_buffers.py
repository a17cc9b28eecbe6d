"""Steps copied into the buffers of another library, and the episodes that they have ended."""

import numpy as np
import pytest

from envpool import Rollout
from envpool.adapters.buffers import StepBuffers
from envpool.adapters.pools import open_same_step_pool
from envpool.errors import ConfigError


def buffers(n, *shape, dtype=np.float32):
    return (np.full((n, *shape), 9, dtype), np.full(n, 9, np.float32), np.ones(n, bool), np.ones(n, bool))


def bound(n, to):
    """Return StepBuffers whose actions are the steps themselves."""
    store = StepBuffers(n)
    store.bind(lambda step: step, *to)
    return store


@pytest.mark.parametrize("num_envs", [1, 3, 64, 65, 200])
@pytest.mark.parametrize("limit", [4, 500])
def test_steps_and_episodes(num_envs, limit):
    """Few episodes and many, which end in the same step with the small limit."""
    with open_same_step_pool("CartPole-v1", num_envs, {"max_episode_steps": limit}, "a test", "arrays") as pool:
        assert len(pool.reset()) == 1
        to = buffers(num_envs, 4)
        store = bound(num_envs, to)
        returns, seen = np.zeros(num_envs), 0
        for _ in range(60):
            step = pool.step(pool.sample_actions())
            *got, infos = store.step(step)
            assert all(a is b for a, b in zip(got, to, strict=True))
            assert all(np.array_equal(a, b) for a, b in zip(to, step[:4], strict=True))
            returns += step[1]
            ended = np.flatnonzero(step[2] | step[3])
            assert isinstance(infos, list) and len(infos) == len(ended)
            expected = [{"episode_return": returns[i], "episode_length": returns[i]} for i in ended]
            assert [dict(info) for info in infos] == expected
            assert all(type(i["episode_return"]) is float and type(i["episode_length"]) is int for i in infos)
            returns[ended] = 0
            seen += len(ended)
        assert seen >= num_envs
        if limit == 500:
            store.reset()
            returns[:] = 0
            store.bind(pool.step, *to)
            *_, infos = store.step(pool.sample_actions())
            assert all(info["episode_return"] == 1 for info in infos)


@pytest.mark.parametrize("num_envs", [1, 2, 3, 4, 16, 63, 64, 65, 66, 67, 68, 130, 1025])
@pytest.mark.parametrize("share", [0, 0.02, 0.3, 1])
def test_any_rows_may_end(num_envs, share):
    """Rows are looked for 64 at a time, and the first few of them in another way than the others."""
    rng = np.random.default_rng(num_envs)
    store = bound(num_envs, buffers(num_envs, 4))
    never, obs, returns = np.zeros(num_envs, bool), np.zeros((num_envs, 4), np.float32), np.zeros(num_envs)
    for _ in range(20):
        ended, lengths = rng.random(num_envs) < share, rng.integers(1, 1000, num_envs).astype(np.int32)
        reward = rng.normal(size=num_envs).astype(np.float32)
        returns += reward
        *_, infos = store.step((obs, reward, never, never, ended, lengths))
        assert [(i["episode_return"], i["episode_length"]) for i in infos] == [
            (returns[k], lengths[k]) for k in np.flatnonzero(ended)
        ]
        returns[ended] = 0


def test_last_fields_are_left_out():
    """The style has no use for the last observations; a rollout of such a pool says that it does not have them."""
    with open_same_step_pool("CartPole-v1", 5, {"max_episode_steps": 3}, "a test", "arrays") as pool:
        rollout = Rollout(pool, 7)
        rollout.reset()
        for k in range(1, 8):
            *_, ended, lengths = rollout.step(np.zeros(5, int))
            assert ended.tolist() == [k % 3 == 0] * 5 and lengths.tolist() == [3 * (k % 3 == 0)] * 5
        data = rollout.finish()
        assert [name for name in data.names if "final:" in name] == ["final:elapsed_step", "final:mask"]
        assert np.array_equal(data.array("final:mask"), data.done) and data.done.sum() == 10
        with pytest.raises(ConfigError, match="no array 'final:obs'"):
            data.last_of_episodes()


def test_buffers_of_another_layout():
    """A dtype or strides of their own cost a conversion."""
    with open_same_step_pool("CartPole-v1", 5, {}, "a test", "arrays") as pool:
        pool.reset()
        step = pool.step(np.zeros(5, int))
        to = (np.zeros((5, 8))[:, ::2], np.zeros(5), np.zeros(5, np.uint8), np.zeros(10, bool)[::2])
        bound(5, to).step(step)
        assert all(np.array_equal(a, b) for a, b in zip(to, step[:4], strict=True))


def test_mistakes():
    with open_same_step_pool("CartPole-v1", 5, {}, "a test", "arrays") as pool:
        pool.reset()
        step = pool.step(np.zeros(5, int))
    with pytest.raises(ValueError, match=r"expected a column of 4 rows of a batch, got float32 \(5,\)"):
        bound(4, buffers(4, 4)).step(step)
    with pytest.raises(ValueError, match="broadcast"):
        bound(5, buffers(3, 4)).step(step)
    store = bound(5, buffers(5, 4))
    with pytest.raises(ValueError, match="expected a column of 5 rows of a batch, got bool"):
        store.step((step[0], step[2], *step[2:]))
    with pytest.raises(TypeError):
        store.step((step[0], [1.0] * 5, *step[2:]))
    with pytest.raises(ValueError, match="unpack"):
        store.step(step[:3])
    with pytest.raises(TypeError):
        store.step((None, *step[1:]))
    with pytest.raises(TypeError):
        store.step(list(step))
    frozen = buffers(5, 4)
    frozen[0].flags.writeable = False
    with pytest.raises(ValueError, match="read-only"):
        bound(5, frozen).step(step)
    with pytest.raises(TypeError, match="not callable"):
        StepBuffers(5).step(step)  # not bound
