"""Count how often rare slow steps hold up a caller or the other threads of a program.

    python benchmarks/tails.py [--seconds 4] [--json FILE]

The synthetic env of the tests takes 2 us a step, and sleeps for 20 ms in one step of 500. An async pool with many
threads should return other rows meanwhile: the first count is that of `recv` calls that took more than 15 ms. A sync
pool must wait for its slowest env, but should let other threads run: the second count is that of a Python thread's
pauses of more than 15 ms.
"""

import argparse
import json
import sys
import threading
import time
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from tests.support import plugin

LONG = 0.015
STRAGGLERS = {"cost_ns": 2e3, "distribution": "stragglers", "episode_length": 0}


def slow_receives(seconds):
    """Return the numbers of slow and of all `recv` calls of an async pool."""
    slow = calls = 0
    with plugin.make(num_envs=256, batch_size=32, num_threads=64, seed=0, **STRAGGLERS) as pool:
        pool.async_reset()
        until = time.perf_counter() + seconds
        while time.perf_counter() < until:
            begin = time.perf_counter()
            batch = pool.recv()
            slow += time.perf_counter() - begin > LONG
            calls += 1
            pool.send(np.zeros(32, np.int32), batch[4]["env_id"])
    return slow, calls


def stalls(seconds):
    """Return the numbers of long pauses of a thread, and of the steps that a sync pool made beside it."""
    over = threading.Event()
    pauses = []

    def watch():
        last = time.perf_counter()
        while not over.is_set():
            time.sleep(0.0005)
            now = time.perf_counter()
            if now - last > LONG:
                pauses.append(now - last)
            last = now

    with plugin.make(num_envs=2, num_threads=2, seed=0, **STRAGGLERS) as pool:
        pool.reset()
        watcher = threading.Thread(target=watch)
        watcher.start()
        until = time.perf_counter() + seconds
        steps = 0
        actions = np.zeros(2, np.int32)
        while time.perf_counter() < until:
            pool.step(actions)
            steps += 1
        over.set()
        watcher.join()
    return len(pauses), steps


def main():
    """Print both counts."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=4)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    plugin.load()
    found = {"receives": slow_receives(options.seconds), "stalls": stalls(options.seconds)}
    print("async, 256 envs, batch 32, 64 threads: {} of {} recv calls took more than 15 ms".format(*found["receives"]))
    print("sync, 2 envs: another thread paused {} times for more than 15 ms ({} steps)".format(*found["stalls"]))
    if options.json:
        options.json.write_text(json.dumps(found, indent=2) + "\n")


if __name__ == "__main__":
    main()
