"""Compare pools of MinAtar with upstream's environments.

    python benchmarks/minatar_speed.py [--quick] [--json FILE]

A pool of 256 environments with two threads and one environment of upstream play random actions in turns. Figures are
medians over the turns: steps per second, their ratio, and the ratio of the CPU time of all threads per step. Upstream's
environment is the one of ``gymnasium.make`` without the environment checker, and it is reset after each episode.
"""

import argparse
import json
from pathlib import Path

from upstream_speed import compare

from envpool.cli.bench.machine import describe_machine
from envpool.minatar.upstream import upstream_of

SIZES = {"num_envs": 256, "num_threads": 2}
TASKS = tuple(f"MinAtar/{name}-v1" for name in ("Asterix", "Breakout", "Freeway", "Seaquest", "SpaceInvaders"))


def main():
    """Print the table, and write it if asked to."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--quick", action="store_true", help="measure a tenth as long")
    parser.add_argument("--json", type=Path, help="write the machine, the command and the figures to this file")
    args = parser.parse_args()
    rows = []
    print("| task | envpool, steps/s | upstream, steps/s | ratio | CPU ratio |\n|---|---:|---:|---:|---:|")
    for task in TASKS:
        rows.append(compare(task, upstream_of(task).make(), 0.3 if args.quick else 3.0, **SIZES))
        print(f"| {task} | " + " | ".join(f"{value:,.0f}" for value in list(rows[-1].values())[1:]) + " |", flush=True)
    if args.json:
        command = "python benchmarks/minatar_speed.py" + " --quick" * args.quick
        report = {"machine": describe_machine(), "command": command, "upstream": rows}
        args.json.write_text(json.dumps(report, indent=2) + "\n")


if __name__ == "__main__":
    main()
