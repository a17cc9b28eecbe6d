"""Measure resets, kernels and RGB observations of MiniGrid and BabyAI; RGB observations also with upstream's wrapper.

    python benchmarks/minigrid_speed.py [--quick] [--json FILE]

Everything runs on one thread, and figures are medians over turns. Resets are those of a pool of 256 environments, in
CPU time, for one task of each level and the tasks whose kernels are measured. A kernel is the native code of a task in
a loop without a pool, with random actions, in steps per CPU second. RGB observations are measured by whole steps of a
pool with random actions, in turns with upstream's RGBImgPartialObsWrapper around one environment, in steps per second.
"""

import time
from statistics import median

import gymnasium
from minigrid.wrappers import RGBImgPartialObsWrapper
from upstream_speed import compare, compare_all, parse, write

import envpool
from envpool.cli.bench.actions import draw_actions
from envpool.cli.bench.measure import cpu_per_million, interleave, open_limit
from envpool.registration import registry

NUM_ENVS = 256
#: Tasks whose kernels are measured.
KERNELS = (
    "MiniGrid-DoorKey-8x8-v0",
    "MiniGrid-FourRooms-v0",
    "MiniGrid-KeyCorridorS6R3-v0",
    "MiniGrid-Dynamic-Obstacles-8x8-v0",
    "BabyAI-GoTo-v0",
    "BabyAI-Synth-v0",
    "BabyAI-BossLevel-v0",
)
RGB = ("MiniGrid-DoorKey-8x8-v0", "MiniGrid-FourRooms-v0", "BabyAI-BossLevel-v0")


def levels():
    """Return one task of each level."""
    tasks = [i for i, entry in registry.tasks.items() if entry.import_path.startswith("envpool.minigrid.")]
    return list({registry.find(i).env: i for i in reversed(tasks)}.values())[::-1]


def reset_time(task, turns):
    """Return the CPU time of a reset, in microseconds."""
    with envpool.make_gymnasium(task, num_envs=NUM_ENVS, num_threads=1) as pool:
        pool.reset()
        times = []
        for _ in range(turns):
            began = time.process_time()
            pool.reset()
            times.append(time.process_time() - began)
    return 1e6 * median(times) / NUM_ENVS


def kernel_rate(task, seconds):
    """Return the steps per CPU second of a task's kernel."""
    spec = envpool.make_spec(task, num_envs=NUM_ENVS)
    loop = open_limit(spec, draw_actions(spec))
    slices = interleave({"envpool": loop}, seconds, lambda text: None)["envpool"]
    return 1e6 / cpu_per_million(slices)


def compare_rgb(task, seconds):
    """Return the row of a task with RGB observations."""
    env = RGBImgPartialObsWrapper(gymnasium.make(task, disable_env_checker=True))
    return compare(task, env, seconds, num_envs=NUM_ENVS, num_threads=1, observation="rgb_partial")


def main():
    """Print the tables, and write them if asked to."""
    arguments = parse(__doc__)
    turns, seconds = (20, 0.3) if arguments.quick else (200, 3.0)
    resets, kernels = [], []
    print("| task | reset, us |\n|---|---:|")
    for task in dict.fromkeys((*KERNELS, *levels())):
        resets.append({"task": task, "microseconds": reset_time(task, turns)})
        print(f"| {task} | {resets[-1]['microseconds']:.2f} |", flush=True)
    print("\n| task | kernel, steps per CPU-s |\n|---|---:|")
    for task in KERNELS:
        kernels.append({"task": task, "steps_per_cpu_second": kernel_rate(task, seconds)})
        print(f"| {task} | {kernels[-1]['steps_per_cpu_second']:,.0f} |", flush=True)
    print()
    rows = compare_all(RGB, lambda task: compare_rgb(task, seconds), "RGB")
    write(arguments, resets=resets, kernels=kernels, upstream=rows)


if __name__ == "__main__":
    main()
