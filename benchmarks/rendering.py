"""Compare ``render()`` of many envs in one native batch with the same number of calls of upstream's renderers.

    python benchmarks/rendering.py [--quick]

For each task, the pool and gymnasium's own envs draw 64 envs in the same states. They take turns in one process and on
one thread; the table shows medians of CPU time over the turns. mujoco_frames.py compares MuJoCo tasks with libmujoco.
"""

import argparse
import sys
import time
from pathlib import Path
from statistics import median

import gymnasium
import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import envpool

NUM_ENVS = 64
TASKS = ("CartPole-v1", "MountainCar-v0", "FrozenLake-v1", "Taxi-v4", "LunarLander-v3", "BipedalWalker-v3")


def seconds(call):
    """Return the CPU time of a call."""
    start = time.process_time()
    call()
    return time.process_time() - start


def compare(task, turns):
    """Measure one task and print its row."""
    envs = [gymnasium.make(task, render_mode="rgb_array", disable_env_checker=True) for _ in range(NUM_ENVS)]
    ids = np.arange(NUM_ENVS)
    with envpool.make_gymnasium(task, num_envs=NUM_ENVS, num_threads=1, render_mode="rgb_array") as pool:
        pool.reset(seed=0)
        for i, env in enumerate(envs):
            env.reset(seed=i)
        same = np.array_equal(pool.render(ids), [env.render() for env in envs])
        times = [
            (seconds(lambda: pool.render(ids)), seconds(lambda: [env.render() for env in envs])) for _ in range(turns)
        ]
    for env in envs:
        env.close()
    ours, upstream = (1e3 * median(t) for t in zip(*times, strict=True))
    print(f"| {task} | {ours:.2f} | {upstream:.1f} | {upstream / ours:.1f} | {'yes' if same else 'no'} |")


def main():
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--quick", action="store_true", help="measure few turns")
    turns = 5 if parser.parse_args().quick else 50
    print(f"{NUM_ENVS} frames, one thread, gymnasium {gymnasium.__version__}\n")
    print("| task | envpool, ms | upstream, ms | times as fast | equal pixels |")
    print("|---|---:|---:|---:|---|")
    for task in TASKS:
        compare(task, turns)


if __name__ == "__main__":
    main()
