"""Check the installation: versions, machine, extras, and a self-test of the tasks.

A line that starts with "-" names something that is missing or restricted, and says how to install it; it does not count
as a failure. A line that starts with "!" names something that is installed but does not work, and says what to do. The
exit status is 1 if there is a line with "!", and 0 otherwise.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterable, Iterator
from dataclasses import asdict
from importlib import import_module
from pathlib import Path

import envpool
from envpool._support.diagnosis import NOTE, OK, PROBLEM, Finding
from envpool._support.files import check_output
from envpool.cli.text import counted, wrapped

HELP = "check the installation, and test the tasks for a few seconds"

FAILED = 1
MARKS = {OK: " ", NOTE: "-", PROBLEM: "!"}
PACKAGE = Path(envpool.__file__).parent


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``envpool doctor``."""
    parser.add_argument("--json", metavar="FILE", type=Path, help="write the findings to FILE")


def run(arguments: argparse.Namespace) -> int:
    """Print the findings, write the file, and return the exit status."""
    if arguments.json:
        check_output(arguments.json)
    found: dict[str, list[Finding]] = {}
    for name in modules():
        title, findings = section(name)
        found[title] = findings
        print(f"{title}\n" + "\n".join(lines(findings)) + "\n", flush=True)
    problems = [finding for findings in found.values() for finding in findings if finding.state == PROBLEM]
    print("\n".join(verdict(problems)))
    if arguments.json:
        report = {
            "envpool": envpool.__version__,
            "is_well": not problems,
            "sections": {title: [asdict(f) for f in findings] for title, findings in found.items()},
        }
        arguments.json.write_text(json.dumps(report, indent=2) + "\n")
    return FAILED if problems else 0


def modules() -> list[str]:
    """Return the modules with the sections, also of the families; see `envpool._support.diagnosis`."""
    of_families = sorted(file.relative_to(PACKAGE).with_suffix("").parts for file in PACKAGE.rglob("*/health.py"))
    return [
        *(f"{__package__}.{name}" for name in ("packages", "machine", "extras")),
        *(".".join(("envpool", *parts)) for parts in of_families),
        f"{__package__}.self_test",
    ]


def section(name: str) -> tuple[str, list[Finding]]:
    """Return the heading and the findings of a module; if it fails, the reason is a problem."""
    try:
        module = import_module(name)
        return module.TITLE, module.findings()
    except Exception as error:
        text = " ".join(f"{type(error).__name__}: {error}".split())
        return name, [Finding("this check", text, PROBLEM, "fix the problem above, and run `envpool doctor` again")]


def lines(findings: Iterable[Finding]) -> Iterator[str]:
    """Yield the lines of a section: mark, name and text in columns, and the remedy below the text."""
    findings = list(findings)
    width = max((len(finding.name) for finding in findings), default=0)
    for finding in findings:
        first = f"{MARKS[finding.state]} {finding.name:<{width}}  "
        gap = " " * len(first)
        yield wrapped(finding.text, first, gap)
        if finding.remedy:
            yield wrapped(finding.remedy, f"{gap}-> ", f"{gap}   ")


def verdict(problems: list[Finding]) -> Iterator[str]:
    """Yield the last lines: that everything works, or the problems with their remedies."""
    if not problems:
        yield "everything installed works"
        return
    yield counted(len(problems), "problem")
    yield from lines(problems)
