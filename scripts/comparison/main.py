"""Compare the speed of the installed package with EnvPool 1.2.5, which is installed into a separate venv.

Each package runs in its own long-lived process. The processes work in turns, never at the same time, and medians over
the turns are reported. A cell is TASK/ENVS, or TASK/ENVS/BATCH for an async pool.
"""

from __future__ import annotations

import argparse
import statistics
import sys
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from comparison import engines, report
from comparison.cells import DEFAULT_CELLS, PROBE_CELLS, PROBE_ENVS, Cell, parse, select
from comparison.engines import Engine
from envpool.cli.bench.command import Progress
from envpool.cli.bench.loops import Slice
from envpool.cli.bench.measure import cpu_per_million, cpu_ratio, rate, speed_ratio
from envpool.cli.bench.plot import check_plot
from envpool.cli.guard import guarded
from envpool.cli.parsing import Parser, positive_int, positive_seconds

ROOT = Path(__file__).parents[2]
TURNS = 10
#: Number of fresh processes of each package in which construction is measured.
PROBES = 5


def make_parser() -> Parser:
    """Return the argument parser."""
    parser = Parser(prog="compare", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add = parser.add_argument
    add(
        "cells",
        metavar="CELL",
        nargs="*",
        help=f"cells, or globs that select default cells (default: {' '.join(DEFAULT_CELLS)})",
    )
    add(
        "--seconds", metavar="S", type=positive_seconds, default=3.0, help="time for each cell and package (default: 3)"
    )
    add(
        "--num-threads",
        metavar="T",
        type=positive_int,
        default=2,
        help="threads of each pool, at most its batch size (default: 2)",
    )
    add("--no-construction", action="store_true", help="do not measure import, construction and memory")
    add(
        "--peer-dir",
        metavar="DIR",
        type=Path,
        default=ROOT / ".venv-peer",
        help="venv for EnvPool (default: .venv-peer)",
    )
    add(
        "--peer-python",
        metavar="PATH",
        type=Path,
        help="interpreter that already has EnvPool 1.2.5; no venv is created",
    )
    add("--json", metavar="FILE", type=Path, default=ROOT / "out/compare.json", help="(default: out/compare.json)")
    add("--plot", metavar="FILE.png", type=Path, default=ROOT / "out/compare.png", help="(default: out/compare.png)")
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    """Run the comparison and return the exit status, which does not depend on the measurements."""
    arguments = make_parser().parse_args(argv)
    return guarded("compare", lambda: run(arguments))


def run(arguments: argparse.Namespace) -> None:
    """Measure the cells, print the tables and write the files."""
    cells = select(arguments.cells)
    for path in (arguments.json, arguments.plot):
        path.parent.mkdir(parents=True, exist_ok=True)
    check_plot(arguments.plot)
    python = arguments.peer_python or engines.peer_python(arguments.peer_dir)
    progress = Progress()
    with ExitStack() as stack:
        ours = stack.enter_context(engines.own_engine())
        peer = stack.enter_context(engines.peer_engine(python))
        ale = stack.enter_context(engines.ale_engine()) if any(cell.is_atari for cell in cells) else None
        stack.callback(progress.clear)
        rows = []
        for i, cell in enumerate(cells, 1):
            progress.prefix = f"[{i}/{len(cells)}] {cell} "
            rows.append(compare(cell, ours, peer, ale if cell.is_atari else None, arguments, progress))
        probed = [] if arguments.no_construction else [Cell("CartPole-v1", PROBE_ENVS, PROBE_ENVS)]
        probed += [parse(text) for text in PROBE_CELLS if probed]
        constructions = []
        for cell in probed:
            progress.prefix = f"construction of {cell} "
            constructions.append(compare_construction(cell, ours, peer, arguments, progress))
        costs = constructions[0] if constructions else {}
        others = dict(zip(map(str, probed[1:]), constructions[1:], strict=True))
    print(report.cells_table(rows))
    if ale is not None:
        print("\n" + report.ale_table(rows))
    if costs:
        print("\n" + report.construction_table(costs, others))
    report.write_json(arguments.json, rows, costs, others, arguments)
    report.plot(rows, arguments.plot)
    print(f"wrote {arguments.json} and {arguments.plot}", file=sys.stderr)


def compare(
    cell: Cell, ours: Engine, peer: Engine, ale: Engine | None, arguments: argparse.Namespace, progress: Progress
) -> dict[str, Any]:
    """Measure one cell in all packages, in turns; return its entry of "rows" in the JSON file."""
    threads = min(arguments.num_threads, cell.batch_size)
    row: dict[str, Any] = {
        "cell": str(cell),
        "task": cell.task,
        "num_envs": cell.num_envs,
        "batch_size": cell.batch_size,
        "num_threads": threads,
        "target": cell.target,
        "cpu_target": cell.cpu_target,
    }
    slices: dict[Engine, list[Slice]] = {engine: [] for engine in (ours, peer, ale) if engine is not None}
    for engine in slices:
        try:
            engine.ask("open", task=cell.task, num_envs=cell.num_envs, batch_size=cell.batch_size, num_threads=threads)
        except RuntimeError as error:
            return row | {"note": f"{engine.name}: {error}"}
        engine.ask("run", seconds=arguments.seconds / TURNS / 4)
    for turn in range(TURNS):
        for engine in slices:
            slices[engine].append(Slice(**engine.ask("run", seconds=arguments.seconds / TURNS)))
        progress(f"{turn + 1}/{TURNS}, {speed_ratio(slices[ours], slices[peer]):.1f}x")
    for engine in slices:
        engine.ask("close")
    if ale is not None:
        row |= {
            "ale_steps_per_second": rate(slices[ale]),
            "ale_cpu_seconds_per_million_steps": cpu_per_million(slices[ale]),
            "ale_ratio": speed_ratio(slices[ours], slices[ale]),
            "ale_cpu_ratio": cpu_ratio(slices[ale], slices[ours]),
        }
    return row | {
        "steps_per_second": rate(slices[ours]),
        "peer_steps_per_second": rate(slices[peer]),
        "cpu_seconds_per_million_steps": cpu_per_million(slices[ours]),
        "peer_cpu_seconds_per_million_steps": cpu_per_million(slices[peer]),
        "ratio": speed_ratio(slices[ours], slices[peer]),
        "cpu_ratio": cpu_ratio(slices[peer], slices[ours]),
        "note": "",
    }


def compare_construction(
    cell: Cell, ours: Engine, peer: Engine, arguments: argparse.Namespace, progress: Progress
) -> dict[str, dict[str, float]]:
    """Measure import and construction of a cell in both packages; return medians as figure -> {"envpool", "peer"}."""
    probes: dict[Engine, list[dict[str, float]]] = {ours: [], peer: []}
    for i in range(PROBES):
        progress(f"{i + 1}/{PROBES}")
        for engine, found in probes.items():
            found.append(engine.probe(cell.task, cell.num_envs, arguments.num_threads))
    return {
        name: {
            "envpool": statistics.median(p[name] for p in probes[ours]),
            "peer": statistics.median(p[name] for p in probes[peer]),
        }
        for name in probes[ours][0]
    }
