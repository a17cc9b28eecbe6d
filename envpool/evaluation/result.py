"""`Evaluation`: the episodes of an evaluation, and their statistics."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from envpool.config.checks import check_choice

#: Resamples of a confidence interval.
RESAMPLES = 10_000
#: Above this number of episodes, the interval is computed from the normal distribution, which then gives the same.
MOST_RESAMPLED = 2_000
#: Largest number of players whose returns the table shows.
MOST_SHOWN = 16
#: Values of a chunk of resamples.
CHUNK = 1 << 21
#: The episodes that have names, and videos.
SHOWN = ("best", "median", "worst")


class Summary(NamedTuple):
    """Statistics of one value of all episodes.

    Attributes
    ----------
    mean, std : float
        Mean, and standard deviation of the sample (NaN for a single episode).
    low, high : float
        Confidence interval of the mean; NaN for a single episode.
    min, median, max : float
        Smallest, middle and largest value.
    """

    mean: float
    std: float
    low: float
    high: float
    min: float
    median: float
    max: float


@dataclass(frozen=True, eq=False)
class Evaluation:
    """The episodes of an evaluation, sorted by environment and order. ``print`` shows a table.

    Attributes
    ----------
    returns : numpy.ndarray
        float64 (E,), the return of each episode.
    lengths : numpy.ndarray
        int64 (E,), its number of steps.
    terminated : numpy.ndarray
        bool (E,), False where it was truncated, for instance by the time limit.
    env_ids : numpy.ndarray
        int64 (E,), the environment that played it.
    numbers : numpy.ndarray
        int64 (E,), its number among the episodes of the environment, from 0.
    seeds : tuple of int, or None
        The seed of each environment; None if the environments continued without one.
    confidence : float
        Level of the confidence intervals.
    name : str
        Name of the task.
    player_returns : numpy.ndarray or None
        float64 (E, P), the return of each player in `players`; their sums are `returns`. NaN for the players that the
        policy did not play, which happens with ``controlled="alternate"``. None if the task has no players.
    groups : dict of str to tuple of int
        The numbers of the players of each group; empty if the task has no players.
    players : tuple of int
        The numbers of the players that the policy played: all, or those that the pool's option `controlled` names.
    """

    returns: npt.NDArray[np.float64]
    lengths: npt.NDArray[np.int64]
    terminated: npt.NDArray[np.bool_]
    env_ids: npt.NDArray[np.int64]
    numbers: npt.NDArray[np.int64]
    seeds: tuple[int, ...] | None
    confidence: float
    name: str
    player_returns: npt.NDArray[np.float64] | None = None
    groups: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    players: tuple[int, ...] = ()

    def __len__(self) -> int:
        return len(self.returns)

    @property
    def mean(self) -> float:
        """Mean return."""
        return float(self.returns.mean())

    @property
    def interval(self) -> tuple[float, float]:
        """Confidence interval of the mean return; NaN for a single episode."""
        return interval_of(self.returns, self.confidence)

    def group_returns(self) -> dict[str, npt.NDArray[np.float64]]:
        """Return the sums of the returns of the players of each group, float64 (E,), by the name of the group.

        NaN where the policy played none of the group.
        """
        if self.player_returns is None:
            return {}
        at = {player: k for k, player in enumerate(self.players)}
        columns = {name: self.player_returns[:, [at[p] for p in own]] for name, own in self.groups.items()}
        return {n: np.where(np.isnan(c).all(axis=1), np.nan, np.nansum(c, axis=1)) for n, c in columns.items()}

    def summary(self) -> dict[str, Summary]:
        """Return the statistics of "return" and "length".

        With players, "return" is the sum over all players, and there are also "return of NAME" for each group, if
        there are several, and "return of player N": of the episodes in which the policy was such a player.
        """
        values = {"return": self.returns}
        if len(self.groups) > 1:
            values |= {f"return of {name}": returns for name, returns in self.group_returns().items()}
        if self.player_returns is not None:
            values |= {f"return of player {p}": r for p, r in zip(self.players, self.player_returns.T, strict=True)}
        values["length"] = self.lengths.astype(np.float64)
        values = {name: column[~np.isnan(column)] for name, column in values.items()}
        return {name: summary_of(column, self.confidence) for name, column in values.items() if len(column)}

    def episode(self, which: str) -> int:
        """Return the index of the "best", "median" or "worst" episode by return; the first one among equals."""
        check_choice("which", which, SHOWN)
        order = np.argsort(self.returns, kind="stable")
        if which == "best":
            return int(np.argmax(self.returns))
        return int(order[0 if which == "worst" else (len(order) - 1) // 2])

    def to_dict(self) -> dict[str, Any]:
        """Return everything as values that ``json`` can write."""
        return {
            "task": self.name,
            "confidence": self.confidence,
            "summary": {name: dict(zip(s._fields, map(plain, s), strict=True)) for name, s in self.summary().items()},
            "seeds": None if self.seeds is None else list(self.seeds),
            "episodes": [
                {"env_id": int(e), "number": int(n), "return": float(r), "length": int(k), "terminated": bool(t)}
                | ({} if self.player_returns is None else {"player_returns": [*map(plain, self.player_returns[i])]})
                for i, (e, n, r, k, t) in enumerate(
                    zip(self.env_ids, self.numbers, self.returns, self.lengths, self.terminated, strict=True)
                )
            ],
        }

    def __str__(self) -> str:
        head = ["", "mean", f"{100 * self.confidence:g} % interval", "std", "min", "median", "max"]
        rows = [head]
        players = 0 if self.player_returns is None else self.player_returns.shape[1]
        for name, s in self.summary().items():
            if players > MOST_SHOWN and name.startswith("return of player "):
                continue
            bounds = f"{number(s.low)} to {number(s.high)}"
            rows.append([name, number(s.mean), bounds, *map(number, (s.std, s.min, s.median, s.max))])
        widths = [max(len(row[k]) for row in rows) for k in range(len(head))]
        lines = ["  ".join(text.rjust(width) for text, width in zip(row, widths, strict=True)) for row in rows]
        return "\n".join([f"{self.name}: {len(self)} episodes of {len(set(self.env_ids.tolist()))} envs", *lines])


def plain(value: float) -> float | None:
    """Return a number, or None for NaN, which JSON lacks."""
    return None if np.isnan(value) else float(value)


def number(value: float) -> str:
    """Return the text of a number in a table."""
    return "-" if np.isnan(value) else f"{value:.4g}" if abs(value) < 1000 else f"{value:.1f}"


def summary_of(values: npt.NDArray[np.float64], confidence: float) -> Summary:
    """Return the statistics of at least one value."""
    std = float(values.std(ddof=1)) if len(values) > 1 else float("nan")
    low, high = interval_of(values, confidence)
    return Summary(
        float(values.mean()), std, low, high, float(values.min()), float(np.median(values)), float(values.max())
    )


def interval_of(values: npt.NDArray[np.float64], confidence: float) -> tuple[float, float]:
    """Return a confidence interval of the mean: percentiles of the means of resampled episodes (bootstrap).

    It assumes no distribution, which returns seldom have, and is the same in every run. For many values, it is
    computed from the normal distribution.
    """
    if len(values) < 2:
        return float("nan"), float("nan")
    tails = (1 - confidence) / 2
    if len(values) > MOST_RESAMPLED:
        from statistics import NormalDist

        margin = NormalDist().inv_cdf(1 - tails) * float(values.std(ddof=1)) / len(values) ** 0.5
        return float(values.mean()) - margin, float(values.mean()) + margin
    rng, rows = np.random.default_rng(0), max(CHUNK // len(values), 1)
    counts = [min(rows, RESAMPLES - done) for done in range(0, RESAMPLES, rows)]
    means = np.concatenate([values[rng.integers(len(values), size=(n, len(values)))].mean(axis=1) for n in counts])
    low, high = np.quantile(means, [tails, 1 - tails])
    return float(low), float(high)
