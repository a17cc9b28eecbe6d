"""Compare pools of MinAtar with upstream's environments.

    python benchmarks/minatar_speed.py [--quick] [--json FILE]

A pool of 256 environments with two threads and one environment of upstream play random actions in turns. Figures are
medians over the turns: steps per second, their ratio, and the ratio of the CPU time of all threads per step. Upstream's
environment is the one of ``gymnasium.make`` without the environment checker, and it is reset after each episode.
"""

import argparse
import json
import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import envpool
from envpool.cli.bench.actions import draw_actions
from envpool.cli.bench.loops import SyncLoop
from envpool.cli.bench.machine import describe_machine
from envpool.cli.bench.measure import cpu_ratio, interleave, pool_loop, rate, speed_ratio
from envpool.minatar.upstream import upstream_of

NUM_ENVS, NUM_THREADS = 256, 2
TASKS = tuple(f"MinAtar/{name}-v1" for name in ("Asterix", "Breakout", "Freeway", "Seaquest", "SpaceInvaders"))


class Upstream:
    """One environment of upstream, which is reset after each episode."""

    def __init__(self, task):
        self.env = upstream_of(task).make()
        self.env.reset(seed=0)

    def step(self, action):
        """Step and return the observation."""
        obs, _, terminated, truncated, _ = self.env.step(action)
        return self.env.reset()[0] if terminated or truncated else obs


def compare(task, seconds):
    """Return the row of a task."""
    spec = envpool.make_spec(task, num_envs=NUM_ENVS, num_threads=NUM_THREADS)
    actions = np.random.default_rng(0).integers(0, spec.action_space.n, 4096).tolist()
    with envpool.make_gymnasium(task, num_envs=NUM_ENVS, num_threads=NUM_THREADS) as pool:
        loops = {
            "envpool": pool_loop(pool, "gymnasium", draw_actions(spec)),
            "upstream": SyncLoop(Upstream(task).step, actions, 1),
        }
        slices = interleave(loops, seconds, lambda text: None)
    ours, upstream = slices["envpool"], slices["upstream"]
    return {
        "task": task,
        "steps_per_second": rate(ours),
        "upstream_steps_per_second": rate(upstream),
        "ratio": speed_ratio(ours, upstream),
        "cpu_ratio": cpu_ratio(upstream, ours),
    }


def main():
    """Print the table, and write it if asked to."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--quick", action="store_true", help="measure a tenth as long")
    parser.add_argument("--json", type=Path, help="write the machine, the command and the figures to this file")
    args = parser.parse_args()
    rows = []
    print("| task | envpool, steps/s | upstream, steps/s | ratio | CPU ratio |\n|---|---:|---:|---:|---:|")
    for task in TASKS:
        rows.append(compare(task, 0.3 if args.quick else 3.0))
        print(f"| {task} | " + " | ".join(f"{value:,.0f}" for value in list(rows[-1].values())[1:]) + " |", flush=True)
    if args.json:
        command = "python benchmarks/minatar_speed.py" + " --quick" * args.quick
        report = {"machine": describe_machine(), "command": command, "upstream": rows}
        args.json.write_text(json.dumps(report, indent=2) + "\n")


if __name__ == "__main__":
    main()
