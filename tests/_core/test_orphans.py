"""close() with threads that hang in an env: it returns, and what the threads use lives until they come back."""

import functools
import gc
import os
import signal
import threading

import numpy as np
import pytest

from envpool._core import engine
from envpool.errors import EnvTimeoutError, PoolStateError
from tests.support import plugin
from tests.support.background_call import BackgroundCall
from tests.support.checked_pool import WAIT
from tests.support.gate import Gate, eventually, reset_some
from tests.support.process import resident, wait_until, workers
from tests.support.python import output_of

TIMEOUT = 0.05


@pytest.fixture
def gate():
    """Close the gate for a test, and open it afterwards; nothing may be left then."""
    gc.collect()
    wait_until(lambda: engine.count_orphans() == 0 and not workers())
    gate = Gate()
    gate.close()
    yield gate
    gate.open()
    wait_until(lambda: engine.count_orphans() == 0 and not workers())


def make(**options):
    pool = plugin.make(**{"num_envs": 6, "num_threads": 3, "step_timeout": TIMEOUT, "episode_length": 0} | options)
    reset_some(pool, range(len(pool)))
    return pool


def close(pool):
    """Close a pool, with a watchdog."""
    BackgroundCall(pool.close).finish()
    assert pool.is_closed


def released(gate, freed):
    """Open the gate, and wait until the envs of one more pool than `freed` are gone."""
    assert engine.count_orphans() == 1
    assert gate.native.num_destroyed() == freed
    gate.open()
    wait_until(lambda: engine.count_orphans() == 0)
    assert gate.native.num_destroyed() == freed + 1
    wait_until(lambda: not workers())


@pytest.mark.parametrize("batch_size", [0, 2], ids=["sync", "async"])
@pytest.mark.parametrize("hanging", [[3], [0, 5], [1, 2, 4]], ids=["one", "two", "all"])
def test_close_returns_and_the_threads_free_what_they_used(gate, batch_size, hanging):
    pool = make(batch_size=batch_size)
    kept = reset_some(pool, [0])[0]
    copy = kept.copy()
    freed = gate.native.num_destroyed()
    gate.hang(pool, *hanging)
    close(pool)
    assert len(workers()) == len(hanging)
    with pytest.raises(PoolStateError, match="the pool is closed"):
        pool.recv()
    close(pool)
    assert np.array_equal(kept, copy)
    released(gate, freed)


def test_partial_batches(gate):
    """The env writes its row to the block of partial batches after the pool is gone."""
    pool = make()
    freed = gate.native.num_destroyed()
    pool.send(np.zeros(1, np.int32), [0])
    eventually(functools.partial(pool.recv, min_ready=1))
    gate.hang(pool, 3)
    close(pool)
    del pool
    gc.collect()
    released(gate, freed)


@pytest.mark.parametrize("where", ["reset", "seed", "write"])
def test_threads_that_hang_elsewhere(gate, where):
    pool = plugin.make(num_envs=3, num_threads=2, waits_in=where, step_timeout=TIMEOUT, autoreset_mode="same_step")
    freed = gate.native.num_destroyed()
    with pytest.raises(EnvTimeoutError):
        pool.reset()
    close(pool)
    released(gate, freed)


def test_a_pool_that_is_deleted(gate):
    pool = make()
    freed = gate.native.num_destroyed()
    gate.hang(pool, 3)
    del pool
    gc.collect()
    released(gate, freed)


def test_memory_is_returned(gate):
    """The blocks in flight have 64 MiB; they stay until the thread has written its row."""
    before = resident()
    pool = make(num_envs=8, items=2**20)
    pool.send(np.zeros(7, np.int32), range(7))
    gate.hang(pool, 7)
    wait_until(lambda: resident() - before > 40 * 2**20)  # the other threads have written their rows
    freed = gate.native.num_destroyed()
    close(pool)
    del pool
    gc.collect()
    assert resident() - before > 40 * 2**20
    released(gate, freed)
    wait_until(lambda: resident() - before < 30 * 2**20)


def test_close_while_another_thread_receives(gate):
    pool = make(step_timeout=0.5)
    freed = gate.native.num_destroyed()
    gate.hang(pool, 3)
    receiving = BackgroundCall(pool.recv)
    close(pool)
    with pytest.raises(PoolStateError):  # closed, or an EnvTimeoutError
        receiving.finish()
    released(gate, freed)


