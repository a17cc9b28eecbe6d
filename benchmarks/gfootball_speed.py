"""Compare pools of Google Research Football with upstream's environment, in CPU time.

    python benchmarks/gfootball_speed.py --python INTERPRETER [--rounds 5] [--steps 300] [--json FILE]

INTERPRETER belongs to an environment in which gfootball 2.10.2, gym 0.25.2 and numpy are installed. A pool of one
environment without threads, and upstream's environment in a process of that interpreter, play the same random actions
with minimaps, resets included, in turns. Figures are medians over the rounds: steps per second of CPU time.
"""

import argparse
import statistics
import subprocess
import time
from pathlib import Path

import numpy as np
from upstream_speed import write

import envpool

TASKS = ("11_vs_11_stochastic", "academy_3_vs_1_with_keeper", "academy_empty_goal_close")
UPSTREAM = Path(__file__).parents[1] / "tests" / "gfootball" / "upstream.py"


def of_pool(scenario, steps):
    """Return the steps per second of CPU time of a pool."""
    actions = np.random.default_rng([0, 1, 0]).integers(0, 19, (steps, 1), dtype=np.int32)
    with envpool.make_gymnasium(f"gfootball/{scenario}-v1", num_envs=1, num_threads=0, seed=0) as pool:
        pool.reset()
        began = time.process_time()
        for action in actions:
            pool.step(action)
        return steps / (time.process_time() - began)


def of_upstream(python, scenario, steps):
    """Return the steps per second of CPU time of upstream's environment."""
    command = [python, "-W", "ignore", str(UPSTREAM), "--time", scenario, str(steps)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return float(done.stdout.split()[-1])


def main():
    """Print the table, and write it if asked to."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--python", required=True)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--steps", type=int, default=300)
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    arguments.quick = False
    rows = []
    for scenario in TASKS:
        pairs = [
            (of_pool(scenario, arguments.steps), of_upstream(arguments.python, scenario, arguments.steps))
            for _ in range(arguments.rounds)
        ]
        mine, theirs = (statistics.median(column) for column in zip(*pairs, strict=True))
        ratio = statistics.median(a / b for a, b in pairs)
        rows.append(
            {
                "task": f"gfootball/{scenario}-v1",
                "steps_per_cpu_second": mine,
                "upstream_steps_per_cpu_second": theirs,
                "cpu_ratio": ratio,
            }
        )
        print(f"{scenario:32} {mine:8.0f} {theirs:8.0f} {ratio:6.2f}x", flush=True)
    write(arguments, upstream=rows)


if __name__ == "__main__":
    main()
