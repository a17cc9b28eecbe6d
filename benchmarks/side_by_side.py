"""Compare two checkouts of this package, both built in place: steps per second of the new one over the old one.

    python benchmarks/side_by_side.py OLD NEW [--cells TEXT] [--rounds 9] [--seconds 0.5] [--json FILE]

Each checkout is driven by its own process. Every round starts both anew, each from a fresh copy of its package, so that
neither the layout of a process's memory nor the place of its files in the page cache decides: with one environment, two
copies of the same files have differed by 5%. The two take turns in slices, one idle while the other works, and change
the order from round to round. A ratio is the median over the rounds, once in wall time and once in CPU time. Nothing
else may run on the machine.
"""

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

#: Name, task, options of the pool.
Cell = tuple[str, str, dict[str, int]]
CELLS: tuple[Cell, ...] = (
    ("CartPole-v1 1", "CartPole-v1", {"num_envs": 1}),
    ("CartPole-v1 16", "CartPole-v1", {"num_envs": 16}),
    ("CartPole-v1 256", "CartPole-v1", {"num_envs": 256}),
    ("CartPole-v1 4096", "CartPole-v1", {"num_envs": 4096}),
    ("CartPole-v1 64/32", "CartPole-v1", {"num_envs": 64, "batch_size": 32}),
    ("FrozenLake-v1 256", "FrozenLake-v1", {"num_envs": 256}),
    ("Ant-v5 64", "Ant-v5", {"num_envs": 64}),
    ("Pong-v5 16", "Pong-v5", {"num_envs": 16}),
    ("LunarLander-v3 64", "LunarLander-v3", {"num_envs": 64}),
)
#: Number of random action batches that a worker repeats.
VARIETY = 32


def work() -> None:
    """Serve one checkout: read cells and slices from standard input, and print steps, wall and CPU seconds."""
    import numpy as np

    import envpool

    pool, batches = None, []
    for line in sys.stdin:
        message = json.loads(line)
        if "task" in message:
            if pool is not None:
                pool.close()
            pool = envpool.make_gymnasium(message["task"], seed=1, **message["options"])
            pool.action_space.seed(1)
            size = message["options"].get("batch_size", message["options"]["num_envs"])
            batches = [np.array([pool.action_space.sample() for _ in range(size)]) for _ in range(VARIETY)]
            is_async = size != message["options"]["num_envs"]
            if is_async:
                start_shuffled(pool, size, batches)
            else:
                pool.reset()
            print("ready", flush=True)
            continue
        steps, k, began, cpu = 0, 0, time.perf_counter(), time.process_time()
        while time.perf_counter() - began < message["seconds"]:
            for _ in range(VARIETY):
                if is_async:
                    info = pool.recv()[-1]
                    pool.send(batches[k % VARIETY], info["env_id"])
                else:
                    pool.step(batches[k % VARIETY])
                k += 1
            steps += VARIETY * size
        print(json.dumps([steps, time.perf_counter() - began, time.process_time() - cpu]), flush=True)


def start_shuffled(pool: Any, size: int, batches: Sequence[Any]) -> None:
    """Reset an async pool and send all environments in the same random order.

    Which threads work on the reset decides otherwise whether neighbours stay together from then on, and an environment
    that is stepped with its neighbours can be a third faster.
    """
    import numpy as np

    pool.async_reset()
    for _ in range(0, pool.num_envs, size):
        pool.recv()
    order = np.random.default_rng(1).permutation(pool.num_envs).astype(np.int32)
    for start in range(0, pool.num_envs, size):
        pool.send(batches[0], order[start : start + size])


class Checkout:
    """A process that drives a copy of one checkout.

    Parameters
    ----------
    folder : Path
        The root of the checkout.
    """

    def __init__(self, folder: Path):
        self.copy = tempfile.TemporaryDirectory()
        shutil.copytree(folder / "envpool", Path(self.copy.name, "envpool"))
        environ = os.environ | {"PYTHONPATH": self.copy.name}
        self.process = subprocess.Popen(
            [sys.executable, str(Path(__file__).resolve()), "--work"],
            cwd=self.copy.name,
            env=environ,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def ask(self, **message: object) -> str:
        """Send a message and return the answer."""
        assert self.process.stdin is not None and self.process.stdout is not None
        print(json.dumps(message), file=self.process.stdin, flush=True)
        answer = self.process.stdout.readline()
        if not answer:
            raise SystemExit(f"the process of {self.process.args} has ended")
        return answer

    def speeds(self, seconds: float) -> tuple[float, float]:
        """Run a slice, and return the steps per second of wall time and of CPU time."""
        steps, wall, cpu = json.loads(self.ask(seconds=seconds))
        return steps / wall, steps / cpu

    def close(self) -> None:
        """End the process."""
        self.process.communicate()
        self.copy.cleanup()


def compare(old: Path, new: Path, cells: list[Cell], rounds: int, seconds: float) -> dict[str, list[float]]:
    """Return the median ratios of each cell: in wall time, and in CPU time."""
    found = {}
    for name, task, options in cells:
        ratios = []
        for k in range(rounds):
            sides = [Checkout(old), Checkout(new)]
            for side in sides:
                side.ask(task=task, options=options)
                side.speeds(seconds)  # the first slice warms caches and estimates up
            speeds = {side: side.speeds(seconds) for side in (sides if k % 2 else sides[::-1])}
            ratios.append([speeds[sides[1]][i] / speeds[sides[0]][i] for i in range(2)])
            for side in sides:
                side.close()
        found[name] = [statistics.median(r[i] for r in ratios) for i in range(2)]
        print(f"| {name} | {found[name][0]:.3f} | {found[name][1]:.3f} |", flush=True)
    return found


def main() -> None:
    """Compare two checkouts and print a table of ratios."""
    if sys.argv[1:] == ["--work"]:
        work()
        return
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("old", type=Path, help="root of the old checkout")
    parser.add_argument("new", type=Path, help="root of the new checkout")
    parser.add_argument("--cells", default="", help="compare only the cells whose name contains this text")
    parser.add_argument("--rounds", type=int, default=9, help="processes of each side per cell")
    parser.add_argument("--seconds", type=float, default=0.5, help="length of a slice")
    parser.add_argument("--json", type=Path, help="file for the ratios")
    args = parser.parse_args()
    cells = [cell for cell in CELLS if args.cells in cell[0]]
    print("| cell | new / old, wall time | new / old, CPU time |\n| --- | --- | --- |")
    found = compare(args.old, args.new, cells, args.rounds, args.seconds)
    means = [statistics.geometric_mean(r[i] for r in found.values()) for i in range(2)]
    print(f"| geometric mean | {means[0]:.3f} | {means[1]:.3f} |")
    if args.json:
        args.json.write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()
