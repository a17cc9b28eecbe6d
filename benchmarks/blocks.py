"""Measure what the memory of batches costs: many small batches, first touch, final arrays, and resident memory.

    python benchmarks/blocks.py [--threads N] [--json FILE]

Alternatives take turns within one process; each figure is the median over the turns.
"""

import argparse
import gc
import json
import os
import sys
import time
from pathlib import Path
from statistics import median

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

import envpool  # noqa: E402
from tests.support import plugin  # noqa: E402
from tests.support.process import resident  # noqa: E402

MB = 2**20
#: A batch of 28 MB, as a thousand observations of 84 x 84 x 4 bytes have.
LARGE = {"num_envs": 1000, "items": 84 * 84 * 4 // 8, "episode_length": 0, "fused": True}
TURNS = 9


def timed(function, repeats):
    """Return the seconds per call."""
    start = time.perf_counter()
    for _ in range(repeats):
        function()
    return (time.perf_counter() - start) / repeats


def many_small_batches(threads):
    """Make 100,000 envs with batches of one env, and compare a step there with one among 1,000 envs."""
    made, pools = [], {}
    for _ in range(3):
        start = time.perf_counter()
        pools[100_000] = plugin.make(num_envs=100_000, batch_size=1, num_threads=threads, episode_length=0)
        made.append(time.perf_counter() - start)
    pools[1_000] = plugin.make(num_envs=1_000, batch_size=1, num_threads=threads, episode_length=0)
    action = np.zeros(1, np.int32)

    def turn(pool):
        pool.send(action, pool.recv()[4]["env_id"])

    start = time.perf_counter()
    pools[100_000].async_reset()
    sent = time.perf_counter() - start
    pools[1_000].async_reset()
    for pool in pools.values():
        timed(lambda pool=pool: turn(pool), 110_000)
    costs = [[timed(lambda pool=pool: turn(pool), 5_000) for pool in pools.values()] for _ in range(TURNS)]
    for pool in pools.values():
        pool.close()
    return {
        "make 100,000 envs with batch_size=1, s": median(made),
        "async_reset of 100,000 envs, s": sent,
        "send and recv of one env among 100,000, us": 1e6 * median(c[0] for c in costs),
        "send and recv of one env among 1,000, us": 1e6 * median(c[1] for c in costs),
    }


def first_touch(threads):
    """Compare steps whose batches are kept with steps whose batches are let go."""
    # A virtual machine gets memory from its host on the first touch, which takes ten times as long as a page fault.
    memory = [np.ones(28 * MB, np.uint8) for _ in range(60)]
    del memory
    pool = plugin.make(num_threads=threads, **LARGE)
    action = np.zeros(LARGE["num_envs"], np.int32)
    pool.reset()

    def step():
        return pool.step(action)

    costs = []
    for _ in range(TURNS):
        timed(step, 250)  # The memory of the last turn is freed meanwhile.
        let_go = timed(step, 30)
        held = []
        kept = timed(lambda held=held: held.append(step()), 30)
        del held
        held = []
        again = timed(lambda held=held: held.append(step()), 30)
        del held
        costs.append((let_go, kept, again))
    pool.close()
    return {
        "step of 28 MB, batches let go, ms": 1e3 * median(c[0] for c in costs),
        "step of 28 MB, batches kept, ms": 1e3 * median(c[1] for c in costs),
        "kept / let go": median(c[1] / c[0] for c in costs),
        "kept / let go, the next rollout": median(c[2] / c[0] for c in costs),
    }


def final_arrays(threads):
    """Compare the auto-reset modes while no episode ends."""
    modes = ("next_step", "same_step")
    large = [plugin.make(num_threads=threads, autoreset_mode=mode, **LARGE) for mode in modes]
    small = [envpool.make_gymnasium("CartPole-v1", num_envs=4096, num_threads=threads, autoreset_mode=mode,
                                    max_episode_steps=10**9) for mode in modes]  # fmt: skip
    none = np.zeros(LARGE["num_envs"], np.int32)
    figures = {}
    for name, pools, repeats in (("28 MB", large, 60), ("CartPole x 4096", small, 1000)):
        last = [pool.reset()[0] for pool in pools]

        def step(i, pools=pools, last=last):
            # This policy balances the pole for long.
            balance = last[i][:, :4] @ [0.05, 0.2, 1, 1] > 0
            action = none if len(none) == len(balance) else balance.astype(np.int32)
            start = time.perf_counter()
            last[i] = pools[i].step(action)[0]
            return time.perf_counter() - start

        for i in range(2):
            for _ in range(20):
                step(i)
        costs = [[median(step(i) for _ in range(repeats)) for i in range(2)] for _ in range(TURNS)]
        figures[f"step, {name}, next_step, us"] = 1e6 * median(c[0] for c in costs)
        figures[f"same_step / next_step, {name}"] = median(c[1] / c[0] for c in costs)
        for pool in pools:
            pool.close()
    return figures


def resident_memory(threads):
    """Report resident memory around 30 batches of 28 MB that are held and let go."""
    start = resident()
    pool = plugin.make(num_threads=threads, **LARGE)
    action = np.zeros(LARGE["num_envs"], np.int32)
    pool.reset()
    for _ in range(10):
        pool.step(action)
    found = {"resident, stepping, MB": resident() - start}
    held = [pool.step(action) for _ in range(30)]
    found["resident, 30 batches held, MB"] = resident() - start
    del held
    for _ in range(200):
        pool.step(action)
    found["resident, let go and 200 steps later, MB"] = resident() - start
    pool.close()
    del pool
    gc.collect()
    found["resident, closed, MB"] = resident() - start
    return {name: value / MB for name, value in found.items()}


def main():
    """Measure everything and print it."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--threads", type=int, default=min(2, len(os.sched_getaffinity(0))))
    parser.add_argument("--json", type=Path)
    args = parser.parse_args()
    plugin.load()
    figures = {}
    for part in (resident_memory, many_small_batches, first_touch, final_arrays):
        for name, value in part(args.threads).items():
            figures[name] = value
            print(f"{name:45} {value:10.3f}", flush=True)
    if args.json:
        args.json.write_text(json.dumps(figures, indent=1) + "\n")


if __name__ == "__main__":
    main()
