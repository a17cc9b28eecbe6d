"""Compare NetHack pools with upstream's Python environment: steps per CPU second, and memory.

    python benchmarks/nethack.py [--task NetHackScore-v0] [--num-envs 1 8 100] [--steps 2000]

Every measurement runs in a process of its own, on one thread, with random actions and without ``screen_descriptions``
unless --all-keys is given. Times are CPU times. Memory is the proportional set size that the environments have added:
pages that several copies of the library share count once.
"""

import argparse
import json
import subprocess
import sys
import time

import numpy as np

import envpool


def proportional_memory():
    """Return the proportional set size of this process in bytes."""
    with open("/proc/self/smaps_rollup") as file:
        return next(int(line.split()[1]) * 1024 for line in file if line.startswith("Pss:"))


def observation_keys(all_keys):
    """Return the default arrays, with or without screen_descriptions."""
    from envpool.nethack.observations import DEFAULT_KEYS

    return tuple(name for name in DEFAULT_KEYS if all_keys or name != "screen_descriptions")


def own(args, num_envs):
    """Return a function that makes `steps` steps with a pool."""
    keys = observation_keys(args.all_keys)
    pool = envpool.make_gymnasium(args.task, num_envs=num_envs, num_threads=1, observation_keys=keys)
    pool.reset()
    num_actions = pool.spec.action_space.n

    def run(steps):
        for actions in np.random.default_rng(0).integers(0, num_actions, (steps // num_envs, num_envs)):
            pool.step(actions)

    return run


def upstream(args, num_envs):
    """Return a function that makes `steps` steps with one Python environment after the other."""
    from envpool.nethack.upstream import NetHackOracle

    oracle = NetHackOracle(
        task=args.task.removesuffix("-v0"), kwargs={"observation_keys": observation_keys(args.all_keys)}
    )
    envs = [oracle.make() for _ in range(num_envs)]
    for env in envs:
        env.reset()
    num_actions = envs[0].action_space.n

    def run(steps):
        for actions in np.random.default_rng(0).integers(0, num_actions, (steps // num_envs, num_envs)).tolist():
            for env, action in zip(envs, actions, strict=True):
                if env.step(action)[2]:
                    env.reset()

    return run


def measure(make, args, num_envs):
    """Return the figures of one package."""
    make(args, 1)(num_envs)  # what the first environment loads does not count
    start, before = time.process_time(), proportional_memory()
    run = make(args, num_envs)
    made, memory = time.process_time(), proportional_memory()
    run(args.steps)
    return {
        "steps per CPU second": round(args.steps / (time.process_time() - made)),
        "make and reset, ms per environment": round((made - start) / num_envs * 1e3, 1),
        "memory, MB": round((memory - before) / 1e6, 1),
    }


def main():
    """Measure both packages."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--task", default="NetHackScore-v0")
    parser.add_argument("--num-envs", type=int, nargs="+", default=[1, 8, 100])
    parser.add_argument("--steps", type=int, default=20_000, help="steps of all environments together")
    parser.add_argument("--all-keys", action="store_true", help="observe screen_descriptions, too")
    parser.add_argument("--only", choices=["own", "upstream"], help="measure one package in this process")
    args = parser.parse_args()
    if args.only:
        print(json.dumps(measure({"own": own, "upstream": upstream}[args.only], args, args.num_envs[0])))
        return
    for num_envs in args.num_envs:
        for name in ("own", "upstream"):
            more = ["--all-keys"] * args.all_keys
            command = [sys.executable, __file__, "--task", args.task, "--num-envs", str(num_envs), *more]
            command += ["--steps", str(args.steps), "--only", name]
            figures = json.loads(subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout)
            shown = "; ".join(f"{value} {key}" for key, value in figures.items())
            print(f"{args.task}, {num_envs} environments, {name}: {shown}", flush=True)


if __name__ == "__main__":
    main()
