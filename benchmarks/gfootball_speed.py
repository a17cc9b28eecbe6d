"""Compare pools of Google Research Football with upstream's environment and with EnvPool, in CPU time.

    python benchmarks/gfootball_speed.py [--python INTERPRETER] [--peer INTERPRETER]
                                         [--rounds 5] [--steps 300] [--json FILE]

The first INTERPRETER belongs to an environment in which gfootball 2.10.2, gym 0.25.2 and numpy are installed, the
second one to an environment with EnvPool 1.2.5. A pool of one environment without threads, and the others in processes
of these interpreters, play the same random actions with minimaps, resets included, in turns. Figures are medians over
the rounds: steps per second of CPU time.
"""

import argparse
import os
import statistics
import subprocess
import time
from pathlib import Path

import numpy as np
from upstream_speed import write

import envpool

TASKS = ("11_vs_11_stochastic", "academy_3_vs_1_with_keeper", "academy_empty_goal_close")
#: A program that prints the steps per second of CPU time of EnvPool, its threads included.
PEER = """
import sys, time
import envpool
import numpy as np

steps = int(sys.argv[2])
actions = np.random.default_rng([0, 1, 0]).integers(0, 19, (steps, 1), dtype=np.int32)
pool = envpool.make_gymnasium(sys.argv[1], num_envs=1, num_threads=1, seed=0)
pool.reset()
began = time.process_time()
for action in actions:
    pool.step(action)
print(steps / (time.process_time() - began))
"""
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


def of_program(python, *arguments):
    """Return the steps per second of CPU time that a program prints, which finds no packages of this environment."""
    env = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    command = [python, "-W", "ignore", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=env, cwd="/")
    return float(done.stdout.split()[-1])


def compare(scenario, arguments):
    """Return a row of the table."""
    steps = arguments.steps
    others = {}
    if arguments.python:
        others["upstream"] = lambda: of_program(arguments.python, str(UPSTREAM), "--time", scenario, str(steps))
    if arguments.peer:
        others["peer"] = lambda: of_program(arguments.peer, "-c", PEER, f"gfootball/{scenario}-v1", str(steps))
    rounds = [(of_pool(scenario, steps), *(other() for other in others.values())) for _ in range(arguments.rounds)]
    mine, *theirs = zip(*rounds, strict=True)
    row = {"task": f"gfootball/{scenario}-v1", "steps_per_cpu_second": statistics.median(mine)}
    for name, values in zip(others, theirs, strict=True):
        ratio = statistics.median(a / b for a, b in zip(mine, values, strict=True))
        prefix = "" if name == "upstream" else f"{name}_"
        row |= {f"{name}_steps_per_cpu_second": statistics.median(values), f"{prefix}cpu_ratio": ratio}
    return row


def main():
    """Print the table, and write it if asked to."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--python", help="interpreter with gfootball 2.10.2")
    parser.add_argument("--peer", help="interpreter with EnvPool 1.2.5")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--steps", type=int, default=300)
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    arguments.quick = False
    if not (arguments.python or arguments.peer):
        parser.error("at least one of --python and --peer is needed")
    rows = []
    for scenario in TASKS:
        rows.append(row := compare(scenario, arguments))
        print(*(f"{value:.4g}" if isinstance(value, float) else value for value in row.values()), flush=True)
    write(arguments, upstream=rows)


if __name__ == "__main__":
    main()
