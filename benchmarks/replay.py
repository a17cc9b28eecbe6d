"""Measure replay buffers: memory, minibatches, and what recording costs, beside Stable-Baselines3's.

    python benchmarks/replay.py [--task Pong-v5] [--capacity 1000000] [--size 50000] [--batch-size 32]
    python benchmarks/replay.py --task HalfCheetah-v5 --batch-size 256      # SAC

With Stable-Baselines3, run it in an environment that has it, such as the one of `scripts/clients sb3`. CleanRL's DQN
uses the same class with ``optimize_memory_usage=True``. All buffers get the same kind of steps, of a pool with random
actions, and return torch tensors.

Printed are the growth of the resident memory while an envpool.ReplayBuffer of `capacity` steps is filled; the medians
of the times of ``sample(batch_size)``, taken in turns, each from a buffer of `size` steps, and from the large one; and
the medians of the times in which the pool alone, and a buffer, make a step. Before each minibatch, the program
multiplies matrices for about a millisecond, which does not count: a learner does something with minibatches. With
``prefetch=True``, the next minibatch is gathered meanwhile. The CPU time of the calling thread is printed as well: it
depends less on other programs. Buffers of Atari games are filled with ``frame_skip=1``, which saves time; the memory
does not depend on it. "a bare copy" is a single call of NumPy that copies as many rows, from random places of an array
of the same size, as a minibatch has: for stacks of four frames 8 frames for each transition, or the 5 of them that
differ. It is the least that any buffer takes whose minibatches are arrays of their own.
"""

import argparse
import statistics
import time

import numpy as np
import torch

import envpool


def resident():
    """Return the resident memory of this process in bytes."""
    with open("/proc/self/smaps_rollup") as file:
        return next(int(line.split()[1]) * 1024 for line in file if line.startswith("Rss:"))


def make(args, **options):
    """Return a pool."""
    return envpool.make_gymnasium(args.task, num_envs=args.num_envs, autoreset_mode="same_step", seed=1, **options)


def quick(args):
    """Return the options with which buffers are filled quickly."""
    return {"frame_skip": 1} if args.is_atari else {}


def ours(args, capacity, **options):
    """Return a ReplayBuffer that is full."""
    buffer = envpool.ReplayBuffer(make(args, **quick(args)), capacity, seed=1, **options)
    buffer.reset()
    while len(buffer) < buffer.capacity:
        buffer.step(buffer.pool.sample_actions())
    return buffer


def theirs(args, capacity, optimize_memory_usage):
    """Return a ReplayBuffer of Stable-Baselines3 that is full."""
    from stable_baselines3.common.buffers import ReplayBuffer

    pool = make(args, **quick(args))
    buffer = ReplayBuffer(
        capacity,
        pool.single_observation_space,
        pool.single_action_space,
        n_envs=args.num_envs,
        optimize_memory_usage=optimize_memory_usage,
        handle_timeout_termination=False,
    )
    obs, _ = pool.reset()
    while not buffer.full:
        action = pool.sample_actions()
        following, reward, terminated, truncated, _ = pool.step(action)
        buffer.add(obs, following, action, reward, terminated | truncated, [{}] * args.num_envs)
        obs = following
    return buffer


def tensors(buffer, batch_size):
    """Return a minibatch of a ReplayBuffer as torch tensors."""
    return [torch.from_numpy(array) for array in buffer.sample(batch_size)[:6]]


def bare_copies(args, buffer):
    """Return calls that copy random rows of an array, as many as a minibatch has; see above."""
    obs = buffer.sample(1).obs[0]
    rows, kinds = (obs[0], {"8 frames": 8, "5 frames": 5}) if args.is_atari else (obs, {"2 observations": 2})
    source = np.ones((args.size, *rows.shape), rows.dtype)
    rng = np.random.default_rng(1)

    def call(pieces):
        out = np.empty((args.batch_size * pieces, *rows.shape), rows.dtype)

        def copy():
            first = rng.integers(args.size - 8 * args.num_envs, size=(args.batch_size, 1))
            index = first + np.arange(pieces) % 5 * args.num_envs
            source.take(index.ravel(), axis=0, out=out, mode="clip")

        return copy

    return {f"a bare copy of {name}": call(pieces) for name, pieces in kinds.items()}


