"""Forks while calls are inside of a pool: the child gets PoolStateError from each of them and exits."""

import os
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

from envpool.errors import PoolStateError
from tests.support import plugin
from tests.support.background_call import BackgroundCall
from tests.support.callbacks import CallsBack, CountsBack
from tests.support.checked_pool import WAIT
from tests.support.process import PATIENCE
from tests.support.python import environment

ENDED, NOT_REFUSED, OTHER_ERROR = 7, 8, 9


def fork():
    """Fork; in the parent, wait for the child and print its status."""
    child = os.fork()
    if child == 0:
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.alarm(20)  # ends a child that hangs
        return
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)


def leave(call):
    """Make a call during which a fork happens. The child exits here: the call must raise PoolStateError."""
    pid = os.getpid()
    status = NOT_REFUSED
    try:
        call()
    except PoolStateError as error:
        status = ENDED if "before this process was forked" in str(error) else OTHER_ERROR
    except BaseException:
        status = OTHER_ERROR
    if os.getpid() != pid:
        os._exit(status)


def forking_argument(call):
    """Fork while the pool converts an argument of this call."""
    pool = plugin.make(num_envs=4, num_threads=2, render_mode="rgb_array")
    pool.reset()
    zeros = np.zeros(2, np.int32)
    calls = {
        "send": lambda: pool.send(CallsBack([0, 0], fork), [0, 1]),
        "step": lambda: pool.step(zeros, CallsBack([0, 1], fork)),
        "reset": lambda: pool._reset_envs([0, 1], [CountsBack(1, fork), None]),
        "render": lambda: pool.render(CallsBack([0, 1], fork)),
        "recv": lambda: (pool.send(zeros, [0, 1]), pool.recv(timeout=CountsBack(0, fork))),
    }
    leave(calls[call])
    pool.close()


def forking_handler(call):
    """Fork in a signal handler while a call waits or draws."""
    native = plugin.load().native
    pool = plugin.make(num_envs=200, num_threads=4, cost_ns=20e3, frame_ns=2_000_000, render_mode="rgb_array")
    pool.async_reset()
    time.sleep(0.05)  # from now on the pool expects its caller to be away: workers step the envs
    pool.recv()
    pool.render([0])
    signal.signal(signal.SIGALRM, lambda *_: fork())
    if call == "recv":
        native.close_gate()
        pool.send(np.full(4, WAIT), range(4))
        threading.Timer(0.3, native.open_gate).start()
    signal.setitimer(signal.ITIMER_REAL, 0.05)
    leave(lambda: pool.recv() if call == "recv" else pool.render(range(200)))
    pool.close()


def forking_close():
    """Fork in a signal handler while close() waits for a call of another thread."""
    pool = plugin.make(num_envs=4, num_threads=1)
    pool.reset()
    is_inside, is_over = threading.Event(), threading.Event()
    sender = BackgroundCall(lambda: pool.send(CallsBack([0], lambda: (is_inside.set(), is_over.wait())), [0]))
    is_inside.wait()

    def handler(*_):
        fork()
        is_over.set()

    pid = os.getpid()
    signal.signal(signal.SIGALRM, handler)
    signal.setitimer(signal.ITIMER_REAL, 0.05)
    pool.close()
    if os.getpid() != pid:
        os._exit(ENDED if pool.is_closed else OTHER_ERROR)
    with pytest.raises(PoolStateError, match=r"the pool was closed during send\(\)"):
        sender.finish()


def status_of_child(code):
    plugin.load()
    done = subprocess.run(
        [sys.executable, "-X", "faulthandler", "-c", f"from tests._core.test_fork import *\n{code}"],
        env=environment(),
        capture_output=True,
        text=True,
        timeout=PATIENCE,
    )
    assert done.returncode == 0, done
    return int(done.stdout.split()[0])


@pytest.mark.parametrize("call", ["send", "step", "reset", "render", "recv"])
def test_a_fork_while_an_argument_is_converted(call):
    assert status_of_child(f"forking_argument({call!r})") == ENDED


@pytest.mark.parametrize("call", ["recv", "render"])
def test_a_fork_by_a_signal_handler(call):
    assert status_of_child(f"forking_handler({call!r})") == ENDED


def test_a_fork_while_close_waits():
    assert status_of_child("forking_close()") == ENDED
