"""Partial batches: receiving some envs while others stay in flight, held at a gate by the test."""

import functools
import time

import numpy as np
import pytest

import envpool
from envpool.errors import ConfigError, EnvIdError, PoolStateError
from tests.support import plugin
from tests.support.background_call import BackgroundCall
from tests.support.checked_pool import FAIL, WAIT, CheckedPool
from tests.support.process import PATIENCE, wait_until
from tests.support.results import leaves

POOLS = {
    "sync": {"batch_size": 0, "num_threads": 3},
    "async": {"batch_size": 3, "num_threads": 3},
    "async by one": {"batch_size": 1, "num_threads": 4},
}


@pytest.fixture(params=POOLS)
def make(request):
    """Yield a function that makes a checked pool of six idle envs; the gate is closed."""
    native = plugin.load().native
    made = []

    def make_one(**options):
        c = CheckedPool(6, **POOLS[request.param], **options)
        made.append(c)
        c.reset(range(6))
        c.send([0], [0])
        c.recv_some(env_id=[0])  # From now on every env is claimed separately.
        if [i for i in c.idle() if i not in c.steppable()]:
            c.reset(range(6))
        native.close_gate()
        return c

    yield make_one
    native.open_gate()
    for c in made:
        while c.in_flight:
            c.recv_some(min_ready=len(c.in_flight))
        c.assert_works()
        c.close()


@pytest.mark.parametrize("mode", ["next_step", "same_step", "disabled"])
def test_certain_envs_in_the_order_asked_for(make, mode):
    c = make(autoreset_mode=mode)
    c.send([4], [WAIT])
    for k in range(20):
        c.send([1, 5, 0], [k] * 3)
        c.recv_some(env_id=[0, 5])
        c.recv_some(env_id=[1])
        stale = [i for i in (0, 1, 5) if i not in c.steppable()]
        if stale:
            c.reset(stale)
    assert list(c.in_flight) == [4]


def test_a_number_of_envs(make):
    c = make()
    c.send([4], [WAIT])
    for k in range(20):
        c.send(c.idle(), [k] * len(c.idle()))
        while len(c.in_flight) > 1:
            assert len(c.recv_some(min_ready=min(2, len(c.in_flight) - 1))[0]) >= 1
    assert list(c.in_flight) == [4]


def test_what_comes_in_time(make):
    c = make()
    c.send([4, 2], [WAIT, WAIT])
    began = time.monotonic()
    assert len(c.recv_some(timeout=0.05)[0]) == 0
    assert len(c.recv_some(timeout=0.05, min_ready=1)[0]) == 0
    assert len(c.recv_some(timeout=0.05, env_id=[2])[0]) == 0
    assert time.monotonic() - began >= 0.15
    c.send([3], [0])
    while 3 in c.in_flight:
        assert len(c.recv_some(timeout=0)[0]) <= 1
    assert len(c.recv_some(timeout=0)[0]) == 0


@pytest.mark.parametrize("pool", POOLS)
@pytest.mark.parametrize("steps", [0, 1, 3, 6])
def test_envs_that_are_on_their_way_when_the_first_wish_comes(pool, steps):
    """The rows are in blocks, or will be, or no thread has claimed them yet."""
    native = plugin.load().native
    for first in ({"env_id": [3]}, {"min_ready": 2}, {"timeout": 0}, {"env_id": [5, 0], "timeout": 10**400}):
        c = CheckedPool(6, **POOLS[pool], cost_ns=1e6, sleeps=True, counted=True)
        c.start()  # The pool now knows that its envs are too expensive to wait for the caller.
        c.sent_reset()
        enough = native.num_steps() + steps
        c.pool.async_reset()
        wait_until(lambda enough=enough: native.num_steps() >= enough)
        c.recv_some(**first)
        for k in range(5):
            c.send(c.idle(), [k] * len(c.idle()))
            c.recv_some(min_ready=1)
        c.recv_some(min_ready=len(c.in_flight))
        c.assert_works()
        c.close()


