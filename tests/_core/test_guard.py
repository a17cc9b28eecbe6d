"""Whatever meets a pool during a call, the result is that of the call or a documented exception."""

import contextlib
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
from tests.support.process import PATIENCE, wait_until, workers
from tests.support.python import environment

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
def test_close_while_rendering_frees_nothing_too_early(how):
    """The helpers write to arrays of the call that renders, which therefore joins them before it returns."""
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


@pytest.mark.parametrize("name", calls_of(None))
def test_a_pool_whose_init_never_ran(name):
    with plugin.make(num_envs=4) as made:
        pool = type(made).__new__(type(made))
    call = {
        "render": lambda: pool.render_frames([0], 8, 8, -1),
        "reset": lambda: pool.reset_envs(),
        "reset some": lambda: pool.reset_envs([3]),
        "close": lambda: Pool.close(pool),
    }.get(name, calls_of(pool)[name])
    if name == "close":
        call()
    else:
        with pytest.raises(PoolStateError, match="the pool was never initialized"):
            call()
    assert not pool.is_closed
    assert pool.num_outstanding == pool.blocks_allocated == 0


# ---- seeds, threads --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("seeds", "error", "text"),
    [
        ([1, 2], ConfigError, "seeds has 2 entries, but 4 envs are reset"),
        ([1, 2, 3, 4, 5], ConfigError, "seeds has 5 entries, but 4 envs are reset"),
        ([1, 2, "3", 4], TypeError, r"seeds\[2\] must be an integer or None, got '3'"),
        ([1, 2, 3, 1.5], TypeError, r"seeds\[3\] must be an integer or None, got 1.5"),
        ([-1, 2, 3, 4], ConfigError, r"seeds\[0\] is -1, allowed are 0 to"),
        (np.zeros(3, np.uint64), ConfigError, "seeds has 3 entries, but 4 envs are reset"),
    ],
)
def test_bad_seeds_leave_every_env_idle(seeds, error, text):
    with plugin.make(num_envs=4, num_threads=1) as pool:
        pool.reset()
        for env_id in (None, [3, 1, 0, 2]):
            with pytest.raises(error, match=text):
                pool.send_reset(env_id, seeds)
            assert pool.num_outstanding == 0
            pool.step(np.zeros(4, np.int32))


def test_too_few_env_ids_for_a_reset_with_a_seed():
    with plugin.make(num_envs=4, num_threads=1) as pool:
        pool.all_env_ids = pool.all_env_ids[:2]
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


def test_threads_that_cannot_be_started():
    plugin.load()
    code = "from tests._core.test_guard import *\nno_thread_child()"
    done = subprocess.run([sys.executable, "-c", code], env=environment(), capture_output=True, text=True)
    assert "threads of num_threads=1000 could be started: ask for fewer threads" in done.stdout, done


# ---- anything at any time --------------------------------------------------------------------------------------------


def rain_of_calls(seed, seconds):
    """Use one pool after another from several threads, with signals, nested calls and a tiny switch interval."""
    pick = random.Random(seed)
    until = time.monotonic() + seconds
    rounds = 0
    while time.monotonic() < until:
        batch_size = pick.choice([4, 2])
        pool = plugin.make(num_envs=4, batch_size=batch_size, num_threads=pick.choice([1, 2]), render_mode="rgb_array")
        pool.reset(range(4))
        names = [*calls_of(pool), "hook"]

        def work(seed, pool=pool, names=names):
            own = random.Random(seed)
            for _ in range(40):
                name = own.choice(names)
                if name == "close" and own.random() < 0.9:
                    continue
                try:
                    if name == "hook":
                        inner = calls_of(pool)[own.choice(names[:-1])]
                        pool.send(CallsBack([0], inner), [own.randrange(4)])
                    elif name == "recv":
                        pool.recv(timeout=0.001)
                    else:
                        calls_of(pool)[name]()
                except DOCUMENTED:
                    pass

        def handler(*_, pool=pool, pick=pick):
            with contextlib.suppress(*DOCUMENTED):
                calls_of(pool)[pick.choice(["send", "render", "async_reset", "recv some", "close"])]()

        before = signal.signal(signal.SIGALRM, handler)
        threads = [threading.Thread(target=work, args=(pick.random(),)) for _ in range(3)]
        signal.setitimer(signal.ITIMER_REAL, 0.001, 0.003)
        try:
            for thread in threads:
                thread.start()
            work(pick.random())
            for thread in threads:
                thread.join(PATIENCE)
                assert not thread.is_alive(), "a call hangs"
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, before)
        pool.close()
        rounds += 1
    return rounds


@pytest.mark.parametrize("seconds", [4, pytest.param(120, marks=pytest.mark.slow)])
def test_calls_of_several_threads_handlers_and_hooks(seconds):
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        rounds = rain_of_calls(20261122, seconds)
    finally:
        sys.setswitchinterval(interval)
    print(f"{rounds} pools")
    assert rounds > 0
    wait_until(lambda: not workers())


def test_reset_returns_no_rows_of_another_thread():
    """A sync pool hands out one block, to which another thread may add rows while reset() waits."""
    with plugin.make(num_envs=3, num_threads=2, cost_ns=50e6, sleeps=True) as pool:
        pool.reset()
        resetting = BackgroundCall(functools.partial(pool.reset, [0, 1]))
        wait_until(lambda: pool.num_outstanding == 2)
        pool.send(np.zeros(1, np.int32), [2])
        assert resetting.finish()[1]["env_id"].tolist() == [0, 1]
        assert pool.recv(env_ids=[2])[-1]["env_id"].tolist() == [2]