def medians(calls, rounds, before=lambda: None, clock=time.perf_counter):
    """Return the median time of each call in seconds; the calls take turns, each after an untimed call of `before`."""
    times = {name: [] for name in calls}
    for _ in range(rounds):
        for name, call in calls.items():
            before()
            begin = clock()
            call()
            times[name].append(clock() - begin)
    return {name: statistics.median(values) for name, values in times.items()}


def print_sampling(args, large):
    """Print the times of minibatches."""
    kinds = {"": {}, ", prioritized": {"prioritized": True}, ", prefetch": {"prefetch": True}}
    buffers = {f"envpool.ReplayBuffer{name}": ours(args, args.size, **options) for name, options in kinds.items()}
    buffers[f"envpool.ReplayBuffer, {large.capacity:,} steps"] = large
    calls = {name: lambda b=buffer: tensors(b, args.batch_size) for name, buffer in buffers.items()}
    try:
        rivals = {f"SB3{', optimize_memory_usage' * o}": theirs(args, args.size, o) for o in (False, True)}
    except ImportError:
        print("(Stable-Baselines3 is not installed.)")
        rivals = {}
    calls |= {name: lambda b=buffer: b.sample(args.batch_size) for name, buffer in rivals.items()}
    calls |= bare_copies(args, large)
    matrix = np.random.rand(256, 256).astype(np.float32)
    clocks = {"us": time.perf_counter, "CPU us of the caller": time.thread_time}
    found = {
        name: medians(calls, 500, lambda: [matrix @ matrix for _ in range(4)], clock) for name, clock in clocks.items()
    }
    print(f"\n| sample({args.batch_size}) of {args.size:,} steps | {' | '.join(clocks)} | SB3's CPU time over it |")
    print("| --- | --- | --- | --- |")
    for name in calls:
        wall, cpu = (times[name] for times in found.values())
        ratio = f"{found['CPU us of the caller']['SB3'] / cpu:.1f}" if rivals else "-"
        print(f"| {name} | {1e6 * wall:,.0f} | {1e6 * cpu:,.0f} | {ratio} |", flush=True)


def print_recording(args):
    """Print what recording adds to a step."""
    pool, buffer = make(args), envpool.ReplayBuffer(make(args), 20_000)
    pool.reset()
    buffer.reset()
    actions = [pool.sample_actions() for _ in range(64)]
    calls = {
        "pool.step": lambda: [pool.step(action) for action in actions],
        "ReplayBuffer.step": lambda: [buffer.step(action) for action in actions],
    }
    print(f"\n| a step of {args.num_envs} environments | us |\n| --- | --- |")
    for name, seconds in medians(calls, 31).items():
        print(f"| {name} | {1e6 * seconds / len(actions):,.0f} |", flush=True)


def main():
    """Print three tables."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--task", default="Pong-v5")
    parser.add_argument("--num-envs", type=int, default=8)
    parser.add_argument("--capacity", type=int, default=1_000_000)
    parser.add_argument("--size", type=int, default=50_000)
    parser.add_argument("--batch-size", type=int, default=32)
    args = parser.parse_args()
    args.is_atari = len(make(args).single_observation_space.shape) == 3
    torch.set_num_threads(1)
    np.random.seed(1)
    before = resident()
    large = ours(args, args.capacity)
    print(f"| {args.task} | GB |\n| --- | --- |\n| {large.capacity:,} steps | {(resident() - before) / 1e9:.2f} |")
    print(f"| each whole observation once | {large.capacity * large.sample(1).obs.nbytes / 1e9:.2f} |")
    print_sampling(args, large)
    print_recording(args)


if __name__ == "__main__":
    main()
