"""Measure how the throughput of pools grows with the number of threads.

    python benchmarks/scaling.py [--threads 1 2 4 8 16] [--only TEXT] [--seconds 0.5] [--rounds 5] [--json FILE]

Every cell is a task and a number of envs; its pools with different numbers of threads take turns, and the median over
the turns counts. The efficiency at T threads is the rate divided by T times the rate at one thread. Leave one core to
the rest of the system if other processes run.
"""

import argparse
import json
import os
import sys
import time
from pathlib import Path
from statistics import median

import numpy as np

import envpool

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from tests.support import plugin


def synthetic(cost_us, envs_per_thread, is_async):
    """Return a function that makes a synthetic pool for a number of threads."""

    def make(threads):
        n = envs_per_thread * threads
        return plugin.make(
            num_envs=n,
            batch_size=max(n // 2, 1) if is_async else n,
            num_threads=threads,
            cost_ns=1e3 * cost_us,
            episode_length=0,
            fused=True,
        )

    return make


def task(name, num_envs, is_async=False):
    """Return a function that makes a pool of a task for a number of threads."""
    batch_size = num_envs // 2 if is_async else num_envs
    return lambda threads: envpool.make_gymnasium(name, num_envs=num_envs, batch_size=batch_size, num_threads=threads)


def cells():
    """Return the functions that make pools, by name of the cell."""
    found = {}
    for name, num_envs in (("CartPole-v1", 16384), ("HalfCheetah-v5", 64), ("HalfCheetah-v5", 256), ("Pong-v5", 128)):
        found[f"{name} {num_envs}"] = task(name, num_envs)
        found[f"{name} {num_envs} async"] = task(name, num_envs, is_async=True)
    for cost in (2, 20, 200):
        for per_thread in (4, 16):
            for mode in ("sync", "async"):
                found[f"{cost} us {mode} {per_thread} a thread"] = synthetic(cost, per_thread, mode == "async")
    for name in ("LunarLander-v3", "BipedalWalker-v3", "Humanoid-v5"):
        found[f"{name} 64"] = task(name, 64)
    return found


class Runner:
    """A pool that is stepped in turns."""

    def __init__(self, pool):
        self.pool = pool
        self.batch = pool.config["batch_size"]
        space = pool.action_space
        one = space.sample() if hasattr(space, "shape") and space.shape else np.int32(0)
        self.action = np.stack([np.asarray(one)] * self.batch)
        pool.async_reset()
        self.ids = pool.recv()[-1]["env_id"]

    def rate(self, seconds):
        """Return steps per second over some time."""
        begin = time.perf_counter()
        steps = 0
        while (elapsed := time.perf_counter() - begin) < seconds:
            if self.pool.is_async:
                self.pool.send(self.action, self.ids)
                self.ids = self.pool.recv()[-1]["env_id"]
            else:
                self.pool.step(self.action)
            steps += self.batch
        return steps / elapsed


def measure(threads, only="", seconds=0.5, rounds=5):
    """Print one line per cell, and return the steps per second of each cell by number of threads."""
    threads = [t for t in threads if t <= len(os.sched_getaffinity(0))]
    rates = {}
    print(f"{'':<28}" + "".join(f"{t:>9}" for t in threads) + "   threads")
    for name, make in cells().items():
        if only not in name:
            continue
        runners = [Runner(make(t)) for t in threads]
        turns = [[r.rate(seconds) for r in runners] for _ in range(rounds)]
        rates[name] = dict(zip(threads, map(median, zip(*turns, strict=True)), strict=True))
        print(f"{name:<28}" + "".join(f"{v:9.3f}" for v in efficiency(rates[name]).values()), flush=True)
        for r in runners:
            r.pool.close()
    return rates


def efficiency(rates):
    """Return the rates divided by those of as many threads that each work like the first number of them."""
    first, rate = next(iter(rates.items()))
    return {t: value * first / (rate * t) for t, value in rates.items()}


def main():
    """Measure what the command line says."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2, 4, 8, 16])
    parser.add_argument("--only", default="", help="text that the names of the cells must contain")
    parser.add_argument("--seconds", type=float, default=0.5)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    rates = measure(options.threads, options.only, options.seconds, options.rounds)
    if options.json:
        results = {name: {"rates": row, "efficiency": efficiency(row)} for name, row in rates.items()}
        options.json.write_text(json.dumps(results, indent=2) + "\n")


if __name__ == "__main__":
    main()
