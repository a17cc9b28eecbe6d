"""Plots of benchmark results, made with matplotlib."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from envpool._support.packages import install
from envpool.cli.bench.measure import POOL, Row
from envpool.errors import ConfigError

LIMIT_LABEL = "limit of the kernels"
GROUP_GAP = 0.6  # between two groups of bars, in widths of a bar
LONGEST_LINE = 80  # of a text in a plot, in characters
BAR, GAP = 0.4, 0.22  # half the height of a bar, and of the gap in the mark of a limit, which leaves room for a number
SUFFIXES = (".png", ".svg", ".pdf")
#: Colours that colour-blind readers can tell apart (Okabe and Ito), in the order of use.
COLOURS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#000000", "#F0E442")


def check_plot(path: Path) -> None:
    """Raise ConfigError if the file type is not supported, ImportError if matplotlib is missing."""
    if path.suffix not in SUFFIXES:
        raise ConfigError(f"--plot must end in one of {', '.join(SUFFIXES)}, got {path.name!r}")
    new_figure(1, 1)


def new_figure(width: float, height: float) -> Any:
    """Return an empty figure that needs no display; `width` and `height` are in inches."""
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise ImportError(f"plots need matplotlib: {install('plot')}") from error
    return Figure(figsize=(width, height), layout="constrained", dpi=150)


def steps_axis(axis: Any, label: str = "env steps per second") -> None:
    """Label an axis of steps per second, with ticks such as 20 M."""
    from matplotlib.ticker import EngFormatter

    axis.set_label_text(label)
    axis.set_major_formatter(EngFormatter())


def plot_sweep(rows: Sequence[Row], path: Path) -> None:
    """Plot steps per second over the number of envs: a line per number of threads, and a dashed line at its limit."""
    tasks = list(dict.fromkeys(r.task for r in rows))
    figure = new_figure(6.4 * len(tasks), 4.8)
    for axes, task in zip(figure.subplots(1, len(tasks), squeeze=False)[0], tasks, strict=True):
        of_task = [r for r in rows if r.task == task]
        sizes = sorted({r.num_envs for r in of_task})
        for i, threads in enumerate(sorted({r.num_threads for r in of_task})):
            line = sorted((r for r in of_task if r.num_threads == threads), key=lambda r: r.num_envs)
            colour, name = COLOURS[i % len(COLOURS)], f"{threads} {'thread' if threads == 1 else 'threads'}"
            envs = [r.num_envs for r in line]
            axes.plot(envs, [r.steps_per_second for r in line], "o-", color=colour, label=name)
            limits = [r.limit_steps_per_second for r in line]
            if None not in limits:
                axes.plot(envs, limits, "--", color=colour, alpha=0.6, label=f"limit, {name}")
        axes.set_xscale("log", base=2)
        axes.set_yscale("log")
        axes.set_xticks(sizes, [f"{n:,}" for n in sizes])
        axes.set_xlabel("number of envs")
        steps_axis(axes.yaxis)
        axes.set_title(f"{task}: steps per second, and the limit of the kernels")
        axes.grid(True, which="both", alpha=0.25)
        axes.legend()
    figure.savefig(path)


def plot_bars(rows: Sequence[Row], path: Path) -> None:
    """Plot a bar for each row's steps per second, with a mark at its limit; see `bars_figure`."""
    bars_figure(rows).savefig(path)


def bars_figure(rows: Sequence[Row]) -> Any:
    """Return the figure of `plot_bars`: a pool and its peers form a group, which has one label.

    The number of a row stands at the end of its bar; the mark of its limit has a gap at this height. A row without
    measurements shows its note.
    """
    starts = [k for k, r in enumerate(rows) if r.engine == POOL]
    groups = [rows[a:b] for a, b in zip(starts, [*starts[1:], len(rows)], strict=True)]
    placed: list[tuple[float, Row]] = []
    centres = []
    for own in groups:
        first = placed[-1][0] + 1 + GROUP_GAP if placed else 0.0
        placed += [(first + k, r) for k, r in enumerate(own)]
        centres.append(first + (len(own) - 1) / 2)
    figure = new_figure(8, 1.9 + 0.45 * len(rows) + 0.45 * GROUP_GAP * (len(groups) - 1))
    axes = figure.subplots()
    measured = [(y, r, r.steps_per_second) for y, r in placed if r.steps_per_second]
    engines = list(dict.fromkeys(r.engine for _, r, _ in measured))
    for k, engine in enumerate(engines):
        bars = [(y, steps) for y, r, steps in measured if r.engine == engine]
        axes.barh([y for y, _ in bars], [x for _, x in bars], color=COLOURS[k % len(COLOURS)], label=engine)
    limits = [(y, r.limit_steps_per_second) for y, r, _ in measured if r.limit_steps_per_second]
    if limits:
        starts_at = [y + side for y, _ in limits for side in (-BAR, GAP)]
        ends_at = [y + side for y, _ in limits for side in (-GAP, BAR)]
        axes.vlines([x for _, x in limits for _ in range(2)], starts_at, ends_at, colors="black", label=LIMIT_LABEL)
    values = [x for _, _, x in measured] + [x for _, x in limits]
    left, right = 10 ** math.floor(math.log10(min(values))), 8 * max(values)
    for y, row in placed:
        steps = row.steps_per_second
        write(axes, f"{steps:,.0f}" if steps else f"{row.engine}: {row.note}", steps or left, y)
    axes.set_yticks(centres, [group_name(own[0]) for own in groups])
    axes.set_ylim(placed[-1][0] + 0.6, -0.6)
    axes.set_xscale("log")
    axes.set_xlim(left, right)
    steps_axis(axes.xaxis, "env steps per second (logarithmic)")
    axes.set_title("Steps per second with random actions")
    axes.grid(True, axis="x", alpha=0.25)
    handles, labels = axes.get_legend_handles_labels()
    order = sorted(range(len(labels)), key=lambda i: labels[i] == LIMIT_LABEL)
    figure.legend([handles[i] for i in order], [labels[i] for i in order], loc="outside lower center", ncols=2)
    return figure


def write(axes: Any, text: str, x: float, y: float) -> None:
    """Write a text to the right of a point; a long one is broken."""
    lines = "\n".join(textwrap.wrap(text, LONGEST_LINE))
    axes.annotate(lines, (x, y), xytext=(5, 0), textcoords="offset points", va="center", fontsize=8)


def group_name(row: Row) -> str:
    """Return the label of a pool and its peers from the row of the pool."""
    batch = f"\nbatches of {row.batch_size:,}" if row.batch_size != row.num_envs else ""
    return f"{row.task}\n{row.num_envs:,} envs{batch}"
