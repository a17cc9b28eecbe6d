"""The results of the comparison as tables, JSON and a plot."""

from __future__ import annotations

import argparse
import json
import math
import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from comparison.cells import ALE_TARGET, PROBE_ENVS
from comparison.engines import ALE, PEER_VERSION
from envpool.cli.bench.machine import describe_machine
from envpool.cli.bench.plot import COLOURS, new_figure, steps_axis
from envpool.cli.text import count, short, table

PEER = f"EnvPool {PEER_VERSION}"
#: Construction figures: title, and factor to the unit that is shown.
CONSTRUCTION = {
    "import_seconds": ("import envpool, ms", 1e3),
    "import_bytes": ("resident memory after it, MiB", 2**-20),
    "first_pool_seconds": ("import and a first pool of 1 CartPole, ms", 1e3),
    "first_pool_bytes": ("resident memory after it, MiB", 2**-20),
    "make_seconds": (f"make {PROBE_ENVS:,} CartPoles, ms", 1e3),
    "make_and_reset_seconds": ("make and first reset, ms", 1e3),
    "bytes_per_env": ("memory per CartPole, bytes", 1),
}


def cells_table(rows: Sequence[Mapping[str, Any]]) -> str:
    """Return the table of cells."""
    speeds = ("envpool steps/s", f"{PEER} steps/s", "ratio", "target")
    headers = ("cell", "threads", *speeds, "CPU ratio", "target", "note")
    return table(
        headers,
        [
            (
                row["cell"],
                str(row["num_threads"]),
                count(row.get("steps_per_second")),
                count(row.get("peer_steps_per_second")),
                short(row.get("ratio"), "x"),
                f"{row['target']}x" if row["target"] else "-",
                short(row.get("cpu_ratio"), "x"),
                f"{row['cpu_target']}x" if row["cpu_target"] else "-",
                row["note"],
            )
            for row in rows
        ],
        "lrrrrrrrl",
    )


def ale_table(rows: Sequence[Mapping[str, Any]]) -> str:
    """Return the table of the cells that ale_py also has."""
    shown = [row for row in rows if "ale_ratio" in row]
    return table(
        ("cell", "envpool steps/s", f"{ALE} steps/s", "ratio", "CPU ratio", "target"),
        [
            (
                row["cell"],
                count(row["steps_per_second"]),
                count(row["ale_steps_per_second"]),
                short(row["ale_ratio"], "x"),
                short(row["ale_cpu_ratio"], "x"),
                f"{ALE_TARGET}x",
            )
            for row in shown
        ],
        "lrrrrr",
    )


#: Construction figures of other tasks: title, and factor to the unit that is shown.
OTHERS = {"make_and_reset_seconds": ("make and first reset, ms", 1e3), "bytes_per_env": ("memory per env, KiB", 2**-10)}


def construction_table(
    costs: Mapping[str, Mapping[str, float]], others: Mapping[str, Mapping[str, Mapping[str, float]]]
) -> str:
    """Return the table of import and construction, including the construction of other tasks."""
    found = [(title, factor, costs[name]) for name, (title, factor) in CONSTRUCTION.items()]
    for cell, figures in others.items():
        found += [(f"{cell}: {title}", factor, figures[name]) for name, (title, factor) in OTHERS.items()]
    rows = []
    for title, factor, figure in found:
        ours, peer = figure["envpool"], figure["peer"]
        rows.append((title, short(ours * factor), short(peer * factor), short(peer / ours, "x") if ours > 0 else "-"))
    return table(("construction", "envpool", PEER, "ratio"), rows, "lrrr")


def write_json(
    path: Path,
    rows: Sequence[Mapping[str, Any]],
    costs: Mapping[str, Mapping[str, float]],
    others: Mapping[str, Mapping[str, Mapping[str, float]]],
    arguments: argparse.Namespace,
) -> None:
    """Write the machine facts, the command, the cells and the construction figures to a JSON file."""
    words = [
        "scripts/compare",
        *arguments.cells,
        "--seconds",
        arguments.seconds,
        "--num-threads",
        arguments.num_threads,
    ]
    content = {
        "machine": describe_machine() | {"peer": PEER},
        "command": shlex.join(map(str, words)),
        "rows": rows,
        "construction": costs,
        "construction_envs": PROBE_ENVS,
        "construction_of_others": others,
    }
    path.write_text(json.dumps(content, indent=2) + "\n")


def plot(rows: Sequence[Mapping[str, Any]], path: Path) -> None:
    """Plot the steps per second of both packages as pairs of bars, annotated with their ratio."""
    shown = [r for r in rows if "ratio" in r]
    figure = new_figure(8.5, 2 + 0.32 * len(shown))
    axes = figure.subplots()
    for offset, key, label, colour in (
        (-0.2, "steps_per_second", "envpool", COLOURS[0]),
        (0.2, "peer_steps_per_second", PEER, COLOURS[1]),
    ):
        axes.barh([i + offset for i in range(len(shown))], [r[key] for r in shown], 0.38, color=colour, label=label)
    for i, r in enumerate(shown):
        axes.annotate(
            short(r["ratio"], "x"),
            (r["steps_per_second"], i - 0.2),
            xytext=(4, 0),
            textcoords="offset points",
            va="center",
            fontsize=9,
        )
    ends = [r[key] for r in shown for key in ("steps_per_second", "peer_steps_per_second")] or [1, 10]
    axes.set_xlim(10 ** math.floor(math.log10(min(ends))), 20 * max(ends))
    axes.set_xscale("log")
    axes.set_yticks(range(len(shown)), [r["cell"] for r in shown])
    axes.set_ylabel("task / envs / batch")
    axes.set_ylim(len(shown) - 0.4, -0.6)
    steps_axis(axes.xaxis, "env steps per second (logarithmic)")
    axes.set_title(f"Steps per second with random actions, and the ratio to {PEER}")
    axes.grid(True, axis="x", alpha=0.25)
    figure.legend(loc="outside lower center", ncols=2)
    figure.savefig(path)
