"""Compare tasks that are declared (`envpool.make_mujoco`) with the built-in tasks that they rebuild.

    python benchmarks/declared_speed.py [--turns N] [--seconds S] [TASK ...]

Both pools simulate 64 environments on one thread with the same actions, so they compute the same bits. They take turns
in one process. Figures are CPU time, and the ratio is the median over the turns; 0.97 means that a declared task does
0.97 times the steps of the built-in one in the same CPU time.
"""

import argparse
import sys
import time
import warnings
from pathlib import Path
from statistics import median

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

import envpool  # noqa: E402
from tests.mujoco.declared.rebuilt import REBUILT  # noqa: E402

NUM_ENVS = 64


def cost(env, actions, steps):
    """Return the CPU time of a step of one environment, in microseconds."""
    start = time.process_time()
    for k in range(steps):
        env.step(actions[k % len(actions)])
    return (time.process_time() - start) / (steps * NUM_ENVS) * 1e6


def compare(task_id, turns, seconds):
    """Return the median cost of both pools and the median ratio of the turns."""
    options = {"num_envs": NUM_ENVS, "num_threads": 1, "seed": 1}
    built_in = envpool.make_gymnasium(task_id, **options)
    declared = envpool.make_mujoco(**REBUILT[task_id]() | options)
    space = built_in.action_space
    actions = np.random.default_rng(0).uniform(space.low, space.high, (100, NUM_ENVS, *space.shape))
    with built_in, declared:
        pools = built_in, declared
        for env in pools:
            env.reset()
        steps = max(10, int(seconds * 1e6 / (cost(built_in, actions, 50) * NUM_ENVS)))
        cost(declared, actions, 50)
        rows = []
        for turn in range(turns):
            order = (0, 1) if turn % 2 == 0 else (1, 0)
            found = {k: cost(pools[k], actions, steps) for k in order}
            rows.append((found[0], found[1]))
    return median(a for a, _ in rows), median(b for _, b in rows), median(a / b for a, b in rows)


def main(argv=None):
    """Measure and print a row for each task."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("tasks", nargs="*", metavar="TASK", help="tasks; by default all that the tests rebuild")
    parser.add_argument("--turns", type=int, default=11, help="turns of both pools (default: %(default)s)")
    parser.add_argument("--seconds", type=float, default=0.3, help="length of a turn (default: %(default)s)")
    args = parser.parse_args(argv)
    warnings.simplefilter("ignore")  # of the compiler, about the models of upstream
    print(f"{'task':20} {'built-in us':>12} {'declared us':>12} {'ratio':>7}")
    for task_id in args.tasks or REBUILT:
        ours, theirs, ratio = compare(task_id, args.turns, args.seconds)
        print(f"{task_id:20} {ours:12.2f} {theirs:12.2f} {ratio:7.3f}", flush=True)


if __name__ == "__main__":
    main()
