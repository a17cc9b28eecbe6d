"""Rendering frames while envs are in flight, other threads use the pool, or the pool closes."""

import gc
import os
import signal
import threading

import numpy as np
import pytest

from envpool.errors import EnvIdError, PoolStateError
from tests._core.test_frames import POOLS
from tests.support import plugin
from tests.support.background_call import BackgroundCall
from tests.support.checked_pool import WAIT, CheckedPool, codes, same
from tests.support.process import open_files, resident, wait_until, workers


@pytest.fixture(params=POOLS)
def checked(request):
    c = CheckedPool(**POOLS[request.param])
    yield c
    c.close()


@pytest.fixture
def native():
    """Yield the plug-in with its gate closed; assert at the end that no env was used by two threads at once."""
    native = plugin.load().native
    before = native.num_violations()
    native.close_gate()
    yield native
    native.open_gate()
    assert native.num_violations() == before


def rendering_pool(**options):
    return plugin.make(render_mode="rgb_array", **options)


# ---- envs in flight --------------------------------------------------------------------------------------------------


def test_rows_in_flight_stay(checked):
    checked.sent_reset()
    checked.pool.async_reset()
    for k in range(6):
        checked.render([k])
    while checked.can_receive():
        checked.recv()
        checked.render([0, 5, 2])
    checked.assert_works()


def test_rows_of_partial_batches_stay(checked):
    checked.sent_reset()
    checked.pool.async_reset()
    checked.recv_some(env_id=[3])
    checked.render(range(6))
    checked.send([3], [7])
    checked.render([3, 4])
    checked.recv_some(min_ready=2)
    checked.render(range(6))
    checked.recv_some(env_id=list(checked.in_flight))
    checked.assert_works()


@pytest.mark.parametrize("is_partial", [False, True])
@pytest.mark.parametrize("pool_type", ["sync", "async"])
def test_a_busy_env_is_waited_for(native, pool_type, is_partial):
    with rendering_pool(**POOLS[pool_type]) as pool:
        pool.reset(range(6))
        if is_partial:
            pool.send(np.zeros(2, int), [0, 1])
            pool.recv(env_id=[0])
        pool.send(np.array([WAIT, 1]), [2, 3])
        assert codes(pool.render([5]))[0, 0] == 5, "an idle env is drawn while others are in flight"
        frames = []
        rendering = BackgroundCall(lambda: frames.append(pool.render([2, 3])))
        wait_until(lambda: native.num_at_gate() == 1)  # The caller steps it if no worker does.
        assert not frames
        native.open_gate()
        rendering.finish()
        same(codes(frames[0])[:, :4], [[2, 1, 1, WAIT], [3, 1, 1, 1]], np.int64)
        assert sorted(pool.recv(env_id=[2, 3])[-1]["env_id"]) == [2, 3]


def test_the_first_render_waits_for_the_first_reset():
    with rendering_pool(num_envs=5, num_threads=1) as pool:
        pool.async_reset()
        same(codes(pool.render(range(5)))[:, 0], range(5), np.int64)
        pool.recv()


# ---- several threads of the user's -----------------------------------------------------------------------------------


def test_an_env_that_is_drawn_cannot_be_sent_to(native):
    with rendering_pool(num_envs=3, frames_wait=True) as pool:
        pool.reset()
        rendering = BackgroundCall(lambda: pool.render([1]))
        wait_until(lambda: native.num_at_gate() == 1)
        for call in (
            lambda: pool.send(np.zeros(2, int), [0, 1]),
            lambda: pool.send(np.zeros(3, int)),
            lambda: pool.step(np.zeros(1, int), [1]),
            lambda: pool.reset([2, 1]),
            pool.reset,
            pool.async_reset,
        ):
            with pytest.raises(EnvIdError, match="which another thread is rendering"):
                call()
        assert pool.num_outstanding == 0
        with pytest.raises(PoolStateError, match="another thread is rendering this pool"):
            pool.render([0])
        pool.step(np.zeros(2, int), [0, 2])
        native.open_gate()
        rendering.finish()
        pool.step(np.zeros(3, int))
        same(codes(pool.render(range(3)))[:, 2], [2, 1, 2], np.int64)


def test_rows_of_envs_that_are_drawn_can_be_received(native):
    with rendering_pool(num_envs=3, frames_wait=True) as pool:
        pool.async_reset()
        rendering = BackgroundCall(lambda: pool.render([1]))
        wait_until(lambda: native.num_at_gate() == 1)
        pool.recv()
        with pytest.raises(EnvIdError, match=r"env_id\[1\] is 1, which another thread is rendering"):
            pool.send(np.zeros(3, int))
        native.open_gate()
        rendering.finish()
        pool.step(np.zeros(3, int))


