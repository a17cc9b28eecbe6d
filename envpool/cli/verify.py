"""Play tasks against their upstream packages, and say whether every bit agrees.

A task is played with the same seeds and the same random actions as its upstream package (Atari: ale_py under
gymnasium's preprocessing). Observation, reward, terminated, truncated and the entries of info that both packages have
are compared bit for bit, step by step, up to the first difference. The exit status is 0 if all tasks agree, 1 if one
differs, and 2 if a task could not be compared.
"""

from __future__ import annotations

import argparse
import logging
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from envpool.cli.list import is_glob, matching
from envpool.cli.parsing import positive_int, seed
from envpool.cli.text import counted, wrapped
from envpool.errors import ConfigError
from envpool.registration import find_native

if TYPE_CHECKING:
    from envpool.verify.oracle import Oracle
    from envpool.verify.play import Difference, Outcome

HELP = "play tasks against their upstream packages and compare every bit"

DIFFERS, INCOMPLETE = 1, 2
WITHOUT = "it has no upstream implementation"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``envpool verify``."""
    add = parser.add_argument
    add(
        "tasks",
        metavar="TASK",
        nargs="+",
        help="task ids, or globs with *, ? or [...] that match whole ids, see `envpool list`; tasks that a glob "
        "matches and that have no upstream package are skipped",
    )
    add("--steps", metavar="N", type=positive_int, default=500, help="steps of each env for each seed (default: 500)")
    add(
        "--seed",
        metavar="S",
        type=seed,
        action="append",
        help="seed; env i of a pool with seed S has the seed S + i; may be repeated (default: 0)",
    )
    add("--num-envs", metavar="N", type=positive_int, default=4, help="number of envs (default: 4)")


def run(arguments: argparse.Namespace) -> int:
    """Compare the tasks, print each result, and return the exit status."""
    level = logging.root.manager.disable
    logging.disable(logging.WARNING)  # Upstream packages log warnings about their own models.
    try:
        return compare(arguments)
    finally:
        logging.disable(level)


def compare(arguments: argparse.Namespace) -> int:
    """Compare the tasks, and print each result; return the exit status."""
    from envpool.verify.lookup import FailedUpstreamError

    results = Results()
    for task_id, oracle in oracles(arguments.tasks, results).items():
        try:
            outcomes = list(played(task_id, oracle, arguments))
        except (ConfigError, ImportError, FailedUpstreamError) as error:
            results.skip(task_id, f"{task_id} cannot be compared: {error}", is_failure=True)
            continue
        print("\n".join(report(task_id, oracle, outcomes, arguments)), flush=True)
        results.packages += [name for name in oracle.packages if name not in results.packages]
        (results.different if outcomes[-1].difference else results.equal).append(task_id)
    print("\n" + "\n".join(summary(results)))
    return DIFFERS if results.different else INCOMPLETE if results.failed else 0


@dataclass
class Results:
    """The tasks by result, and the packages that were compared with."""

    equal: list[str] = field(default_factory=list)
    different: list[str] = field(default_factory=list)
    failed: list[str] = field(default_factory=list)
    packages: list[str] = field(default_factory=list)

    def skip(self, task_id: str, reason: str, is_failure: bool) -> None:
        """Print why a task is not compared."""
        print(wrapped(reason), flush=True)
        if is_failure:
            self.failed.append(task_id)


def oracles(patterns: Iterable[str], results: Results) -> dict[str, Oracle]:
    """Return the upstream environments of the tasks that patterns match.

    Tasks that a glob matches and that have none are skipped.

    Raises
    ------
    UnknownTaskError
        A pattern matches no task.
    ConfigError
        A task that is named in full has no upstream package, or no task is left.
    ImportError, FailedUpstreamError
        A task that is named in full needs a package that is missing, or its upstream package fails.
    """
    from envpool.verify.lookup import FailedUpstreamError, oracle_of

    found: dict[str, Oracle] = {}
    for pattern in patterns:
        for task_id in matching(pattern) if is_glob(pattern) else [find_native(pattern).task_id]:
            try:
                oracle = oracle_of(task_id)
            except (ImportError, FailedUpstreamError) as error:
                if not is_glob(pattern):
                    raise type(error)(f"{task_id} cannot be compared: {error}") from error
                results.skip(task_id, f"{task_id} cannot be compared: {error}", is_failure=True)
                continue
            if oracle:
                found[task_id] = oracle
            elif is_glob(pattern):
                results.skip(task_id, f"{task_id} is skipped: {WITHOUT}", is_failure=False)
            else:
                raise ConfigError(f"{task_id} cannot be compared: {WITHOUT}; leave it out")
    if not found and not results.failed:
        raise ConfigError("no task is left to compare; `envpool list` lists all tasks")
    return found


def played(task_id: str, oracle: Oracle, arguments: argparse.Namespace) -> Iterator[Outcome]:
    """Play a task with each seed, up to the first one with a difference."""
    from envpool.verify.play import play

    for value in arguments.seed or [0]:
        outcome = play(task_id, oracle, arguments.steps, value, arguments.num_envs)
        yield outcome
        if outcome.difference:
            return


def report(task_id: str, oracle: Oracle, outcomes: list[Outcome], arguments: argparse.Namespace) -> Iterator[str]:
    """Yield the lines about a task."""
    last = outcomes[-1]
    yield wrapped(f"{task_id}: {'DIFFERS from' if last.difference else 'equals'} {oracle.title}")
    if oracle.options:
        yield wrapped("with " + ", ".join(f"{name}={value!r}" for name, value in oracle.options.items()), "  ", "    ")
    for outcome in outcomes:
        if outcome.difference:
            yield from difference(outcome, outcome.difference)
        else:
            yield (
                f"  seed {outcome.seed}: {arguments.num_envs} envs, {outcome.steps:,} steps each, "
                f"{outcome.episodes:,} episodes ended"
            )
    yield wrapped("compared: " + ", ".join(last.fields), "  ", "    ")


def difference(outcome: Outcome, found: Difference) -> Iterator[str]:
    """Yield the lines about the first difference."""
    index = f"[{', '.join(map(str, found.index))}]" if found.index else ""
    place = f"step {found.step}, env {found.env} (its seed is {outcome.seed + found.env})"
    yield f"  seed {outcome.seed}: the first difference is at {place}"
    if found.field:
        yield f"    field     {found.field}{index}"
    if found.reason:
        yield wrapped(f"reason    {found.reason}", "    ", "      ")
    else:
        yield f"    upstream  {with_bits(found.upstream)}"
        yield f"    envpool   {with_bits(found.envpool)}"


def with_bits(value: Any) -> str:
    """Return the text of an element; for a float, also its bits as a hexadecimal number."""
    import numpy as np

    if value.dtype.kind != "f":
        return str(value)
    bits = np.asarray(value).view(f"u{value.dtype.itemsize}")
    return f"{value!s} (bits 0x{int(bits):0{2 * value.dtype.itemsize}x})"


def summary(results: Results) -> Iterator[str]:
    """Yield the last lines: the packages, and how many tasks agree."""
    from envpool._support.requirements import Requirement, requirements
    from envpool.verify.lookup import INSTALL

    required = {r.name: r for r in [*requirements()[""], *requirements().get("verify", ())]}
    versions = {name: version for name in results.packages if (version := Requirement(name).installed())}
    if versions:
        yield wrapped("compared with " + ", ".join(f"{name} {version}" for name, version in versions.items()))
    others = [str(required[n]) for n, version in versions.items() if n in required and not required[n].allows(version)]
    if others:
        yield wrapped(f"envpool equals other versions: {', '.join(others)}; to install them, run: {INSTALL}")
    compared = len(results.equal) + len(results.different)
    if results.different:
        yield wrapped(
            f"different ({len(results.different)} of {counted(compared, 'task')}): {', '.join(results.different)}"
        )
    elif results.equal:
        yield f"every bit agrees ({counted(compared, 'task')})"
    if results.failed:
        yield wrapped(f"{counted(len(results.failed), 'task')} could not be compared: {', '.join(results.failed)}")
