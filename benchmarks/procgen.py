"""Measure start and memory of Procgen environments, of this package and of upstream, each in a process of its own.

    python benchmarks/procgen.py [--task CoinrunEasy-v0] [--num-envs 64]

Printed for each: the time of the first environment of the process, which loads all images, and the memory that the
process has gained by it; the time of making and resetting the other environments, and their memory per environment.
Times are CPU times. Upstream needs gym3 and cffi, see docs/procgen.md.
"""

import argparse
import json
import subprocess
import sys
import time

import envpool


def resident():
    """Return the resident memory of this process in bytes."""
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * 4096


def own(task_id, num_envs):
    """Make and reset a pool."""
    pool = envpool.make_gymnasium(task_id, num_envs=num_envs, num_threads=1)
    pool.reset()
    return pool


def upstream(task_id, num_envs):
    """Make upstream's vector environment, which resets itself."""
    from envpool.procgen.upstream import load, upstream_of

    oracle = upstream_of(task_id)
    env = load().ProcgenGym3Env(
        num=num_envs, env_name=oracle.env_name, distribution_mode=oracle.mode, rand_seed=1, num_threads=0
    )
    env.observe()
    return env


def measure(make, task_id, num_envs):
    """Return the figures of one package."""
    start, before = time.process_time(), resident()
    kept = [make(task_id, 1)]
    loaded, with_images = time.process_time(), resident()
    kept.append(make(task_id, num_envs))
    return {
        "first environment, s": round(loaded - start, 2),
        "its memory, MB": round((with_images - before) / 1e6),
        f"{num_envs} more, s": round(time.process_time() - loaded, 3),
        "memory per environment, kB": round((resident() - with_images) / num_envs / 1e3),
    }


def main():
    """Measure both packages."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--task", default="CoinrunEasy-v0")
    parser.add_argument("--num-envs", type=int, default=64)
    parser.add_argument("--only", choices=["own", "upstream"], help="measure one package in this process")
    args = parser.parse_args()
    if args.only:
        print(json.dumps(measure({"own": own, "upstream": upstream}[args.only], args.task, args.num_envs)))
        return
    for name in ("own", "upstream"):
        command = [sys.executable, __file__, "--task", args.task, "--num-envs", str(args.num_envs), "--only", name]
        figures = json.loads(subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout)
        print(f"{args.task}, {name}: " + "; ".join(f"{k} {v}" for k, v in figures.items()), flush=True)


if __name__ == "__main__":
    main()
