"""The runs of a training program, one for each seed: their results, their plot, and the check against a target."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from envpool.training.curves import RETURNS, Measure, plot, plot_seeds

#: Exit status after Ctrl-C, as shells report it.
INTERRUPTED = 130


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
        What the target is compared with.
    """
    runs, missed = [], []
    for seed in range(args.seed, args.seed + args.seeds):
        start = time.perf_counter()
        curve = train(replace(args, seed=seed))
        runs.append((curve.steps, curve.values))
        print(
            f"{args.task}: {measure.mean} {curve.mean:.{measure.decimals}f} over the last 100 of "
            f"{len(curve.values)} episodes, seed {seed}, {time.perf_counter() - start:.1f} s"
        )
        if curve.is_interrupted:
            print("stopped by Ctrl-C", file=sys.stderr)
            raise SystemExit(INTERRUPTED)
        if args.target is not None and not curve.mean >= args.target:
            missed.append(seed)
    if args.plot and args.seeds == 1:
        plot(args.plot, f"{algorithm} on {args.task}, seed {args.seed}", *runs[0], args.target, measure)
    elif args.plot:
        title = f"{algorithm} on {args.task}, seeds {args.seed} to {args.seed + args.seeds - 1}"
        plot_seeds(args.plot, title, runs, args.target, measure)
    if missed:
        seeds = "" if args.seeds == 1 else f" with the seeds {missed}"
        raise SystemExit(f"the target {args.target:g} was not reached in {args.total_timesteps} steps{seeds}")
