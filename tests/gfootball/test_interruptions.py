"""Pools of games that are killed, interrupted, closed or dropped while games are played."""

from __future__ import annotations

import gc
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import envpool
from tests.support.process import PATIENCE, wait_until, worker_ids

TASK = "gfootball/academy_empty_goal_close-v1"
#: A program that plays until it is interrupted; then its pool must be usable.
PROGRAM = f"""
import sys
import numpy as np
import envpool

what = sys.argv[1]
batch_size = 2 if what == "recv" else 3
pool = envpool.make_gymnasium({TASK!r}, num_envs=3, batch_size=batch_size, num_threads=2, seed=1)
actions = np.full(batch_size, 5, np.int32)

def recv():
    pool.send(actions, pool.recv()[-1]["env_id"])

call = {{"step": lambda: pool.step(actions), "recv": recv, "reset": pool.reset}}[what]
pool.async_reset() if what == "recv" else pool.reset()
try:
    print("ready", flush=True)
    while True:
        call()
except KeyboardInterrupt:
    pass
while pool.num_outstanding:
    pool.recv(min_ready=1)
pool.async_reset()
assert len(pool.recv()[-1]["env_id"]) == batch_size
pool.close()
print("usable")
"""


def start(what: str, folder: Path) -> Any:
    """Start the program, whose temporary files would be in this folder, and wait until it plays."""
    process = subprocess.Popen(
        [sys.executable, "-c", PROGRAM, what],
        stdout=subprocess.PIPE,
        text=True,
        env=os.environ | {"TMPDIR": str(folder)},
    )
    assert process.stdout.readline() == "ready\n"
    return process


@pytest.mark.parametrize("what", ["step", "recv", "reset"])
def test_a_pool_is_usable_after_ctrl_c(what: str, tmp_path: Path) -> None:
    with start(what, tmp_path) as process:
        process.send_signal(signal.SIGINT)
        assert process.communicate(timeout=PATIENCE)[0] == "usable\n"
    assert process.returncode == 0


def test_a_killed_process_leaves_nothing_behind(tmp_path: Path) -> None:
    shared = set(os.listdir("/dev/shm"))
    with start("step", tmp_path) as process:
        folder = Path(f"/proc/{process.pid}/task")
        assert not [child for task in folder.iterdir() for child in (task / "children").read_text().split()]
        process.kill()
        process.communicate(timeout=PATIENCE)
    assert process.returncode == -signal.SIGKILL
    assert not list(tmp_path.iterdir())
    assert not set(os.listdir("/dev/shm")) - shared


def in_flight() -> Any:
    """Return a pool whose games are all in flight."""
    pool = envpool.make_gymnasium(TASK, num_envs=3, num_threads=2, seed=1)
    pool.reset()
    pool.send(np.full(3, 5, np.int32), np.arange(3, dtype=np.int32))
    assert pool.num_outstanding == 3
    return pool


def test_close_with_steps_in_flight() -> None:
    pool = in_flight()
    pool.close()
    assert not worker_ids()


def test_a_pool_may_be_dropped_in_flight() -> None:
    pool = in_flight()
    assert worker_ids()
    del pool
    gc.collect()
    wait_until(lambda: not worker_ids())