def test_close_by_a_signal_handler_during_recv(gate):
    """The call that the handler interrupts is the last one to leave, and lets go of the engine."""
    pool = make(step_timeout=0.2)
    freed = gate.native.num_destroyed()
    gate.hang(pool, 3)
    before = signal.signal(signal.SIGUSR1, lambda *_: pool.close())
    timer = threading.Timer(0.01, os.kill, (os.getpid(), signal.SIGUSR1))
    try:
        timer.start()
        with pytest.raises(PoolStateError):
            while True:
                try:
                    pool.recv()
                except EnvTimeoutError:
                    continue
    finally:
        timer.join()
        signal.signal(signal.SIGUSR1, before)
    assert pool.is_closed
    released(gate, freed)


def test_nothing_is_left_to_threads_that_come_back_in_time():
    gate = Gate()
    for k in range(20):
        pool = make(step_timeout=600)
        freed = gate.native.num_destroyed()
        pool.send(np.full(6, k % 3, np.int32))
        close(pool)
        assert engine.count_orphans() == 0
        assert gate.native.num_destroyed() == freed + 1
    wait_until(lambda: not workers())


def test_threads_that_come_back_while_the_pool_is_being_closed():
    """Either side may be the last owner; both free the engine once."""
    gate = Gate()
    for _ in range(30):
        pool = make(step_timeout=1e-9, cost_ns=1e6, sleeps=True)
        freed = gate.native.num_destroyed()
        pool.send(np.zeros(6, np.int32))
        close(pool)
        wait_until(lambda: engine.count_orphans() == 0)
        assert gate.native.num_destroyed() == freed + 1
    wait_until(lambda: not workers())


def test_many_threads_come_back_at_once(gate):
    """More engines are freed than the interpreter has room for pending calls."""
    freed = gate.native.num_destroyed()
    for _ in range(50):
        pool = make(num_envs=1, num_threads=1)
        gate.hang(pool, 0)
        close(pool)
    assert engine.count_orphans() == 50
    gate.open()
    wait_until(lambda: engine.count_orphans() == 0)
    assert gate.native.num_destroyed() == freed + 50


# ---- the end of the process ------------------------------------------------------------------------------------------

HANG = """
import atexit, os, sys, threading, time
import numpy as np
from tests.support import plugin
native = plugin.load().native
gate_opens_last = {opens!r}
if gate_opens_last:
    atexit._clear()
    atexit.register(native.open_gate)       # runs after the handlers that are registered below
    import importlib
    from envpool.pools import env_pool
    from envpool._core import engine
    atexit.register(engine.stop)
    atexit.register(env_pool._close_all)
from tests.support.gate import Gate, eventually, reset_some
gate = Gate()
gate.close()
pool = plugin.make(num_envs=4, num_threads=2, step_timeout=0.02, batch_size={batch_size})
native.open_gate()
from tests.support.gate import reset_some
reset_some(pool, range(4))
gate.close()
gate.hang(pool, 2)
"""


def run_hanging(code, batch_size=0, opens=False):
    plugin.load()
    return output_of(HANG.format(batch_size=batch_size, opens=opens) + code).split()


@pytest.mark.parametrize("batch_size", [0, 2], ids=["sync", "async"])
def test_the_interpreter_exits_with_an_open_pool(batch_size):
    assert run_hanging("print('end')", batch_size) == ["end"]


@pytest.mark.parametrize("code", ["pool.close()", "del pool", "pool.close(); del pool"])
def test_the_interpreter_exits_after_the_pool(code):
    assert run_hanging(f"{code}\nprint('end')") == ["end"]


@pytest.mark.parametrize("code", ["", "pool.close()", "keep = [pool]; keep.append(keep)"])
def test_a_thread_that_comes_back_while_the_interpreter_exits(code):
    for _ in range(3):
        assert run_hanging(f"{code}\nprint('end')", opens=True) == ["end"]


def test_a_fork_with_threads_that_hang():
    """The child has neither the threads nor a way to free what they use; it exits, and so does the parent."""
    code = """
other = plugin.make(num_envs=2, num_threads=1)
pool.close()
child = os.fork()
if child == 0:
    pool.close()
    sys.exit(5)
status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
native.open_gate()
from envpool._core import engine
while engine.count_orphans():
    time.sleep(0.001)
print(status)
"""
    assert run_hanging(code) == ["5"]


def test_wait_is_the_action_that_hangs():
    assert WAIT == plugin.load().WAIT