def test_a_wish_for_nothing_before_a_send_keeps_envs_apart():
    """Env 0 stays at the gate, and so would the envs that a thread claims together with it."""
    native = plugin.load().native
    c = CheckedPool(64, num_threads=2, cost_ns=5e3, episode_length=0)
    for _ in range(20):  # a thread now expects steps that are cheap enough for a chunk, and dear enough to wake it
        c.reset(range(64))
    assert len(c.recv_some(min_ready=0)[0]) == 0
    native.close_gate()
    c.send(range(64), [WAIT] + [0] * 63)
    wait_until(lambda: native.num_at_gate() == 1)
    try:
        assert len(c.recv_some(min_ready=63, timeout=PATIENCE)[0]) == 63
    finally:
        native.open_gate()
    c.recv_some(env_id=[0])
    c.close()


def test_reset_returns_exactly_these(make):
    c = make()
    c.send([4, 0], [WAIT, 1])
    for _ in range(3):
        assert c.reset([3, 1], seeds=[5, None])[1]["env_id"].tolist() == [3, 1]
        assert c.pool.reset([])[0].shape == (0, 6)
    assert set(c.in_flight) == {4, 0}


def test_whole_batches_after_wishes(make):
    """The pool returns to blocks, and its batches have their usual form."""
    c = make()
    plugin.load().native.open_gate()
    for k in range(50):
        c.send(c.idle(), [k] * len(c.idle()))
        if k % 7 == 0:
            c.recv_some(min_ready=1)
        if k % 11 == 0:
            c.sent_reset()
            c.pool.async_reset()
        c.recv_batches()


def test_failed_envs_are_reported_with_their_rows(make):
    c = make()
    c.send([4, 2, 3], [WAIT, FAIL, 0])
    c.recv_some(env_id=[3])  # no word about env 2
    with pytest.raises(envpool.errors.EnvStepError) as caught:
        c.pool.recv(env_id=[2])
    assert set(caught.value.failures) == {2}
    assert c.received(c.pool.recv(env_id=[2]), wish={"env_id": [2]})[3].tolist() == [True]


def test_another_thread_sends_what_is_waited_for(make):
    c = make()
    c.send([4, 2], [WAIT, 0])
    waiting = BackgroundCall(functools.partial(c.pool.recv, min_ready=2))
    waiting.wait_until_inside()
    c.send([5], [7])
    c.received(waiting.finish(), wish={"min_ready": 2})
    assert list(c.in_flight) == [4]


def test_another_thread_sends_something_else_meanwhile(make):
    c = make()
    c.send([4, 2], [WAIT, 0])
    waiting = BackgroundCall(functools.partial(c.pool.recv, env_id=[4]))
    waiting.wait_until_inside()
    c.send([5], [7])
    plugin.load().native.open_gate()
    c.received(waiting.finish(), wish={"env_id": [4]})
    c.recv_some(env_id=[5])
    c.recv_some(env_id=[2])


def test_close_while_another_thread_waits():
    native = plugin.load().native
    pool = plugin.make(num_envs=6, num_threads=2)
    pool.reset()
    native.close_gate()
    pool.send(np.array([WAIT]), np.array([4]))
    waiting = BackgroundCall(functools.partial(pool.recv, env_id=[4], timeout=PATIENCE))
    waiting.wait_until_inside()
    wait_until(lambda: native.num_at_gate() >= 1)
    closing = BackgroundCall(pool.close)
    try:
        with pytest.raises(PoolStateError, match=r"the pool was closed during recv\(\)"):
            waiting.finish()
    finally:
        native.open_gate()
    closing.finish()


@pytest.mark.parametrize("env_type", ["gymnasium", "gym", "dm"])
def test_every_style(env_type):
    with envpool.make("CartPole-v1", env_type, num_envs=4, batch_size=2, seed=3) as pool:
        expected = pool.reset([2, 0])
        pool.async_reset()
        pool.recv(env_id=[1, 3])
        batch = pool.recv(reset=True, env_id=[2, 0])
        assert type(batch) is type(expected)
        ids = batch.observation.env_id if env_type == "dm" else batch[1]["env_id"]
        assert ids.tolist() == [2, 0]


