"""Steps in the buffers of another library, and the episodes that they have ended."""

import gc

import numpy as np
import pytest

from envpool import Rollout
from envpool.adapters.buffers import StepBuffers
from envpool.adapters.pools import open_same_step_pool
from envpool.errors import ActionError, ConfigError, EnvIdError, EnvStepError, PoolStateError
from tests.support import plugin
from tests.support.crowd import FAIL


def buffers(n, *shape, dtype=np.float32):
    return (np.full((n, *shape), 9, dtype), np.full(n, 9, np.float32), np.ones(n, bool), np.ones(n, bool))


def open_pool(n, task="CartPole-v1", **options):
    return open_same_step_pool(task, n, options, "a test", "arrays")


def bound(pool, to):
    """Return StepBuffers that are bound to a pool."""
    store = StepBuffers(pool.num_envs)
    store.bind(pool, *to)
    return store


def assert_same(to, step):
    assert all(np.array_equal(a, b) for a, b in zip(to, step[:4], strict=True))


@pytest.mark.parametrize("num_envs", [1, 3, 64, 65, 200])
@pytest.mark.parametrize("limit", [4, 500])
@pytest.mark.parametrize("copies", [False, True])
def test_steps_and_episodes(num_envs, limit, copies):
    """Few episodes and many, which end in the same step with the small limit; written by the workers, and copied."""
    with open_pool(num_envs, max_episode_steps=limit) as pool, open_pool(num_envs, max_episode_steps=limit) as other:
        assert len(pool.reset()) == 1 and len(other.reset()) == 1
        to = buffers(num_envs, 4)
        store = bound(pool, to)
        returns, seen = np.zeros(num_envs), 0
        for _ in range(60):
            actions = pool.sample_actions()
            step = other.step(actions)
            if copies:
                infos = store.store(pool.step(actions))
            else:
                *got, infos = store.step(actions)
                assert all(a is b for a, b in zip(got, to, strict=True))
            assert_same(to, step)
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
            pool.reset()
            *_, infos = store.step(pool.sample_actions())
            assert infos == []


@pytest.mark.parametrize("num_envs", [2, 40])
@pytest.mark.parametrize("copies", [False, True])
def test_players(num_envs, copies):
    """Each place for a player has a row; the episodes of all players end with that of their environment."""
    plugin.load()
    options = {"places": 4, "episode_length": 7}
    with open_pool(num_envs, "Crowd-v0", **options) as pool, open_pool(num_envs, "Crowd-v0", **options) as other:
        shape = (num_envs, 4)
        to = np.full((*shape, 8), 9), np.full(shape, 9, np.float32), *(np.ones(shape, bool) for _ in range(3))
        store = StepBuffers(num_envs, 4)
        store.bind(pool, *to)
        for a, b in zip(pool.reset(), other.reset(), strict=True):
            assert np.array_equal(a, b)
        returns, seen = np.zeros(shape), 0
        for _ in range(30):
            actions = pool.sample_actions() % FAIL
            step = other.step(actions)
            infos = store.store(pool.step(actions)) if copies else store.step(actions)[-1]
            assert all(np.array_equal(a, b) for a, b in zip(to, step[:5], strict=True))
            *_, ended, lengths = step
            returns += step[1]
            expected = [
                {"episode_return": returns[i, p], "episode_length": lengths[i]}
                for i in np.flatnonzero(ended)
                for p in range(4)
            ]
            assert [dict(info) for info in infos] == expected
            returns[ended] = 0
            seen += len(expected)
        assert seen >= 4 * num_envs


def test_slices_of_shared_arrays():
    """Workers write the rows of a slice and nothing around it, whatever the rows were before."""
    whole = buffers(16, 4)
    to = tuple(a[5:11] for a in whole)
    around = [i for i in range(16) if not 5 <= i < 11]
    before = [a[around].tobytes() for a in whole]
    with open_pool(6, num_threads=2) as pool, open_pool(6) as other:
        pool.reset(), other.reset()
        store = bound(pool, to)
        for _ in range(50):
            actions = pool.sample_actions()
            store.step(actions)
            assert_same(to, other.step(actions))
            for a in to:
                a[:] = 7
        assert [a[around].tobytes() for a in whole] == before
        assert pool.stats().blocks_allocated == other.stats().blocks_allocated


@pytest.mark.parametrize("task", ["Pendulum-v1", "Pong-v5"])
def test_transformed_steps(task):
    """What happens to a batch before it is handed out happens in the buffers."""
    options = {"normalize_reward": True, "reward_clip": 0.5}
    options |= {"normalize_obs": True} if task == "Pendulum-v1" else {}
    with open_pool(3, task, **options) as pool, open_pool(3, task, **options) as other:
        pool.reset(), other.reset()
        space = pool.single_observation_space
        to = buffers(3, *space.shape, dtype=space.dtype)
        store = bound(pool, to)
        for _ in range(20):
            actions = pool.sample_actions()
            store.step(actions)
            assert_same(to, other.step(actions))


def test_infos_that_are_kept_stay():
    """Dicts that nobody holds are used again, unless somebody has added items."""
    with open_pool(4, max_episode_steps=3) as pool:
        pool.reset()
        store, kept = bound(pool, buffers(4, 4)), []
        for k in range(1, 100):
            *_, infos = store.step(pool.sample_actions())
            assert infos == [{"episode_return": 3.0, "episode_length": 3}] * (4 * (k % 3 == 0))
            assert len({id(info) for info in infos}) == len(infos)
            if infos:
                kept.append(infos[k % 4])
                infos[0]["more"], infos[1]["episode_return"], infos[2]["episode_length"] = 1, None, None
                kept[-1]["number"] = len(kept)
        assert [info["number"] for info in kept] == list(range(1, 34))
        assert all(len(info) <= 4 for info in kept)


