"""Pools of Python environments against the vector environments of other libraries, interleaved in one run.

    python benchmarks/python_envs.py --rounds 9 --seconds 0.5 --out python_envs.json

Three environments: one whose step takes about a microsecond, one that returns 84x84x4 images of uint8, and one that
computes for a millisecond. Libraries that are not installed are left out. The table has the median of the rounds in
steps per second and the CPU time per step, of all processes, in microseconds.
"""

import argparse
import json
import resource
import statistics
import time
from contextlib import suppress
from functools import partial
from pathlib import Path

import gymnasium
import numpy as np
from gymnasium.spaces import Box, Discrete
from gymnasium.vector import AsyncVectorEnv, SyncVectorEnv

import envpool


class Cheap(gymnasium.Env):
    """Returns the same four floats in every step."""

    observation_space, action_space = Box(-np.inf, np.inf, (4,), np.float32), Discrete(2)
    row = np.zeros(4, np.float32)

    def reset(self, *, seed=None, options=None):
        """Start an episode."""
        return self.row, {}

    def step(self, action):
        """Take one step."""
        return self.row, 1.0, False, False, {}


class Image(Cheap):
    """Returns the same image in every step."""

    observation_space = Box(0, 255, (84, 84, 4), np.uint8)
    row = np.zeros((84, 84, 4), np.uint8)


class Busy(Cheap):
    """Computes for a millisecond."""

    def step(self, action):
        """Take one step."""
        until = time.perf_counter() + 1e-3
        while time.perf_counter() < until:
            pass
        return super().step(action)


ENVS = {"1 us": Cheap, "84x84x4 uint8": Image, "1 ms": Busy}


def pools(num_envs):
    """Yield a name and a function for each vector environment: it takes a class and returns (step, close)."""

    def ours(**options):
        def make(cls):
            pool = envpool.make_python(cls, num_envs, **options)
            pool.reset()
            return pool.step, pool.close

        return make

    def gymnasiums(vector):
        def make(cls):
            env = vector([cls] * num_envs)
            env.reset()
            return env.step, env.close

        return make

    yield "envpool inline", ours(workers="inline")
    for workers in (1, 2, 16):
        yield f"envpool {workers} processes", ours(workers="process", num_threads=workers)
    yield "gymnasium Sync", gymnasiums(SyncVectorEnv)
    yield "gymnasium Async", gymnasiums(AsyncVectorEnv)
    with suppress(ImportError):
        from stable_baselines3.common.vec_env import SubprocVecEnv

        yield "SB3 Subproc", gymnasiums(SubprocVecEnv)
    with suppress(ImportError):
        from tianshou.env import ShmemVectorEnv, SubprocVectorEnv

        yield "Tianshou Subproc", gymnasiums(SubprocVectorEnv)
        yield "Tianshou Shmem", gymnasiums(ShmemVectorEnv)
    with suppress(ImportError):
        import pufferlib.emulation
        import pufferlib.vector

        for workers in (1, 2):
            yield f"PufferLib, {workers} workers", puffers(pufferlib, num_envs, workers)
    with suppress(ImportError):
        import torchrl.envs

        yield "torchrl ParallelEnv", torchrls(torchrl.envs, num_envs)


def puffers(pufferlib, num_envs, workers):
    """Return a function that makes PufferLib's vector environment."""

    def make(cls):
        env = pufferlib.vector.make(
            [pufferlib.emulation.GymnasiumPufferEnv] * num_envs,
            env_args=[[]] * num_envs,
            env_kwargs=[{"env_creator": cls}] * num_envs,
            backend=pufferlib.vector.Multiprocessing,
            num_envs=num_envs,
            num_threads=workers,
        )
        env.reset()
        return env.step, env.close

    return make


def torchrls(envs, num_envs):
    """Return a function that makes torchrl's vector environment, whose step takes a tensordict with the actions."""

    def wrapped(envs, cls):
        return envs.GymWrapper(cls())

    def make(cls):
        env = envs.ParallelEnv(num_envs, partial(wrapped, envs, cls))
        start = env.rand_action(env.reset())
        return lambda actions: env.step(start), env.close

    return make


def cpu_seconds():
    """Return the CPU time of this process and of its children that have ended."""
    usages = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(usage.ru_utime + usage.ru_stime for usage in usages)


def measure(make, cls, num_envs, seconds):
    """Return steps per second, and CPU microseconds per step with those of the children."""
    step, close = make(cls)
    actions, count = np.zeros(num_envs, np.int64), 0
    step(actions)
    cpu, began = cpu_seconds(), time.perf_counter()
    while time.perf_counter() - began < seconds:
        step(actions)
        count += num_envs
    rate = count / (time.perf_counter() - began)
    close()
    return rate, (cpu_seconds() - cpu) / count * 1e6


def main():
    """Measure, print a table, and write all figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--num-envs", type=int, default=16)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=0.5)
    parser.add_argument("--out", type=Path)
    args = parser.parse_args()
    figures = {}
    for _ in range(args.rounds):
        for env, cls in ENVS.items():
            for name, make in pools(args.num_envs):
                figures.setdefault(env, {}).setdefault(name, []).append(measure(make, cls, args.num_envs, args.seconds))
    for env, rows in figures.items():
        print(f"\n{env}, {args.num_envs} environments")
        for name, values in rows.items():
            rates, cpu = zip(*values, strict=True)
            print(
                f"  {name:22} {statistics.median(rates):12,.0f} steps/s (best {max(rates):12,.0f})"
                f" {statistics.median(cpu):9.1f} us CPU/step"
            )
    if args.out is not None:
        args.out.write_text(json.dumps(figures, indent=1))


if __name__ == "__main__":
    main()
