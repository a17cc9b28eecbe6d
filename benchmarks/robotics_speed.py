"""Compare pools of Gymnasium-Robotics' tasks with upstream's environments.

    python benchmarks/robotics_speed.py [--quick] [--json FILE]

A pool of 64 environments with two threads and one environment of upstream play random actions in turns. Figures are
medians over the turns: steps per second, their ratio, and the ratio of the CPU time of all threads per step. Upstream's
environment is the one of ``gymnasium.make`` without the environment checker, and it is reset after each episode.
"""

import argparse
import json
from pathlib import Path

from upstream_speed import compare

from envpool.cli.bench.machine import describe_machine
from envpool.mujoco.robotics.oracle import upstream_of

SIZES = {"num_envs": 64, "num_threads": 2}
TASKS = ("FetchReach-v4", "FetchPush-v4", "FetchPickAndPlace-v4", "FetchSlide-v4", "HandReach-v3")
TASKS += tuple(f"HandManipulate{name}-v1" for name in ("Block", "Egg", "Pen", "Block_ContinuousTouchSensors"))
TASKS += ("PointMaze_UMaze-v3", "PointMaze_Large-v3", "AntMaze_UMaze-v5", "AntMaze_Large_Diverse_GR-v5")
TASKS += (*(f"AdroitHand{name}-v1" for name in ("Door", "Hammer", "Pen", "Relocate")), "FrankaKitchen-v1")


def main():
    """Print the table, and write it if asked to."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--quick", action="store_true", help="measure a tenth as long")
    parser.add_argument("--json", type=Path, help="write the machine, the command and the figures to this file")
    args = parser.parse_args()
    rows = []
    print("| task | envpool, steps/s | upstream, steps/s | ratio | CPU ratio |\n|---|---:|---:|---:|---:|")
    for task in TASKS:
        rows.append(compare(task, upstream_of(task).make(), 1.0 if args.quick else 10.0, **SIZES))
        print(f"| {task} | " + " | ".join(f"{value:,.2f}" for value in list(rows[-1].values())[1:]) + " |", flush=True)
    if args.json:
        command = "python benchmarks/robotics_speed.py" + " --quick" * args.quick
        report = {"machine": describe_machine(), "command": command, "upstream": rows}
        args.json.write_text(json.dumps(report, indent=2) + "\n")


if __name__ == "__main__":
    main()