def test_work_is_spread_over_the_threads(native):
    with rendering_pool(num_envs=8, num_threads=3, frames_wait=True, frame_ns=1_000_000) as pool:
        pool.reset()
        native.open_gate()
        pool.render([0])  # The pool now knows what a frame costs.
        native.close_gate()
        rendering = BackgroundCall(lambda: pool.render(range(8)))
        wait_until(lambda: native.num_at_gate() == 3)
        native.open_gate()
        rendering.finish()
        wait_until(lambda: set(workers()) <= {"envpool-0", "envpool-1"})  # the threads of the pool


def test_cheap_frames_start_no_thread(native):
    with rendering_pool(num_envs=2, num_threads=2, frames_wait=True) as pool:
        pool.reset()
        native.open_gate()
        for _ in range(20):
            pool.render([0, 1])
        native.close_gate()
        rendering = BackgroundCall(lambda: pool.render([0, 1]))
        wait_until(lambda: native.num_at_gate() == 1)
        assert "envpool-2" not in workers()
        native.open_gate()
        rendering.finish()


# ---- the end ---------------------------------------------------------------------------------------------------------


def test_close_waits_for_frames(native):
    pool = rendering_pool(num_envs=4, num_threads=2, frames_wait=True, frame_ns=300_000)
    pool.reset()
    rendering = BackgroundCall(lambda: pool.render(range(4)))
    wait_until(lambda: native.num_at_gate() >= 1)
    closing = BackgroundCall(pool.close)
    wait_until(lambda: pool.is_closed)
    assert closing.is_alive()
    native.open_gate()
    closing.finish()
    with pytest.raises(PoolStateError, match=r"the pool (is|was) closed"):
        rendering.finish()
    wait_until(lambda: not workers())


def test_close_ends_a_wait_for_a_busy_env(native):
    pool = rendering_pool(num_envs=2, num_threads=2)
    pool.reset()
    pool.send(np.array([WAIT, 1]))
    rendering = BackgroundCall(lambda: pool.render([0]))
    wait_until(lambda: native.num_at_gate() == 1)
    closing = BackgroundCall(pool.close)
    wait_until(lambda: pool.is_closed)
    native.open_gate()
    closing.finish()
    with pytest.raises(PoolStateError, match=r"the pool (is|was) closed"):
        rendering.finish()


@pytest.mark.parametrize("num_threads", [1, 2])
@pytest.mark.parametrize("act", ["raise", "close", "render", "send"])
def test_a_signal_while_drawing(act, num_threads):
    """The frames would take 50 s: the handler ends the wait, or raises; otherwise the test would fail."""
    pool = rendering_pool(num_envs=500, num_threads=num_threads, frame_ns=100_000_000)
    pool.reset()
    pool.render([0])

    def handler(*_):
        if act == "raise":
            raise KeyboardInterrupt
        {"close": pool.close, "render": lambda: pool.render([1]), "send": lambda: pool.send(np.zeros(500))}[act]()

    before = signal.signal(signal.SIGALRM, handler)
    signal.setitimer(signal.ITIMER_REAL, 0.2)
    expected = {"raise": KeyboardInterrupt, "send": EnvIdError}.get(act, PoolStateError)
    try:
        with pytest.raises(expected):
            pool.render(range(500))
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    if act != "close":
        pool.step(np.zeros(500))
        assert pool.render([3]).shape[0] == 1
    pool.close()
    wait_until(lambda: not workers())


def test_a_closed_pool_and_one_from_before_a_fork():
    pool = rendering_pool()
    pool.reset()
    child = os.fork()
    if child == 0:
        try:
            pool.render()
        except PoolStateError as error:
            os._exit(7 if "forked" in str(error) else 1)
        os._exit(2)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
    pool.close()
    with pytest.raises(PoolStateError, match=r"the pool (is|was) closed"):
        pool.render()


def cycle(count):
    for k in range(count):
        pool = rendering_pool(num_envs=4, num_threads=2, frame_ns=250_000)
        pool.reset()
        pool.render([0])
        pool.render(range(4))
        if k % 2:
            pool.close()
    del pool
    gc.collect()
    wait_until(lambda: not workers())


@pytest.mark.parametrize("count", [50, pytest.param(1000, marks=pytest.mark.slow)])
def test_nothing_is_left(count):
    cycle(20)
    threads, files, memory = threading.active_count(), open_files(), resident()
    cycle(count)
    assert (threading.active_count(), open_files()) == (threads, files)
    assert resident() - memory < 8 << 20
