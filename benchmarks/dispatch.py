"""Compare the speed at which this pool and a pool with one queue item per env step dispatch steps.

    python benchmarks/dispatch.py [--quick] [--json FILE]

Both step the synthetic env of the tests, whose cost per step is adjustable: either fixed, or heavy-tailed, where 2 % of
the steps cost 51 times as much as the others. Cells are sync and async (a batch is half the envs) x envs x threads x
costs. The two pools take turns in slices within one process; one is idle while the other works. The ratio is the median
over the turns. A ratio of 0.97 or more counts as equal, and the last line says how many cells are below it.
"""

import argparse
import itertools
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from tests.support import plugin  # noqa: E402

COSTS = {"0.1 us": 100, "1 us": 1_000, "10 us": 10_000, "100 us": 100_000, "1 ms": 1_000_000, "10 ms": 10_000_000}
EQUAL = 0.97
#: The build finds the package in this tree if none is installed.
ENVIRON = os.environ | {"PYTHONPATH": os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])}


def load_plain_queue():
    """Build plain_queue.pyx in a temporary folder and return its class."""
    folder = tempfile.mkdtemp(prefix="envpool-benchmark-")
    here = ROOT / "benchmarks"
    subprocess.run(
        [sys.executable, "extension.py", "plain_queue", folder],
        check=True,
        cwd=here,
        env=ENVIRON,
        stdout=subprocess.DEVNULL,
    )
    sys.path.insert(0, folder)
    from plain_queue import PlainQueue

    return PlainQueue


class Ours:
    """The pool of this package, stepped as users step it."""

    def __init__(self, num_envs, batch_size, num_threads, options):
        sizes = {"num_envs": num_envs, "batch_size": batch_size, "num_threads": num_threads}
        self.pool = plugin.make(seed=0, **sizes, **options)
        self.action = np.zeros(batch_size, np.int32)
        self.is_sync = num_envs == batch_size
        self.pool.async_reset()
        if self.is_sync:
            self.pool.recv()

    def turn(self):
        """Step one batch."""
        if self.is_sync:
            self.pool.step(self.action)
        else:
            self.pool.send(self.action, self.pool.recv()[4]["env_id"])

    def close(self):
        """End the threads."""
        self.pool.close()


class Plain:
    """The pool with one queue item per step."""

    def __init__(self, queue_class, num_envs, batch_size, num_threads, options):
        capsule = plugin.make(num_envs=1, **options).spec.capsule
        self.pool = queue_class(capsule, num_envs, batch_size, num_threads)
        self.action = np.zeros(num_envs, np.int32)
        self.ids = np.arange(num_envs, dtype=np.int32)
        self.is_sync = num_envs == batch_size
        self.pool.send(self.action, self.ids)
        if self.is_sync:
            self.pool.recv()

    def turn(self):
        """Step one batch."""
        if self.is_sync:
            self.pool.send(self.action, self.ids)
            self.pool.recv()
        else:
            env_id = self.pool.recv()[4]
            self.pool.send(self.action[: len(env_id)], env_id)

    def close(self):
        """End the threads."""
        self.pool.close()


def slice_rate(engine, batches):
    """Return batches per second; the first batches, which may have been finished in the other's turn, do not count."""
    for _ in range(3):
        engine.turn()
    start = time.perf_counter()
    for _ in range(batches):
        engine.turn()
    return batches / (time.perf_counter() - start)


def compare(queue_class, mode, envs, threads, cost, distribution, slices, seconds):
    """Return the steps per second of this pool, and the ratio, for one cell."""
    options = {"cost_ns": float(cost), "distribution": distribution, "episode_length": 1000, "fused": True}
    batch = envs if mode == "sync" else envs // 2
    engines = [Ours(envs, batch, threads, options), Plain(queue_class, envs, batch, threads, options)]
    try:
        # Equal seeds and equal numbers of steps, so that both pools get the same expensive steps.
        batches = max(8, int(seconds * min(slice_rate(e, 8) for e in engines)))
        rates = [[slice_rate(e, batches) for e in engines] for _ in range(slices)]
    finally:
        for e in engines:
            e.close()
    return median(r[0] for r in rates) * batch, median(r[0] / r[1] for r in rates)


def main():
    """Measure all cells and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="fewer cells, shorter slices")
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2, 4])
    parser.add_argument("--envs", type=int, nargs="+", default=[16, 64, 256])
    parser.add_argument("--costs", nargs="+", choices=COSTS, default=list(COSTS))
    parser.add_argument("--json", type=Path)
    args = parser.parse_args()
    plain = load_plain_queue()
    costs = [c for c in args.costs if not args.quick or c in ("0.1 us", "1 us", "100 us")]
    rows, slices, seconds = [], 7, 0.02 if args.quick else 0.1
    print("mode   envs  threads  cost     distribution   our steps/s   ours / plain")
    for mode, envs, threads, cost, distribution in itertools.product(
        ("sync", "async"), args.envs, args.threads, costs, ("fixed", "heavy_tailed")
    ):
        if COSTS[cost] * envs / min(threads, 2) > 0.7e9 and args.quick:
            continue
        rate, ratio = compare(plain, mode, envs, threads, COSTS[cost], distribution, slices, seconds)
        rows.append({"mode": mode, "envs": envs, "threads": threads, "cost": cost, "distribution": distribution,
                     "steps_per_second": rate, "ratio": ratio})  # fmt: skip
        mark = "" if ratio >= EQUAL else "  <"
        print(
            f"{mode:5} {envs:5} {threads:8}  {cost:7}  {distribution:12} {rate:13,.0f} {ratio:14.2f}{mark}", flush=True
        )
    below = [r for r in rows if r["ratio"] < EQUAL]
    print(f"{len(rows)} cells, {len(below)} below {EQUAL}, smallest ratio {min(r['ratio'] for r in rows):.2f}")
    if args.json:
        args.json.write_text(json.dumps(rows, indent=1) + "\n")


if __name__ == "__main__":
    main()
