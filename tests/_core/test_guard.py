"""Whatever meets a pool during a call, the result is that of the call or a documented exception."""

import functools
import os
import random
import resource
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest

from envpool._core.pool import Pool
from envpool.errors import ActionError, ConfigError, EnvIdError, PoolStateError, RenderError
from tests.support import plugin
from tests.support.background_call import BackgroundCall
from tests.support.callbacks import CallsBack, ComparesBack
from tests.support.process import wait_until, workers
from tests.support.python import environment

#: The action after which the synthetic env cannot be drawn.
NO_FRAME = 94
DOCUMENTED = (PoolStateError, EnvIdError, ActionError, RenderError, ConfigError)


def calls_of(pool):
    """Return the public calls of a pool of four envs, by name."""
    return {
        "send": lambda: pool.send(np.zeros(1, np.int32), [2]),
        "step": lambda: pool.step(np.zeros(1, np.int32), [2]),
        "recv": lambda: pool.recv(),
        "recv some": lambda: pool.recv(timeout=0),
        "reset": lambda: pool.reset(),
        "reset some": lambda: pool.reset([3]),
        "async_reset": lambda: pool.async_reset(),
        "render": lambda: pool.render([0]),
        "close": lambda: pool.close(),
    }


# ---- from inside a call of the same thread ---------------------------------------------------------------------------


@pytest.mark.parametrize("batch_size", [4, 2], ids=["sync", "async"])
@pytest.mark.parametrize("outer", ["send", "step", "reset"])
@pytest.mark.parametrize("inner", calls_of(None))
def test_a_call_from_inside_a_call(inner, outer, batch_size):
    pool = plugin.make(num_envs=4, batch_size=batch_size, num_threads=2, render_mode="rgb_array")
    pool.reset(range(4))
    seen = []

    def act():
        if seen:
            return
        seen.append(None)
        try:
            seen[0] = calls_of(pool)[inner]()
        except DOCUMENTED as error:
            seen[0] = error

    hook = CallsBack([0, 0], act)
    try:
        if outer == "reset":
            pool.reset(CallsBack([0, 1], act))
        else:
            getattr(pool, outer)(hook, [0, 1])
    except DOCUMENTED as error:
        assert inner == "close" or isinstance(error, (PoolStateError, EnvIdError)), error
    assert seen
    assert pool.is_closed == (inner == "close")
    if inner != "close":
        pool.reset()
        pool.reset(range(4)) if batch_size == 4 else pool.recv()
        pool.close()
    with pytest.raises(PoolStateError, match="the pool is closed"):
        pool.reset()


@pytest.mark.parametrize("kind", [signal.SIGALRM, signal.SIGTERM])
def test_a_signal_handler_closes_the_pool_inside_send(kind):
    """Float actions of a discrete field are checked by NumPy functions that are written in Python."""
    pools = []
    before = signal.signal(kind, lambda *_: pools[-1].close())
    delay = random.Random(1)
    try:
        for _ in range(30):
            pools.append(plugin.make(num_envs=2000, num_threads=1))
            pools[-1].reset()
            actions = np.zeros(2000)
            timer = threading.Timer(delay.uniform(0.0005, 0.005), os.kill, (os.getpid(), kind))
            timer.start()
            with pytest.raises(PoolStateError, match=r"the pool (is|was) closed"):
                while True:
                    pools[-1].step(actions)
            timer.join()
            assert pools[-1].is_closed
    finally:
        signal.signal(kind, before)
    wait_until(lambda: not workers())


# ---- from another thread ---------------------------------------------------------------------------------------------


def test_close_by_another_thread_while_players_are_compared():
    pool = plugin.make(num_envs=3, num_threads=1, layout="rich")
    pool.reset()
    closing = []

    def act():
        if not closing:
            closing.append(BackgroundCall(pool.close))
            wait_until(lambda: pool.is_closed)

    players = np.empty(2, object)
    players[:] = [ComparesBack(act), ComparesBack(act)]
    with pytest.raises(PoolStateError, match=r"the pool was closed during send\(\)"):
        pool.send(plugin.rich_action() | {"env_id": [0, 1], "players": {"env_id": players}})
    assert closing.pop().finish() is None


@pytest.mark.parametrize("how", ["signal", "thread"])
def test_close_while_rendering(how):
    for _ in range(10):
        pool = plugin.make(num_envs=200, num_threads=4, frame_ns=2_000_000, render_mode="rgb_array")
        pool.reset()
        pool.render([0])
        before = signal.signal(signal.SIGALRM, lambda *_, pool=pool: pool.close())
        if how == "signal":
            signal.setitimer(signal.ITIMER_REAL, 0.02)
            closing = None
        else:
            closing = threading.Timer(0.02, pool.close)
            closing.start()
        try:
            with pytest.raises(PoolStateError, match=r"the pool was closed during render\(\)"):
                pool.render(range(200))
        finally:
            signal.signal(signal.SIGALRM, before)
        if closing:
            closing.join()
        wait_until(lambda: not workers())


