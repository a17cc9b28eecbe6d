"""The runs of a training program, one for each seed: their pools, their results, their plot and their target."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import envpool
from envpool.training.curves import RETURNS, Measure, plot, plot_seeds

#: Exit status after Ctrl-C, as shells report it.
INTERRUPTED = 130
#: Options that belong to a single run, not to several seeds.
SINGLE = ("checkpoint", "save", "eval", "capture_video")


def make_pool(task: str, **options: Any) -> Any:
    """Return a pool of a task, or of the Python environments of an id that only gymnasium has."""
    make = envpool.make_gymnasium if task in envpool.list_all_envs() else envpool.make_python
    return make(task, **options)


def start(args: Any, **options: Any) -> Any:
    """Seed torch, set its threads, and return the pool of a run.

    Environment `i` of a pool has the seed of the pool plus `i`. The pool of a run therefore gets ``args.seed *
    args.num_envs``: runs with the seeds 1, 2, ... have no environments in common.

    Parameters
    ----------
    args : RunArgs
        The options of the program; those in ``args.options`` take precedence over `options`.
    **options
        Options of the pool.
    """
    import torch

    torch.manual_seed(args.seed)
    torch.set_num_threads(args.torch_threads)
    sizes = {"num_envs": args.num_envs, "seed": args.seed * args.num_envs, "num_threads": args.env_threads}
    pool = make_pool(args.task, **sizes | options | json.loads(args.options))
    if pool.spec.num_players:
        raise SystemExit(
            f"this example needs a task without players, and {args.task} has {pool.spec.num_players}: "
            "examples/mappo.py trains players that act together, examples/connect_four.py those that take turns"
        )
    return pool


def run_seeds(args: Any, train: Callable[[Any], Any], algorithm: str, measure: Measure = RETURNS) -> None:
    """Train with each seed and report; exit with an error if a target was set and not reached.

    Parameters
    ----------
    args : RunArgs
        The options of the program.
    train : callable
        ``train(args)`` does one run, and returns what a `Curve` has: ``steps``, ``values``, ``mean`` and
        ``is_interrupted``.
    algorithm : str
        Its name, for the title of the plot.
    measure : Measure
        The measure that the target is compared with.
    """
    single = [name for name in SINGLE if getattr(args, name, None) is not None]
    if args.seeds > 1 and single:
        raise SystemExit(f"--{single[0].replace('_', '-')} belongs to a single run: leave out --seeds")
    runs, missed = [], []
    for seed in range(args.seed, args.seed + args.seeds):
        start = time.perf_counter()
        curve = train(replace(args, seed=seed))
        runs.append((curve.steps, curve.values))
        print(
            f"{args.task}: {measure.mean} {curve.mean:.{measure.decimals}f} over {curve.counted}, seed {seed}, "
            f"{time.perf_counter() - start:.1f} s"
        )
        if curve.is_interrupted:
            print("stopped by Ctrl-C", file=sys.stderr)
            raise SystemExit(INTERRUPTED)
        if args.target is not None and not curve.has_reached(args.target):
            missed.append(seed)
    if args.plot and args.seeds == 1:
        plot(args.plot, f"{algorithm} on {args.task}, seed {args.seed}", *runs[0], args.target, measure)
    elif args.plot:
        title = f"{algorithm} on {args.task}, seeds {args.seed} to {args.seed + args.seeds - 1}"
        plot_seeds(args.plot, title, runs, args.target, measure)
    if missed:
        seeds = "" if args.seeds == 1 else f" with the seeds {missed}"
        raise SystemExit(f"the target {args.target:g} was not reached in {args.total_timesteps} steps{seeds}")
