"""A `RayPool` against a local pool, interleaved in one run, and a projection to many cores.

    python benchmarks/ray_pools.py --task Pong-v5 --num-envs 64 --threads 2 --rounds 5 --out ray_pools.json

The cases have the same number of threads in total, except for one of the two actors alone, with its half of the
environments and threads. Async pools have batches of half of an actor's environments. CPU times depend less on what
else the machine does than rates do; `projection` computes from them. With --remote, results travel through Ray's object
store, as they do from other machines, which the projection is about.
"""

import argparse
import json
import os
import statistics
import time
from pathlib import Path

import numpy as np
import ray

import envpool
from envpool.adapters.ray import RayPool

LOCAL = "local pool"


class Repeated:
    """A policy that always takes action 0."""

    def __call__(self, result):
        """Return the actions of one step."""
        return np.zeros(len(result[0]), np.int64), {}


def stepping(pool):
    """Return a function that takes one step of all environments, or of those of one batch."""
    pool.async_reset()

    def step():
        ids = pool.recv()[-1]["env_id"]
        pool.send(np.zeros(len(ids), np.int64), ids)
        return len(ids)

    return step


def shipped(task, num_envs, num_actors, steps, **options):
    """Return a pool whose actors act, a function that steps and returns the number of steps, and their pids."""
    pool = RayPool(task, num_envs, num_actors, policy=Repeated(), **options)

    def collect():
        pool.collect(steps)
        return steps * num_envs

    return pool, collect, pids_of(pool)


def pool_of(task, num_envs, num_actors, *args, remote, **options):
    """Return a RayPool; if `remote`, it does not look for the memory of its actors."""
    pool = RayPool(task, num_envs, num_actors, *args, **options)
    if remote:
        pool._fleet._addresses = [None] * num_actors
    return pool


def cases(task, num_envs, threads, steps, remote):
    """Yield a name, the pool, a function that steps and returns the number of steps, and the pids of the actors."""
    local = envpool.make_gymnasium(task, num_envs=num_envs, num_threads=threads)
    yield LOCAL, local, stepping(local), []
    for actors in (1, 2):
        own = {"num_threads": max(threads // actors, 1), "num_cpus": 0}
        pool = pool_of(task, num_envs, actors, remote=remote, **own)
        yield f"{actors} actors, sync", pool, stepping(pool), pids_of(pool)
        pool = pool_of(task, num_envs, actors, num_envs // (2 * actors), remote=remote, **own)
        yield f"{actors} actors, async", pool, stepping(pool), pids_of(pool)
        yield f"{actors} actors, policy in the actors", *shipped(task, num_envs, actors, steps, **own)
    yield "one of the two, policy in the actor", *shipped(task, num_envs // 2, 1, steps, **own)


def pids_of(pool):
    """Return the pids of the actors of a pool."""
    return ray.get([actor.__ray_call__.remote(lambda self: os.getpid()) for actor in pool._fleet.actors])


def cpu_seconds(pids):
    """Return the CPU time of processes."""
    ticks = 0
    for pid in pids:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2].split()
        ticks += int(fields[11]) + int(fields[12])
    return ticks / os.sysconf("SC_CLK_TCK")


def measure(step, actors, seconds):
    """Return steps per second, and CPU seconds per step of the driver and of the actors."""
    count, began = 0, time.perf_counter()
    before = cpu_seconds([os.getpid()]), cpu_seconds(actors)
    while time.perf_counter() - began < seconds:
        count += step()
    took = time.perf_counter() - began
    after = cpu_seconds([os.getpid()]), cpu_seconds(actors)
    return count / took, *((b - a) / count for a, b in zip(before, after, strict=True))


def projection(step, overhead, message, cores, cores_per_actor, envs_per_core, together):
    """Return projected steps per second.

    The model: each core of an actor needs `step` seconds of CPU time per step, and `overhead` for what Ray adds to it.
    The driver needs `message` seconds per message, one message per actor and `together` steps of all its environments.
    Actors do not wait for each other. The network is not part of the model.
    """
    rows = cores_per_actor * envs_per_core * together
    return min(cores / (step + overhead), rows / message)


def main():
    """Measure and print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--task", default="Pong-v5")
    parser.add_argument("--num-envs", type=int, default=64)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--steps", type=int, default=32, help="steps of a rollout")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=1.0)
    parser.add_argument("--remote", action="store_true", help="send results through Ray's object store")
    parser.add_argument("--out", type=Path)
    args = parser.parse_args()
    ray.init(num_cpus=os.cpu_count(), include_dashboard=False, log_to_driver=False)
    found, running = {}, list(cases(args.task, args.num_envs, args.threads, args.steps, args.remote))
    for _ in range(args.rounds):
        for name, _, step, actors in running:
            found.setdefault(name, []).append(measure(step, actors, args.seconds))
    medians = {name: [statistics.median(column) for column in zip(*rows, strict=True)] for name, rows in found.items()}
    print(f"{args.task}, {args.num_envs} environments, {os.cpu_count()} CPUs, load {os.getloadavg()[0]:.1f}")
    for name, (rate, driver, actors) in medians.items():
        print(
            f"{name:36} {rate:10,.0f} steps/s, CPU us per step: driver {driver * 1e6:6.1f}, actors {actors * 1e6:6.1f}"
        )
    local, acts, shipped = (medians[name] for name in (LOCAL, "2 actors, async", "2 actors, policy in the actors"))
    rows, row_bytes = args.num_envs // 4, envpool.make_gymnasium(args.task).reset()[0].nbytes
    for cores in (8, 64, 256, 1000):
        size = min(cores, 32)
        rates = [
            projection(local[1], max(acts[2] - local[1], 0), acts[1] * rows, cores, size, 16, 1),
            projection(
                local[1],
                max(shipped[2] - local[1], 0),
                shipped[1] * args.num_envs / 2 * args.steps,
                cores,
                size,
                16,
                args.steps,
            ),
        ]
        text = ", ".join(f"{rate:12,.0f} steps/s ({rate * row_bytes / 1e9:6.1f} GB/s)" for rate in rates)
        print(f"{cores:5} cores: the driver acts, the actors act: {text}")
    for _, pool, _, _ in running:
        pool.close()
    if args.out:
        args.out.write_text(json.dumps(found, indent=1))


if __name__ == "__main__":
    main()
