"""Measure saving, restoring and copying the states of environments, which one thread does.

    python benchmarks/state.py [--tasks CartPole-v1 Ant-v5] [--num-envs N] [--seconds 1]

Printed for each task: the size of a state, and for each call the time per environment and environments per second, the
best of all repetitions. `copy` copies half of the environments to the other half; `restore` includes all checks.
"""

import argparse
import time

import numpy as np

import envpool

#: Default number of environments of each task.
TASKS = {
    name: 4096 for name in ("CartPole-v1", "Pendulum-v1", "Acrobot-v1", "FrozenLake-v1", "Taxi-v4", "Blackjack-v1")
}
TASKS |= {name: 64 for name in ("Pong-v5", "Ant-v5", "Humanoid-v5", "CheetahRun-v1", "QuadrupedEscape-v1")}
TASKS |= {name: 64 for name in ("LunarLander-v3", "BipedalWalkerHardcore-v3", "CarRacing-v3")}


def best_time(call, seconds):
    """Return the shortest time of a call within some seconds of repetitions, at least three."""
    best, end, rounds = float("inf"), time.perf_counter() + seconds, 0
    while rounds < 3 or time.perf_counter() < end:
        start = time.perf_counter()
        call()
        best = min(best, time.perf_counter() - start)
        rounds += 1
    return best


def measure(task_id, num_envs, seconds):
    """Print one line for each call."""
    half = num_envs // 2
    with envpool.make_gymnasium(task_id, num_envs=num_envs, num_threads=1) as pool:
        pool.reset()
        states = pool.get_state()
        sources, targets = np.arange(half, dtype=np.int32), np.arange(half, 2 * half, dtype=np.int32)
        calls = {
            "copy": (lambda: pool.copy_state(sources, targets), half),
            "save": (pool.get_state, num_envs),
            "restore": (lambda: pool.set_state(states), num_envs),
        }
        for name, (call, count) in calls.items():
            ns = best_time(call, seconds) / count * 1e9
            size = states.nbytes // num_envs
            print(f"{task_id:14} {size:5} bytes  {name:8} {ns:8.1f} ns per env  {1e3 / ns:7.1f} M envs/s", flush=True)


def main():
    """Measure every task."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--tasks", nargs="+", default=list(TASKS))
    parser.add_argument("--num-envs", type=int, help="default: depends on the task")
    parser.add_argument("--seconds", type=float, default=1.0)
    args = parser.parse_args()
    for task_id in args.tasks:
        measure(task_id, args.num_envs or TASKS.get(task_id, 64), args.seconds)


if __name__ == "__main__":
    main()
