"""Steps copied into the buffers of another library, and the episodes that they have ended."""

import numpy as np
import pytest

from envpool.adapters.buffers import StepBuffers
from envpool.adapters.pools import open_same_step_pool


def buffers(n, *shape, dtype=np.float32):
    return (np.full((n, *shape), 9, dtype), np.full(n, 9, np.float32), np.ones(n, bool), np.ones(n, bool))


@pytest.mark.parametrize("num_envs", [1, 3, 64, 65, 200])
@pytest.mark.parametrize("limit", [4, 500])
def test_steps_and_episodes(num_envs, limit):
    """Few episodes and many, which end in the same step with the small limit."""
    with open_same_step_pool("CartPole-v1", num_envs, {"max_episode_steps": limit}, "a test", "arrays") as pool:
        assert len(pool.reset()) == 1
        store, to = StepBuffers(num_envs), buffers(num_envs, 4)
        returns, seen = np.zeros(num_envs), 0
        for _ in range(60):
            step = pool.step(pool.sample_actions())
            infos = store.store(step, *to)
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
            infos = store.store(pool.step(pool.sample_actions()), *to)
            assert all(info["episode_return"] == 1 for info in infos)


def test_buffers_of_another_layout():
    """A dtype or strides of their own cost a conversion."""
    with open_same_step_pool("CartPole-v1", 5, {}, "a test", "arrays") as pool:
        pool.reset()
        step = pool.step(np.zeros(5, int))
        to = (np.zeros((5, 8))[:, ::2], np.zeros(5), np.zeros(5, np.uint8), np.zeros(10, bool)[::2])
        StepBuffers(5).store(step, *to)
        assert all(np.array_equal(a, b) for a, b in zip(to, step[:4], strict=True))


def test_mistakes():
    with open_same_step_pool("CartPole-v1", 5, {}, "a test", "arrays") as pool:
        pool.reset()
        step = pool.step(np.zeros(5, int))
    store = StepBuffers(4)
    with pytest.raises(ValueError, match=r"expected a column of 4 rows of a batch, got float32 \(5,\)"):
        store.store(step, *buffers(4, 4))
    store = StepBuffers(5)
    with pytest.raises(ValueError, match="broadcast"):
        store.store(step, *buffers(3, 4))
    with pytest.raises(ValueError, match="expected a column of 5 rows of a batch, got bool"):
        store.store((step[0], step[2], *step[2:]), *buffers(5, 4))
    with pytest.raises(TypeError):
        store.store((step[0], [1.0] * 5, *step[2:]), *buffers(5, 4))
    with pytest.raises(ValueError, match="unpack"):
        store.store(step[:3], *buffers(5, 4))
    frozen = buffers(5, 4)
    frozen[0].flags.writeable = False
    with pytest.raises(ValueError, match="read-only"):
        store.store(step, *frozen)
    with pytest.raises(TypeError):
        store.store((None, *step[1:]), *buffers(5, 4))
