"""Plots of benchmark results, made with matplotlib."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from envpool.distribution import install
from envpool.errors import ConfigError

if TYPE_CHECKING:
    from envpool.cli.bench.measure import Row

LIMIT_LABEL = "limit of the kernels"
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
    """Plot a bar for each row's steps per second, with a dashed mark at its limit."""
    shown = [r for r in rows if r.steps_per_second]
    engines = list(dict.fromkeys(r.engine for r in shown))
    figure = new_figure(8, 1.9 + 0.45 * len(shown))
    axes = figure.subplots()
    for engine in engines:
        own = [(i, r) for i, r in enumerate(shown) if r.engine == engine]
        colour = COLOURS[engines.index(engine) % len(COLOURS)]
        bars = axes.barh([i for i, _ in own], [r.steps_per_second for _, r in own], color=colour, label=engine)
        axes.bar_label(bars, [f"{r.steps_per_second:,.0f}" for _, r in own], padding=4, fontsize=8)
    limits = [(i, r.limit_steps_per_second) for i, r in enumerate(shown) if r.limit_steps_per_second]
    if limits:
        axes.vlines(
            [x for _, x in limits],
            [i - 0.4 for i, _ in limits],
            [i + 0.4 for i, _ in limits],
            colors="black",
            linestyles="dashed",
            label=LIMIT_LABEL,
        )
    axes.set_yticks(range(len(shown)), [bar_name(r) for r in shown])
    axes.invert_yaxis()
    axes.set_xscale("log")
    ends = [x for r in shown for x in (r.steps_per_second, r.limit_steps_per_second) if x]
    axes.set_xlim(10 ** math.floor(math.log10(min(ends))), 8 * max(ends))
    steps_axis(axes.xaxis, "env steps per second (logarithmic)")
    axes.set_title("Steps per second with random actions")
    axes.grid(True, axis="x", alpha=0.25)
    handles, labels = axes.get_legend_handles_labels()
    order = sorted(range(len(labels)), key=lambda i: labels[i] == LIMIT_LABEL)
    figure.legend([handles[i] for i in order], [labels[i] for i in order], loc="outside lower center", ncols=2)
    figure.savefig(path)


def bar_name(row: Row) -> str:
    """Return a short label for the configuration of a row."""
    batch = f", batches of {row.batch_size:,}" if row.batch_size != row.num_envs else ""
    return f"{row.task}, {row.num_envs:,} envs{batch}"
