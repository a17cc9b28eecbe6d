"""Measure the memory that a rollout of stacked frames takes: as frames, as stacks, and as a learner's float32 array.

    python benchmarks/rollout_memory.py [--task Pong-v5] [--num-envs 64] [--num-steps 128]

Printed for each way: by how much the resident memory of the process grows while a rollout is recorded with random
actions. Memory that no step has reached does not count.
"""

import argparse

import numpy as np

import envpool


def resident():
    """Return the resident memory of this process in bytes."""
    with open("/proc/self/smaps_rollup") as file:
        return next(int(line.split()[1]) * 1024 for line in file if line.startswith("Rss:"))


def recorded(pool, num_steps, frames_once):
    """Return a Rollout that is full."""
    rollout = envpool.Rollout(pool, num_steps, frames_once=frames_once)
    rollout.reset()
    for _ in range(num_steps):
        rollout.step(pool.sample_actions())
    return rollout


def stored(pool, num_steps):
    """Return the observations of the steps as an array of float32, as CleanRL stores them."""
    obs = np.empty((num_steps, pool.num_envs, *pool.single_observation_space.shape), np.float32)
    obs[0], _ = pool.reset()
    for t in range(1, num_steps):
        obs[t] = pool.step(pool.sample_actions())[0]
    return obs


def main():
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--task", default="Pong-v5")
    parser.add_argument("--num-envs", type=int, default=64)
    parser.add_argument("--num-steps", type=int, default=128)
    args = parser.parse_args()
    ways = {
        "Rollout(frames_once=True)": lambda pool: recorded(pool, args.num_steps, True),
        "Rollout()": lambda pool: recorded(pool, args.num_steps, False),
        "float32 stacks": lambda pool: stored(pool, args.num_steps),
    }
    print(f"{args.num_steps} steps of {args.num_envs} {args.task}\n\n| stored as | MB |\n| --- | --- |")
    with envpool.make_gymnasium(args.task, num_envs=args.num_envs) as pool:
        recorded(pool, 4, False)  # what the pool allocates in its first steps does not count
        for name, record in ways.items():
            before = resident()
            held = record(pool)
            print(f"| {name} | {(resident() - before) / 1e6:.1f} |", flush=True)
            del held


if __name__ == "__main__":
    main()
