"""Measure how fast rollouts are collected if policies and environments work at the same time, and if they take turns.

    python benchmarks/overlap.py [--turns 9] [--seconds 0.6] [--others 0.1] [--cases "Pong, CNN" ...]

Printed for each case and setting: environment steps per second of wall time, the median over the turns, and the median
of the ratios to the best sync setting of the same turn. All settings of a case take turns. "Best" is the sync setting
with the highest median. The number of threads of a pool is its default, the number of CPUs. With ``--others 0.1``, only
slices count during which other processes used at most a tenth of the CPUs.

A policy is a network that torch runs on the CPU, or one that waits, as for an accelerator. Settings:

- sync: one pool; the policy acts when all environments have finished. With 1 thread of torch, or with all CPUs.
- async N/B: one pool with num_envs N and batch_size B; the policy acts in a batch while the others are simulated.
- two sync pools: the policy acts in the environments of one pool while the other simulates.
"""

import argparse
import statistics
import time

import numpy as np
import torch
from quiet import Slices
from torch import nn

import envpool
from envpool._support.machine import cpu_limit
from envpool.cli.bench.machine import describe_machine

NUM_ENVS = 64


def cnn(pool):
    """Return the network of Mnih et al. (2015) as a policy over discrete actions."""
    layers = [nn.Conv2d(4, 32, 8, 4), nn.ReLU(), nn.Conv2d(32, 64, 4, 2), nn.ReLU(), nn.Conv2d(64, 64, 3), nn.ReLU()]
    net = nn.Sequential(*layers, nn.Flatten(), nn.Linear(3136, 512), nn.ReLU(), nn.Linear(512, pool.action_space.n))
    return lambda obs: net(torch.from_numpy(obs) / 255).argmax(1).numpy()


def mlp(pool):
    """Return a network with two hidden layers of 64 units as a policy over continuous actions."""
    inputs, outputs = pool.single_observation_space.shape[0], pool.single_action_space.shape[0]
    net = nn.Sequential(nn.Linear(inputs, 64), nn.Tanh(), nn.Linear(64, 64), nn.Tanh(), nn.Linear(64, outputs))
    return lambda obs: net(torch.from_numpy(obs).float()).clamp(-1, 1).numpy()


def waits(seconds):
    """Return a maker of policies that repeat an action for each row, after some time in which they use no CPU."""

    def make(pool):
        actions = pool.sample_actions(0, np.arange(pool.num_envs))

        def act(obs):
            time.sleep(seconds)
            return actions[: len(obs)]

        return act

    return make


#: Task, maker of the policy, and batch sizes of async pools, by the name of the case.
CASES = {
    "Pong, CNN": ("Pong-v5", cnn, (32, 16)),
    "Pong, waits 8 ms": ("Pong-v5", waits(8e-3), (32, 16)),
    "HalfCheetah, waits 2 ms": ("HalfCheetah-v5", waits(2e-3), (32, 16)),
    "HalfCheetah, MLP": ("HalfCheetah-v5", mlp, (32,)),
}


class OnePool:
    """Collects from one pool, sync or async, with a number of threads of torch."""

    def __init__(self, pool, make_policy, torch_threads):
        self.pool, self.act, self.torch_threads = pool, make_policy(pool), torch_threads
        self.obs, info = pool.reset()
        self.ids = info["env_id"]

    def slice(self, seconds):
        """Collect for some time; return the steps and the time that they took."""
        steps, began = 0, time.perf_counter()
        while (passed := time.perf_counter() - began) < seconds:
            self.pool.send(self.act(self.obs), self.ids)
            self.obs, *_, info = self.pool.recv()
            self.ids = info["env_id"]
            steps += len(self.ids)
        return steps, passed


class TwoPools:
    """Collects from two sync pools, of which one is simulated while the policy acts in the other."""

    def __init__(self, pools, make_policy):
        self.pools, self.acts, self.torch_threads = pools, [make_policy(pool) for pool in pools], 1
        self.obs = [pool.reset()[0] for pool in pools]

    def slice(self, seconds):
        """Collect for some time; return the steps and the time that they took. Nothing is in flight afterwards."""
        steps, began = 0, time.perf_counter()
        self.pools[0].send(self.acts[0](self.obs[0]))
        turn = 1
        while time.perf_counter() - began < seconds:
            self.pools[turn].send(self.acts[turn](self.obs[turn]))
            turn = 1 - turn
            self.obs[turn] = self.pools[turn].recv()[0]
            steps += len(self.obs[turn])
        self.obs[1 - turn] = self.pools[1 - turn].recv()[0]
        return steps + len(self.obs[1 - turn]), time.perf_counter() - began


def settings_of(task, make_policy, batch_sizes):
    """Return the settings of a case by name; names that begin with "sync" are those of a sync pool."""

    def pool(num_envs, batch_size=0, seed=0):
        return envpool.make_gymnasium(task, num_envs=num_envs, batch_size=batch_size, seed=seed)

    one = pool(NUM_ENVS)
    settings = {f"sync, torch on {n}": OnePool(one, make_policy, n) for n in sorted({1, cpu_limit()})}
    for size in batch_sizes:
        settings[f"async {NUM_ENVS}/{size}"] = OnePool(pool(NUM_ENVS, size), make_policy, 1)
    halves = [pool(NUM_ENVS // 2, seed=NUM_ENVS // 2 * k) for k in range(2)]
    return settings | {"two sync pools": TwoPools(halves, make_policy)}


@torch.no_grad()
def measure(settings, turns, seconds, slices):
    """Return the median rate of each setting, and its median ratio to the best sync setting."""
    rates = {name: [] for name in settings}
    for turn in range(turns + 1):
        for name, setting in settings.items():
            torch.set_num_threads(setting.torch_threads)
            steps, passed = slices.run(lambda s=setting: s.slice(seconds))
            if turn:  # the first turn warms up
                rates[name].append(steps / passed)
    medians = {name: statistics.median(found) for name, found in rates.items()}
    best = max((name for name in settings if name.startswith("sync")), key=medians.get)
    ratios = {
        name: statistics.median(a / b for a, b in zip(found, rates[best], strict=True)) for name, found in rates.items()
    }
    return medians, ratios


def main():
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--cases", nargs="+", choices=CASES, default=list(CASES))
    parser.add_argument("--turns", type=int, default=9)
    parser.add_argument("--seconds", type=float, default=0.6, help="wall time of each setting in a turn")
    parser.add_argument("--others", type=float, default=1.0, help="largest share of the CPUs for other processes")
    args = parser.parse_args()
    machine = describe_machine()
    print(f"{machine['cores_available']} cores ({machine['cpu']}), torch {torch.__version__}, {NUM_ENVS} environments")
    print("\n| task, policy | setting | steps per second | relative rate |\n| --- | --- | --- | --- |")
    slices = Slices(args.others)
    for case in args.cases:
        medians, ratios = measure(settings_of(*CASES[case]), args.turns, args.seconds, slices)
        for name, rate in medians.items():
            print(f"| {case} | {name} | {rate:,.0f} | {ratios[name]:.2f} |", flush=True)
    print(f"\nOther processes used {statistics.median(slices.shares):.0%} of the CPUs (median over the slices).")


if __name__ == "__main__":
    main()
