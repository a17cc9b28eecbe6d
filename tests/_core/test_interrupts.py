"""A batch stays in the pool until its result is complete: whatever raises meanwhile, the next call returns it."""

import numpy as np
import pytest

import envpool
from envpool.errors import EnvStepError
from tests._core.interrupts import POOLS, interrupt
from tests.support import plugin
from tests.support.checked_pool import FAIL

FINISHED = {"episode_statistics": True, "finished_episodes": True, "max_episode_steps": 3}
SIZES = {"sync": (6, 0), "async": (6, 2), "many blocks": (40, 2)}


def test_interrupts_at_random_times():
    done, _ = interrupt(2 * len(POOLS), 1)
    assert done >= 2 * len(POOLS)


class Once:
    """A function that raises KeyboardInterrupt when it is called for the first time after arm()."""

    def __init__(self, function):
        self.function, self.is_armed = function, False

    def arm(self):
        self.is_armed = True

    def __call__(self, *args, **kwargs):
        if self.is_armed:
            self.is_armed = False
            raise KeyboardInterrupt
        return self.function(*args, **kwargs)


@pytest.fixture
def interruption(monkeypatch):
    """Return an object whose arm() lets the next batch with finished episodes raise KeyboardInterrupt."""
    once = Once(np.flatnonzero)
    monkeypatch.setattr(np, "flatnonzero", once)
    return once


def make(size, **options):
    num_envs, batch_size = SIZES[size]
    options = FINISHED | {"normalize_obs": True, "normalize_reward": True, "num_threads": 1} | options
    return envpool.make_gymnasium("CartPole-v1", num_envs=num_envs, batch_size=batch_size, **options)


def leaves(nest):
    """Return the arrays of a batch in order, without the times of episodes."""
    if isinstance(nest, dict):
        return [leaf for key, value in nest.items() if key != "t" for leaf in leaves(value)]
    return [leaf for value in nest for leaf in leaves(value)] if isinstance(nest, tuple) else [nest]


def assert_same(got, expected):
    for a, b in zip(leaves(got), leaves(expected), strict=True):
        np.testing.assert_array_equal(a, b)


def counts(pool):
    moments = {name: value.tolist() for name, value in pool.normalization.get().items()}
    stats = pool.stats()
    return moments, stats.episodes, stats.mean_return, stats.mean_length


@pytest.mark.parametrize("mode", ["next_step", "same_step"])
@pytest.mark.parametrize("wish", [{}, {"min_ready": 2}], ids=["whole", "part"])
@pytest.mark.parametrize("size", SIZES)
def test_the_batch_is_that_of_a_pool_without_interruption(interruption, size, wish, mode):
    with make(size, autoreset_mode=mode) as pool, make(size, autoreset_mode=mode) as other:
        for p in (pool, other):
            p.async_reset()
        for step in range(20):
            if wish:  # which rows come depends on threads, unless they are named
                wish = {"env_id": [1, 0]}
            number = 0
            if step % 3 == 2:
                interruption.arm()
            try:
                batch = pool.recv(**wish)
            except KeyboardInterrupt as error:
                number, kept = pool.num_outstanding, error  # its traceback refers to the arrays
                batch = pool.recv(**wish)
                assert kept and number > pool.num_outstanding
            interruption.is_armed = False
            assert_same(batch, other.recv(**wish))
            for p in (pool, other):
                p.send(np.zeros(len(batch[1]), np.int64), batch[-1]["env_id"].copy())
        assert counts(pool) == counts(other)


def interrupted(pool, interruption):
    """Step a sync pool until making a result was interrupted."""
    pool.reset()
    for _ in range(9):
        interruption.arm()
        try:
            pool.step(np.zeros(6, np.int64)[:4], range(4))
        except KeyboardInterrupt:
            assert pool.num_outstanding == 4
            return
    pytest.fail("no episode has ended")


def test_rows_that_are_added_after_an_interruption_are_completed_once(interruption):
    with make("sync") as pool:
        interrupted(pool, interruption)
        before = pool.normalization.get()["obs.count"]
        pool.send(np.zeros(2, np.int64), [4, 5])
        info = pool.recv()[-1]
        assert info["env_id"].tolist() == [0, 1, 2, 3, 4, 5]
        assert pool.normalization.get()["obs.count"] == before + 2
        assert info["finished"]["env_id"].tolist() == [0, 1, 2, 3]
        assert pool.stats().episodes == 4


def test_rows_that_were_interrupted_can_be_received_one_by_one(interruption):
    with make("sync") as pool:
        interrupted(pool, interruption)
        before = pool.normalization.get()["obs.count"]
        for env_id in (2, 0, 3, 1):
            info = pool.recv(env_id=[env_id])[-1]
            assert info["finished"]["env_id"].tolist() == [env_id]
        assert pool.normalization.get()["obs.count"] == before
        assert pool.stats().episodes == 4


@pytest.mark.parametrize("size", SIZES)
def test_a_reset_drops_what_was_interrupted(interruption, size):
    with make(size) as pool:
        pool.async_reset()
        with pytest.raises(KeyboardInterrupt):
            for _ in range(400):
                interruption.arm()
                info = pool.recv()[-1]
                pool.send(np.zeros(len(info["env_id"]), np.int64), info["env_id"].copy())
        interruption.is_armed = False
        info = pool.reset()[1]
        while pool.num_outstanding >= len(info["env_id"]):
            assert not info["elapsed_step"].any()
            info = pool.recv()[-1]
        assert not info["elapsed_step"].any()


def test_texts_of_failures_come_after_an_interruption(monkeypatch):
    once = Once(np.full)
    monkeypatch.setattr(np, "full", once)
    with plugin.make(num_envs=4, num_threads=2, on_error="restart", episode_length=0) as pool:
        pool.reset()
        once.arm()
        with pytest.raises(KeyboardInterrupt):
            pool.step(np.array([0, FAIL, 0, FAIL]))
        info = pool.recv()[-1]
        assert [text is not None for text in info["error"]] == [False, True, False, True]
        assert "error" not in pool.step(np.zeros(4, np.int64))[-1]


def test_a_failure_is_raised_after_an_interruption_of_the_exception(monkeypatch):
    once = Once(EnvStepError.__init__)
    monkeypatch.setattr(EnvStepError, "__init__", lambda self, *args: once(self, *args))
    with plugin.make(num_envs=2, num_threads=2, episode_length=0) as pool:
        pool.reset()
        once.arm()
        with pytest.raises(KeyboardInterrupt):
            pool.step(np.array([0, FAIL]))
        with pytest.raises(EnvStepError) as caught:
            pool.recv()
        assert list(caught.value.failures) == [1]
        assert pool.recv()[3].tolist() == [False, True]


def test_a_rollout_is_finished_after_an_interruption(monkeypatch):
    once = Once(envpool.rollout.data.RolloutData.__init__)
    monkeypatch.setattr(envpool.rollout.data.RolloutData, "__init__", lambda self, *a, **k: once(self, *a, **k))
    rollout = envpool.Rollout(envpool.make_gymnasium("CartPole-v1", num_envs=2), 1)
    rollout.reset()
    rollout.step(np.zeros(2, np.int64))
    once.arm()
    with pytest.raises(KeyboardInterrupt):
        rollout.finish()
    assert rollout.finish().reward.tolist() == [[1, 1]]
