"""A record of episode returns, its plot, and the check against a target."""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from envpool.training.options import natural, number, positive


class Measure(NamedTuple):
    """The values of episodes that a curve shows.

    Attributes
    ----------
    mean, value : str
        Names of the mean of episodes, and of the value of an episode.
    window : int
        Number of episodes in each mean that is plotted.
    decimals : int
        Number of decimal places of means that are printed.
    """

    mean: str = "mean return"
    value: str = "return"
    window: int = 100
    decimals: int = 1


RETURNS = Measure()


class Episodes:
    """Returns of finished episodes.

    Attributes
    ----------
    steps : list of int
        Number of steps at the end of each episode, as the class that adds them counts.
    values : list of float
        The return of each episode.
    is_interrupted : bool
        True if Ctrl-C stopped the run.
    """

    def __init__(self) -> None:
        self.steps: list[int] = []
        self.values: list[float] = []
        self.is_interrupted = False

    @property
    def mean(self) -> float:
        """Mean return of the last 100 episodes, or of all if there are fewer; NaN before the first."""
        return float(np.mean(self.values[-100:])) if self.values else float("nan")

    def has_reached(self, target: float) -> bool:
        """Return whether 100 episodes have ended, and the last 100 have at least this mean return."""
        return len(self.values) >= 100 and self.mean >= target

    @property
    def counted(self) -> str:
        """The episodes of `mean`, as a text."""
        return f"the last {min(len(self.values), 100)} of {len(self.values)} episodes"


class Curve(Episodes):
    """Returns of episodes that are added one by one; `steps` are the steps of the finished episodes."""

    def __init__(self) -> None:
        super().__init__()
        self.start = time.perf_counter()

    def add(self, value: float, length: float) -> None:
        """Add an episode with its return and its length."""
        self.steps.append((self.steps[-1] if self.steps else 0) + int(length))
        self.values.append(float(value))

    def report(self, args: Any, name: str) -> None:
        """Print the result, plot it if requested, and exit with an error if the target was not reached."""
        seconds = time.perf_counter() - self.start
        if args.plot:
            plot(args.plot, f"{name} on {args.task}, seed {args.seed}", self.steps, self.values, args.target)
        print(
            f"{name} on {args.task}: mean return {self.mean:.1f} over {self.counted}, "
            f"{self.steps[-1] if self.steps else 0} steps, seed {args.seed}, {seconds:.1f} s"
        )
        if not self.has_reached(args.target):
            raise SystemExit(f"the target {args.target:g} was not reached")


class Returns(Episodes):
    """Returns of the episodes that a pool with ``finished_episodes=True`` reports; `steps` counts its steps."""

    def add(self, info: Mapping[str, Any], step: int) -> None:
        """Add the episodes that ended in a step of the pool; `step` is the number of environment steps so far."""
        if "finished" in info:
            found = info["finished"]["r"].tolist()
            self.values.extend(found)
            self.steps.extend([step] * len(found))


def parse_args(description: str, argv: Sequence[str] | None = None, num_envs: int = 16) -> argparse.Namespace:
    """Parse the command line of a program that trains with the learner of another library."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--task", default="CartPole-v1", help="task id with discrete actions (default: %(default)s)")
    parser.add_argument(
        "--num-envs", type=positive, default=num_envs, help="environments in the pool (default: %(default)s)"
    )
    parser.add_argument(
        "--total-timesteps", type=natural, default=200_000, help="largest number of steps (default: %(default)s)"
    )
    parser.add_argument("--seed", type=natural, default=1, help="seed of everything random (default: %(default)s)")
    parser.add_argument(
        "--target",
        type=number,
        default=475.0,
        help="mean return of 100 episodes at which to stop (default: %(default)s)",
    )
    parser.add_argument("--plot", help="write the learning curve to this PNG file")
    return parser.parse_args(argv)


def plot(
    path: str,
    title: str,
    steps: Sequence[float],
    values: Sequence[float],
    target: float | None = None,
    measure: Measure = RETURNS,
) -> None:
    """Plot the values of all episodes and their running mean over environment steps."""
    with axes_of(path, title, target, measure) as axes:
        axes.plot(steps, values, ".", markersize=2, alpha=0.3, label="episode")
        means = running_means(values, measure.window)
        if len(means):
            axes.plot(steps[measure.window - 1 :], means, label=f"mean of {measure.window} episodes")


def plot_seeds(
    path: str,
    title: str,
    runs: Sequence[tuple[Sequence[float], Sequence[float]]],
    target: float | None = None,
    measure: Measure = RETURNS,
) -> None:
    """Plot the running means of several runs: their mean, and the range from the smallest to the largest.

    Each run is a pair of steps and values of its episodes. A run that has ended keeps its last value.
    """
    with axes_of(path, title, target, measure) as axes:
        first = measure.window - 1
        curves = [(steps[first:], running_means(values, measure.window)) for steps, values in runs if values[first:]]
        if curves:
            grid = np.linspace(max(steps[0] for steps, _ in curves), max(steps[-1] for steps, _ in curves), 500)
            means = np.array([np.interp(grid, steps, values) for steps, values in curves])
            axes.fill_between(grid, means.min(axis=0), means.max(axis=0), alpha=0.3, label="smallest to largest")
            axes.plot(grid, means.mean(axis=0), label=f"mean of {len(curves)} runs, {measure.window} episodes each")


def running_means(values: Sequence[float], window: int) -> npt.NDArray[np.float64]:
    """Return the mean of each `window` successive values."""
    return np.convolve(values, np.full(window, 1 / window), "valid") if len(values) >= window else np.empty(0)


@contextmanager
def axes_of(path: str, title: str, target: float | None, measure: Measure) -> Iterator[Any]:
    """Give axes for values over environment steps, and write them to a PNG file at the end."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot as plt

    figure, axes = plt.subplots(figsize=(7, 4), layout="constrained")
    yield axes
    if target is not None:
        axes.axhline(target, color="0.5", linestyle="--", label=f"target {target:g}")
    axes.set(xlabel="environment steps", ylabel=measure.value, title=title)
    axes.legend()
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=120)
    plt.close(figure)
