"""A pool and one environment of upstream, which play random actions in turns; the command lines of such comparisons."""

import argparse
import json
import sys
from pathlib import Path

import numpy as np

import envpool
from envpool.cli.bench.actions import draw_actions
from envpool.cli.bench.loops import SyncLoop
from envpool.cli.bench.machine import describe_machine
from envpool.cli.bench.measure import cpu_ratio, interleave, pool_loop, rate, speed_ratio


def random_actions(space):
    """Return actions of one environment."""
    rng = np.random.default_rng(0)
    if hasattr(space, "n"):
        return rng.integers(0, space.n, 4096).tolist()
    if hasattr(space, "nvec"):
        return rng.integers(0, space.nvec, (4096, *space.nvec.shape)).tolist()
    return list(rng.uniform(space.low, space.high, (4096, *space.shape)).astype(space.dtype))


def compare(task, env, seconds, others=None, **options):
    """Return the row of a task: steps per second, their ratio, and the ratio of the CPU time per step.

    Parameters
    ----------
    task : str
        Task id.
    env : gymnasium.Env
        The environment of upstream; it is reset after each episode.
    seconds : float
        Time of the measurement of each loop.
    others : dict, optional
        More loops by name, which run in the same turns. For each, the row gets its steps per second, and the CPU time
        per step of upstream and of the pool divided by that of the loop.
    **options
        Options of the pool.
    """

    def step(action):
        obs, _, terminated, truncated, _ = env.step(action)
        return env.reset()[0] if terminated or truncated else obs

    env.reset(seed=0)
    spec = envpool.make_spec(task, **options)
    actions = random_actions(spec.action_space)
    with envpool.make_gymnasium(task, **options) as pool:
        loops = {"envpool": pool_loop(pool, "gymnasium", draw_actions(spec)), "upstream": SyncLoop(step, actions, 1)}
        loops |= others or {}
        slices = interleave(loops, seconds, lambda text: None)
    ours, upstream = slices["envpool"], slices["upstream"]
    row = {
        "task": task,
        "steps_per_second": rate(ours),
        "upstream_steps_per_second": rate(upstream),
        "ratio": speed_ratio(ours, upstream),
        "cpu_ratio": cpu_ratio(upstream, ours),
    }
    for name in others or {}:
        row[f"{name}_steps_per_second"] = rate(slices[name])
        row[f"upstream_{name}_cpu_ratio"] = cpu_ratio(upstream, slices[name])
        row[f"{name}_cpu_ratio"] = cpu_ratio(ours, slices[name])
    return row


def parse(description):
    """Return the arguments of a comparison: ``quick``, and ``json``, the file for the figures, or None."""
    parser = argparse.ArgumentParser(description=description.split("\n", 1)[0])
    parser.add_argument("--quick", action="store_true", help="measure a tenth as long")
    parser.add_argument("--json", type=Path, help="write the machine, the command and the figures to this file")
    return parser.parse_args()


def compare_all(tasks, compare_task, what="envpool", others=()):
    """Print the rows of tasks as a table while they are measured, and return them.

    Parameters
    ----------
    tasks : sequence of str
        Task ids.
    compare_task : callable
        Returns the row of a task, as `compare` does.
    what : str
        Heading of the pool's column.
    others : sequence of str
        Names of the other loops of the rows.
    """
    rows = []
    headings = ["task", f"{what}, steps/s", "upstream, steps/s", "ratio", "CPU ratio"]
    for name in others:
        headings += [f"{name}, steps/s", f"CPU ratio, upstream to {name}", f"CPU ratio, {what} to {name}"]
    print(f"| {' | '.join(headings)} |\n|---{'|---:' * (len(headings) - 1)}|")
    for task in tasks:
        rows.append(compare_task(task))
        print(f"| {task} | " + " | ".join(f"{value:,.2f}" for value in list(rows[-1].values())[1:]) + " |", flush=True)
    return rows


def write(arguments, **figures):
    """Write the machine, the command and the figures to the file of the arguments, if there is one."""
    if arguments.json:
        command = f"python benchmarks/{Path(sys.argv[0]).name}" + " --quick" * arguments.quick
        report = {"machine": describe_machine(), "command": command} | figures
        arguments.json.write_text(json.dumps(report, indent=2) + "\n")
