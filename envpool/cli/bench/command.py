"""Measure tasks with random actions: steps per second, CPU time, and the share of the limit.

The limit is the throughput of the same native kernels when one thread calls them in a loop, without a queue and without
Python, times the number of threads or available CPUs, whichever is smaller. The pool and the limit are measured in
turns, in ten slices each, and medians are reported, so that noise on a shared machine affects both. For every engine,
steps include those that only reset an env.
"""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from envpool._support.files import check_output
from envpool.cli.parsing import add_option_argument, positive_int, positive_seconds, refuse_options
from envpool.cli.progress import Progress
from envpool.cli.spec import spec_of
from envpool.errors import ConfigError

if TYPE_CHECKING:
    from envpool.cli.bench.measure import Cell

HELP = "measure the throughput of tasks, compared with the limit of their kernels and with gymnasium"

SWEEP_ENVS = (1, 4, 16, 64, 256, 1024, 4096)
#: Pool options that have a command-line argument of the same name.
POOL_OPTIONS = ("num_envs", "batch_size", "num_threads")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``envpool bench``."""
    add = parser.add_argument
    add("tasks", metavar="TASK", nargs="+", help="task ids, see `envpool list`")
    add("--num-envs", metavar="N", type=positive_int, help="number of envs (default: 256)")
    add(
        "--batch-size",
        metavar="B",
        type=positive_int,
        help="envs per batch (default: all); a smaller batch makes the pool async",
    )
    add(
        "--num-threads",
        metavar="T",
        type=positive_int,
        help="number of threads (default: batch size or available CPUs, whichever is smaller; with --sweep: several)",
    )
    add("--seconds", metavar="S", type=positive_seconds, default=2.0, help="duration of each measurement (default: 2)")
    add(
        "--env-type",
        choices=("gymnasium", "gym", "dm"),
        default="gymnasium",
        help="API style of the pool (default: gymnasium)",
    )
    add("--compare", choices=("gymnasium",), help="also measure gymnasium's SyncVectorEnv and AsyncVectorEnv")
    add(
        "--sweep",
        action="store_true",
        help=f"measure {', '.join(map(str, SWEEP_ENVS))} envs, each with 1, 2, 4, ... threads up to the available CPUs",
    )
    add("--json", metavar="FILE", type=Path, help="write the machine, the command and the results to FILE")
    add("--plot", metavar="FILE.png", type=Path, help="plot the results (needs matplotlib)")
    add_option_argument(parser)


def run(arguments: argparse.Namespace) -> None:
    """Measure the tasks, print the table and write the files."""
    check(arguments)
    cells = plan(arguments)

    from envpool.cli.bench import measure, report

    rows = []
    progress = Progress()
    try:
        for i, cell in enumerate(cells, 1):
            progress.prefix = f"[{i}/{len(cells)}] "
            rows += measure.measure(cell, arguments.seconds, progress)
    finally:
        progress.clear()
    print(report.results_table(rows))
    if arguments.json:
        report.write_json(arguments.json, command_line(arguments), rows)
    if arguments.plot:
        from envpool.cli.bench import plot

        (plot.plot_sweep if arguments.sweep else plot.plot_bars)(rows, arguments.plot)


def check(arguments: argparse.Namespace) -> None:
    """Reject arguments that cannot work before anything is measured."""
    if arguments.sweep and (arguments.num_envs or arguments.batch_size or arguments.compare):
        raise ConfigError("--sweep chooses the number of envs itself: leave out --num-envs, --batch-size and --compare")
    if arguments.compare and arguments.options:
        raise ConfigError(
            "--compare measures the same task in both packages: leave out --option and --preset, gymnasium has neither"
        )
    refuse_options(arguments.options, {name: f"--{name.replace('_', '-')}" for name in POOL_OPTIONS})
    for path in (arguments.json, arguments.plot):
        if path is not None:
            check_output(path)
    if arguments.plot:
        from envpool.cli.bench.plot import check_plot

        check_plot(arguments.plot)


def plan(arguments: argparse.Namespace) -> list[Cell]:
    """Return the configurations to measure; each is validated, so that an invalid one fails before the first run."""
    from envpool.cli.bench.measure import Cell

    cells = []
    for task in arguments.tasks:
        for sizes in sweep(arguments) if arguments.sweep else [single(arguments)]:
            spec = spec_of(task, arguments.options, **sizes)
            if spec.config.autoreset_mode == "disabled":
                raise ConfigError(
                    "autoreset_mode must be 'next_step' or 'same_step' here, since the benchmark does not reset envs, "
                    "got 'disabled'"
                )
            options = {**spec.pool_options, **spec.config._asdict()}
            chosen = {name: options.get(name, text) for name, text in arguments.options} | sizes  # without preset
            cells.append(Cell(task, chosen, arguments.env_type, arguments.compare is not None))
    return cells


def single(arguments: argparse.Namespace) -> dict[str, int]:
    """Return the sizes of the pool to measure without --sweep."""
    return {
        "num_envs": arguments.num_envs or max(256, arguments.batch_size or 0),
        "batch_size": arguments.batch_size or 0,
        "num_threads": arguments.num_threads or 0,
    }


def sweep(arguments: argparse.Namespace) -> Iterator[dict[str, int]]:
    """Yield the sizes of a sweep, leaving out those with more threads than envs."""
    for threads in [arguments.num_threads] if arguments.num_threads else thread_counts():
        for num_envs in SWEEP_ENVS:
            if threads <= num_envs:
                yield {"num_envs": num_envs, "num_threads": threads}


def thread_counts() -> list[int]:
    """Return 1, 2, 4, ... up to the number of available CPUs, and that number itself."""
    from envpool._support.machine import cpu_limit

    cores = cpu_limit()
    return sorted({2**k for k in range(cores.bit_length())} | {cores})


def command_line(arguments: argparse.Namespace) -> str:
    """Return the command that repeats the measurement, without --json and --plot."""
    words: list[Any] = ["envpool", "bench", *arguments.tasks]
    for name in ("num_envs", "batch_size", "num_threads", "seconds", "env_type", "compare"):
        value = getattr(arguments, name)
        if value is not None:
            words += [f"--{name.replace('_', '-')}", value]
    words += ["--sweep"] if arguments.sweep else []
    for name, value in arguments.options:
        words += ["--option", f"{name}={value}"]
    return shlex.join(map(str, words))