def test_close_during_a_handler_that_interrupts_render_frees_nothing_too_early():
    """The helpers write to arrays of the call that renders, so that this call joins them before it returns.

    Every frame but one fails: a helper that outlives the call would write its error to memory that has another use.
    """
    pool = plugin.make(num_envs=200, num_threads=4, frame_ns=100_000_000, render_mode="rgb_array", episode_length=0)
    pool.reset()
    pool.step(np.where(np.arange(200), NO_FRAME, 0))
    pool.render([0])
    closing = []

    def handler(*_):
        closing.append(BackgroundCall(pool.close))
        wait_until(lambda: pool.is_closed)
        time.sleep(0.02)  # the closer is waiting for the call, or for the helpers themselves

    before = signal.signal(signal.SIGALRM, handler)
    signal.setitimer(signal.ITIMER_REAL, 0.02)
    try:
        pool.render(range(200))
    except PoolStateError:
        others = [np.zeros(200, np.int32) for _ in range(20)]
    finally:
        signal.signal(signal.SIGALRM, before)
    closing[0].finish()
    assert not np.any(others)
    wait_until(lambda: not workers())


def test_reset_returns_no_rows_of_another_thread():
    """A sync pool hands out one block, to which another thread may add rows while reset() waits."""
    with plugin.make(num_envs=3, num_threads=2, cost_ns=50e6, sleeps=True) as pool:
        pool.reset()
        resetting = BackgroundCall(functools.partial(pool.reset, [0, 1]))
        wait_until(lambda: pool.num_outstanding == 2)
        pool.send(np.zeros(1, np.int32), [2])
        assert resetting.finish()[1]["env_id"].tolist() == [0, 1]
        assert pool.recv(env_id=[2])[-1]["env_id"].tolist() == [2]


@pytest.mark.parametrize("name", calls_of(None))
def test_a_pool_whose_init_never_ran(name):
    with plugin.make(num_envs=4) as made:
        pool = type(made).__new__(type(made))
    call = {
        "render": lambda: pool._render_frames([0], 8, 8, -1),
        "reset": lambda: pool._reset_envs(),
        "reset some": lambda: pool._reset_envs([3]),
        "close": lambda: Pool.close(pool),
    }.get(name, calls_of(pool)[name])
    if name == "close":
        call()
    else:
        with pytest.raises(PoolStateError, match="the pool was never initialized"):
            call()
    assert not pool.is_closed
    assert pool.num_outstanding == pool._blocks_allocated == 0


# ---- seeds, threads --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("seeds", "error", "text"),
    [
        ([1, 2], ConfigError, "seeds has 2 entries, but 4 envs are reset"),
        ([1, 2, 3, 4, 5], ConfigError, "seeds has 5 entries, but 4 envs are reset"),
        ([1, 2, "3", 4], TypeError, r"seeds\[2\] must be an integer or None, got '3'"),
        ([1, 2, 3, 1.5], TypeError, r"seeds\[3\] must be an integer or None, got 1.5"),
        ([-1, 2, 3, 4], ConfigError, r"seeds\[0\] must be between 0 and .*, got -1"),
        (np.zeros(3, np.uint64), ConfigError, "seeds has 3 entries, but 4 envs are reset"),
    ],
)
def test_bad_seeds_leave_every_env_idle(seeds, error, text):
    with plugin.make(num_envs=4, num_threads=1) as pool:
        pool.reset()
        for env_id in (None, [3, 1, 0, 2]):
            with pytest.raises(error, match=text):
                pool._send_reset(env_id, seeds)
            assert pool.num_outstanding == 0
            pool.step(np.zeros(4, np.int32))


def test_too_few_env_ids_for_a_reset_with_a_seed():
    with plugin.make(num_envs=4, num_threads=1) as pool:
        pool._ids = pool._ids[:2]
        with pytest.raises(ConfigError, match="seeds has 2 entries, but 4 envs are reset"):
            pool.reset(seed=1)
        pool.reset()


def no_thread_child():
    """Make a pool with more threads than fit into the address space."""
    plugin.load()
    used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + 300_000_000, resource.getrlimit(resource.RLIMIT_AS)[1]))
    try:
        plugin.make(num_envs=4000, num_threads=1000)
    except OSError as error:
        print(error)


@pytest.mark.memory_limit
def test_threads_that_cannot_be_started():
    plugin.load()
    code = "from tests._core.test_guard import *\nno_thread_child()"
    done = subprocess.run([sys.executable, "-c", code], env=environment(), capture_output=True, text=True)
    assert "threads of num_threads=1000 could be started: ask for fewer threads" in done.stdout, done


# ---- anything at any time --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("seconds", "seed"),
    [(4, 20261122), pytest.param(30, None, marks=pytest.mark.slow), pytest.param(120, None, marks=pytest.mark.sweep)],
)
def test_anything_at_any_time(seconds, seed):
    """The fuzz driver runs in a process of its own: it forks, handles signals, and ends the process if a call hangs."""
    plugin.load()
    command = [sys.executable, "-m", "tests._core.fuzz", str(seconds), *([] if seed is None else [str(seed)])]
    done = subprocess.run(command, env=environment(), capture_output=True, text=True)
    print(done.stdout)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "nothing found" in done.stdout