def test_rows_of_many_columns():
    with (
        plugin.make(num_envs=5, layout="rich", items=300) as pool,
        plugin.make(num_envs=5, layout="rich", items=300) as other,
    ):
        pool.async_reset()
        some, all_envs = pool.recv(reset=True, env_id=[4, 1]), other.reset()
        arrays, expected = list(leaves(some)), list(leaves(all_envs))
        assert len(arrays) > 10
        for (name, mine), (other_name, theirs) in zip(arrays, expected, strict=True):
            assert name == other_name
            np.testing.assert_array_equal(mine, theirs[[4, 1]])


BAD = {
    "min_ready too large": ({"min_ready": 7}, ConfigError, r"min_ready must be between 0 and 6, .*, got 7"),
    "min_ready negative": ({"min_ready": -1}, ConfigError, r"min_ready must be between 0 and 6, .*, got -1"),
    "min_ready no integer": ({"min_ready": 1.5}, TypeError, r"min_ready must be an integer, got 1.5"),
    "min_ready a bool": ({"min_ready": True}, TypeError, r"min_ready must be an integer"),
    "more than in flight": (
        {"min_ready": 3},
        PoolStateError,
        r"recv\(min_ready=3\) would wait forever, because 2 envs are in",
    ),
    "more than asked for": (
        {"min_ready": 2, "env_id": [0]},
        PoolStateError,
        r"forever, because env_id has 1",
    ),
    "timeout negative": ({"timeout": -1}, ConfigError, r"timeout must be at least 0 seconds, got -1"),
    "timeout too small": ({"timeout": -(10**400)}, ConfigError, r"timeout must be at least 0 seconds, got -1000"),
    "timeout no number": ({"timeout": float("nan")}, ConfigError, r"timeout must be at least 0 seconds, got nan"),
    "timeout a string": ({"timeout": "1"}, TypeError, r"timeout must be a number of seconds, got '1'"),
    "ids out of range": ({"env_id": [0, 6]}, EnvIdError, r"env_id\[1\] must be between 0 and 5, got 6"),
    "ids negative": ({"env_id": [-1]}, EnvIdError, r"env_id\[0\] must be between 0 and 5, got -1"),
    "ids huge": ({"env_id": np.array([2**64 - 1], np.uint64)}, EnvIdError, r"must be between 0 and 5"),
    "ids twice": ({"env_id": [1, 0, 1]}, EnvIdError, r"env_id\[2\] is 1, which appears twice"),
    "ids idle": ({"env_id": [1, 3]}, EnvIdError, r"env_id\[1\] is 3, which is not in flight: send to it first"),
    "ids no integers": ({"env_id": [0.5]}, EnvIdError, r"env_id must be a 1-D array of integers"),
    "ids in two dimensions": ({"env_id": [[0]]}, EnvIdError, r"env_id must be a 1-D array of integers"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_arguments(case):
    wish, error, text = BAD[case]
    c = CheckedPool(6, num_threads=2)
    c.reset(range(6))
    c.send([0, 1], [3, 4])
    with pytest.raises(error, match=text):
        c.pool.recv(**wish)
    assert c.pool.num_outstanding == 2
    c.recv_some(env_id=[1])
    c.assert_works()
    c.close()


def test_nothing_in_flight():
    with CheckedPool(6).pool as pool:
        for wish in ({"timeout": 0}, {"min_ready": 1}, {"timeout": 1e300}):
            with pytest.raises(PoolStateError, match="has nothing to wait for, because nothing is"):
                pool.recv(**wish)
        assert pool.recv(min_ready=0)[0].shape == (0, 6)
        assert pool.recv(env_id=[])[0].shape == (0, 6)
