"""Ctrl-C: a wait ends at once, and the batch that was waited for is not lost."""

import os
import random
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from tests.native import plugin
from tests.native.model import CheckedPool
from tests.native.process import PATIENCE

ROOT = Path(__file__).resolve().parents[2]
#: How a batch of about a second is waited for; steps sleep, 10 ms each.
WAITS = {
    "sync, the caller alone": {"num_envs": 100, "num_threads": 1},
    "sync, the caller and workers": {"num_envs": 200, "num_threads": 2},
    "sync, workers alone": {"num_envs": 100, "num_threads": 1, "is_away": True},
    "async, the caller alone": {"num_envs": 120, "batch_size": 100, "num_threads": 1},
    "async, workers alone": {"num_envs": 120, "batch_size": 100, "num_threads": 1, "is_away": True},
    "async, several workers": {"num_envs": 220, "batch_size": 200, "num_threads": 2, "is_away": True},
}
CALLS = ("recv", "step", "drop")


def be_interrupted(call, is_away=False, **options):
    """Run in a child: wait in `call` until SIGINT comes, say when it was noticed, then receive and check all rows."""
    c = CheckedPool(cost_ns=10e6, sleeps=True, **options)
    if is_away:  # one batch first, so that the pool knows its envs are slow and its caller takes its time
        c.sent_reset()
        c.pool.async_reset()
        time.sleep(0.05)
        ids = c.recv()[-1]["env_id"]
    else:
        ids = range(c.num_envs)
    print("ready", flush=True)
    try:
        if not is_away:
            c.sent_reset()
            c.pool.reset()
        elif call == "drop":
            c.send(ids, [1] * len(ids))
            c.pool.reset()  # waits until it may drop what is in flight, and is interrupted before it has
        elif call == "step":
            c.sent(ids, [1] * len(ids))
            c.pool.step([1] * len(ids), ids)
        else:
            c.send(ids, [1] * len(ids))
            c.pool.recv()
    except KeyboardInterrupt:
        print(time.monotonic(), flush=True)
    assert c.pool.num_outstanding == len(c.in_flight) > 0
    while c.can_receive():
        c.recv()
    c.send(c.steppable()[:3], [2] * len(c.steppable()[:3]))
    while c.can_receive():
        c.recv()
    c.close()
    print("all rows came", flush=True)


@pytest.mark.parametrize(
    ("wait", "call"), [(w, c) for w, o in WAITS.items() for c in (CALLS if o.get("is_away") else ["reset"])]
)
def test_ctrl_c(wait, call):
    plugin.load()
    code = f"from tests.core.test_interrupt import *\nbe_interrupted({call!r}, **WAITS[{wait!r}])"
    child = subprocess.Popen([sys.executable, "-c", code], cwd=ROOT, stdout=subprocess.PIPE, text=True)
    watchdog = threading.Timer(PATIENCE, child.kill)
    watchdog.start()
    assert child.stdout.readline() == "ready\n"
    time.sleep(0.2)
    sent = time.monotonic()
    child.send_signal(signal.SIGINT)
    noticed = float(child.stdout.readline())
    print(f"{wait}, {call}: noticed after {(noticed - sent) * 1e3:.0f} ms")
    assert child.stdout.readline() == "all rows came\n"
    assert child.wait() == 0
    watchdog.cancel()
    # The batch takes a second: noticing it after that would be too late.
    assert noticed - sent < 0.5


def test_a_signal_at_any_moment():
    """Signals rain on a thread that steps: what a call has not returned, the next one does."""
    c = CheckedPool(8, 3, num_threads=2, cost_ns=30e3)
    is_armed, interrupted, lost = False, 0, 0

    def interrupt(*_):
        if is_armed:
            raise KeyboardInterrupt

    before = signal.signal(signal.SIGINT, interrupt)
    stop = threading.Event()

    def rain():
        pick = random.Random(1)
        while not stop.wait(pick.uniform(0.0001, 0.002)):
            os.kill(os.getpid(), signal.SIGINT)

    thread = threading.Thread(target=rain)
    try:
        c.sent_reset()
        c.pool.async_reset()
        thread.start()
        for k in range(3000):
            outstanding, batch = c.pool.num_outstanding, None
            try:
                is_armed = True
                batch = c.pool.recv()
                is_armed = False
            except KeyboardInterrupt:
                is_armed = False
                interrupted += 1
            if batch is not None:
                ids = c.received(batch)[-1]["env_id"]
                c.send(ids, [k % 90] * len(ids))
            elif c.pool.num_outstanding < outstanding:
                # The signal hit Python between the return of recv() and the assignment: start anew.
                lost += 1
                c.sent_reset()
                c.pool.async_reset()
    finally:
        stop.set()
        thread.join()
        signal.signal(signal.SIGINT, before)
    print(f"{interrupted} interruptions, {lost} of them after recv() had returned")
    assert interrupted > 10
    assert lost < interrupted / 2
    c.close()