def test_steps_that_fail():
    """The step of a failed environment is received with recv() of the pool; with "restart" it ends an episode."""
    plugin.load()
    for on_error in ("raise", "restart"):
        with open_pool(4, "Synthetic-v0", on_error=on_error) as pool:
            (obs,) = pool.reset()
            to = buffers(4, *obs.shape[1:], dtype=obs.dtype)
            store = bound(pool, to)
            bad = np.array([1, 97, 1, 1])
            if on_error == "raise":
                with pytest.raises(EnvStepError):
                    store.step(bad)
                with pytest.raises(EnvIdError, match="in flight"):
                    store.step(np.ones(4, int))
                with pytest.raises(PoolStateError, match="must be received whole"):
                    pool.recv(timeout=1)
                step = pool.recv()
                assert all(a is b for a, b in zip(to, step[:4], strict=True))
                infos = store.store(step)
            else:
                *_, infos = store.step(bad)
            assert to[3].tolist() == [False, True, False, False] and [i["episode_length"] for i in infos] == [1]
            *_, infos = store.step(np.ones(4, int))
            assert not to[3].any() and infos == []


def test_partial_batches_are_copied():
    with open_pool(4) as pool, open_pool(4) as other:
        pool.reset(), other.reset()
        to = buffers(4, 4)
        store = bound(pool, to)
        actions = np.ones(4, int)
        pool.send(actions)
        while pool.num_outstanding:
            pool.recv(min_ready=1)
        other.step(actions)
        for _ in range(3):
            store.step(actions)
            assert_same(to, other.step(actions))


def test_buffers_outlive_their_names():
    """A pool whose step has failed may still write to them."""
    plugin.load()
    with open_pool(4, "Synthetic-v0") as pool:
        (obs,) = pool.reset()
        store = bound(pool, buffers(4, *obs.shape[1:], dtype=obs.dtype))
        with pytest.raises(EnvStepError):
            store.step(np.array([1, 97, 1, 1]))
        del store
        gc.collect()
        assert pool.recv()[0].shape == obs.shape


@pytest.mark.parametrize("num_envs", [1, 2, 3, 4, 16, 63, 64, 65, 66, 67, 68, 130, 1025])
@pytest.mark.parametrize("share", [0, 0.02, 0.3, 1])
def test_any_rows_may_end(num_envs, share):
    """Rows are looked for 64 at a time, and the first few of them in another way than the others."""
    rng = np.random.default_rng(num_envs)
    with open_pool(num_envs) as pool:
        store = bound(pool, buffers(num_envs, 4))
    never, obs, returns = np.zeros(num_envs, bool), np.zeros((num_envs, 4), np.float32), np.zeros(num_envs)
    for _ in range(20):
        ended, lengths = rng.random(num_envs) < share, rng.integers(1, 1000, num_envs).astype(np.int32)
        reward = rng.normal(size=num_envs).astype(np.float32)
        returns += reward
        infos = store.store((obs, reward, never, never, ended, lengths))
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
    with open_pool(5) as pool, open_pool(5) as other:
        pool.reset(), other.reset()
        to = (np.zeros((5, 8))[:, ::2], np.zeros(5), np.zeros(5, np.uint8), np.zeros(10, bool)[::2])
        mixed = (np.zeros((5, 8))[:, ::2], *buffers(5, 4)[1:])
        for some in (to, mixed):
            store = bound(pool, some)
            for _ in range(3):
                actions = pool.sample_actions()
                store.step(actions)
                assert_same(some, other.step(actions))


def test_mistakes():
    with open_pool(5) as pool, open_pool(4) as smaller:
        pool.reset(), smaller.reset()
        step = pool.step(np.zeros(5, int))
        with pytest.raises(ValueError, match=r"arrays of a batch must be columns of 4 rows, got float32 \(5,\)"):
            bound(smaller, buffers(4, 4)).store(step)
        with pytest.raises(ValueError, match=r"arrays of a batch must be columns of 4 rows, got float32 \(5,\)"):
            StepBuffers(4).bind(pool, *buffers(5, 4))
        with pytest.raises(ValueError, match="broadcast"):
            bound(pool, buffers(3, 4)).step(np.zeros(5, int))
        store = bound(pool, buffers(5, 4))
        with pytest.raises(ValueError, match="arrays of a batch must be columns of 5 rows, got bool"):
            store.store((step[0], step[2], *step[2:]))
        with pytest.raises(TypeError):
            store.store((step[0], [1.0] * 5, *step[2:]))
        with pytest.raises(ValueError, match="unpack"):
            store.store(step[:3])
        with pytest.raises(TypeError):
            store.store((None, *step[1:]))
        for other in (list(step), None):
            with pytest.raises(TypeError):
                store.store(other)
        frozen = buffers(5, 4)
        frozen[0].flags.writeable = False
        with pytest.raises(ValueError, match="read-only"):
            bound(pool, frozen).step(np.zeros(5, int))
        with pytest.raises(ActionError):
            store.step(np.full(5, 7))
        store.step(np.zeros(5, int))
    with pytest.raises(PoolStateError, match="the pool is closed"):
        store.step(np.zeros(5, int))
    with pytest.raises(PoolStateError, match="the pool is closed"):
        bound(pool, buffers(5, 4))
    with pytest.raises(PoolStateError, match="no pool is bound to these buffers"):
        StepBuffers(5).step(np.zeros(5, int))
    for nobody in (None, lambda actions: step):
        with pytest.raises(TypeError):
            StepBuffers(5).bind(nobody, *buffers(5, 4))
