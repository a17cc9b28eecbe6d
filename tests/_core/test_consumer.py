"""Ctrl-C ends a wait at once, and the awaited batch is not lost."""

import itertools
import os
import random
import signal
import subprocess
import sys
import threading
import time

import pytest

from tests.support import plugin
from tests.support.checked_pool import WAIT, CheckedPool
from tests.support.process import PATIENCE, is_asleep, wait_until
from tests.support.python import environment

#: Pools whose caller steps envs itself: a batch takes more than a second, in steps that sleep for 10 ms.
BUSY = {
    "sync, the caller alone": {"num_envs": 150, "num_threads": 1},
    "sync, the caller and a worker": {"num_envs": 300, "num_threads": 2},
    "async, the caller alone": {"num_envs": 170, "batch_size": 150, "num_threads": 1},
}
#: Pools whose caller only waits, at a gate that stays closed: without Ctrl-C it would wait forever.
PARKED = {
    "sync, one worker": {"num_envs": 4, "num_threads": 1},
    "sync, two workers": {"num_envs": 4, "num_threads": 2},
    "async, one worker": {"num_envs": 6, "batch_size": 4, "num_threads": 1},
    "async, two workers": {"num_envs": 6, "batch_size": 4, "num_threads": 2},
}


def interrupted(call):
    """Make a call that SIGINT ends, and print when it ended."""
    print("ready", flush=True)
    try:
        call()
    except KeyboardInterrupt:
        print(time.monotonic(), flush=True)


def finish(c):
    """Receive and check everything that is in flight."""
    assert c.pool.num_outstanding == len(c.in_flight) > 0
    c.recv_batches()
    c.close()
    print("all rows came", flush=True)


def busy_child(call, **options):
    """Get interrupted in the middle of a batch."""
    native = plugin.load().native
    c = CheckedPool(cost_ns=10e6, sleeps=True, counted=True, **options)
    c.sent_reset()
    if call == "recv":
        c.pool.async_reset()
        interrupted(c.pool.recv)
    elif call == "reset":
        interrupted(c.pool.reset)
    elif call == "recv some":
        c.pool.async_reset()
        interrupted(lambda: c.pool.recv(min_ready=c.num_envs))
    else:  # The reset waits until it may drop what is in flight, and is interrupted before that.
        c.pool.async_reset()
        interrupted(c.pool.reset)
    assert native.num_steps() < c.num_envs, "the batch came before the interrupt was noticed"
    finish(c)


def parked_child(call, **options):
    """Get interrupted while waiting for envs that are waiting themselves."""
    native = plugin.load().native
    c = CheckedPool(**options)
    c.sent_reset()
    c.pool.async_reset()
    time.sleep(0.05)  # the pool measures how long its caller is away: who is that long is not expected to help
    c.recv()
    while c.in_flight:  # async: a full batch, so that nothing but it is in flight
        c.send(c.idle()[:1], [0])
        c.recv() if c.can_receive() and len(c.in_flight) == c.batch_size else None
    native.close_gate()
    ids = c.idle()
    if call == "recv some":
        c.send(ids, [WAIT] * len(ids))
        interrupted(lambda: c.pool.recv(timeout=1000, env_id=ids))
    elif call == "step":
        interrupted(lambda: c.pool.step([WAIT] * len(ids), ids))
        c.sent(ids, [WAIT] * len(ids))
    else:
        c.send(ids, [WAIT] * len(ids))
        interrupted(c.pool.recv)
    native.open_gate()
    finish(c)


def interrupt(child):
    """Run a child, interrupt it, and measure how long it took to react."""
    plugin.load()
    code = f"from tests._core.test_consumer import *\n{child}"
    process = subprocess.Popen([sys.executable, "-c", code], env=environment(), stdout=subprocess.PIPE, text=True)
    watchdog = threading.Timer(PATIENCE, process.kill)
    watchdog.start()
    try:
        assert process.stdout.readline() == "ready\n"
        # From here on, only the call makes the child's main thread wait.
        wait_until(lambda: process.poll() is not None or is_asleep(process.pid))
        sent = time.monotonic()
        process.send_signal(signal.SIGINT)
        noticed = float(process.stdout.readline())
        print(f"noticed after {(noticed - sent) * 1e3:.0f} ms")
        assert process.stdout.readline() == "all rows came\n"
        assert process.wait() == 0
    finally:
        watchdog.cancel()
        process.kill()
        process.wait()


@pytest.mark.parametrize("call", ["recv", "recv some", "reset", "drop"])
@pytest.mark.parametrize("pool", BUSY)
def test_ctrl_c_while_the_caller_works(pool, call):
    interrupt(f"busy_child({call!r}, **BUSY[{pool!r}])")


@pytest.mark.parametrize("call", ["recv", "recv some", "step"])
@pytest.mark.parametrize("pool", PARKED)
def test_ctrl_c_while_the_caller_waits(pool, call):
    interrupt(f"parked_child({call!r}, **PARKED[{pool!r}])")


@pytest.mark.parametrize("wish", [{}, {"min_ready": 2}, {"timeout": 60}], ids=["batch", "some", "in time"])
def test_a_signal_at_any_moment(wish):
    """While a thread steps, signals arrive continually: a result that one call does not return, the next returns."""
    c = CheckedPool(8, 3, num_threads=2, cost_ns=30e3)
    is_armed, hits, lost = False, 0, 0

    def handle(*_):
        if is_armed:
            raise KeyboardInterrupt

    before = signal.signal(signal.SIGINT, handle)
    stop = threading.Event()

    def rain():
        pick = random.Random(1)
        while not stop.wait(pick.uniform(0.0001, 0.002)):
            os.kill(os.getpid(), signal.SIGINT)

    thread, end = threading.Thread(target=rain), time.monotonic() + PATIENCE
    try:
        c.sent_reset()
        c.pool.async_reset()
        thread.start()
        for k in itertools.count():
            if k >= 3000 and hits >= 20:
                break
            assert time.monotonic() < end, f"{hits} interruptions in {k} calls"
            outstanding, batch = c.pool.num_outstanding, None
            try:
                is_armed = True
                batch = c.pool.recv(**wish)
                is_armed = False
            except KeyboardInterrupt:
                is_armed = False
                hits += 1
            if batch is not None:
                ids = c.received(batch, wish=wish)[-1]["env_id"]
                c.send(ids, [k % 90] * len(ids))
            elif c.pool.num_outstanding < outstanding:
                # The signal arrived between the return of recv() and the assignment: start again.
                lost += 1
                c.sent_reset()
                c.pool.async_reset()
    finally:
        stop.set()
        thread.join()
        signal.signal(signal.SIGINT, before)
    print(f"{hits} interruptions, {lost} of them after recv() had returned")
    assert lost < hits / 2
    c.close()
